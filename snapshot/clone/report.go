package clone

import (
	"math"
	"reflect"
	"slices"
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
// refers to, and the stack that its types nest.
func ReportOf(v reflect.Value, refer func(p unsafe.Pointer, size uintptr)) Report {
	s := survey{refer: refer, left: math.MaxInt}
	s.follow(v, false)
	return Report{s.bytes, s.own}
}

// Made returns about how many bytes copied refers to, a clone of the value of the Report that
// nobody else has yet: those too that methods Clone have made, but for what they share with the
// value. It reads what they returned as any caller of Clone would, though not the maps in it,
// nor what lies behind a lock, which others may write to. It asks known, if that is not nil,
// about all that has a Clone: how many bytes that takes, if known knows better.
func (r Report) Made(copied reflect.Value, known func(v reflect.Value) (bytes int64, ok bool)) int64 {
	if r.own == nil {
		return r.Bytes
	}
	s := survey{within: made, own: r.own, known: known, left: math.MaxInt}
	s.follow(copied, false)
	return s.bytes
}

// Size returns about how many bytes v refers to, apart from itself, looking at the first
// thousand objects. If handle is true, others may write to what v refers to: Size does not
// read it.
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

// A reference is one to follow, and whether it is foreign: in what has a Clone.
type reference struct {
	v       reflect.Value
	foreign bool
}

func (s *survey) follow(v reflect.Value, foreign bool) {
	for s.look(v, foreign); len(s.todo) > 0 && s.left > 0; {
		last := len(s.todo) - 1
		r := s.todo[last]
		s.todo[last] = reference{}
		s.todo = s.todo[:last]
		s.behind(r.v, r.foreign)
	}
}

// look adds what v refers to, and notes what there is to follow. It recurses as deep as types
// nest.
func (s *survey) look(v reflect.Value, foreign bool) {
	t := v.Type()
	pl := planOf(t)
	if pl.noscan || pl.why != "" {
		return
	}
	if pl.class == classMethod && !isNil(v) {
		var enter bool
		if foreign, enter = s.enter(v, foreign); !enter {
			return
		}
	}
	// What is in an interface nobody can modify: it can be read where other memory cannot.
	read := !foreign || s.within != surface
	switch t.Kind() {
	case reflect.Interface:
		if !v.IsNil() {
			s.bytes += int64(v.Elem().Type().Size())
			s.todo = append(s.todo, reference{v, foreign})
		}
	case reflect.String:
		s.bytes += int64(v.Len())
	case reflect.Pointer:
		e := t.Elem()
		if pl.stays(v.UnsafePointer()) || !s.first(target{v.UnsafePointer(), 0, t}, e.Size()) {
			return
		}
		s.bytes += int64(e.Size())
		if read && (s.within != made || pl.class == classMethod || !holdsLock(e)) {
			s.todo = append(s.todo, reference{v, foreign})
		}
	case reflect.Slice:
		e := planOf(t.Elem())
		if !s.first(target{v.UnsafePointer(), v.Len(), t}, uintptr(v.Cap())*e.size) {
			return
		}
		n := v.Len()
		if foreign {
			n = v.Cap() // as it is, and not as a clone would be
		}
		s.bytes += int64(n) * int64(e.size)
		if read && !e.noscan {
			s.todo = append(s.todo, reference{v, foreign})
		}
	case reflect.Array:
		s.elements(v, foreign)
	case reflect.Struct:
		if s.within == made && s.outside(v) {
			return
		}
		for _, part := range Parts(v) {
			s.look(part, foreign)
		}
	case reflect.Map:
		// If it is foreign, others may write to it: to read it would be fatal.
		if foreign || !s.first(target{v.UnsafePointer(), 0, t}, 1) {
			return
		}
		k, e := planOf(t.Key()), planOf(t.Elem())
		s.bytes += int64(v.Len()) * int64(k.size+e.size)
		if !k.noscan || !e.noscan {
			s.todo = append(s.todo, reference{v, false})
		}
	}
}

// behind looks at what the reference v leads to.
func (s *survey) behind(v reflect.Value, foreign bool) {
	switch v.Kind() {
	case reflect.Interface, reflect.Pointer:
		s.left--
		s.look(v.Elem(), foreign)
	case reflect.Slice:
		s.elements(v, foreign)
	case reflect.Map:
		for it := v.MapRange(); s.left > 0 && it.Next(); s.left-- {
			s.look(it.Key(), foreign)
			s.look(it.Value(), foreign)
		}
	}
}

func (s *survey) elements(v reflect.Value, foreign bool) {
	for i := 0; i < v.Len() && s.left > 0; i++ {
		s.left--
		s.look(v.Index(i), foreign)
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

// outside adds what a struct has that knows a lock which is not in it, so that others may write
// to what it leads to, and reports whether it is one.
func (s *survey) outside(v reflect.Value) bool {
	t := v.Type()
	locked := func(f reflect.StructField) bool {
		return f.Type.Kind() == reflect.Pointer && planOf(f.Type).class != classMethod && planOf(f.Type).why == "" && holdsLock(f.Type.Elem())
	}
	if !slices.ContainsFunc(reflect.VisibleFields(t), locked) {
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
