package snapshot

import (
	"reflect"
	"sync"
	"sync/atomic"
	"unsafe"
)

// plan says how values of one type are cloned. There is one plan a type in the
// process; it does not change once planOf has returned it.
type plan struct {
	typ    reflect.Type
	class  class
	id     uint64 // one for the types whose references may be the same, in the bits above lenBits
	size   uintptr
	noscan bool // no pointers in the memory of a value
	inline bool // an interface holds the value itself, which is one pointer
	slices bool // slices are among the parts of a value

	word    unsafe.Pointer // the type word of an interface that holds a typ
	ptrWord unsafe.Pointer // the same for *typ

	fix fixer    // nil: nothing to clone
	ref refFixer // set for types that are one pointer to what is cloned

	key, elem *plan
	steps     []step        // struct: the fields that need a fixer
	method    reflect.Value // classMethod: the method Clone
	scratch   sync.Pool     // map: *mapScratch, slice: *sliceScratch
	direct    any           // func(T) T where T needs no state at all, or nil
	cloner    atomic.Value  // func(T) T, once Cloner has returned it
}

type step struct {
	off uintptr
	pl  *plan
}

// class is what has to be done about a type, in general.
type class uint8

const (
	classFlat      class = iota // nothing: all of it is in the copy, or may be shared
	classPointer                // follow
	classSentinel               // follow, unless all in it stays itself
	classSlice                  //
	classMap                    //
	classInterface              // find out
	classStruct                 // look into
	classArray                  //
	classMethod                 // call its method Clone
	classLock                   // refuse
)

var (
	plans     sync.Map   // reflect.Type → *plan
	compiling sync.Mutex // one at a time: there is one plan a type
	lastID    = uint64(firstFreeID)
)

// planOf returns the plan of t, compiled at its first use.
func planOf(t reflect.Type) *plan {
	if pl, ok := plans.Load(t); ok {
		return pl.(*plan)
	}
	compiling.Lock()
	defer compiling.Unlock()
	if known == nil {
		known = newKnownTypes()
	}
	c := compiler{}
	pl := c.plan(t)
	// Only now that all are complete: a recursive type has a part that is not.
	for t, pl := range c {
		plans.Store(t, pl)
	}
	return pl
}

// compiler holds the plans that are not published yet.
type compiler map[reflect.Type]*plan

func (c compiler) plan(t reflect.Type) *plan {
	if pl, ok := plans.Load(t); ok {
		return pl.(*plan)
	}
	if pl := c[t]; pl != nil {
		return pl
	}
	lastID++
	pl := &plan{
		typ:     t,
		class:   classify(t),
		id:      lastID << lenBits,
		size:    t.Size(),
		noscan:  !hasPointers(t),
		ptrWord: typeWord(reflect.PointerTo(t)),
	}
	c[t] = pl
	if t.Kind() != reflect.Interface {
		zero := reflect.Zero(t).Interface()
		pl.word = (*eface)(unsafe.Pointer(&zero)).word
		// Else the data word points to a zero.
		pl.inline = (*eface)(unsafe.Pointer(&zero)).data == nil
	}
	// The type may be in its own parts, behind a reference. Hence all have a fixer
	// before their parts are looked at: a struct leaves out what has none. A struct or
	// an array that is met again so has that reference, and needs the fixer.
	switch pl.class {
	case classPointer:
		pl.fix, pl.ref = fixRef, refPointer
		pl.elem = c.plan(t.Elem())
	case classSentinel:
		pl.fix, pl.ref = fixRef, refSentinel
		if pl.elem = c.plan(t.Elem()); pl.elem.fix == nil {
			pl.class, pl.fix, pl.ref = classFlat, nil, nil
		}
	case classSlice:
		pl.fix, pl.slices = fixRef, true // something, for now
		pl.elem = c.plan(t.Elem())
		pl.fix = sliceFixer(pl.elem)
		c.unnamed(pl, reflect.SliceOf(t.Elem()))
	case classMap:
		pl.fix, pl.ref = fixRef, refMap
		pl.key, pl.elem = c.plan(t.Key()), c.plan(t.Elem())
		c.unnamed(pl, reflect.MapOf(t.Key(), t.Elem()))
	case classInterface:
		pl.fix = fixInterface
		if t.NumMethod() == 0 {
			pl.fix = fixAny
		}
	case classStruct:
		pl.fix = fixStruct
		c.addSteps(pl, t, 0)
		for _, st := range pl.steps {
			pl.slices = pl.slices || st.pl.slices
		}
		if len(pl.steps) == 0 {
			pl.class, pl.fix = classFlat, nil
		}
	case classArray:
		if t.Len() > 0 {
			pl.fix, pl.slices = fixArray, true // for now
		}
		pl.elem = c.plan(t.Elem())
		pl.slices = pl.elem.slices
		if t.Len() == 0 || pl.elem.fix == nil {
			pl.class, pl.fix = classFlat, nil
		}
	case classMethod:
		pl.fix = fixMethod
		m, _ := t.MethodByName("Clone")
		pl.method = m.Func
		switch t.Kind() {
		case reflect.Pointer, reflect.Slice:
			pl.elem = c.plan(t.Elem())
		}
		switch t.Kind() {
		case reflect.Interface:
			pl.fix = fixInterfaceMethod
		case reflect.Pointer, reflect.Map:
			pl.fix, pl.ref = fixRef, refMethod
		default:
			if isValue(t) {
				pl.class, pl.fix = classFlat, nil
			}
		}
	case classLock:
		pl.fix = fixLock
	}
	return pl
}

