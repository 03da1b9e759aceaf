package clone

import (
	"iter"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"
)

// The compiled clone copies a value and everything it reaches.
//
// It has the shape of its original, which the package documentation describes. A
// map keyed by pointers is keyed by the clones.
//
// What it shares: what has nothing mutable in it; channels and functions, which are
// handles; pointers to values of size zero; sentinels, and what nature.go lists. A
// struct boxed in an interface is shared when all of it may be.
//
// A type with a method Clone that returns that very type is cloned by it wherever
// it occurs, nil excepted; a pointer or a map cloned so keeps its sharing.
//
// How it works: a type is compiled once to a plan (compile.go). A plan finds a
// shallow copy of the value in its final place and replaces, in place, each
// reference by a reference to a clone: copy, then fix, the way a copying collector
// evacuates an object and then scans it. A new object is linked before it is
// filled; beyond maxDepth the filling waits in a queue, so that the depth of a value
// costs heap and not stack.
//
// Most values are trees, and cloned as such: all that is remembered is which memory
// was met (ground.go), unless two references cannot meet by their types (overlap.go).
// Where two do meet the clone begins again, with a memo (memo.go) of forwarding
// addresses, so that what was one object stays one; and once more where one reference
// leads into the object of another, after a look at all memory there is (layout.go).
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
	whole  whole // where the care is asWhole
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
			return header{n, h.len, s.whole.capacity(h, size)}, true
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

// through returns the key of what a value of the type of dyn refers to, whose word is w in
// an interface of pl's type.
func (pl *plan) through(dyn *plan, w unsafe.Pointer) memoKey {
	if dyn.typ.Kind() == reflect.Slice {
		h := *(*header)(w)
		return memoKey{sliceKind(pl.id, h.len), uintptr(h.ptr)}
	}
	return memoKey{pl.id | 1<<(lenBits-1), uintptr(w)} // not that of a clonedInterface, nor of a slice
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

	why    string                      // kept by its type: the reason
	named  map[unsafe.Pointer]struct{} // values that stay themselves, if any
	follow refFixer                    // the ref of those that are not named

	key, elem *plan
	steps     []step        // struct: the fields that need a fixer
	share     []string      // struct: the fields that clones have in common
	num       uintptr       // classGroup: where the length of the group is
	attrs     *plan         // of the pointer of a group: the plan of its slice
	method    reflect.Value // classMethod: the method Clone
	scratch   sync.Pool     // map: *mapScratch, slice: *sliceScratch
	direct    any           // func(T) T where T needs no state at all, or nil
	cloner    atomic.Value  // func(T) T, once Cloner has returned it
}

// A whole is a *layout: what lies within what, where the care is asWhole.
type whole interface {
	// capacity returns the capacity of the clone of the slice h, of elements of that size.
	capacity(h header, size uintptr) int

	// isMet reports whether the map w of pl was met.
	isMet(pl *plan, w unsafe.Pointer) bool
}

type step struct {
	off uintptr
	pl  *plan
}

var plans sync.Map // reflect.Type → *plan

// compiling is held by whoever makes plans or names a value: there is one plan a type.
var compiling sync.Mutex

// sentinels are the values that the program has named, by the types of the pointers. It is
// guarded by compiling.
var sentinels = map[reflect.Type]map[unsafe.Pointer]struct{}{}

// compile makes a plan. It is set by compile.go: plans have fixers, which look for plans.
var compile func(t reflect.Type) *plan

// planOf returns the plan of t, compiled at its first use.
func planOf(t reflect.Type) *plan {
	if pl, ok := plans.Load(t); ok {
		return pl.(*plan)
	}
	return compile(t)
}

