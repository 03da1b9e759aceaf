package memory

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"testing"

	"github.com/cowstore/cowstore/memory/internal/keep"
	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/memory/internal/data"

	"github.com/cowstore/cowstore/memory/internal/tuple"

	"github.com/cowstore/cowstore/memory/text"
	"github.com/cowstore/cowstore/memory/vector"
)

// CheckDerived recounts all that follows from the entries of the current version,
// from nothing, and returns how it differs from what is stored.
func (m *Memory) CheckDerived() error { return m.Load().checkDerived(m.options.NoText) }

// Epochs returns how many epochs of text indexes the current version has.
func (m *Memory) Epochs() int { m.made(); return tablesOf(m).Epochs.In(m.Load().root).Len() }

func (s Snapshot) checkDerived(noText bool) error {
	want := make(map[string]*data.Space)
	words := make(map[string]bool)
	var errs []error
	fail := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	rows := viewOf(s).T.Entries.In(s.root)
	expiring, alive := 0, 0
	cleared := viewOf(s).Clearings()
	for name, row := range viewOf(s).T.Order.In(rows).All() {
		e := row.Shared()
		path, key := tuple.Split(name)
		if e.Expires != 0 {
			expiring++
		}
		if !cleared.Alive(path, row.Revision()) {
			continue
		}
		alive++
		sp := want[path]
		if sp == nil {
			sp = new(data.Space)
			want[path] = sp
		}
		again := e.Next() // not e, which others read
		if again.Measure(); again.Size != e.Size {
			fail("%q %q: size %d, not %d", tuple.Decode(path), key, e.Size, again.Size)
		}
		size := e.Size + data.NameSize(name)
		if !e.Value.Exists() && e.Vector() == nil {
			fail("%q %q has neither value nor vector", tuple.Decode(path), key)
		}
		sp.Count++
		sp.Bytes += size
		if e.Expires != 0 {
			sp.Expiring++
		}
		if v, ok := viewOf(s).Space(path).Vectors.Get(key); ok != (e.Searched().Vector != nil) {
			fail("%q %q: in the vectors: %v", tuple.Decode(path), key, ok)
		} else if ok {
			if !slices.Equal(v, e.Vector()) {
				fail("%q %q: %v, not %v", tuple.Decode(path), key, v, e.Vector())
			}
			var err error
			if sp.Vectors, err = sp.Vectors.Set(key, v); err != nil {
				fail("%q %q: %w", tuple.Decode(path), key, err)
			}
		}
		if !noText && e.Searched().Value.Exists() {
			sp.Texts = sp.Texts.Set(key, viewOf(s).Space(path).Texts.Analyzer().Tokenize(e.Value.Texts()))
			for t := range e.Value.Texts() {
				words[t] = true
			}
		}
	}
	if n := viewOf(s).T.Order.In(rows).Len(); n != rows.Len() {
		fail("%d entries in order, %d in all", n, rows.Len())
	}
	if n := viewOf(s).T.ByExpiry.In(rows).Len(); n != expiring {
		fail("%d entries by expiry, not %d", n, expiring)
	}
	var bytes int64
	for path, row := range viewOf(s).T.ByPath.In(viewOf(s).T.Spaces.In(s.root)).All() {
		is := row.Shared()
		if !cleared.Alive(path, row.Revision()) {
			continue
		}
		bytes += is.Size()
		sp := want[path]
		if sp == nil {
			fail("space %q is stored and has nothing", tuple.Decode(path))
			sp = new(data.Space)
		}
		delete(want, path)
		if is.Count != sp.Count || is.Expiring != sp.Expiring || is.Bytes != sp.Bytes {
			fail("space %q: counts %d, %d, %d; not %d, %d, %d", tuple.Decode(path), is.Count, is.Expiring, is.Bytes, sp.Count, sp.Expiring, sp.Bytes)
		}
		if is.Vectors.Len() != sp.Vectors.Len() || is.Texts.Len() != sp.Texts.Len() {
			fail("space %q: %d vectors and %d texts, not %d and %d", tuple.Decode(path), is.Vectors.Len(), is.Texts.Len(), sp.Vectors.Len(), sp.Texts.Len())
		}
		if dim := is.Vectors.Dim(); dim > 0 {
			q := make([]float32, dim)
			q[0] = 1
			a, err1 := is.Vectors.Search(q, vector.Options{K: math.MaxInt32})
			b, err2 := sp.Vectors.Search(q, vector.Options{K: math.MaxInt32})
			if err := errors.Join(err1, err2); err != nil || !reflect.DeepEqual(a, b) {
				fail("space %q: vector hits %v, not %v: %w", tuple.Decode(path), a, b, err)
			}
		}
		n := 0
		for word := range words {
			if n++; n > 4 {
				break
			}
			a, err1 := is.Texts.Search(word, text.Options{K: 1000})
			b, err2 := sp.Texts.Search(word, text.Options{K: 1000})
			if err := errors.Join(err1, err2); err != nil || !reflect.DeepEqual(a, b) {
				fail("space %q: hits for %q are %v, not %v: %w", tuple.Decode(path), word, a, b, err)
			}
		}
	}
	s.checkSums(fail)
	if is := viewOf(s).Total(""); is.Count != alive {
		fail("%v in all, not %v", is, data.Total{Count: alive, Bytes: bytes})
	}
	for path, o := range viewOf(s).T.Options.In(s.root).All() {
		if *o == (data.Config{}) {
			fail("space %q is configured to nothing", tuple.Decode(path))
		}
	}
	for path := range want {
		fail("space %q is not stored", tuple.Decode(path))
	}
	return errors.Join(errs...)
}

