package value

import (
	"fmt"
	"reflect"
	"sync"
	"unsafe"

	"github.com/cowstore/cowstore/memory/internal/structs"
	"github.com/cowstore/cowstore/snapshot/clone"
)

// Some values are more than their nodes tell: fields that JSON does not show, text
// that a value marshals itself to, pointers that lead to one object. Of these a
// private clone is kept, the original, and the nodes of all that is in it point to
// their place there: it is made once, at the outermost value that needs one.

// cloneAny is the deep clone of package snapshot/clone.
var cloneAny = clone.Of[any]()

// original freezes a clone of v, which n and the nodes below point to.
func (f *freezer) original(n *node, v reflect.Value) error {
	copied, err := cloneOf(v)
	if err != nil {
		return err
	}
	report := f.survey(v)
	f.kept = true
	err = f.value(n, copied)
	f.kept = false
	if err == nil {
		n.from = n.from.withSize(int64(v.Type().Size()) + report.Made(cloned(copied), sizeOf))
	}
	return err
}

// sizeOf returns the size of v if that is a Value, of which package clone knows nothing.
func sizeOf(v reflect.Value) (int64, bool) {
	if v.Type() != valueType {
		return 0, false
	}
	return Value{(*node)(v.Field(0).UnsafePointer())}.Size(), true
}

// originalSize returns about how many bytes the original v takes.
func originalSize(v reflect.Value) int64 {
	return int64(v.Type().Size()) + clone.ReportOf(cloned(v), nil).Bytes
}

// cloned returns what cloneAny is asked to clone for v: a pointer to v, where that has the
// method Clone.
func cloned(v reflect.Value) reflect.Value {
	if traitsOf(v.Type()).byPointer {
		return addressable(v).Addr()
	}
	return v
}

// keep makes n point to v, or to a clone of it where v is not a private clone.
func (f *freezer) keep(n *node, v reflect.Value) error {
	if !f.kept {
		var err error
		if v, err = cloneOf(v); err != nil {
			return err
		}
	}
	n.orig = v.Addr().UnsafePointer()
	return nil
}

// cloneOf returns a deep clone of v, addressable. What must not be copied is an
// error.
func cloneOf(v reflect.Value) (copied reflect.Value, err error) {
	t := v.Type()
	if !v.CanInterface() {
		return reflect.Value{}, &Error{Type: t.String(), Err: ErrUnsupported}
	}
	defer func() {
		switch e := recover().(type) {
		case nil:
		case *clone.Error:
			err = &Error{Type: t.String(), Err: &copyError{e}}
		default:
			panic(e)
		}
	}()
	if traitsOf(t).byPointer {
		p := reflect.ValueOf(cloneAny(cloned(v).Interface()))
		if p.IsNil() {
			return p, &Error{Type: t.String(), Err: fmt.Errorf("%w: its Clone returned nil", ErrUnsupported)}
		}
		return p.Elem(), nil
	}
	p := reflect.New(t)
	p.Elem().Set(reflect.ValueOf(cloneAny(v.Interface())))
	return p.Elem(), nil
}

// addressable returns v, or a shallow copy of it.
func addressable(v reflect.Value) reflect.Value {
	if v.CanAddr() {
		return v
	}
	p := reflect.New(v.Type())
	p.Elem().Set(v)
	return p.Elem()
}

// boxed returns what is in the interface that v is, in the place where it lies.
func boxed(v reflect.Value) reflect.Value {
	v = addressable(v)
	e := v.Elem()
	// The second word of an interface points to what is in it, or is it.
	data := unsafe.Add(v.Addr().UnsafePointer(), unsafe.Sizeof(uintptr(0)))
	if !isWord(e.Type()) {
		data = *(*unsafe.Pointer)(data)
	}
	return reflect.NewAt(e.Type(), data).Elem()
}

// isWord reports whether an interface holds a value of t in its own second word.
func isWord(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Chan, reflect.Func, reflect.UnsafePointer:
		return true
	case reflect.Struct, reflect.Array:
		zero := reflect.Zero(t).Interface()
		return (*[2]unsafe.Pointer)(unsafe.Pointer(&zero))[1] == nil
	}
	return false
}

// thaw returns a clone of the original of v.
func (v Value) thaw() reflect.Value {
	t := v.n.from.typ
	at := reflect.NewAt(t, v.n.orig)
	if traitsOf(t).byPointer {
		return reflect.ValueOf(cloneAny(at.Interface())).Elem()
	}
	return reflect.ValueOf(cloneAny(at.Elem().Interface()))
}

// A copyError says in the words of this package what package clone refuses to
// clone: there are no options here.
type copyError struct{ at *clone.Error }

func (e *copyError) Error() string {
	where := ""
	if e.at.Path != "" {
		where = e.at.Path + ": "
	}
	return fmt.Sprintf("%v: %s%v must not be copied: give the type that holds it a method Clone that returns that type, or a pointer to it", ErrUnsupported, where, e.at.Type)
}

func (e *copyError) Unwrap() []error { return []error{ErrUnsupported, e.at} }

// Traits are what must be known of a type to freeze its values. They do not change.
type traits struct {
	byJSON, byText bool // a value, or a pointer to it, marshals itself
	byPointer      bool // Clone has a pointer receiver
	composite      bool // it has parts
	original       bool // the nodes do not tell all of a value: a clone is kept
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
	tr := &traits{}
	switch t.Kind() {
	case reflect.Pointer:
		// A node has room for one type around a value: not for those of a pointer
		// to a pointer, nor of what is in an interface behind one.
		e := t.Elem().Kind()
		tr.composite, tr.original = true, e == reflect.Pointer || e == reflect.Interface
	case reflect.Struct:
		tr.composite, tr.original = true, !structs.Of(t).Complete
	case reflect.Map:
		tr.composite, tr.original = true, structs.MarshalsKeys(t.Key())
	case reflect.Slice, reflect.Array:
		tr.composite = true
	}
	if t.Kind() != reflect.Pointer {
		tr.byJSON, tr.byText = structs.Marshals(t)
		tr.byPointer = !hasClone(t) && hasClone(reflect.PointerTo(t))
	}
	tr.original = tr.original || tr.byJSON || tr.byText || tr.byPointer || hasClone(t) && clone.HasPointers(t)
	switch clone.NatureOf(t) {
	case clone.Constant, clone.Varying: // values stay themselves, or some do
		tr.original = true
	}
	return tr
}

// hasClone reports whether t has a method Clone that returns a t.
func hasClone(t reflect.Type) bool {
	m, ok := t.MethodByName("Clone") // by a constant name, so that the linker can drop others
	return ok && m.Type.NumIn() == 1 && m.Type.NumOut() == 1 && m.Type.Out(0) == t
}