// group returns the attributes of the slog.Value at p, if it is a group, and their plan.
func (pl *plan) group(p unsafe.Pointer) (header, *plan) {
	v := *(*any)(unsafe.Add(p, pl.steps[0].off))
	if v == nil {
		return header{}, nil
	}
	attrs := planOf(reflect.TypeOf(v)).attrs
	n := int(*(*uint64)(unsafe.Add(p, pl.num)))
	return header{(*eface)(unsafe.Pointer(&v)).data, n, n}, attrs
}

// attrsOf returns the attributes of v, if it is a slog.Value that is a group.
func attrsOf(v reflect.Value) (reflect.Value, bool) {
	if planOf(v.Type()).class != classGroup {
		return reflect.Value{}, false
	}
	first := v.Field(v.NumField() - 1).Elem()
	if !first.IsValid() || first.Kind() != reflect.Pointer || first.IsNil() {
		return reflect.Value{}, false
	}
	attrs := planOf(first.Type()).attrs
	if attrs == nil {
		return reflect.Value{}, false
	}
	n := int(v.FieldByName("num").Uint())
	return attrs.at(unsafe.Pointer(&header{first.UnsafePointer(), n, n})), true
}

var builderType, builderPointer = reflect.TypeFor[strings.Builder](), reflect.TypeFor[*strings.Builder]()

// Parts yields what a clone of the struct v looks into, by name. These are the fields of v,
// without those that the clone shares with v, such as the program of a regexp, or does without, as
// the address in a strings.Builder. Of a slog.Value that is a group they are the attributes. Parts is for packages that walk values
// as a clone does.
func Parts(v reflect.Value) iter.Seq2[string, reflect.Value] {
	return func(yield func(string, reflect.Value) bool) {
		if attrs, ok := attrsOf(v); ok {
			yield("Group()", attrs)
			return
		}
		t := v.Type()
		share := planOf(t).share
		for i := range v.NumField() {
			f := t.Field(i)
			if f.Type == builderPointer && t == builderType {
				continue // of itself, where it was first written to: a clone has none
			}
			if !slices.Contains(share, f.Name) && !yield(f.Name, v.Field(i)) {
				return
			}
		}
	}
}

// NatureOf returns the nature of the values of t. A type with a method Clone that
// returns the type itself is Ordinary: that method copies it. After
// that, [Sentinel] must not name values of t.
func NatureOf(t reflect.Type) Nature {
	switch pl := planOf(t); {
	case pl.why != "":
		return Constant
	case holdsLock(t):
		return Uncopyable
	case pl.named != nil || pl.class == classWrap:
		return Varying
	}
	return Ordinary
}

// IsConstant reports whether v stays itself when it is copied: because its type says so,
// because the program named it, or because the error that it wraps stays itself. The zero
// Value does not.
func IsConstant(v reflect.Value) bool {
	if !v.IsValid() {
		return false
	}
	pl := planOf(v.Type())
	return pl.why != "" || v.Kind() == reflect.Pointer && pl.stays(v.UnsafePointer())
}

// maxWrapped is how many errors that wrap one error each may be in a row, to stay
// themselves.
const maxWrapped = 64

// stays reports whether the pointer w of pl's type stays itself in a clone, where that
// depends on the value.
func (pl *plan) stays(w unsafe.Pointer) bool {
	for range maxWrapped {
		if w == nil {
			return pl.class == classWrap
		}
		if _, ok := pl.named[w]; ok || pl.class != classWrap {
			return ok
		}
		v := any(*(*iface)(unsafe.Add(w, pl.elem.steps[0].off)))
		if v == nil {
			return true
		}
		if pl = planOf(reflect.TypeOf(v)); pl.fix == nil {
			return true
		}
		if pl.typ.Kind() != reflect.Pointer {
			return false
		}
		w = (*eface)(unsafe.Pointer(&v)).data
	}
	return false
}

func fillMany(s *state, pl *plan, dst, _ unsafe.Pointer, n int) {
	for i := range n {
		pl.fix(s, pl, unsafe.Add(dst, uintptr(i)*pl.size))
	}
}

