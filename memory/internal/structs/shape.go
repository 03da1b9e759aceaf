// Package structs has the fields of a struct as encoding/json sees them.
package structs

import (
	"encoding"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"sync"
	"unicode"
)

// A shape is how a struct type looks in JSON.
type shape struct {
	Fields   []field // by name
	Complete bool    // they are all there is, so that a struct can be restored from them
}

type field struct {
	Name                string
	Index               []int
	OmitEmpty, OmitZero bool
	Quoted              bool // shown as a String of its JSON
	tagged              bool
}

var shapes sync.Map // reflect.Type → *shape

// Of returns the fields of t that encoding/json would show: exported ones,
// and those of embedded structs that no other hides.
func Of(t reflect.Type) *shape {
	if s, ok := shapes.Load(t); ok {
		return s.(*shape)
	}
	byName := make(map[string][]field)
	collect(t, nil, nil, byName)
	s := new(shape)
	for _, fs := range byName {
		if f, ok := dominant(fs); ok {
			s.Fields = append(s.Fields, f)
		}
	}
	slices.SortFunc(s.Fields, func(a, b field) int { return strings.Compare(a.Name, b.Name) })
	s.Complete = len(s.Fields) == t.NumField()
	for _, f := range s.Fields {
		s.Complete = s.Complete && len(f.Index) == 1 && !f.OmitEmpty && !f.OmitZero
	}
	shapes.Store(t, s)
	return s
}

// collect adds the fields of t, which the index leads to, and those of structs
// embedded in it. It goes into no type twice on one way.
func collect(t reflect.Type, index []int, inside []reflect.Type, byName map[string][]field) {
	if slices.Contains(inside, t) {
		return
	}
	inside = append(slices.Clip(inside), t)
	for i := range t.NumField() {
		sf := t.Field(i)
		tag := sf.Tag.Get("json")
		name, options, _ := strings.Cut(tag, ",")
		if !validName(name) {
			name = ""
		}
		at := append(slices.Clip(index), i)
		if tag == "-" {
			continue
		}
		if e := under(sf.Type); sf.Anonymous && name == "" && e.Kind() == reflect.Struct {
			collect(e, at, inside, byName)
			continue
		}
		if !sf.IsExported() {
			continue
		}
		f := field{Name: name, Index: at, tagged: name != ""}
		if name == "" {
			f.Name = sf.Name
		}
		for o := range strings.SplitSeq(options, ",") {
			f.OmitEmpty = f.OmitEmpty || o == "omitempty"
			f.OmitZero = f.OmitZero || o == "omitzero"
			f.Quoted = f.Quoted || o == "string" && quotable(sf.Type)
		}
		byName[f.Name] = append(byName[f.Name], f)
	}
}

// validName reports whether encoding/json takes the name that a tag says.
func validName(name string) bool {
	for _, c := range name {
		if !strings.ContainsRune("!#$%&()*+-./:;<=>?@[]^_{|}~ ", c) && !unicode.IsLetter(c) && !unicode.IsDigit(c) {
			return false
		}
	}
	return true
}

// dominant returns the field that Go's rules let win: the least deep, then a
// tagged one; none if there are several.
func dominant(fs []field) (field, bool) {
	best, count := fs[0], 0
	for _, f := range fs {
		switch d := len(f.Index) - len(best.Index); {
		case d < 0 || d == 0 && f.tagged && !best.tagged:
			best, count = f, 1
		case d == 0 && f.tagged == best.tagged:
			count++
		}
	}
	return best, count == 1
}

// quotable reports whether encoding/json heeds the option string for values of t.
func quotable(t reflect.Type) bool {
	if t.Name() == "" {
		t = under(t)
	}
	if byJSON, byText := Marshals(t); byJSON || byText {
		return false
	}
	return reflect.Bool <= t.Kind() && t.Kind() <= reflect.Float64 || t.Kind() == reflect.String
}

func under(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Pointer {
		return t.Elem()
	}
	return t
}

// Empty is what encoding/json means by omitempty.
func Empty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Array, reflect.Map, reflect.Slice, reflect.String:
		return v.Len() == 0
	case reflect.Struct:
		return false
	}
	return v.IsZero()
}

var (
	textMarshaler = reflect.TypeFor[encoding.TextMarshaler]()
	jsonMarshaler = reflect.TypeFor[json.Marshaler]()
)

// Marshals reports whether values of t, or pointers to them, marshal themselves.
func Marshals(t reflect.Type) (byJSON, byText bool) {
	p := reflect.PointerTo(t)
	return p.Implements(jsonMarshaler), p.Implements(textMarshaler)
}

// MarshalsKeys reports whether the keys of a map marshal themselves, those that are
// strings too: in that, releases of encoding/json differ.
func MarshalsKeys(key reflect.Type) bool {
	return key.Kind() != reflect.Interface && key.Implements(textMarshaler)
}
