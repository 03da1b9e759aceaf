package snapshot

import (
	"reflect"
	"sync"
	"unsafe"
)

// The compiled clone copies a value and everything it reaches.
//
// What it keeps: dynamic types; nil and empty apart; cycles, and pointers, maps
// and slices that are the same one (for a slice: the same start, length and type)
// in two places of one value; unexported fields; NaN keys.
//
// What it changes: a slice is clipped to its length. Slices that overlap without
// being the same become separate. A pointer into the middle of another object, to
// a field or an element, becomes a pointer to a copy of that part alone, and so
// does a pointer to an object's first field. A map keyed by pointers is keyed by
// the clones.
//
// What it shares: what has nothing mutable in it; channels and functions, which
// are handles; pointers to values of size zero; the constants and sentinels of types.go. A
// struct boxed in an interface is shared when all of it may be.
//
// A type with a method Clone that returns that very type is cloned by it wherever
// it occurs, nil excepted; a pointer or a map cloned so keeps its sharing.
//
// How it works: a type is compiled once to a plan (clone_plan.go). A plan finds a
// shallow copy of the value in its final place and replaces, in place, each
// reference by a reference to a clone: copy, then fix, the way a copying collector
// evacuates an object and then scans it. A memo (clone_memo.go) holds the
// forwarding addresses, so that what was one object stays one. A new object is
// linked before it is filled; beyond maxDepth the filling waits in a queue, so that
// the depth of a value costs heap and not stack.
//
// Pointers are only ever written by typed assignments, by copy on slices whose
// element has the same pointers at the same places, and by package reflect: the
// collector runs meanwhile and must see each write. Sources are only read.

// maxDepth is how many objects deep a clone recurses before it queues.
const maxDepth = 100

// A fixer replaces what the shallow copy at p refers to by clones. s is nil for
// types whose values cannot refer to one object twice.
type fixer func(s *state, pl *plan, p unsafe.Pointer)

// A refFixer is the fixer of a type that is one pointer: it returns the clone of
// what the pointer w, which is not nil, refers to.
type refFixer func(s *state, pl *plan, w unsafe.Pointer) unsafe.Pointer

// A filler completes the new object dst: n elements, or the entries of the map src.
type filler func(s *state, pl *plan, dst, src unsafe.Pointer, n int)

// state is what one clone knows about itself. It is pooled, and holds nothing of
// its last value while it waits there.
//
// A nil *state remembers and queues nothing. It serves types that have no
// interface, no recursion and no reference type in two places.
type state struct {
	memo  memo
	depth int
	queue []task
	late  []insertion
	boxes int // structs boxed anew so far

	// The last plan that was looked up by the type word of an interface.
	word unsafe.Pointer
	plan *plan

	// Where the untouched original is, for the path in a CloneError.
	rootType reflect.Type
	root     unsafe.Pointer
}

// task is a filling put off.
type task struct {
	fill     filler
	pl       *plan
	dst, src unsafe.Pointer
	n        int
}

// insertion is an entry whose key holds a boxed struct. The key's hash depends on
// what is in the box, so it waits until all boxes are filled.
type insertion struct {
	m, key, elem reflect.Value
}

// fill completes dst now or, when the stack is deep, later.
func (s *state) fill(f filler, pl *plan, dst, src unsafe.Pointer, n int) {
	if s == nil {
		f(nil, pl, dst, src, n)
		return
	}
	if s.depth == maxDepth {
		s.queue = append(s.queue, task{f, pl, dst, src, n})
		return
	}
	s.depth++
	f(s, pl, dst, src, n)
	s.depth--
}

// finish does what was put off. The last comes first: a list is then followed to
// its end with a queue of one.
func (s *state) finish() {
	for len(s.queue) > 0 {
		last := len(s.queue) - 1
		t := s.queue[last]
		s.queue[last] = task{}
		s.queue = s.queue[:last]
		t.fill(s, t.pl, t.dst, t.src, t.n)
	}
	for _, i := range s.late {
		i.m.SetMapIndex(i.key, i.elem)
	}
	s.late = nil
	s.boxes = 0
	if cap(s.queue) > 64 {
		s.queue = nil
	}
	s.memo.reset()
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
	pool := &sync.Pool{New: func() any {
		f := new(frame[V])
		f.state.rootType = pl.typ
		f.state.root = unsafe.Pointer(&f.root)
		return f
	}}
	return func(v V) V {
		f := pool.Get().(*frame[V])
		f.slot, f.root = v, v
		pl.fix(&f.state, pl, unsafe.Pointer(&f.slot))
		f.finish()
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
