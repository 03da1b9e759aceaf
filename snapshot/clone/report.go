package clone

import (
	"math"
	"reflect"
	"slices"
	"sync"
	"unsafe"
)

// A Report says what a value refers to, but for what stays itself in a clone and for what
// only a method Clone may look into. It is immutable.
type Report struct {
	// Bytes is about how many bytes a clone takes of what the value refers to, apart from the
	// value itself: strings too, and each object once.
	Bytes int64

	// Where pointers lead whose types have a Clone. It is empty if only types other than
	// pointers have one, and nil if nothing has.
	own map[unsafe.Pointer]bool
}

// ReportOf returns the Report of v. It calls refer, if that is not nil, with the memory that
// each reference leads to: that of a slice up to its capacity, and a byte of a map. References
// of one type to one piece of memory are told once. ReportOf takes time proportional to what v
// refers to, and the stack that its types nest. The zero Value refers to nothing. ReportOf panics if
// v is an unexported field of what has no address: give it what the field is in, or a pointer to that.
func ReportOf(v reflect.Value, refer func(p unsafe.Pointer, size uintptr)) Report {
	s := survey{refer: refer, left: math.MaxInt}
	s.follow(v, false)
	return Report{s.bytes, s.own}
}

// Made returns about how many bytes copied refers to, a clone of the value of the Report that
// nobody else has yet: those too that methods Clone have made, but for what they share with the
// value. It reads what they returned as any caller of Clone would, but for what others may write
// to, which does not count: maps, what lies behind a lock, and what a struct leads to that leads to
// a lock as well. It asks known, if that is not nil, about all that has a Clone: how many bytes that
// takes, if known knows better.
func (r Report) Made(copied reflect.Value, known func(v reflect.Value) (bytes int64, ok bool)) int64 {
	if r.own == nil {
		return r.Bytes
	}
	s := survey{within: made, own: r.own, known: known, left: math.MaxInt}
	s.follow(copied, false)
	return s.bytes
}

// Size returns about how many bytes v refers to, apart from itself, looking at the first
// thousand objects; a string counts each time. If handle is true, others may write to what v
// refers to: Size does not read it. It panics as ReportOf does.
func Size(v reflect.Value, handle bool) int {
	s := survey{within: surface, left: 1000}
	s.follow(v, handle)
	return int(s.bytes)
}

// A survey follows all references in a value but those that nobody may look into: what is
// constant, and, depending on within, what a Clone of its own copies, which may share it with
// others.
type survey struct {
	bytes  int64
	refer  func(p unsafe.Pointer, size uintptr)
	within within
	own    map[unsafe.Pointer]bool // Report.own
	known  func(v reflect.Value) (int64, bool)
	left   int      // how many more objects it looks at
	few    []target // what references have led to, while that is little
	many   map[target]bool
	arrays []array       // what slices have led to
	index  map[array]int // of arrays by where they end, if they are many
	todo   []reference
}

// A within says what a survey looks at in what has a Clone, which is foreign from there on.
type within int

const (
	nothing within = iota // and notes where that is
	surface               // what can be told without reading any memory behind a reference
	made                  // what a Clone has made just now
)

// A target is what a reference leads to.
type target struct {
	p   unsafe.Pointer
	len int // of a slice: a part of one is not the same
	typ reflect.Type
}

// An array is known by where it ends, as far as a slice can grow, and what it is of.
type array struct {
	end  uintptr
	elem reflect.Type
	area area // what slices have led to: zero in the key of an index
}

// A reference leads to n values of a plan, or, if n is 0, to the map that is there.
type reference struct {
	pl      *plan
	p       unsafe.Pointer
	n       int
	foreign bool // in what has a Clone
}

func (s *survey) follow(v reflect.Value, foreign bool) {
	if !v.IsValid() {
		return
	}
	if !v.CanAddr() {
		p := reflect.New(v.Type()).Elem()
		p.Set(v)
		v = p
	}
	for s.look(planOf(v.Type()), v.Addr().UnsafePointer(), foreign); len(s.todo) > 0 && s.left > 0; {
		last := len(s.todo) - 1
		r := s.todo[last]
		s.todo[last] = reference{}
		s.todo = s.todo[:last]
		if r.n == 0 {
			s.entries(r.pl, r.p)
		} else {
			s.values(r.pl, r.p, r.n, r.foreign)
		}
	}
}

