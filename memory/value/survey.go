package value

import (
	"cmp"
	"reflect"
	"slices"
	"sync"
	"unsafe"

	"github.com/cowstore/cowstore/snapshot/clone"
)

// A span is memory that a reference leads to.
type span struct {
	from, to uintptr
	of       int // the original in which the reference is; 0: none, the nodes tell of it
}

// inOriginals are the references in the clones that originals are: those of their own
// values, which a survey has noted.
const inOriginals = -1

// Spans are those of a value.
type spans struct {
	all   []span
	often bool // few references, again and again: a small value that shows as a huge one
}

// spansPool has room for the spans of another value: they are not pointers.
var spansPool = sync.Pool{New: func() any { return new(spans) }}

// noted returns what was noted, to note more.
func (f *freezer) noted() *spans {
	if f.spans == nil {
		f.spans = spansPool.Get().(*spans)
	}
	return f.spans
}

func (s *spans) note(p unsafe.Pointer, size uintptr, of int) {
	s.all = append(s.all, span{uintptr(p), uintptr(p) + size, of})
	if len(s.all)%many == 0 {
		s.sort()
		distinct := 1
		for i, x := range s.all[1:] {
			if x.from != s.all[i].from {
				distinct++
			}
		}
		s.often = distinct < len(s.all)/repeats
	}
}

// A value may refer to what is in it repeats times each, if there are many.
const (
	many    = 1 << 18
	repeats = 16
)

func (s *spans) sort() {
	slices.SortFunc(s.all, func(a, b span) int { return cmp.Compare(a.from, b.from) })
}

// release lets go of what was noted.
func (f *freezer) release() {
	if f.spans != nil && cap(f.spans.all) <= 1<<10 {
		f.spans.all, f.spans.often = f.spans.all[:0], false
		spansPool.Put(f.spans)
	}
	f.spans = nil
}

// refer notes what a reference leads to, unless that is nothing.
func (f *freezer) refer(p unsafe.Pointer, size uintptr) {
	of := 0
	if f.kept {
		of = inOriginals
	}
	if size > 0 {
		f.noted().note(p, size, of)
	}
}

// tangled reports whether two references lead to the same memory, but for those of
// one original, whose clone has the shape of it.
func (f *freezer) tangled() bool {
	if f.spans == nil {
		return false
	}
	all := f.spans.all
	if len(all) < 2 {
		return false
	}
	f.spans.sort()
	last := all[0]
	for _, s := range all[1:] {
		if s.from < last.to && (s.of != last.of || s.of == 0) {
			return true
		}
		if s.to > last.to {
			last = s
		}
	}
	return false
}

// survey notes what all references in v lead to, those that JSON does not show too:
// v gets an original. It returns what has a Clone of its own in it, nil if nothing has.
func (f *freezer) survey(v reflect.Value) map[unsafe.Pointer]bool {
	if traitsOf(v.Type()).leaf {
		return nil
	}
	f.originals++
	s := survey{spans: f.noted(), of: f.originals}
	s.follow(v)
	return s.shared
}

// originalSize returns about how many bytes an original takes.
func originalSize(v reflect.Value) int64 {
	s := survey{bytes: int64(v.Type().Size())}
	s.follow(v)
	return s.bytes
}

// ownSize returns about how many bytes those parts of an original take which have been
// made by a Clone of their own, but for what is still shared. It is asked for once, by
// who has called Clone: what that returned is read as it would be by any caller of it.
func ownSize(v reflect.Value, shared map[unsafe.Pointer]bool) int64 {
	all := survey{own: true, shared: shared}
	all.follow(v)
	s := survey{}
	s.follow(v)
	return all.bytes - s.bytes
}

// A survey follows all references in a value but those that nobody may look into:
// what is constant, and what a Clone of its own copies, which may share it with
// others.
type survey struct {
	spans *spans // nil: only the size is asked for
	of    int
	bytes int64
	few   []visit // what references have led to, while that is little
	many  map[visit]bool
	todo  []looked

	own   bool // what a Clone of its own has made is followed too
	below bool // what is looked at is such a thing, or in one

	// Where the pointers lead whose types have a Clone. It is empty if only types
	// other than pointers have one, and nil if nothing has.
	shared map[unsafe.Pointer]bool
}

// A looked is a value to look at, and whether it is below.
type looked struct {
	v     reflect.Value
	below bool
}