// Bytes returns how many bytes the current version takes, as counted along.
func (m *Memory) Bytes() int64 { return viewOf(m.Load()).Total("").Bytes }

// checkSums sums up the spaces below each path, from nothing.
func (s Snapshot) checkSums(fail func(format string, args ...any)) {
	want := make(map[string]data.Total)
	cleared := viewOf(s).Clearings()
	for path, row := range viewOf(s).T.ByPath.In(viewOf(s).T.Spaces.In(s.root)).All() {
		if cleared.Alive(path, row.Revision()) {
			for path := range tuple.Above(path) {
				want[path] = want[path].Plus(row.Shared().Total())
			}
		}
	}
	for path := range want { // and the rows themselves
		n := data.BelowSize(path)
		w := want[path]
		w.Bytes += n
		want[path] = w
		for path := range tuple.Above(path) {
			w := want[path]
			w.Bytes += n
			want[path] = w
		}
	}
	for path := range viewOf(s).T.Below.In(s.root).Keys() {
		row, _ := viewOf(s).T.Below.In(s.root).Row(path)
		if !cleared.AliveBelow(path, row.Revision()) {
			continue
		}
		if is := *row.Shared(); is != want[path] {
			fail("below %q: %v, not %v", tuple.Decode(path), is, want[path])
		}
		delete(want, path)
	}
	for path := range want {
		fail("what is below %q is not stored", tuple.Decode(path))
	}
}

// ClearInSmallSteps makes all that is cleared be cleared in small steps, until its result is
// called.
func ClearInSmallSteps() (restore func()) {
	clear, purge := keep.ClearAtOnce, keep.PurgeAtOnce
	keep.ClearAtOnce, keep.PurgeAtOnce = 1, 3
	return func() { keep.ClearAtOnce, keep.PurgeAtOnce = clear, purge }
}

// ReindexInSteps makes Reindex try again for more than so many entries, so often, until its
// result is called.
func ReindexInSteps(behind, tries int) (restore func()) {
	b, r := behindAtMost, reindexTries
	behindAtMost, reindexTries = behind, tries
	return func() { behindAtMost, reindexTries = b, r }
}

// Cleared returns how many marks of what was cleared there are.
func (m *Memory) Cleared() int { return viewOf(m.Load()).Clearings().Left() }

func mustFreeze(t testing.TB, v any) Value {
	t.Helper()
	f, err := Freeze(v)
	require.NoError(t, err)
	return f
}
