package value

import (
	"reflect"
	"slices"
	"strings"
	"sync"
	"unicode"
)

// A shape is how a struct type looks in JSON.
type shape struct {
	fields   []field // by name
	complete bool    // they are all there is, so that a struct can be restored from them
}

type field struct {
	name                string
	index               []int
	omitEmpty, omitZero bool
	quoted              bool // shown as a String of its JSON
	tagged              bool
}

var shapes sync.Map // reflect.Type → *shape

// shapeOf returns the fields of t that encoding/json would show: exported ones,
// and those of embedded structs that no other hides.
func shapeOf(t reflect.Type) *shape {
	if s, ok := shapes.Load(t); ok {
		return s.(*shape)
	}
	byName := make(map[string][]field)
	collect(t, nil, nil, byName)
	s := new(shape)
	for _, fs := range byName {
		if f, ok := dominant(fs); ok {
			s.fields = append(s.fields, f)
		}
	}
	slices.SortFunc(s.fields, func(a, b field) int { return strings.Compare(a.name, b.name) })
	s.complete = len(s.fields) == t.NumField()
	for _, f := range s.fields {
		s.complete = s.complete && len(f.index) == 1 && !f.omitEmpty && !f.omitZero
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
		f := field{name: name, index: at, tagged: name != ""}
		if name == "" {
			f.name = sf.Name
		}
		for o := range strings.SplitSeq(options, ",") {
			f.omitEmpty = f.omitEmpty || o == "omitempty"
			f.omitZero = f.omitZero || o == "omitzero"
			f.quoted = f.quoted || o == "string" && quotable(sf.Type)
		}
		byName[f.name] = append(byName[f.name], f)
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
		switch d := len(f.index) - len(best.index); {
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
	if byJSON, byText := marshals(t); byJSON || byText {
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

// empty is what encoding/json means by omitempty.
func empty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Array, reflect.Map, reflect.Slice, reflect.String:
		return v.Len() == 0
	case reflect.Struct:
		return false
	}
	return v.IsZero()
}
