// Package layout says what the bytes of a table are, in texts that can be recorded beside
// them and compared: of the type of the keys, of the codec, and of the type of the values.
package layout

import (
	"crypto/sha256"
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// Of says by which rules a codec turns a type into bytes.
type Of int

const (
	// Go is a codec of which nothing is known: the exported fields of a type count, by
	// their names in Go and in JSON, and so do the sizes of numbers.
	Go Of = iota

	// JSON and CBOR have the fields that encoding/json and fxamacker/cbor write, and
	// numbers of any size, since one that does not fit is an error.
	JSON
	CBOR
)

// The limits of a shape. What lies deeper, or does not fit, is not recorded and matches
// anything.
const (
	maxShape = 8 << 10 // bytes
	maxDepth = 32
	rest     = "…"
)

// Shape returns the shape of a type as JSON: a text for what has no parts, an object for
// the fields of a struct, and a list that begins with a text for all else. The order of
// fields does not count, but where the codec writes them without their names.
func (of Of) Shape(t reflect.Type) string {
	text := `"` + rest + `"`
	for depth := 1; depth <= maxDepth; depth++ {
		w := shaper{of: of, depth: depth}
		b, err := json.Marshal(w.shape(t))
		if err != nil || len(b) > maxShape {
			break
		}
		if text = string(b); !w.cut {
			break
		}
	}
	return text
}

// A shaper makes the shape of a type down to a depth.
type shaper struct {
	of    Of
	depth int
	in    []reflect.Type // the structs that it is in
	cut   bool           // something is deeper
}

func (w *shaper) shape(t reflect.Type) any {
	if name, ok := w.of.opaque(t); ok {
		return name
	}
	switch k := t.Kind(); k {
	case reflect.Interface:
		return "any"
	case reflect.Slice, reflect.Array, reflect.Pointer, reflect.Map, reflect.Struct:
		if k == reflect.Slice && w.of != Go && t.Elem().Kind() == reflect.Uint8 {
			return "bytes"
		}
		if i := slices.Index(w.in, t); i >= 0 { // so many structs up
			return fmt.Sprintf("^%d", len(w.in)-1-i)
		}
		if w.depth == 0 {
			w.cut = true
			return rest
		}
		w.depth--
		defer func() { w.depth++ }()
		if k == reflect.Struct {
			w.in = append(w.in, t)
			defer func() { w.in = w.in[:len(w.in)-1] }()
			return w.fields(t)
		}
	default:
		return w.of.number(k)
	}
	switch t.Kind() {
	case reflect.Slice:
		return []any{"[]", w.shape(t.Elem())}
	case reflect.Array:
		return []any{fmt.Sprintf("[%d]", t.Len()), w.shape(t.Elem())}
	case reflect.Pointer:
		return []any{"*", w.shape(t.Elem())}
	}
	return []any{"map", w.shape(t.Key()), w.shape(t.Elem())}
}

// number returns the name of a kind.
func (of Of) number(k reflect.Kind) string {
	if of != Go && reflect.Int <= k && k <= reflect.Uintptr {
		return "int"
	}
	return k.String()
}

func (w *shaper) fields(t reflect.Type) any {
	list, ordered := w.of.fields(t)
	shapes := make(map[string]any)
	var inOrder []any
	for _, f := range list {
		s := w.shape(f.of)
		if text, ok := s.(string); ok && f.quoted && f.of.Kind() <= reflect.String {
			s = text + ",string"
		}
		shapes[f.name] = s
		inOrder = append(inOrder, []any{f.name, s})
	}
	if ordered {
		return append([]any{"fields"}, inOrder...)
	}
	return shapes
}

var (
	jsonMarshaler = reflect.TypeFor[json.Marshaler]()
	textMarshaler = reflect.TypeFor[encoding.TextMarshaler]()
	binMarshaler  = reflect.TypeFor[encoding.BinaryMarshaler]()
	cborMarshaler = reflect.TypeFor[interface{ MarshalCBOR() ([]byte, error) }]()
	gobEncoder    = reflect.TypeFor[interface{ GobEncode() ([]byte, error) }]()
)

// opaque returns the name of a type that writes itself, for such a codec.
func (of Of) opaque(t reflect.Type) (string, bool) {
	by := []reflect.Type{jsonMarshaler, textMarshaler, binMarshaler, cborMarshaler, gobEncoder}
	switch of {
	case JSON:
		by = by[:2]
	case CBOR:
		by = by[2:4]
	}
	if t.Kind() == reflect.Interface || t.Kind() == reflect.Pointer {
		return "", false
	}
	for _, i := range by {
		if t.Implements(i) || reflect.PointerTo(t).Implements(i) {
			return Name(t), true
		}
	}
	return "", false
}

// Name returns the name of a type with the path of its package: of a program, main, whether
// it is tested or run.
func Name(t reflect.Type) string {
	if t.Kind() == reflect.Pointer && t.Name() == "" {
		return "*" + Name(t.Elem())
	}
	name := Bounded(t.Name(), 500)
	switch {
	case name == "":
		return Bounded(t.String(), 200)
	case t.PkgPath() == "":
		return name
	case strings.HasPrefix(t.String(), "main."):
		return "main." + name
	}
	return t.PkgPath() + "." + name
}

// CodecSchema returns what a codec of values of type V says of its bytes, or, if it says nothing,
// its name and their shape.
func CodecSchema[V any](codec any) string {
	if c, ok := codec.(interface{ Schema() string }); ok {
		return c.Schema()
	}
	return CodecName[V](codec) + shapeMark + Go.Shape(reflect.TypeFor[V]())
}

// An argument is a type whose name has that of V as a type argument.
type argument[V any] struct{}

// CodecName is Name of a codec of values of type V, whose name does not count where it is a type
// argument of the codec.
func CodecName[V any](codec any) string {
	_, value, _ := strings.Cut(reflect.TypeFor[argument[V]]().Name(), "[")
	value = strings.TrimSuffix(value, "]")
	name, args, generic := strings.Cut(Name(reflect.TypeOf(codec)), "[")
	if !generic {
		return name
	}
	list := strings.Split(strings.TrimSuffix(args, "]"), ",")
	for i, arg := range list {
		if arg == value {
			list[i] = "V"
		}
	}
	return name + "[" + strings.Join(list, ",") + "]"
}

// Bounded returns a text that is no longer than so many bytes, and another for another
// text.
func Bounded(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return fmt.Sprintf("%s%s sha256:%.8x", strings.ToValidUTF8(text[:most-32], ""), rest, sha256.Sum256([]byte(text)))
}