// isSimple reports whether pl is of a struct in which only slices and maps of known
// types need a clone: fixers that keep no pointer to what they fix.
func (pl *plan) isSimple() bool {
	if pl.class != classStruct {
		return false
	}
	for _, st := range pl.steps {
		if st.pl.direct == nil {
			return false
		}
	}
	return true
}

// unnamed gives pl, the plan of a slice or a map, what it has in common with that
// of the unnamed type u of the same elements: perhaps fixers, and the identity,
// since one may be converted to the other.
func (c compiler) unnamed(pl *plan, u reflect.Type) {
	known.apply(pl, u)
	if pl.typ != u {
		pl.id = c.plan(u).id
	}
}

// addSteps adds the fields of the struct t, which is off bytes into pl's type, and
// those of the structs in it: a nested struct is not a step of its own.
func (c compiler) addSteps(pl *plan, t reflect.Type, off uintptr) {
	if t == builderType {
		c.addBuilderSteps(pl, off)
		return
	}
	for i := range t.NumField() {
		f := t.Field(i)
		sub := c.plan(f.Type)
		switch {
		case sub.fix == nil:
		case sub.class == classStruct:
			c.addSteps(pl, f.Type, off+f.Offset)
		default:
			pl.steps = append(pl.steps, step{off + f.Offset, sub})
		}
	}
}

// classify returns the class of t by what t itself is. The class of a struct or an
// array may turn out to be classFlat when its parts are known.
func classify(t reflect.Type) class {
	switch {
	case isConstant(t):
		return classFlat
	case hasClone(t):
		return classMethod
	case isLock(t):
		return classLock
	case isSentinel(t):
		return classSentinel
	}
	switch t.Kind() {
	case reflect.Pointer:
		return classPointer
	case reflect.Slice:
		return classSlice
	case reflect.Map:
		return classMap
	case reflect.Interface:
		return classInterface
	case reflect.Struct:
		return classStruct
	case reflect.Array:
		return classArray
	}
	return classFlat
}

// isValue reports whether t holds nothing but numbers, bools and strings, so that
// its method Clone has nothing to do.
func isValue(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Struct:
		for i := range t.NumField() {
			if !isValue(t.Field(i).Type) {
				return false
			}
		}
		return true
	case reflect.Array:
		return isValue(t.Elem())
	case reflect.Chan, reflect.Func, reflect.Interface, reflect.Map, reflect.Pointer, reflect.Slice,
		reflect.UnsafePointer:
		return false
	}
	return true
}

func hasPointers(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Struct:
		for i := range t.NumField() {
			if hasPointers(t.Field(i).Type) {
				return true
			}
		}
		return false
	case reflect.Array:
		return t.Len() > 0 && hasPointers(t.Elem())
	case reflect.Chan, reflect.Func, reflect.Interface, reflect.Map, reflect.Pointer, reflect.Slice,
		reflect.String, reflect.UnsafePointer:
		return true
	}
	return false
}