// look adds what the value of pl at p refers to, and notes what there is to follow. It recurses as
// deep as types nest.
func (s *survey) look(pl *plan, p unsafe.Pointer, foreign bool) {
	if pl.noscan || pl.why != "" {
		return
	}
	v, was := pl.at(p), foreign
	if pl.class == classMethod && !isNil(v) {
		var enter bool
		if foreign, enter = s.enter(v, foreign); !enter {
			return
		}
	}
	switch v.Kind() {
	case reflect.Interface:
		s.boxed(v, p, foreign)
	case reflect.String:
		// Most are short: to count one again costs less than to remember it.
		if text := *(*string)(p); len(text) < 256 || s.within == surface || !s.met(target{unsafe.Pointer(unsafe.StringData(text)), len(text), pl.typ}) {
			s.bytes += int64(len(text))
		}
	case reflect.Pointer:
		e, w := planOf(pl.typ.Elem()), *(*unsafe.Pointer)(p)
		if pl.stays(w) || !s.first(target{w, 0, pl.typ}, e.size) {
			return
		}
		s.bytes += int64(e.size)
		if s.reads(foreign) && (s.within != made || pl.class == classMethod && !was || !holdsLock(e.typ)) {
			s.todo = append(s.todo, reference{e, w, 1, foreign})
		}
	case reflect.Slice:
		s.slice(pl, *(*header)(p), foreign)
	case reflect.Array:
		s.values(planOf(pl.typ.Elem()), p, pl.typ.Len(), foreign)
	case reflect.Struct:
		if s.within == made && foreign && s.outside(v) {
			return
		}
		for _, part := range Parts(v) {
			s.look(planOf(part.Type()), part.Addr().UnsafePointer(), foreign)
		}
	case reflect.Map:
		// If it is foreign, others may write to it: to read it would be fatal.
		w := *(*unsafe.Pointer)(p)
		if foreign || !s.first(target{w, 0, pl.typ}, 1) {
			return
		}
		k, e := planOf(pl.typ.Key()), planOf(pl.typ.Elem())
		s.bytes += int64(v.Len()) * int64(k.size+e.size)
		if !k.noscan || !e.noscan {
			s.todo = append(s.todo, reference{pl: pl, p: w})
		}
	}
}

// reads reports whether memory behind a reference may be read.
func (s *survey) reads(foreign bool) bool { return !foreign || s.within != surface }

// boxed adds what is in the interface v, at p. It is read even if it is foreign: nobody can modify
// it. It can be in many copies of the interface.
func (s *survey) boxed(v reflect.Value, p unsafe.Pointer, foreign bool) {
	if v.IsNil() {
		return
	}
	pl, data := planOf(v.Elem().Type()), (*eface)(p).data
	switch {
	case pl.inline:
		data = unsafe.Pointer(&(*eface)(p).data)
	case s.met(target{data, 0, pl.typ}):
		return
	default:
		s.bytes += int64(pl.size)
	}
	s.todo = append(s.todo, reference{pl, data, 1, foreign})
}

// slice adds what the slice h of pl leads to.
func (s *survey) slice(pl *plan, h header, foreign bool) {
	e := planOf(pl.typ.Elem())
	if !s.first(target{h.ptr, h.len, pl.typ}, uintptr(h.cap)*e.size) {
		return
	}
	lo, end := uintptr(h.ptr), uintptr(h.ptr)+uintptr(h.cap)*e.size
	hi := lo + uintptr(h.len)*e.size
	all := s.fresh(array{end: end, elem: e.typ}, area{lo, hi})
	if foreign && all[0] == (area{lo, hi}) {
		s.bytes += int64(end - hi) // as it is, and not as a clone would be
	}
	for _, part := range all {
		s.bytes += int64(part.hi - part.lo)
		if n := int((part.hi - part.lo) / e.size); n > 0 && !e.noscan && s.reads(foreign) && (s.within != made || !foreign || !holdsLock(e.typ)) {
			s.todo = append(s.todo, reference{e, unsafe.Add(h.ptr, part.lo-lo), n, foreign})
		}
	}
}

// fresh returns what there is of part that slices of an array have not led to, in two parts at
// most, and notes that they have. Of parts of one array that lie apart it remembers the largest.
func (s *survey) fresh(of array, part area) (new [2]area) {
	was := s.array(of)
	if was.hi > was.lo && part.lo <= was.hi && was.lo <= part.hi {
		if part.lo < was.lo {
			new[0] = area{part.lo, was.lo}
		}
		if was.hi < part.hi {
			new[1] = area{was.hi, part.hi}
		}
		*was = area{min(part.lo, was.lo), max(part.hi, was.hi)}
		return new
	}
	if part.hi-part.lo > was.hi-was.lo {
		*was = part
	}
	return [2]area{part}
}