// header is the memory of a slice.
type header struct {
	ptr      unsafe.Pointer
	len, cap int
}

// zeroSized is where empty slices point.
var zeroSized struct{}

// eface is the memory of an interface value without methods. That of one with
// methods has another first word and the same second.
type eface struct {
	word, data unsafe.Pointer
}

// iface is an interface with methods. To read another one as this and convert it
// to any is what package reflect does: the conversion looks at no method.
type iface interface{ m() }

func typeWord(t reflect.Type) unsafe.Pointer {
	zero := reflect.Zero(t).Interface()
	return (*eface)(unsafe.Pointer(&zero)).word
}

// box returns the interface with that type word and that data word.
func box(word, data unsafe.Pointer) any {
	e := eface{word, data}
	return *(*any)(unsafe.Pointer(&e))
}

// at returns the value at p, settable and without the mark of an unexported field.
func (pl *plan) at(p unsafe.Pointer) reflect.Value {
	return reflect.ValueOf(box(pl.ptrWord, p)).Elem()
}

// copyOf returns a new object with a shallow copy of the one at src.
func (pl *plan) copyOf(s *state, src unsafe.Pointer) unsafe.Pointer {
	if pl.noscan {
		dst := s.bytes(pl.size, pl.typ)
		copy(unsafe.Slice((*byte)(dst), pl.size), unsafe.Slice((*byte)(src), pl.size))
		return dst
	}
	if pl.inline || pl.typ.Kind() == reflect.Interface {
		v := reflect.New(pl.typ)
		v.Elem().Set(pl.at(src))
		return v.UnsafePointer()
	}
	// To put a value into an interface allocates a copy of it, in one step.
	v := pl.at(src).Interface()
	return (*eface)(unsafe.Pointer(&v)).data
}

// bytes returns room for an object of n bytes without pointers. The small ones of
// a value that has many share allocations: they keep nothing else alive.
func (s *state) bytes(n uintptr, t reflect.Type) unsafe.Pointer {
	if s == nil || n > maxPiece {
		return reflect.New(t).UnsafePointer()
	}
	if p := s.piece(n); p != nil {
		return p
	}
	return reflect.New(t).UnsafePointer()
}

const (
	maxPiece   = 64
	chunkWords = 64 // of eight bytes
	fewPieces  = 4  // which are allocated one by one
)

// piece returns zeroed room for n bytes in a chunk, nil for the first few of a
// value.
func (s *state) piece(n uintptr) unsafe.Pointer {
	words := int(n+7) / 8
	if len(s.chunk) < words {
		if s.pieces++; s.pieces <= fewPieces {
			return nil
		}
		s.chunk = make([]uint64, min(chunkWords, 8<<min(s.pieces-fewPieces, 3)))
	}
	p := unsafe.Pointer(unsafe.SliceData(s.chunk))
	s.chunk = s.chunk[words:]
	return p
}

// onStack returns p, hiding from the compiler where it leads: a variable whose
// address goes to a function that is called through a pointer would be put on the
// heap. The function must keep it nowhere.
//
// While x has the address nothing may move the stack: no call to grow it, not even of the
// checks that the race detector adds (package internal/abi's NoEscape is the same).
//
//go:nosplit
//go:nocheckptr
func onStack(p unsafe.Pointer) unsafe.Pointer {
	x := uintptr(p)
	return *(*unsafe.Pointer)(unsafe.Pointer(&x))
}

// array returns the memory of n zeroes.
func (pl *plan) array(n int) unsafe.Pointer {
	if n == 1 {
		return reflect.New(pl.typ).UnsafePointer()
	}
	return reflect.MakeSlice(reflect.SliceOf(pl.typ), n, n).UnsafePointer()
}

// copyArray copies n values.
func (pl *plan) copyArray(dst, src unsafe.Pointer, n int) {
	reflect.Copy(reflect.SliceAt(pl.typ, dst, n), reflect.SliceAt(pl.typ, src, n))
}
