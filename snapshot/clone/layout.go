package clone

import (
	"cmp"
	"reflect"
	"slices"
	"unsafe"
)

// A layout is what a value leads to, found before any of it is cloned: for values
// in which pointers lead into objects, or slices overlap.
//
// What references lead to are extents. Those that overlap, up to the capacities
// of slices, make a block, and each block is cloned as one piece of memory: its
// largest extent says of what type it is, and the others must be parts of that.
// So a reference into a block becomes one to the same place in its clone. The
// clones of all extents are in the memo before any fixer runs, which finds them
// there. Maps and boxes, into which nothing leads, are cloned when they are met.
type layout struct {
	extents []extent
	blocks  []block // disjoint, in the order of their addresses
	runs    []run
	todo    []visit
	index   map[extentKey]int   // of extents; of maps and boxes, how often they were met
	skip    map[memoKey]uintptr // of an element that was visited, the end of its run
}

// An extent is memory that a reference leads to.
type extent struct {
	extentKey
	src    unsafe.Pointer
	elem   *plan // what it holds several of, arrays taken apart
	opaque *plan // of a type whose method Clone makes the clone
	boxed  bool  // which an interface knows, and not the type
	end    uintptr
	limit  uintptr // that of the capacity
	slice  bool
	again  bool // there are several such references
	block  int
}

// extentKey tells extents apart: slices of one start and length may differ in
// capacity.
type extentKey struct {
	memoKey
	cap int
}

// A run is n elements with pointers, one after the other, no two runs of a type
// having one in common.
type run struct {
	elem *plan
	src  unsafe.Pointer
	n    int
}

// A visit is what is still to be looked at: n elements of pl, or, if n is 0, the
// map that is there.
type visit struct {
	pl *plan
	p  unsafe.Pointer
	n  int
}

// A block is extents that overlap.
type block struct {
	extents []extent
	lo, hi  uintptr
	elem    *plan
	n       int
	dst     unsafe.Pointer
	opaque  bool
}

// find fills l with what the value of pl at p leads to.
func (l *layout) find(pl *plan, p unsafe.Pointer) {
	l.index = make(map[extentKey]int)
	l.skip = make(map[memoKey]uintptr)
	l.value(pl, p)
	for len(l.todo) > 0 {
		v := l.todo[len(l.todo)-1]
		l.todo = l.todo[:len(l.todo)-1]
		if v.n == 0 {
			l.entries(v.pl, v.p)
			continue
		}
		for i := range v.n {
			l.value(v.pl, unsafe.Add(v.p, uintptr(i)*v.pl.size))
		}
	}
}

// value looks for the references in the value of pl at p. It recurses as deep as
// types nest.
func (l *layout) value(pl *plan, p unsafe.Pointer) {
	switch pl.class {
	case classPointer, classWrap, classMap:
		l.reference(pl, *(*unsafe.Pointer)(p))
	case classSlice:
		l.slice(pl, *(*header)(p))
	case classMethod:
		switch pl.typ.Kind() {
		case reflect.Pointer:
			l.reference(pl, *(*unsafe.Pointer)(p))
		case reflect.Slice:
			l.slice(pl, *(*header)(p))
		case reflect.Interface:
			l.through(pl, p)
		}
	case classInterface:
		if pl.typ.NumMethod() == 0 {
			l.boxed(*(*any)(p))
		} else {
			l.boxed(any(*(*iface)(p)))
		}
	case classGroup:
		if h, attrs := pl.group(p); attrs != nil {
			l.slice(attrs, h)
		} else {
			l.value(pl.steps[0].pl, unsafe.Add(p, pl.steps[0].off))
		}
	case classStruct:
		for _, st := range pl.steps {
			l.value(st.pl, unsafe.Add(p, st.off))
		}
	case classArray:
		for i := range pl.typ.Len() {
			l.value(pl.elem, unsafe.Add(p, uintptr(i)*pl.elem.size))
		}
	}
}

func (l *layout) boxed(v any) {
	if v == nil {
		return
	}
	pl, e := planOf(reflect.TypeOf(v)), (*eface)(unsafe.Pointer(&v))
	switch {
	case pl.fix == nil:
	case pl.ref != nil:
		l.reference(pl, e.data)
	case pl.inline:
		l.value(pl, unsafe.Pointer(&e.data))
	case l.times(pl.id, e.data) <= 2:
		// The second time, since two boxes are two references to what is in them.
		l.todo = append(l.todo, visit{pl, e.data, 1})
	}
}