// array returns what slices have led to of an array.
func (s *survey) array(of array) *area {
	i := -1
	if s.index == nil {
		i = slices.IndexFunc(s.arrays, func(a array) bool { return a.end == of.end && a.elem == of.elem })
	} else if at, ok := s.index[of]; ok {
		i = at
	}
	if i < 0 {
		i = len(s.arrays)
		s.arrays = append(s.arrays, of)
		if i == 16 {
			s.index = make(map[array]int)
			for at, a := range s.arrays {
				s.index[array{end: a.end, elem: a.elem}] = at
			}
		} else if s.index != nil {
			s.index[of] = i
		}
	}
	return &s.arrays[i].area
}

func (s *survey) values(pl *plan, p unsafe.Pointer, n int, foreign bool) {
	for i := 0; i < n && s.left > 0; i++ {
		s.left--
		s.look(pl, unsafe.Add(p, uintptr(i)*pl.size), foreign)
	}
}

// entries looks at the entries of the map m of pl.
func (s *survey) entries(pl *plan, m unsafe.Pointer) {
	k, e := planOf(pl.typ.Key()), planOf(pl.typ.Elem())
	for it := reflect.ValueOf(box(pl.word, m)).MapRange(); s.left > 0 && it.Next(); s.left-- {
		if !k.noscan {
			key := reflect.New(k.typ).Elem()
			key.SetIterKey(it)
			s.look(k, key.Addr().UnsafePointer(), false)
		}
		if !e.noscan {
			elem := reflect.New(e.typ).Elem()
			elem.SetIterValue(it)
			s.look(e, elem.Addr().UnsafePointer(), false)
		}
	}
}

// enter reports whether to look into v, which has a Clone, and whether that is foreign.
func (s *survey) enter(v reflect.Value, was bool) (foreign, enter bool) {
	if s.known != nil {
		if n, ok := s.known(v); ok {
			s.bytes += n
			return was, false
		}
	}
	if v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	switch s.within {
	case surface:
		return true, true
	case made:
		return true, v.Kind() != reflect.Pointer || !s.own[v.UnsafePointer()]
	}
	if s.own == nil {
		s.own = make(map[unsafe.Pointer]bool)
	}
	if v.Kind() == reflect.Pointer {
		s.own[v.UnsafePointer()] = true
	}
	return was, false // whose memory it is, only its Clone knows
}

// isNil reports whether v is a nil pointer, map, slice or interface, for which no Clone is
// called.
func isNil(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Slice, reflect.Interface:
		return v.IsNil()
	}
	return false
}

// outside adds what a struct has that leads to a lock, so that others may write to what else it
// leads to, and reports whether it is one.
func (s *survey) outside(v reflect.Value) bool {
	t := v.Type()
	leads, ok := leading.Load(t)
	if !ok {
		leads = leadsToLock(t, 4)
		leading.Store(t, leads)
	}
	if !leads.(bool) {
		return false
	}
	for i := range t.NumField() {
		switch f := v.Field(i); f.Kind() {
		case reflect.String:
			s.bytes += int64(f.Len())
		case reflect.Slice:
			s.bytes += int64(f.Cap()) * int64(f.Type().Elem().Size())
		}
	}
	return true
}

var leading sync.Map // reflect.Type → whether it leads to a lock

// leadsToLock reports whether values of t hold a pointer to a lock or a sync.Locker, or lead to such
// a value by as many references as are left.
func leadsToLock(t reflect.Type, left int) bool {
	switch t.Kind() {
	case reflect.Struct:
		for i := range t.NumField() {
			if leadsToLock(t.Field(i).Type, left) {
				return true
			}
		}
	case reflect.Array:
		return leadsToLock(t.Elem(), left)
	case reflect.Pointer, reflect.Slice:
		pl := planOf(t)
		return left > 0 && pl.class != classMethod && pl.why == "" && (holdsLock(t.Elem()) || leadsToLock(t.Elem(), left-1))
	case reflect.Interface:
		_, lock := t.MethodByName("Lock")
		_, unlock := t.MethodByName("Unlock")
		return lock && unlock
	}
	return false
}

// first notes that a reference leads to so many bytes, and reports whether one of its type does
// so for the first time.
func (s *survey) first(at target, size uintptr) bool {
	if at.p == nil || size == 0 || s.met(at) {
		return false
	}
	if s.refer != nil {
		s.refer(at.p, size)
	}
	return true
}

// met reports whether a reference has led to x before, and notes that it has.
func (s *survey) met(x target) bool {
	if s.many == nil && len(s.few) < 16 {
		if slices.Contains(s.few, x) {
			return true
		}
		s.few = append(s.few, x)
		return false
	}
	if s.many == nil {
		s.many = make(map[target]bool)
		for _, x := range s.few {
			s.many[x] = true
		}
	}
	if s.many[x] {
		return true
	}
	s.many[x] = true
	return false
}
