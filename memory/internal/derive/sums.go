package derive

import (
	"strings"

	"github.com/cowstore/cowstore/memory/internal/data"
	"github.com/cowstore/cowstore/memory/internal/tuple"
)

// What the spaces below a path have together. There is a row for each path with an entry
// somewhere below it, so that a limit on a space and all below it, and a ClearAll of
// them, look at one row, and a write keeps one up to date for each level above it.

// Total returns what a key stands for, see data.LimitsOf, as it is settled.
func (s *Settler) Total(key string) data.Total {
	path, below := tuple.CutBelow(key)
	n := s.Space(path).Total()
	if below {
		n = n.Plus(s.below(path))
	}
	return n
}

// below returns what is below a path, as it is settled.
func (s *Settler) below(path string) data.Total {
	if n, ok := s.sums[path]; ok {
		return n
	}
	if s.spaces != nil {
		if row, ok := s.t.Below.In(s.tx.Base()).Row(path); ok && s.cleared.AliveBelow(path, row.Revision()) {
			return *row.Shared()
		}
	}
	return data.Total{}
}

// sum brings the sums up to the spaces that were touched since the last time.
func (s *Settler) sum() {
	for _, e := range s.unsummed {
		s.add(e.path, e.Total().Minus(e.summed))
		e.behind = false
	}
	s.unsummed = s.unsummed[:0]
}

// add adds to what is below each path above a path. What is there already of rows that
// were cleared is dropped.
func (s *Settler) add(path string, more data.Total) {
	for path := range tuple.Above(path) {
		is := s.below(path)
		before := is.Count
		is.Count += more.Count
		switch {
		case before == 0 && is.Count > 0:
			more.Bytes += data.BelowSize(path)
		case before > 0 && is.Count == 0:
			more.Bytes -= data.BelowSize(path)
		}
		is.Bytes += more.Bytes
		if s.sums == nil {
			s.sums = make(map[string]data.Total)
		}
		s.sums[path] = is
	}
}

// drop takes what a mark clears out of the sums, unless it is among what was dropped before.
// The rows of spaces, and of what is below those that are cleared, are left as they are.
func (s *Settler) drop(key string) {
	path, all := tuple.CutBelow(key)
	if s.dropped[path+tuple.AboveBelow] {
		return
	}
	for path := range tuple.Above(path) {
		if s.dropped[path+tuple.AboveBelow] {
			return
		}
	}
	s.t.Clears.Store(true) // before the version is published
	var n data.Total
	if !s.dropped[path] {
		n = s.Space(path).Total()
	}
	if all {
		n = n.Plus(s.below(path))
		for below := range s.sums {
			if data.Covers(key, below) {
				delete(s.sums, below)
			}
		}
	}
	s.add(path, data.Total{}.Minus(n))
	if s.dropped == nil {
		s.dropped = make(map[string]bool)
	}
	s.dropped[key] = true
}

// storeSums stores what is below the paths above the spaces that were touched.
func (s *Settler) storeSums() {
	below := s.t.Below.Edit(s.tx)
	was := s.t.Below.In(s.tx.Base())
	if s.spaces == nil { // all of them are new
		for path := range was.Keys() {
			if _, ok := s.sums[path]; !ok {
				below.Delete(path)
			}
		}
	}
	for path, n := range s.sums {
		row, ok := was.Row(path)
		switch {
		case n.Count == 0:
			below.Delete(path)
		case ok && *row.Shared() == n && s.cleared.AliveBelow(path, row.Revision()):
		default:
			below.Set(strings.Clone(path), &n) // not to keep a longer path alive
		}
	}
	s.sums = nil
}