// times returns how often a map or a box was met, this time included.
func (l *layout) times(kind uint64, p unsafe.Pointer) int {
	k := extentKey{memoKey{kind, uintptr(p)}, -1}
	l.index[k]++
	return l.index[k]
}

// isMet reports whether the map w of pl was met.
func (l *layout) isMet(pl *plan, w unsafe.Pointer) bool {
	return l.index[extentKey{memoKey{pl.id, uintptr(w)}, -1}] > 0
}

func (l *layout) reference(pl *plan, w unsafe.Pointer) {
	switch {
	case w == nil || pl.stays(w):
	case pl.class == classMap:
		if l.times(pl.id, w) == 1 {
			l.todo = append(l.todo, visit{pl: pl, p: w})
		}
	case pl.class == classMethod:
		if pl.typ.Kind() == reflect.Pointer {
			l.add(extent{extentKey: extentKey{memoKey{pl.id, uintptr(w)}, 1}, src: w, elem: pl.elem, opaque: pl}, 1, 1)
		}

	default:
		l.add(extent{extentKey: extentKey{memoKey{pl.elem.id, uintptr(w)}, 1}, src: w, elem: pl.elem}, 1, 1)
	}
}

// through looks at what the interface of pl at p leads to, which its method clones unless
// something else leads to the same: then it is cloned as that asks for.
func (l *layout) through(pl *plan, p unsafe.Pointer) {
	w := (*eface)(p).data
	if w == nil {
		return
	}
	dyn := planOf(reflect.TypeOf(any(*(*iface)(p))))
	if dyn.stays(w) {
		return
	}
	k := pl.through(dyn, w)
	switch dyn.typ.Kind() {
	case reflect.Pointer:
		l.add(extent{extentKey: extentKey{k, 1}, src: w, elem: planOf(dyn.typ.Elem()), opaque: dyn, boxed: true}, 1, 1)
	case reflect.Slice:
		if h := *(*header)(w); h.cap > 0 && dyn.typ.Elem().Size() > 0 {
			x := extent{extentKey: extentKey{k, h.cap}, src: h.ptr, elem: planOf(dyn.typ.Elem()), slice: true, opaque: dyn, boxed: true}
			l.add(x, h.len, h.cap)
		}
	}
}

func (l *layout) slice(pl *plan, h header) {
	if h.cap == 0 || pl.elem.size == 0 {
		return
	}
	x := extent{extentKey: extentKey{memoKey{sliceKind(pl.id, h.len), uintptr(h.ptr)}, h.cap}, src: h.ptr, elem: pl.elem, slice: true}
	if pl.class == classMethod {
		x.opaque = pl
	}
	l.add(x, h.len, h.cap)
}

// add adds an extent of n elements, unless it is known, and what it leads to.
func (l *layout) add(x extent, n, capacity int) {
	if i, ok := l.index[x.extentKey]; ok {
		l.extents[i].again = true
		return
	}
	l.index[x.extentKey] = len(l.extents)
	x.end, x.limit = x.lo()+uintptr(n)*x.elem.size, x.lo()+uintptr(capacity)*x.elem.size
	for x.elem.typ.Kind() == reflect.Array && x.elem.elem != nil {
		n *= x.elem.typ.Len()
		x.elem = x.elem.elem
	}
	l.extents = append(l.extents, x)
	if x.opaque == nil && !x.elem.noscan {
		l.visit(x.elem, x.src, n)
	}
}

// lo returns where the extent begins.
func (x *extent) lo() uintptr { return uintptr(x.src) }

// visit adds the n elements at p to the runs, without those that are there. Each
// element of a run knows where that ends, so that slices that overlap cost no more
// than they do in all.
func (l *layout) visit(elem *plan, p unsafe.Pointer, n int) {
	for i := 0; i < n; {
		at := unsafe.Add(p, uintptr(i)*elem.size)
		if end := l.after(elem, uintptr(at)); end != uintptr(at) {
			i += int((end - uintptr(at)) / elem.size)
			continue
		}
		j := i + 1
		for j < n {
			if _, ok := l.skip[memoKey{elem.id, uintptr(p) + uintptr(j)*elem.size}]; ok {
				break
			}
			j++
		}
		end := uintptr(p) + uintptr(j)*elem.size
		for k := i; k < j; k++ {
			l.skip[memoKey{elem.id, uintptr(p) + uintptr(k)*elem.size}] = end
		}
		l.runs = append(l.runs, run{elem, at, j - i})
		if elem.fix != nil {
			l.todo = append(l.todo, visit{elem, at, j - i})
		}
		i = j
	}
}

