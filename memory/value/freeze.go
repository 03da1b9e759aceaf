package value

import (
	"cmp"
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unsafe"

	"github.com/cowstore/cowstore/memory/internal/structs"
)

// Freeze returns v as a Value that shares nothing with it, so that whatever
// happens to v later does not show. A Value is returned as it is.
//
// These can be frozen, named types included:
//
//   - bools, numbers, strings, byte slices and time.Time,
//   - slices, arrays and structs,
//   - maps whose keys are strings or integers, or marshal themselves to text,
//   - pointers to all of those, and interfaces with them.
//
// A nil pointer, map, slice or interface is Null, and so is a Value inside of v that is
// Absent. A struct becomes a Map of its exported fields, named and shown as
// encoding/json does. A type that marshals itself, to text or to JSON, becomes what it
// marshals to. Numbers keep all their digits, those of a json.Number too.
//
// A type with a method Clone is copied by it, if Clone returns that type or, with a
// pointer receiver, a pointer to it. What is useful only as itself, and nobody can
// modify, is not copied: a reflect.Type, a *time.Location, an error such as io.EOF, or
// one that the program named by [clone.Sentinel].
//
// What the Value does not show, such as unexported fields, is kept in one clone.
//
// The error is an *[Error]. It wraps
//
//   - [ErrUnsupported] for other kinds, such as channels and functions, which
//     [FreezeHandles] takes; for what must not be copied, such as a lock; for NaN and
//     infinities; and for numbers out of the range of a float64, as 1e400, or with an
//     exponent of 1e18 and more,
//   - [ErrCycle] for a value that contains itself,
//   - [ErrTooDeep] for more than a thousand levels of lists and maps, for ten thousand
//     pointers that lead to one another, and for a value that has a few parts a hundred
//     thousand times.
func Freeze(v any) (Value, error) { return freeze(v, false) }

func freeze(v any, handles bool) (Value, error) {
	if v, ok := v.(Value); ok {
		return v, nil
	}
	n := new(node)
	f := freezer{handles: handles}
	err := f.any(n, v)
	tangled := err == nil && f.tangled()
	f.release()
	if err != nil {
		return Value{}, once(err)
	}
	if tangled {
		// The nodes would tell of a tree where there is a graph.
		n, f = new(node), freezer{handles: handles}
		err = f.original(n, reflect.ValueOf(v))
		f.release()
		if err != nil {
			return Value{}, once(err)
		}
	}
	return f.done(n), nil
}

// A freezer freezes one value. It knows the pointers, maps and slices that it is
// inside of, and, until it comes to an original, where all of them have led.
type freezer struct {
	builder
	handles   bool // what cannot be frozen for its kind becomes a Handle
	kept      bool // what is being frozen is in an original, and addressable
	depth     int  // levels
	pointers  int
	inside    map[visit]bool
	spans     *spans
	originals int
}

type visit struct {
	p   unsafe.Pointer
	len int // of a slice: a part of one is not the same
	typ reflect.Type
}

// any freezes v into n.
func (f *freezer) any(n *node, v any) error {
	switch v := v.(type) {
	case nil:
		n.from = nilOrigin
	case bool:
		n.from = boolOrigin
		if v {
			n.bits = 1
		}
	case int:
		n.from, n.bits = intOrigin, uint64(v)
	case float64:
		n.from = floatOrigin
		return n.float(v, n.from.typ)
	case string:
		n.from = stringOrigin
		n.string(strings.Clone(v))
	case time.Time:
		n.from = timeOrigin
		n.time(v)
	case []any:
		if v == nil {
			n.from = originOf(listOrigin.typ, Null)
			return nil
		}
		n.from = listOrigin
		p := unsafe.Pointer(unsafe.SliceData(v))
		f.refer(p, uintptr(cap(v))*unsafe.Sizeof(any(nil)))
		return f.level(visit{p, len(v), listOrigin.typ}, len(v) > 0, func() error {
			return n.list(len(v), func(i int, e *node) error { return f.any(e, v[i]) })
		})
	case map[string]any:
		if v == nil {
			n.from = originOf(mapOrigin.typ, Null)
			return nil
		}
		n.from = mapOrigin
		p := *(*unsafe.Pointer)(unsafe.Pointer(&v))
		f.refer(p, 1)
		return f.level(visit{p, 0, mapOrigin.typ}, true, func() error {
			fs := f.newFields(len(v))
			for k := range v {
				fs.keys = append(fs.keys, k)
			}
			slices.Sort(fs.keys)
			for i, k := range fs.keys {
				if err := f.any(&fs.values[i], v[k]); err != nil {
					return inside(err, k)
				}
			}
			n.keyed(&fs)
			return nil
		})
	case Value:
		return f.frozen(n, v)
	default:
		return f.value(n, reflect.ValueOf(v))
	}
	return nil
}

