package clone

import (
	"reflect"
	"sync"
	"sync/atomic"
	"unsafe"
)

// Of returns the function that deeply clones values of T, or nil if they need no clone. It panics
// with an *[Error] if T holds what must not be copied; the function panics with one if it finds
// such a thing behind an interface. The function is safe for concurrent use. It does not call a
// method Clone that cowview generated for T, as that may call this function.
func Of[T any]() func(T) T {
	pl := planOf(reflect.TypeFor[T]())
	if c, ok := pl.cloner.Load().(func(T) T); ok {
		return c
	}
	c := cloner[T](pl)
	if c != nil {
		pl.cloner.Store(c)
	}
	return c
}

// OfWhole is [Of] for whole values, such as those of a map: it calls a method Clone that cowview
// generated.
func OfWhole[T any]() func(T) T {
	t := reflect.TypeFor[T]()
	if c := Of[T](); c == nil || !isGenerated(t) {
		return c
	}
	return methodCloner[T](t)
}

func cloner[T any](pl *plan) func(T) T {
	switch {
	case pl.fix == nil:
		return nil
	case pl.class == classMethod && pl.named == nil:
		return methodCloner[T](pl.typ)
	}
	if err := findStatic(pl.typ); err != nil {
		panic(err)
	}
	return compiledCloner[T](pl)
}

// HasPointers reports whether there are pointers in the memory of a value of type t.
func HasPointers(t reflect.Type) bool { return hasPointers(t) }

// methodCloner returns the cloner that calls V's own method Clone. Like the
// compiled clone it passes nil over.
func methodCloner[V any](t reflect.Type) func(V) V {
	if t.Kind() == reflect.Interface {
		type cloner interface{ Clone() V }
		return func(v V) V {
			// The data word is nil in a nil interface and in one that holds a nil
			// pointer.
			i := any(v)
			if (*eface)(unsafe.Pointer(&i)).data == nil {
				return v
			}
			return i.(cloner).Clone()
		}
	}
	// The method itself: to call it through an interface would allocate a V.
	m, _ := t.MethodByName("Clone")
	clone := m.Func.Interface().(func(V) V)
	switch t.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Slice, reflect.Chan, reflect.Func:
		// The first word of each is nil when the value is.
		return func(v V) V {
			if *(*unsafe.Pointer)(unsafe.Pointer(&v)) == nil {
				return v
			}
			return clone(v)
		}
	}
	return clone
}

// clone replaces the value of pl at p, a copy of the original, by its clone. The
// care is that which the last one took, and becomes that which this one took.
func (s *state) clone(pl *plan, p unsafe.Pointer, last *atomic.Uint32) {
	began := care(last.Load())
	for s.care = began; ; s.care++ {
		overlap := false
		if s.care == asWhole {
			l := new(layout)
			s.whole = l
			l.find(pl, s.root)
			overlap = l.divide()
			l.clone(s)
		}
		pl.fix(s, pl, p)
		if s.finish() {
			s.met = s.met && s.care == asGraph || overlap
			break
		}
		pl.at(p).Set(pl.at(s.root))
	}
	took := s.care
	if !s.met && took > asTree {
		took--
	}
	if took != began {
		last.Store(uint32(took))
	}
	s.met, s.whole = false, nil
}

// frame is a state with room for the value it works on. The room is on the heap
// because fixers are called through pointers, and pooled because it need not be
// allocated each time.
type frame[V any] struct {
	state
	slot V // becomes the clone
	root V // stays the original
}

// compiledCloner returns the cloner that follows pl, the plan of V.
func compiledCloner[V any](pl *plan) func(V) V {
	if direct, ok := pl.direct.(func(V) V); ok {
		return direct
	}
	if !shares(pl) {
		return plainCloner[V](pl)
	}
	last := new(atomic.Uint32)
	pool := &sync.Pool{New: func() any {
		f := new(frame[V])
		f.state.rootType = pl.typ
		f.state.root = unsafe.Pointer(&f.root)
		return f
	}}
	return func(v V) V {
		f := pool.Get().(*frame[V])
		f.slot, f.root = v, v
		f.clone(pl, unsafe.Pointer(&f.slot), last)
		v = f.slot
		// After a panic the frame is not put back: it may hold anything.
		var zero V
		f.slot, f.root = zero, zero
		pool.Put(f)
		return v
	}
}

// plainCloner is compiledCloner for a V that needs no state.
func plainCloner[V any](pl *plan) func(V) V {
	switch direct := pl.direct.(type) {
	case func([]byte) []byte:
		return under[V](direct)
	case func([]string) []string:
		return under[V](direct)
	case func(map[string]string) map[string]string:
		return under[V](direct)
	}
	if ref := pl.ref; ref != nil {
		return func(v V) V {
			w := *(*unsafe.Pointer)(unsafe.Pointer(&v))
			if w == nil {
				return v
			}
			w = ref(nil, pl, w)
			return *(*V)(unsafe.Pointer(&w))
		}
	}
	if pl.isSimple() {
		return func(v V) V {
			pl.fix(nil, pl, onStack(unsafe.Pointer(&v)))
			return v
		}
	}
	pool := &sync.Pool{New: func() any { return new(V) }}
	return func(v V) V {
		slot := pool.Get().(*V)
		*slot = v
		pl.fix(nil, pl, unsafe.Pointer(slot))
		v = *slot
		var zero V
		*slot = zero
		pool.Put(slot)
		return v
	}
}

// under makes of a cloner for U one for a V whose underlying type is U.
func under[V, U any](clone func(U) U) func(V) V {
	return func(v V) V {
		u := clone(*(*U)(unsafe.Pointer(&v)))
		return *(*V)(unsafe.Pointer(&u))
	}
}