// after returns the first address from at on that is not in a run of elem.
func (l *layout) after(elem *plan, at uintptr) uintptr {
	end := at
	for {
		next, ok := l.skip[memoKey{elem.id, end}]
		if !ok {
			break
		}
		end = next
	}
	for at != end { // shorter the next time
		k := memoKey{elem.id, at}
		at = l.skip[k]
		l.skip[k] = end
	}
	return end
}

func (l *layout) entries(pl *plan, m unsafe.Pointer) {
	key, elem := reflect.New(pl.key.typ).Elem(), reflect.New(pl.elem.typ).Elem()
	for i := reflect.ValueOf(box(pl.word, m)).MapRange(); i.Next(); {
		if pl.key.fix != nil {
			key.SetIterKey(i)
			l.value(pl.key, key.Addr().UnsafePointer())
		}
		if pl.elem.fix != nil {
			elem.SetIterValue(i)
			l.value(pl.elem, elem.Addr().UnsafePointer())
		}
	}
}

// divide makes blocks of the extents. It reports whether any two overlap.
func (l *layout) divide() (overlap bool) {
	slices.SortFunc(l.extents, func(a, b extent) int {
		if c := cmp.Or(cmp.Compare(a.lo(), b.lo()), cmp.Compare(b.limit, a.limit)); c != 0 || a.opaque == b.opaque {
			return c
		}
		// What is but a part of the other comes last.
		if b.opaque != nil {
			return -1
		}
		return 1
	})
	for i := 0; i < len(l.extents); {
		b := block{lo: l.extents[i].lo(), hi: l.extents[i].limit}
		j := i + 1
		for ; j < len(l.extents) && l.extents[j].lo() < b.hi; j++ {
			b.hi = max(b.hi, l.extents[j].limit)
			overlap = true
		}
		b.extents = l.extents[i:j]
		b.order()
		for k := range b.extents {
			b.extents[k].block = len(l.blocks)
			overlap = overlap || b.extents[k].again && b.extents[k].limit > b.extents[k].end
		}
		l.blocks = append(l.blocks, b)
		i = j
	}
	return overlap
}

// order moves what a method clones to the front if it spans as much as the first extent,
// and is no part of that: the first is a part of it, then.
func (b *block) order() {
	first := &b.extents[0]
	for i := range b.extents {
		x := &b.extents[i]
		if x.opaque != nil && first.opaque == nil && x.lo() == first.lo() && x.limit == first.limit && !fits(first.elem.typ, 0, x.elem.typ, 1) {
			*x, *first = *first, *x
		}
	}
}

// reach returns the end of what is kept of the block: what is in the length of an
// extent, and what two slices could grow into.
func (b *block) reach() uintptr {
	var end, most, second uintptr
	for i := range b.extents {
		x := &b.extents[i]
		end = max(end, x.end)
		if !x.slice {
			continue
		}
		if x.again {
			second = max(second, x.limit)
		} else {
			second = max(second, min(most, x.limit))
		}
		most = max(most, x.limit)
	}
	return max(end, second)
}

// lay decides what the clone of the block consists of, and reports whether that
// can be all that its extents want to find there.
func (b *block) lay() bool {
	end := b.reach()
	var largest uintptr
	for i := range b.extents {
		largest = max(largest, b.extents[i].elem.size)
	}
	for i := range b.extents {
		if x := &b.extents[i]; x.elem.size == largest && x.opaque == nil && (b.elem == nil || b.elem != x.elem) {
			if b.elem = x.elem; b.holds(end) {
				return true
			}
		}
	}
	return false
}

// holds reports whether the block, taken for elements of b.elem, holds its extents.
func (b *block) holds(end uintptr) bool {
	size := b.elem.size
	b.n = int((end - b.lo + size - 1) / size)
	for i := range b.extents {
		x := &b.extents[i]
		off := (x.lo() - b.lo) % size
		switch n := (x.end - x.lo()) / x.elem.size; {
		case n == 0 && x.lo() == end:
			// Nothing is left of it.
		case alike(b.elem.typ, x.elem.typ):
			if off != 0 {
				return false
			}
		case off+max(x.end-x.lo(), 1) <= size && fits(b.elem.typ, off, x.elem.typ, int(max(n, 1))):
		case x.elem.noscan && (b.elem.noscan || off+(x.end-x.lo()) <= size && noPointers(b.elem.typ, off, off+(x.end-x.lo()))):
			// The same bytes, taken for other numbers.
		default:
			return false
		}
	}
	return true
}