// level calls do one level deeper, inside v if it is a reference.
func (f *freezer) level(v visit, reference bool, do func() error) error {
	if f.depth++; f.depth > maxDepth {
		return &Error{Type: v.typ.String(), Err: ErrTooDeep}
	}
	if f.spans != nil && f.spans.often {
		return &Error{Type: v.typ.String(), Err: fmt.Errorf("%w: it shows the same parts again and again", ErrTooDeep)}
	}
	defer func() { f.depth-- }()
	return f.enter(v, reference, do)
}

// enter calls do inside v, if it is a reference.
func (f *freezer) enter(v visit, reference bool, do func() error) error {
	// What contains itself is deep: only there it is worth remembering where.
	if reference && f.depth+f.pointers > 50 {
		if f.inside[v] {
			return &Error{Type: v.typ.String(), Err: ErrCycle}
		}
		if f.inside == nil {
			f.inside = make(map[visit]bool)
		}
		f.inside[v] = true
		defer delete(f.inside, v)
	}
	return do()
}

// value freezes v, of any type, into n.
func (f *freezer) value(n *node, v reflect.Value) error {
	t := v.Type()
	switch t.Kind() {
	case reflect.Interface:
		switch {
		case v.IsNil():
			n.from = nilOrigin // there is no value of an interface type
			return nil
		case f.kept:
			return f.value(n, boxed(v))
		}
		return f.any(n, v.Elem().Interface())
	case reflect.Pointer, reflect.Map, reflect.Slice:
		if v.IsNil() {
			n.from = originOf(t, Null)
			return nil
		}
	}
	switch t {
	case timeOrigin.typ:
		n.from = timeOrigin
		n.time(v.Interface().(time.Time))
		return nil
	case valueType:
		return f.frozen(n, v.Interface().(Value))
	case numberType:
		return n.number(v.String())
	}
	if t.Kind() == reflect.Pointer && t.Elem() == valueType {
		return f.frozen(n, v.Elem().Interface().(Value))
	}
	tr := traitsOf(t)
	if tr.original && !f.kept {
		return f.original(n, v)
	}
	err := f.parts(n, v, tr)
	if err == nil && f.kept && (tr.original || tr.composite) {
		n.orig = v.Addr().UnsafePointer()
	}
	return err
}

// parts freezes v, of which there is an original if it needs one.
func (f *freezer) parts(n *node, v reflect.Value, tr *traits) error {
	if tr.byJSON || tr.byText {
		return f.marshaled(n, v, tr)
	}
	t := v.Type()
	switch k := t.Kind(); k {
	case reflect.Bool:
		n.from = originOf(t, Bool)
		if v.Bool() {
			n.bits = 1
		}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		n.from, n.bits = originOf(t, Int), uint64(v.Int())
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		n.from, n.bits = originOf(t, Uint), v.Uint()
	case reflect.Float32, reflect.Float64:
		n.from = originOf(t, Float)
		return n.float(v.Float(), t)
	case reflect.String:
		n.from = originOf(t, String)
		n.string(strings.Clone(v.String()))
	case reflect.Pointer:
		return f.pointer(n, v)
	case reflect.Slice, reflect.Array:
		in := visit{nil, v.Len(), t}
		if k == reflect.Slice {
			in.p = v.UnsafePointer()
			f.refer(in.p, uintptr(v.Cap())*t.Elem().Size())
			if bytesOf(t) {
				n.from = originOf(t, Bytes)
				n.string(string(v.Bytes()))
				return nil
			}
		}
		n.from = originOf(t, List)
		return f.level(in, k == reflect.Slice && v.Len() > 0, func() error {
			return n.list(v.Len(), func(i int, e *node) error { return f.value(e, v.Index(i)) })
		})
	case reflect.Map:
		n.from = originOf(t, Map)
		f.refer(v.UnsafePointer(), 1)
		return f.level(visit{v.UnsafePointer(), 0, t}, true, func() error { return f.mapOf(n, v) })
	case reflect.Struct:
		n.from = originOf(t, Map)
		return f.level(visit{typ: t}, false, func() error { return f.structOf(n, v) })
	default:
		if !f.handles {
			return &Error{Type: t.String(), Err: ErrUnsupported}
		}
		n.handle(v)
	}
	return nil
}

