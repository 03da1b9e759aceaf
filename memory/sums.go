package memory

import (
	"strings"

	"github.com/cowstore/cowstore/memory/internal/size"
)

// What the spaces below a path have together. There is a row for each path with an entry
// somewhere below it, so that a limit on a space and all below it, and a ClearAll of
// them, look at one row, and a write keeps one up to date for each level above it.

// A total is what spaces have together. It is immutable, once it is stored.
type total struct {
	count int
	bytes int64 // with the indexes
}

func (n total) plus(o total) total  { return total{n.count + o.count, n.bytes + o.bytes} }
func (n total) minus(o total) total { return total{n.count - o.count, n.bytes - o.bytes} }

// total returns what a space has.
func (sp *space) total() total { return total{sp.count, sp.size()} }

// belowSize returns about what the row of a path takes that has spaces below it.
func belowSize(path string) int64 { return int64(size.Row(path)) + 16 + 13 }

// total returns what a space has in a snapshot, with all spaces below it.
func (s Snapshot) total(path string) total {
	n := s.space(path).total()
	if row, ok := s.t.below.In(s.root).Row(path); ok && s.clearings().aliveBelow(path, row.Revision()) {
		n = n.plus(*row.Shared())
	}
	return n
}

// total returns what a key stands for, see limitsOf, as it is settled.
func (s *settler) total(key string) total {
	path, below := cutBelow(key)
	n := s.space(path).total()
	if below {
		n = n.plus(s.below(path))
	}
	return n
}

// below returns what is below a path, as it is settled.
func (s *settler) below(path string) total {
	if n, ok := s.sums[path]; ok {
		return n
	}
	if s.spaces != nil {
		if row, ok := s.t.below.In(s.tx.Base()).Row(path); ok && s.cleared.aliveBelow(path, row.Revision()) {
			return *row.Shared()
		}
	}
	return total{}
}

// sum brings the sums up to the spaces that were touched since the last time.
func (s *settler) sum() {
	for _, e := range s.unsummed {
		s.add(e.path, e.total().minus(e.summed))
		e.behind = false
	}
	s.unsummed = s.unsummed[:0]
}

// add adds to what is below each path above a path. What is there already of rows that
// were cleared is dropped.
func (s *settler) add(path string, more total) {
	for path := range above(path) {
		is := s.below(path)
		before := is.count
		is.count += more.count
		switch {
		case before == 0 && is.count > 0:
			more.bytes += belowSize(path)
		case before > 0 && is.count == 0:
			more.bytes -= belowSize(path)
		}
		is.bytes += more.bytes
		if s.sums == nil {
			s.sums = make(map[string]total)
		}
		s.sums[path] = is
	}
}

// drop takes what a mark clears out of the sums, unless it is among what was dropped before.
// The rows of spaces, and of what is below those that are cleared, are left as they are.
func (s *settler) drop(key string) {
	path, all := cutBelow(key)
	if s.dropped[path+aboveBelow] {
		return
	}
	for path := range above(path) {
		if s.dropped[path+aboveBelow] {
			return
		}
	}
	s.t.clears.Store(true) // before the version is published
	var n total
	if !s.dropped[path] {
		n = s.space(path).total()
	}
	if all {
		n = n.plus(s.below(path))
		for below := range s.sums {
			if covers(key, below) {
				delete(s.sums, below)
			}
		}
	}
	s.add(path, total{}.minus(n))
	if s.dropped == nil {
		s.dropped = make(map[string]bool)
	}
	s.dropped[key] = true
}

// storeSums stores what is below the paths above the spaces that were touched.
func (s *settler) storeSums() {
	below := s.t.below.Edit(s.tx)
	was := s.t.below.In(s.tx.Base())
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
		case n.count == 0:
			below.Delete(path)
		case ok && *row.Shared() == n && s.cleared.aliveBelow(path, row.Revision()):
		default:
			below.Set(strings.Clone(path), &n) // not to keep a longer path alive
		}
	}
	s.sums = nil
}
