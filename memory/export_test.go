package memory

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"

	"github.com/cowstore/cowstore/memory/text"
	"github.com/cowstore/cowstore/memory/vector"
)

// CheckDerived recounts all that follows from the entries of the current version,
// from nothing, and returns how it differs from what is stored.
func (m *Memory) CheckDerived() error { return m.Load().checkDerived(m.options.NoText) }

// Epochs returns how many epochs of text indexes the current version has.
func (m *Memory) Epochs() int { return m.epochs.In(m.Load().root).Len() }

func (s Snapshot) checkDerived(noText bool) error {
	want := make(map[string]*space)
	words := make(map[string]bool)
	var errs []error
	fail := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	rows := s.t.entries.In(s.root)
	expiring, alive := 0, 0
	cleared := s.clearings()
	for name, row := range s.t.order.In(rows).All() {
		e := row.Shared()
		path, key := split(name)
		if e.expires != 0 {
			expiring++
		}
		if !cleared.alive(path, row.Revision()) {
			continue
		}
		alive++
		sp := want[path]
		if sp == nil {
			sp = new(space)
			want[path] = sp
		}
		again := &entry{value: e.value, metadata: e.metadata, expires: e.expires} // not e, which others read
		if again.measure(); again.size != e.size {
			fail("%q %q: size %d, not %d", decodePath(path), key, e.size, again.size)
		}
		size := e.size + nameSize(name)
		if !e.value.Exists() && e.vector == nil {
			fail("%q %q has neither value nor vector", decodePath(path), key)
		}
		sp.count++
		sp.bytes += size
		if e.expires != 0 {
			sp.expiring++
		}
		if v, ok := s.space(path).vectors.Get(key); ok != (e.vector != nil) {
			fail("%q %q: in the vectors: %v", decodePath(path), key, ok)
		} else if ok {
			if !slices.Equal(v, e.vector) {
				fail("%q %q: %v, not %v", decodePath(path), key, v, e.vector)
			}
			var err error
			if sp.vectors, err = sp.vectors.Set(key, v); err != nil {
				fail("%q %q: %w", decodePath(path), key, err)
			}
		}
		if !noText && e.value.Exists() {
			sp.texts = sp.texts.Set(key, s.space(path).texts.Analyzer().Tokenize(e.value.Texts()))
			for t := range e.value.Texts() {
				words[t] = true
			}
		}
	}
	if n := s.t.order.In(rows).Len(); n != rows.Len() {
		fail("%d entries in order, %d in all", n, rows.Len())
	}
	if n := s.t.byExpiry.In(rows).Len(); n != expiring {
		fail("%d entries by expiry, not %d", n, expiring)
	}
	var bytes int64
	for path, row := range s.t.byPath.In(s.t.spaces.In(s.root)).All() {
		is := row.Shared()
		if !cleared.alive(path, row.Revision()) {
			continue
		}
		bytes += is.size()
		sp := want[path]
		if sp == nil {
			fail("space %q is stored and has nothing", decodePath(path))
			sp = new(space)
		}
		delete(want, path)
		if is.count != sp.count || is.expiring != sp.expiring || is.bytes != sp.bytes {
			fail("space %q: counts %d, %d, %d; not %d, %d, %d", decodePath(path), is.count, is.expiring, is.bytes, sp.count, sp.expiring, sp.bytes)
		}
		if is.vectors.Len() != sp.vectors.Len() || is.texts.Len() != sp.texts.Len() {
			fail("space %q: %d vectors and %d texts, not %d and %d", decodePath(path), is.vectors.Len(), is.texts.Len(), sp.vectors.Len(), sp.texts.Len())
		}
		if dim := is.vectors.Dim(); dim > 0 {
			q := make([]float32, dim)
			q[0] = 1
			a, err1 := is.vectors.Search(q, vector.Options{K: math.MaxInt32})
			b, err2 := sp.vectors.Search(q, vector.Options{K: math.MaxInt32})
			if err := errors.Join(err1, err2); err != nil || !reflect.DeepEqual(a, b) {
				fail("space %q: vector hits %v, not %v: %w", decodePath(path), a, b, err)
			}
		}
		n := 0
		for word := range words {
			if n++; n > 4 {
				break
			}
			a, err1 := is.texts.Search(word, text.Options{K: 1000})
			b, err2 := sp.texts.Search(word, text.Options{K: 1000})
			if err := errors.Join(err1, err2); err != nil || !reflect.DeepEqual(a, b) {
				fail("space %q: hits for %q are %v, not %v: %w", decodePath(path), word, a, b, err)
			}
		}
	}
	s.checkSums(fail)
	if is := s.total(""); is.count != alive {
		fail("%v in all, not %v", is, total{alive, bytes})
	}
	for path, o := range s.t.options.In(s.root).All() {
		if *o == (SpaceOptions{}) {
			fail("space %q is configured to nothing", decodePath(path))
		}
	}
	for path := range want {
		fail("space %q is not stored", decodePath(path))
	}
	return errors.Join(errs...)
}

// Bytes returns how many bytes the current version takes, as counted along.
func (m *Memory) Bytes() int64 { return m.Load().total("").bytes }

// checkSums sums up the spaces below each path, from nothing.
func (s Snapshot) checkSums(fail func(format string, args ...any)) {
	want := make(map[string]total)
	cleared := s.clearings()
	for path, row := range s.t.byPath.In(s.t.spaces.In(s.root)).All() {
		if cleared.alive(path, row.Revision()) {
			for path := range above(path) {
				want[path] = want[path].plus(row.Shared().total())
			}
		}
	}
	for path := range want { // and the rows themselves
		n := belowSize(path)
		w := want[path]
		w.bytes += n
		want[path] = w
		for path := range above(path) {
			w := want[path]
			w.bytes += n
			want[path] = w
		}
	}
	for path := range s.t.below.In(s.root).Keys() {
		row, _ := s.t.below.In(s.root).Row(path)
		if !cleared.aliveBelow(path, row.Revision()) {
			continue
		}
		if is := *row.Shared(); is != want[path] {
			fail("below %q: %v, not %v", decodePath(path), is, want[path])
		}
		delete(want, path)
	}
	for path := range want {
		fail("what is below %q is not stored", decodePath(path))
	}
}

// ClearInSmallSteps makes all that is cleared be cleared in small steps, until its result is
// called.
func ClearInSmallSteps() (restore func()) {
	clear, purge := clearAtOnce, purgeAtOnce
	clearAtOnce, purgeAtOnce = 1, 3
	return func() { clearAtOnce, purgeAtOnce = clear, purge }
}

// ReindexInSteps makes Reindex try again for more than so many entries, so often, until its
// result is called.
func ReindexInSteps(behind, tries int) (restore func()) {
	b, r := behindAtMost, reindexTries
	behindAtMost, reindexTries = behind, tries
	return func() { behindAtMost, reindexTries = b, r }
}

// Cleared returns how many marks of what was cleared there are.
func (m *Memory) Cleared() int { return m.Load().clearings().left() }
