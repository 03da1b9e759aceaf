package memory

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cowstore/cowstore/memory/internal/bare"

	"github.com/cowstore/cowstore/cow"
)

// SpaceOptions say how one space behaves. They are part of its versions.
type SpaceOptions struct {
	MaxEntries int           // in this space; 0: no limit
	MaxBytes   int64         // that its entries take, about; 0: no limit
	TTL        time.Duration // for entries put from now on without one; 0: that of the Memory
}

// Configure sets how the space behaves, for what is in it too. It does not go for
// the spaces below.
func (e *Editor) Configure(o SpaceOptions) {
	if o.MaxEntries < 0 || o.MaxBytes < 0 || o.TTL < 0 {
		panic("memory: Configure with a negative limit: 0 is none")
	}
	if o.MaxEntries > 0 || o.MaxBytes > 0 {
		e.b.m.stamps.Store(true)
	}
	e.b.wrote = e.b.wrote || o != e.b.settler.optionsOf(e.space)
	e.b.settler.configure(e.space, o)
}

// sweepAtOnce is how many expired entries each update removes, so that none of
// them takes long.
const sweepAtOnce = 64

// sweep removes entries that have expired, at most n of those whose names begin
// with prefix, and returns how many.
func (s *settler) sweep(prefix string, n int) int {
	if !s.b.m.expires.Load() {
		return 0
	}
	var names []string
	for _, row := range s.b.m.byExpiry.During(s.b.entries).To(s.b.now + 1).All() {
		if len(names) == n {
			break
		}
		if strings.HasPrefix(row.Key(), prefix) {
			names = append(names, row.Key())
		}
	}
	for _, name := range names {
		s.b.entries.Delete(name)
	}
	return len(names)
}

// evict removes entries until all limits are kept: those that have expired, then
// those that are about the least recently used. What the batch itself wrote
// stays.
func (s *settler) evict() error {
	for path, sp := range s.touched {
		o := s.optionsOf(path)
		err := s.evictFrom(nameOf(path, ""), &sp.hand, func() (int, int64) {
			return over(sp.count, sp.bytes, o.MaxEntries, o.MaxBytes)
		})
		if err != nil {
			return spaceError(path, err)
		}
	}
	o := s.b.m.options
	if !o.limits() {
		return nil
	}
	err := s.evictFrom("", &s.head.hand, func() (int, int64) {
		return over(s.settled.Len(), s.head.bytes, o.MaxEntries, o.MaxBytes)
	})
	if err != nil {
		return fmt.Errorf("memory: %w", bare.Wrap(err))
	}
	return nil
}

// over returns by how much the limits are exceeded.
func over(count int, bytes int64, maxCount int, maxBytes int64) (entries int, more int64) {
	if maxCount > 0 {
		entries = max(0, count-maxCount)
	}
	if maxBytes > 0 {
		more = max(0, bytes-maxBytes)
	}
	return entries, more
}

// evictWindow is how many entries are compared to find the least recently used.
const evictWindow = 32

// evictFrom evicts entries whose names begin with prefix while over says that
// there are too many. It goes around in the order of the names, from where it
// ended the last time, in the manner of a clock (Corbató 1968), and of some
// entries there takes those that were not used for longest.
func (s *settler) evictFrom(prefix string, hand *string, over func() (int, int64)) error {
	for swept := false; ; {
		entries, bytes := over()
		if entries == 0 && bytes == 0 {
			return nil
		}
		if !swept {
			swept = s.sweep("", sweepAtOnce) < sweepAtOnce
		} else {
			candidates := s.candidates(prefix, *hand, evictWindow+2*entries)
			if len(candidates) == 0 {
				return ErrFull
			}
			for _, c := range candidates {
				if entries <= 0 && bytes <= 0 {
					break
				}
				name := strings.Clone(c.name) // not to keep the entry alive
				s.b.entries.Delete(name)
				s.head.evicted = append(s.head.evicted, name)
				*hand = name
				entries--
				bytes -= c.size
			}
		}
		if err := s.settle(); err != nil {
			return err
		}
	}
}

// A candidate is an entry that may be evicted.
type candidate struct {
	name string
	used uint64
	size int64
}

// candidates returns the next n entries after the hand, the least recently used
// first. What the batch wrote is not among them.
func (s *settler) candidates(prefix, hand string, n int) []candidate {
	var cs []candidate
	add := func(names cow.Range[string, *entry, string]) {
		for name, row := range names.All() {
			if len(cs) == n {
				return
			}
			if row.Revision() != Pending {
				e := row.Shared()
				cs = append(cs, candidate{name, e.used.last(), e.size})
			}
		}
	}
	names := s.b.m.order.During(s.b.entries).Prefix(prefix)
	if hand == "" {
		add(names)
	} else {
		add(names.After(hand, hand))
		add(names.To(hand + "\x00")) // around, and the hand itself
	}
	slices.SortStableFunc(cs, func(a, b candidate) int { return cmp.Compare(a.used, b.used) })
	return cs
}