// bytesOf reports whether slices of type t are Bytes: not if what they are of marshals
// itself, as in encoding/json.
func bytesOf(t reflect.Type) bool {
	if t.Elem().Kind() != reflect.Uint8 {
		return false
	}
	byJSON, byText := structs.Marshals(t.Elem())
	return !byJSON && !byText
}

// pointer freezes what a pointer leads to. It is not a level of its own.
func (f *freezer) pointer(n *node, v reflect.Value) error {
	t := v.Type()
	if f.pointers++; f.pointers > maxPointers {
		return &Error{Type: t.String(), Err: ErrTooDeep}
	}
	defer func() { f.pointers-- }()
	f.refer(v.UnsafePointer(), t.Elem().Size())
	err := f.enter(visit{v.UnsafePointer(), 0, t}, true, func() error { return f.value(n, v.Elem()) })
	if err != nil {
		return err
	}
	size := n.from.size
	if n.from = originOf(t, n.from.kind); size > 0 {
		n.from = n.from.withSize(int64(t.Size()) + size)
	}
	switch {
	case f.kept:
	case n.from.kind == Null && n.orig == nil:
		return f.keep(n, v) // or it would come back as a nil pointer
	case n.orig != nil:
		// There is an original of what it leads to: lead there.
		p := reflect.New(t)
		p.Elem().Set(reflect.NewAt(t.Elem(), n.orig))
		n.orig = p.UnsafePointer()
	}
	return nil
}

// frozen puts a Value into n.
func (f *freezer) frozen(n *node, v Value) error {
	v = v.orNull()
	if f.depth+v.n.depth() > maxDepth {
		return &Error{Type: valueType.String(), Err: ErrTooDeep}
	}
	*n = *v.n
	return nil
}

// orNull returns v, or Null for Absent.
func (v Value) orNull() Value {
	if v.n == nil {
		return Value{&node{from: nilOrigin}}
	}
	return v
}

// mapOf freezes a map of any type.
func (f *freezer) mapOf(n *node, v reflect.Value) error {
	type pair struct {
		key   string
		value reflect.Value
	}
	t := v.Type()
	pairs := make([]pair, 0, v.Len())
	var room reflect.Value
	if f.kept {
		// The values of a map are not addressable.
		room = reflect.MakeSlice(reflect.SliceOf(t.Elem()), v.Len(), v.Len())
	}
	for it := v.MapRange(); it.Next(); {
		key, err := keyText(it.Key())
		if err != nil {
			return err
		}
		value := it.Value()
		if f.kept {
			e := room.Index(len(pairs))
			e.Set(value)
			value = e
		}
		pairs = append(pairs, pair{key, value})
	}
	slices.SortFunc(pairs, func(a, b pair) int { return cmp.Compare(a.key, b.key) })
	fs := f.newFields(len(pairs))
	for i, p := range pairs {
		if i > 0 && p.key == pairs[i-1].key {
			return unsupported(t, fmt.Errorf("two keys are %q", p.key))
		}
		fs.keys = append(fs.keys, p.key)
		if err := f.value(&fs.values[i], p.value); err != nil {
			return inside(err, p.key)
		}
	}
	n.keyed(&fs)
	return nil
}

// keyText returns the key of a map as encoding/json names it.
func keyText(k reflect.Value) (string, error) {
	if t := k.Type(); structs.MarshalsKeys(t) {
		if t.Kind() == reflect.Pointer && k.IsNil() {
			return "", nil
		}
		clone, err := cloneOf(k) // as in marshaled
		if err != nil {
			return "", err
		}
		text, err := clone.Interface().(encoding.TextMarshaler).MarshalText()
		if err != nil {
			return "", unsupported(t, err)
		}
		return string(text), nil
	}
	switch k.Kind() {
	case reflect.String:
		return k.String(), nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return strconv.FormatInt(k.Int(), 10), nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return strconv.FormatUint(k.Uint(), 10), nil
	}
	return "", &Error{Type: k.Type().String(), Err: fmt.Errorf("%w: the key of a map", ErrUnsupported)}
}

