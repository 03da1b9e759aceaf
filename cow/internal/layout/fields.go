package layout

import (
	"reflect"
	"strings"
	"unicode"
)

// A field is a field of a struct as a codec writes it.
type field struct {
	name   string
	of     reflect.Type
	quoted bool // in JSON, as a string
	tagged bool
}

// fields returns the fields of a struct, and whether they are written in their order,
// without their names.
func (of Of) fields(t reflect.Type) (list []field, ordered bool) {
	if of == Go {
		for i := range t.NumField() {
			f := t.Field(i)
			embeds := f.Anonymous && pointed(f.Type).Kind() == reflect.Struct // which JSON looks into
			if f.IsExported() || embeds {
				name := f.Name
				if embeds {
					name = "embedded " + name
				}
				if tag, _, _ := strings.Cut(f.Tag.Get("json"), ","); tag != "" && tag != name {
					name += " json:" + tag
				}
				list = append(list, field{name: name, of: f.Type})
			}
		}
		return list, false
	}
	// As encoding/json has it, and fxamacker/cbor after it: the fields of embedded structs
	// are those of the struct, unless there are others of the name that are less deep.
	seen := make(map[reflect.Type]bool)
	named := make(map[string]bool)
	for level := []reflect.Type{t}; len(level) > 0; {
		var here []field
		var next []reflect.Type
		for _, t := range level {
			if seen[t] {
				continue
			}
			for i := range t.NumField() {
				f := t.Field(i)
				tag, ok := of.tag(f)
				if f.Name == "_" && of == CBOR && strings.Contains(","+tag+",", ",toarray,") {
					ordered = true
				}
				if !ok || f.Name == "_" {
					continue
				}
				under := pointed(f.Type)
				if f.Anonymous && !f.IsExported() && under.Kind() != reflect.Struct || !f.Anonymous && !f.IsExported() {
					continue
				}
				name, options, _ := strings.Cut(tag, ",")
				if of == JSON && !isName(name) {
					name = ""
				}
				if name == "" && f.Anonymous && under.Kind() == reflect.Struct {
					next = append(next, under)
					continue
				}
				is := field{name: name, of: f.Type, tagged: name != "", quoted: of == JSON && strings.Contains(","+options+",", ",string,")}
				if name == "" {
					is.name = f.Name
				}
				if of == CBOR && strings.Contains(","+options+",", ",keyasint,") {
					is.name += ",keyasint"
				}
				here = append(here, is)
			}
		}
		for _, t := range level { // only now: what is there twice hides itself
			seen[t] = true
		}
		for _, f := range here {
			if !named[f.name] && wins(f, here) {
				list = append(list, f)
			}
		}
		for _, f := range here {
			named[f.name] = true
		}
		level = next
	}
	return list, ordered
}

// pointed returns what a type of an embedded field points to, or that type.
func pointed(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Pointer && t.Name() == "" {
		return t.Elem()
	}
	return t
}

// wins reports whether a field is the one of its name among those that are as deep.
func wins(f field, all []field) bool {
	same, tagged := 0, 0
	for _, other := range all {
		if other.name == f.name {
			same++
			if other.tagged {
				tagged++
			}
		}
	}
	return same == 1 || f.tagged && tagged == 1
}

// tag returns the tag of a field, and false if that says that the field is left out.
func (of Of) tag(f reflect.StructField) (string, bool) {
	tag := ""
	if of == CBOR {
		tag = f.Tag.Get("cbor")
	}
	if tag == "" {
		tag = f.Tag.Get("json")
	}
	return tag, tag != "-"
}

// isName reports whether encoding/json takes a name in a tag.
func isName(s string) bool {
	for _, c := range s {
		if !strings.ContainsRune("!#$%&()*+-./:;<=>?@[]^_{|}~ ", c) && !unicode.IsLetter(c) && !unicode.IsDigit(c) {
			return false
		}
	}
	return true
}
