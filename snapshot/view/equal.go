package view

import (
	"bytes"
	"reflect"
	"unsafe"
)

// Equal reports whether two Refs point to values that are deeply equal, as
// reflect.DeepEqual has it, or both point nowhere. Unlike that, it takes no stack for
// values that are nested deeply, and its time depends on the objects in them alone, not on
// how many ways lead there.
func Equal[T any](a, b Ref[T]) bool {
	if a.p == nil || b.p == nil || a.p == b.p {
		return a.p == b.p
	}
	return new(comparer).equal(a.p, b.p)
}

// A comparer compares two values. What references lead to waits until the rest of what
// they are in is done.
type comparer struct {
	todo []pair
	same bool // references must be the same, as for ==

	// Objects that are equal unless a difference is found, which ends it all: from each to
	// another of its class, up to one that is in no key. What is equal to the same is not
	// compared.
	class map[object]object
}

// equal compares what two pointers of one type lead to.
func (c *comparer) equal(a, b any) bool {
	if !c.value(reflect.ValueOf(a).Elem(), reflect.ValueOf(b).Elem()) {
		return false
	}
	for len(c.todo) > 0 {
		last := len(c.todo) - 1
		p := c.todo[last]
		c.todo[last] = pair{}
		c.todo = c.todo[:last]
		if !c.behind(p.a, p.b) {
			return false
		}
	}
	return true
}

// A pair is two references, or two interfaces, of one type that are not nil.
type pair struct{ a, b reflect.Value }

// An object is what a reference leads to, n elements of it if that is a slice.
type object struct {
	t reflect.Type
	p unsafe.Pointer
	n int
}

// value compares two values of one type, addressable and without the mark of unexported
// fields, but not what they refer to. It recurses as deep as types nest.
func (c *comparer) value(a, b reflect.Value) bool {
	switch a.Kind() {
	case reflect.Struct:
		for i := range a.NumField() {
			if !c.value(readable(a.Field(i)), readable(b.Field(i))) {
				return false
			}
		}
		return true
	case reflect.Array:
		return c.elements(a, b)
	case reflect.Func:
		return a.IsNil() && b.IsNil()
	case reflect.Pointer, reflect.Map, reflect.Slice, reflect.Interface:
		if a.IsNil() || b.IsNil() {
			return a.IsNil() == b.IsNil()
		}
		if c.same && a.Kind() != reflect.Interface {
			return a.UnsafePointer() == b.UnsafePointer()
		}
		return c.reference(a, b)
	}
	return a.Equal(b)
}

// readable returns v, a field, so that it may be read like an exported one.
func readable(v reflect.Value) reflect.Value {
	return reflect.NewAt(v.Type(), unsafe.Pointer(v.UnsafeAddr())).Elem()
}

func (c *comparer) elements(a, b reflect.Value) bool {
	for i := range a.Len() {
		if !c.value(a.Index(i), b.Index(i)) {
			return false
		}
	}
	return true
}

// reference is value for references that are not nil.
func (c *comparer) reference(a, b reflect.Value) bool {
	x, y := objectOf(a), objectOf(b)
	if a.Kind() == reflect.Slice && a.Type().Elem().Kind() == reflect.Uint8 {
		return bytes.Equal(a.Bytes(), b.Bytes())
	}
	switch {
	case x.t != y.t || x.n != y.n:
		return false
	case x.p == y.p && a.Kind() != reflect.Interface:
		return true
	}
	if c.class == nil {
		c.class = make(map[object]object)
	}
	if x == y {
		// What is in one interface may differ from itself, as a NaN does: it is looked at
		// once.
		x.n = itself
		y = x
		y.p = nil
	}
	if x, y = c.first(x), c.first(y); x != y {
		c.class[x] = y
		c.todo = append(c.todo, pair{a, b})
	}
	return true
}

// What an object has for n where it is what an interface holds, or is compared with itself.
const (
	inInterface = -1
	itself      = -2
)

// objectOf returns what v refers to. The lengths of maps are there since those of other
// lengths are not equal.
func objectOf(v reflect.Value) object {
	switch v.Kind() {
	case reflect.Interface:
		x := v.Interface()
		return object{v.Elem().Type(), (*[2]unsafe.Pointer)(unsafe.Pointer(&x))[1], inInterface}
	case reflect.Pointer:
		return object{t: v.Type(), p: v.UnsafePointer()}
	}
	return object{v.Type(), v.UnsafePointer(), v.Len()}
}

// first returns the object that stands for those that are equal to o.
func (c *comparer) first(o object) object {
	for {
		next, ok := c.class[o]
		if !ok {
			return o
		}
		if after, ok := c.class[next]; ok {
			c.class[o] = after // half the way the next time
		}
		o = next
	}
}

// behind compares what two references lead to.
func (c *comparer) behind(a, b reflect.Value) bool {
	switch a.Kind() {
	case reflect.Pointer:
		return c.value(a.Elem(), b.Elem())
	case reflect.Slice:
		return c.elements(a, b)
	case reflect.Interface:
		return c.value(copyOf(a.Elem()), copyOf(b.Elem()))
	}
	for it := a.MapRange(); it.Next(); {
		other := b.MapIndex(it.Key())
		if !other.IsValid() || !c.value(copyOf(it.Value()), copyOf(other)) {
			return false
		}
	}
	return true
}

// copyOf returns an addressable copy of v.
func copyOf(v reflect.Value) reflect.Value {
	c := reflect.New(v.Type()).Elem()
	c.Set(v)
	return c
}
