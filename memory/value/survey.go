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

// survey notes what all references in v lead to, those that JSON does not show too: v gets an
// original.
func (f *freezer) survey(v reflect.Value) clone.Report {
	if !clone.HasPointers(v.Type()) {
		return clone.Report{}
	}
	f.originals++
	noted, of := f.noted(), f.originals
	return clone.ReportOf(cloned(v), func(p unsafe.Pointer, size uintptr) { noted.note(p, size, of) })
}