// structOf freezes a struct.
func (f *freezer) structOf(n *node, v reflect.Value) error {
	shape := structs.Of(v.Type())
	fs := f.newFields(len(shape.Fields))
	for _, field := range shape.Fields {
		fv, err := v.FieldByIndexErr(field.Index)
		if err != nil || field.OmitEmpty && structs.Empty(fv) {
			continue // also what is embedded by a nil pointer
		}
		if field.OmitZero {
			if omit, err := zero(fv); err != nil {
				return inside(err, field.Name)
			} else if omit {
				continue
			}
		}
		fs.keys = append(fs.keys, field.Name)
		e := &fs.values[len(fs.keys)-1]
		err = f.value(e, fv)
		if err == nil && field.Quoted && e.from.kind != Null {
			err = f.quote(e, fv)
		}
		if err != nil {
			return inside(err, field.Name)
		}
	}
	n.keyed(&fs)
	return nil
}

// quote makes n, which v was frozen into, a String with its JSON.
func (f *freezer) quote(n *node, v reflect.Value) error {
	text, err := Value{n}.append(nil)
	if err != nil {
		return err
	}
	n.from = originOf(v.Type(), String)
	n.string(string(text))
	return f.keep(n, v)
}

// zero is what encoding/json means by omitzero. A method IsZero is called on another
// clone, as those in marshaled are.
func zero(v reflect.Value) (bool, error) {
	t := v.Type()
	byPointer := reflect.PointerTo(t).Implements(zeroer)
	if !byPointer && !t.Implements(zeroer) {
		return v.IsZero(), nil
	}
	if v.Kind() == reflect.Interface && !v.IsNil() {
		v = v.Elem()
	}
	switch v.Kind() {
	case reflect.Interface:
		return true, nil
	case reflect.Pointer:
		if v.IsNil() {
			return true, nil
		}
	}
	clone, err := cloneOf(v)
	if err != nil {
		return false, err
	}
	if byPointer {
		clone = clone.Addr()
	}
	return clone.Interface().(interface{ IsZero() bool }).IsZero(), nil
}

var zeroer = reflect.TypeFor[interface{ IsZero() bool }]()

// marshaled freezes a value that marshals itself, as what that is.
func (f *freezer) marshaled(n *node, v reflect.Value, tr *traits) error {
	t := v.Type()
	// Another clone is marshaled: whatever the method does with it is done to nobody's
	// value.
	clone, err := cloneOf(v)
	if err != nil {
		return err
	}
	marshaler := clone.Addr().Interface()
	if !tr.byJSON {
		text, err := marshaler.(encoding.TextMarshaler).MarshalText()
		if err != nil {
			return unsupported(t, err)
		}
		n.from = originOf(t, String)
		n.string(string(text))
		return nil
	}
	text, err := marshaler.(json.Marshaler).MarshalJSON()
	if err != nil {
		return unsupported(t, err)
	}
	decoded, err := decode(text)
	if err != nil {
		return unsupported(t, err)
	}
	if err := f.frozen(n, decoded); err != nil {
		return err
	}
	n.from = originOf(t, n.from.kind)
	return nil
}

// FreezeHandles is [Freeze] that also takes channels, functions, unsafe pointers and
// complex numbers: each becomes a Handle, alone or inside of v. The result can be stored
// like any Value.
//
// A Handle is opaque. [Value.Any] returns the very channel or function, nil ones too,
// and all callers share it. A Handle has no JSON, so that nothing that holds one can be
// exported. What a pointer to one points to is copied, as ever.
//
// The other errors are those of Freeze: NaN, infinities, and maps whose keys are of such
// a kind are refused still.
func FreezeHandles(v any) (Value, error) { return freeze(v, true) }

// handle makes n hold v as it is.
func (n *node) handle(v reflect.Value) {
	x := v.Interface()
	n.from, n.ptr = originOf(v.Type(), Handle), unsafe.Pointer(&x)
}
