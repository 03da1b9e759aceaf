package snapshot

import (
	"reflect"
	"sync"
	"sync/atomic"
	"unsafe"
)

// The compiled clone copies a value and everything it reaches.
//
// It has the shape of its original, which the package documentation describes. A
// map keyed by pointers is keyed by the clones.
//
// What it shares: what has nothing mutable in it; channels and functions, which
// are handles; pointers to values of size zero; the constants and sentinels of
// types.go. A struct boxed in an interface is shared when all of it may be.
//
// A type with a method Clone that returns that very type is cloned by it wherever
// it occurs, nil excepted; a pointer or a map cloned so keeps its sharing.
//
// How it works: a type is compiled once to a plan (clone_plan.go). A plan finds a
// shallow copy of the value in its final place and replaces, in place, each
// reference by a reference to a clone: copy, then fix, the way a copying collector
// evacuates an object and then scans it. A new object is linked before it is
// filled; beyond maxDepth the filling waits in a queue, so that the depth of a value
// costs heap and not stack.
//
// Most values are trees, and cloned as such: all that is remembered is which memory
// was met (clone_ground.go), unless two references cannot meet by their types
// (clone_overlap.go). Where two do meet the clone begins again, with a memo
// (clone_memo.go) of forwarding addresses, so that what was one object stays one;
// and once more where one reference leads into the object of another, after a look
// at all memory there is (clone_layout.go).
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
// A nil *state remembers and queues nothing. It serves types in whose values no
// two references can lead to the same memory.
type state struct {
	care   care
	stop   bool // the clone turned out to need more care, and is given up
	met    bool // an object was met again
	ground ground
	memo   memo
	layout *layout
	depth  int
	queue  []task
	late   []insertion
	boxes  int      // structs boxed anew so far
	chunk  []uint64 // what is left of it
	pieces int      // asked for beyond what was left

	// The last plan that was looked up by the type word of an interface.
	word unsafe.Pointer
	plan *plan

	// Where the untouched original is.
	rootType reflect.Type
	root     unsafe.Pointer
}

// care is how much a clone has to remember so that it has the shape of its
// original. Most values are trees, for which it is enough to see that they are:
// no memory belongs to two objects. One that turns out not to be is cloned again
// with more care, and the next one of its kind with as much from the start.
type care uint32

const (
	asTree  care = iota // each object is referred to once
	asGraph             // objects may be referred to again
	asWhole             // references may lead into objects; see layout
)

// enter takes the n bytes at p, which an object consists of that is about to be
// cloned. If it reports false the clone is given up: all that it still has to do
// is to return, and it may leave things as they are.
func (s *state) enter(p unsafe.Pointer, n uintptr) bool {
	if s == nil || s.care == asWhole {
		return true
	}
	if s.stop || !s.ground.add(uintptr(p), uintptr(p)+n) {
		s.stop = true
		return false
	}
	return true
}

// seen returns the clone of the object at src, or nil.
func (s *state) seen(kind uint64, src unsafe.Pointer) unsafe.Pointer {
	if s == nil || s.care == asTree {
		return nil
	}
	n := s.memo.find(memoKey{kind, uintptr(src)})
	if n != nil {
		s.met = true
	}
	return n
}

// note remembers that dst is the clone of the object at src.
func (s *state) note(kind uint64, src, dst unsafe.Pointer) {
	if s != nil && s.care != asTree {
		s.memo.add(memoKey{kind, uintptr(src)}, dst)
	}
}

// slice returns the clone of the slice h, which is not nil, if none is to be made,
// and whether that is so. The size is that of an element.
func (s *state) slice(id uint64, h header, size uintptr) (header, bool) {
	switch {
	case size == 0:
		return header{h.ptr, h.len, h.len}, true
	case h.len == 0 && (s == nil || h.cap == 0):
		return header{ptr: unsafe.Pointer(&zeroSized)}, true
	case s == nil:
		return h, false
	}
	if n := s.seen(sliceKind(id, h.len), h.ptr); n != nil {
		switch {
		case s.care == asWhole:
			return header{n, h.len, s.layout.capacity(h, size)}, true
		case h.cap > h.len:
			s.stop = true // what one appends the other sees
		}
		return header{n, h.len, h.len}, true
	}
	switch {
	case !s.enter(h.ptr, uintptr(h.cap)*size):
		return h, true
	case h.len == 0:
		s.note(sliceKind(id, 0), h.ptr, unsafe.Pointer(&zeroSized))
		return header{ptr: unsafe.Pointer(&zeroSized)}, true
	}
	return h, false
}

// sliceKind returns the kind of a memoKey for slices of that length.
func sliceKind(id uint64, n int) uint64 {
	if n == 0 {
		return id | (1<<lenBits - 1) // not that of a pointer to a slice
	}
	return id | uint64(n)
}

// clone replaces the value of pl at p, a copy of the original, by its clone. The
// care is that which the last one took, and becomes that which this one took.
func (s *state) clone(pl *plan, p unsafe.Pointer, last *atomic.Uint32) {
	began := care(last.Load())
	for s.care = began; ; s.care++ {
		overlap := false
		if s.care == asWhole {
			s.layout = new(layout)
			s.layout.find(pl, s.root)
			overlap = s.layout.divide()
			s.layout.clone(s)
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
	s.met, s.layout = false, nil
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

// finish does what was put off, and forgets the value. It reports false if the
// clone was given up. The last comes first: a list is then followed to its end with
// a queue of one.
func (s *state) finish() bool {
	if s.care == asTree && len(s.queue) == 0 && s.late == nil && !s.stop {
		s.boxes, s.chunk, s.pieces = 0, nil, 0
		s.ground.reset()
		return true
	}
	for len(s.queue) > 0 && !s.stop {
		last := len(s.queue) - 1
		t := s.queue[last]
		s.queue[last] = task{}
		s.queue = s.queue[:last]
		t.fill(s, t.pl, t.dst, t.src, t.n)
	}
	for _, i := range s.late {
		i.m.SetMapIndex(i.key, i.elem)
	}
	if s.stop || cap(s.queue) > 64 {
		s.queue = nil
	}
	done := !s.stop
	s.late, s.boxes, s.stop = nil, 0, false
	s.chunk, s.pieces = nil, 0
	s.ground.reset()
	s.memo.reset()
	return done
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
