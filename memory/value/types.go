package value

import (
	"encoding"
	"encoding/json"
	"reflect"
	"sync"

	"github.com/cowstore/cowstore/snapshot/clone"
)

var (
	valueType     = reflect.TypeFor[Value]()
	valuePointer  = reflect.TypeFor[*Value]()
	numberType    = reflect.TypeFor[json.Number]()
	textMarshaler = reflect.TypeFor[encoding.TextMarshaler]()
	jsonMarshaler = reflect.TypeFor[json.Marshaler]()
)

// Traits are what must be known of a type to freeze its values. They do not change.
type traits struct {
	byJSON, byText bool // a value, or a pointer to it, marshals itself
	byPointer      bool // Clone has a pointer receiver
	opaque         bool // only its own Clone, or nobody, may look for what is in a value
	constant       bool // a value stays itself
	composite      bool // it has parts
	original       bool // the nodes do not tell all of a value: a clone is kept
	varying        bool // some values stay themselves; see clone.IsConstant
	leaf           bool // a value refers to nothing, strings included
}

var knownTraits sync.Map // reflect.Type → *traits

// traitsOf returns the traits of t, which is not an interface.
func traitsOf(t reflect.Type) *traits {
	if tr, ok := knownTraits.Load(t); ok {
		return tr.(*traits)
	}
	tr := newTraits(t)
	knownTraits.Store(t, tr)
	return tr
}

func newTraits(t reflect.Type) *traits {
	tr := &traits{leaf: isLeaf(t)}
	switch t.Kind() {
	case reflect.Pointer:
		// A node has room for one type around a value: not for those of a pointer
		// to a pointer, nor of what is in an interface behind one.
		e := t.Elem().Kind()
		tr.composite, tr.original = true, e == reflect.Pointer || e == reflect.Interface
	case reflect.Struct:
		tr.composite, tr.original = true, !shapeOf(t).complete
	case reflect.Map:
		tr.composite, tr.original = true, marshalsKeys(t.Key())
	case reflect.Slice, reflect.Array:
		tr.composite = true
	}
	if t.Kind() != reflect.Pointer {
		tr.byJSON, tr.byText = marshals(t)
		tr.byPointer = !hasClone(t) && hasClone(reflect.PointerTo(t))
	}
	nature := clone.NatureOf(t)
	tr.constant = nature == clone.Constant
	tr.opaque = tr.constant || hasClone(t) && !tr.leaf || tr.byPointer
	tr.varying = nature == clone.Varying
	tr.original = tr.original || tr.opaque || tr.varying || tr.byJSON || tr.byText
	return tr
}

// marshals reports whether values of t, or pointers to them, marshal themselves.
func marshals(t reflect.Type) (byJSON, byText bool) {
	p := reflect.PointerTo(t)
	return p.Implements(jsonMarshaler), p.Implements(textMarshaler)
}

// marshalsKeys reports whether the keys of a map marshal themselves, those that are
// strings too: in that, releases of encoding/json differ.
func marshalsKeys(key reflect.Type) bool {
	return key.Kind() != reflect.Interface && key.Implements(textMarshaler)
}

// hasClone reports whether t has a method Clone that returns a t.
func hasClone(t reflect.Type) bool {
	m, ok := t.MethodByName("Clone") // by a constant name, so that the linker can drop others
	return ok && m.Type.NumIn() == 1 && m.Type.NumOut() == 1 && m.Type.Out(0) == t
}

// isLeaf reports whether values of t refer to nothing.
func isLeaf(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Struct:
		for i := range t.NumField() {
			if !isLeaf(t.Field(i).Type) {
				return false
			}
		}
		return true
	case reflect.Array:
		return t.Len() == 0 || isLeaf(t.Elem())
	}
	return t.Kind() < reflect.Array // numbers and bools
}