func (s *survey) follow(v reflect.Value) {
	for s.look(v); len(s.todo) > 0; {
		last := len(s.todo) - 1
		v, s.below = s.todo[last].v, s.todo[last].below
		s.todo[last] = looked{}
		s.todo = s.todo[:last]
		s.look(v)
	}
}

// later notes that there is v to look at.
func (s *survey) later(v reflect.Value) { s.todo = append(s.todo, looked{v, s.below}) }

// look notes v, and what there is to look at in it.
func (s *survey) look(v reflect.Value) {
	t := v.Type()
	if t.Kind() == reflect.Interface {
		if v.IsNil() {
			return
		}
		v = v.Elem()
		t = v.Type()
		s.bytes += int64(t.Size())
	}
	tr := traitsOf(t)
	if tr.leaf || tr.varying && clone.IsConstant(v) || tr.opaque && !s.enters(v, tr) {
		return
	}
	switch t.Kind() {
	case reflect.String:
		s.bytes += int64(v.Len())
	case reflect.Pointer:
		if s.first(v, 0, t.Elem().Size()) && (tr.opaque || !s.own || clone.NatureOf(t.Elem()) != clone.Uncopyable) {
			s.later(v.Elem())
		}
	case reflect.Slice:
		if s.first(v, v.Len(), t.Elem().Size()*uintptr(v.Cap())) {
			s.elements(v)
		}
	case reflect.Array:
		s.elements(v)
	case reflect.Struct:
		if s.outside(v) {
			return
		}
		for _, part := range clone.Parts(v) {
			s.later(part)
		}
	case reflect.Map:
		if s.below || !s.first(v, 0, 1) {
			return // below, it may be shared, and written to by others: to read it would be fatal
		}
		s.bytes += int64(v.Len()) * int64(t.Key().Size()+t.Elem().Size())
		for it := v.MapRange(); it.Next(); {
			s.later(it.Key())
			s.later(it.Value())
		}
	}
}

// enters reports whether to look into v, whose type has a Clone or is constant.
func (s *survey) enters(v reflect.Value, tr *traits) bool {
	t := v.Type()
	switch {
	case tr.constant || !s.own && s.spans == nil:
		return false
	case s.own && t == valueType:
		s.bytes += Value{(*node)(v.Field(0).UnsafePointer())}.Size()
		return false
	case s.own:
		s.below = t.Kind() != reflect.Pointer || !s.shared[v.UnsafePointer()]
		return s.below
	}
	if s.shared == nil {
		s.shared = make(map[unsafe.Pointer]bool)
	}
	if t.Kind() == reflect.Pointer {
		s.shared[v.UnsafePointer()] = true
	}
	return false // whose memory it is, only its Clone knows
}

// outside counts what a struct has that knows a lock which is not in it, so that others
// may write to what it leads to, and reports whether it is one.
func (s *survey) outside(v reflect.Value) bool {
	t := v.Type()
	locked := func(f reflect.StructField) bool {
		return f.Type.Kind() == reflect.Pointer && !traitsOf(f.Type).opaque && clone.NatureOf(f.Type.Elem()) == clone.Uncopyable
	}
	if !s.own || !slices.ContainsFunc(reflect.VisibleFields(t), locked) {
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

func (s *survey) elements(v reflect.Value) {
	if e := v.Type().Elem(); e.Kind() != reflect.Interface && traitsOf(e).leaf {
		return
	}
	for i := range v.Len() {
		s.later(v.Index(i))
	}
}

// first notes that a reference leads to so many bytes, and reports whether it does
// so for the first time.
func (s *survey) first(v reflect.Value, length int, size uintptr) bool {
	p := v.UnsafePointer()
	if p == nil || size == 0 || s.met(visit{p, length, v.Type()}) {
		return false
	}
	s.bytes += int64(size)
	if s.spans != nil {
		s.spans.note(p, size, s.of)
	}
	return true
}

// met reports whether a reference has led to v before, and notes that it has.
func (s *survey) met(v visit) bool {
	if s.many == nil && len(s.few) < 16 {
		if slices.Contains(s.few, v) {
			return true
		}
		s.few = append(s.few, v)
		return false
	}
	if s.many == nil {
		s.many = make(map[visit]bool)
		for _, v := range s.few {
			s.many[v] = true
		}
	}
	if s.many[v] {
		return true
	}
	s.many[v] = true
	return false
}