// clone makes the blocks, and notes where the clone of each extent is.
func (l *layout) clone(s *state) {
	for i := range l.blocks {
		b := &l.blocks[i]
		if first := &b.extents[0]; first.opaque != nil && (len(b.extents) > 1 || first.again && !first.boxed) {
			b.dst, b.opaque = l.byMethod(s, b), true
		} else if first.opaque != nil {
			continue // as its method makes it
		} else if !b.lay() {
			panic(s.misfit(b))
		} else if b.n == 0 {
			b.dst = unsafe.Pointer(&zeroSized)
		} else {
			b.dst = b.elem.array(b.n)
		}
		for k := range b.extents {
			x := &b.extents[k]
			if s.memo.find(x.memoKey) == nil {
				s.memo.add(x.memoKey, b.at(x.lo()))
			}
		}
		if !b.opaque {
			b.copyBytes()
		}
	}
	for _, r := range l.runs {
		b := l.block(uintptr(r.src))
		if b.opaque {
			continue
		}
		dst := b.at(uintptr(r.src))
		r.elem.copyArray(dst, r.src, r.n)
		if r.elem.fix != nil {
			fillMany(s, r.elem, dst, nil, r.n)
		}
	}
}

// byMethod returns the clone of a block that a method Clone makes, of its first
// extent, which all others must be in.
func (l *layout) byMethod(s *state, b *block) unsafe.Pointer {
	x := &b.extents[0]
	b.elem = x.elem
	for i := range b.extents {
		if b.extents[i].end > x.end {
			panic(s.misfit(b))
		}
	}
	if !b.holds(x.end) {
		panic(s.misfit(b))
	}
	slot := reflect.New(x.opaque.typ)
	n := 1
	if x.slice {
		n = int((x.end - x.lo()) / x.opaque.elem.size)
		*(*header)(slot.UnsafePointer()) = header{x.src, n, x.cap}
	} else {
		*(*unsafe.Pointer)(slot.UnsafePointer()) = x.src
	}
	out, ok := x.opaque.cloneByMethod(slot.Elem())
	if !ok || x.slice && out.Len() != n {
		panic(s.misfit(b))
	}
	return out.UnsafePointer()
}

// cloneByMethod returns what the method Clone of v, of pl's type, returns, unless that is
// nil or, in an interface, something of another type.
func (pl *plan) cloneByMethod(v reflect.Value) (reflect.Value, bool) {
	out := v.MethodByName("Clone").Call(nil)[0]
	if out.Kind() == reflect.Interface {
		out = out.Elem()
	}
	ok := out.IsValid() && out.Type() == pl.typ && !out.IsNil()
	return out, ok
}

// at returns where the clone of what is at that address is.
func (b *block) at(addr uintptr) unsafe.Pointer {
	if off := addr - b.lo; off < uintptr(b.n)*b.elem.size {
		return unsafe.Add(b.dst, off)
	}
	return unsafe.Pointer(&zeroSized) // the end of it
}

// copyBytes copies what has no pointers.
func (b *block) copyBytes() {
	done := b.lo
	for i := range b.extents {
		x := &b.extents[i]
		if from := max(done, x.lo()); x.elem.noscan && from < x.end {
			n := x.end - from
			copy(unsafe.Slice((*byte)(b.at(from)), n), unsafe.Slice((*byte)(unsafe.Add(x.src, from-x.lo())), n))
			done = x.end
		}
	}
}

// block returns the block that the address is in.
func (l *layout) block(addr uintptr) *block {
	i, _ := slices.BinarySearchFunc(l.blocks, addr, func(b block, addr uintptr) int {
		if b.lo <= addr {
			return -1
		}
		return 1
	})
	return &l.blocks[i-1]
}

// capacity returns the capacity of the clone of the slice h.
func (l *layout) capacity(h header, size uintptr) int {
	b := l.block(uintptr(h.ptr))
	if b.opaque {
		return h.len
	}
	return min(h.cap, int((uintptr(b.n)*b.elem.size-(uintptr(h.ptr)-b.lo))/size))
}

const whyTwoWays = "is pointed to in two ways that do not agree"

// misfit returns the error for references that do not agree about what is in the
// memory they lead to.
func (s *state) misfit(b *block) *Error {
	x := &b.extents[0]
	for i := range b.extents {
		if y := &b.extents[i]; !alike(x.elem.typ, y.elem.typ) {
			return &Error{Type: y.elem.typ, owner: s.rootType, why: "is pointed to in memory that is also of type " + x.elem.typ.String()}
		}
	}
	return &Error{Type: x.elem.typ, owner: s.rootType, why: whyTwoWays}
}
