package memory

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unsafe"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/memory/internal/bare"
	"github.com/cowstore/cowstore/memory/internal/size"
)

// rowSize is about what an entry takes besides its parts and its name: its row, and its
// place in the table, in the order, and in the row of the index of vectors and text.
var rowSize = int64(size.Object(int(unsafe.Sizeof(entry{})))) + 48

// expirySize is about what an entry that expires takes of the index by expiry.
const expirySize = 24

// measure sets the size of an entry.
func (e *entry) measure() {
	e.size = rowSize + e.value.Size() + e.metadata.Size()
	if e.expires != 0 {
		e.size += expirySize
	}
}

// whole returns the size of an entry with its vector, which the index of the space holds,
// and counts.
func (e *entry) whole() int64 { return e.size + int64(size.Object(4*len(e.vector))) }

// nameSize returns what the name of an entry takes, with the head of the row it lies in.
func nameSize(name string) int64 { return int64(size.Row(name)) }

// evictAtOnce is how many entries each update evicts besides twice as many as it wrote, or
// as take twice what it wrote, and looksAtOnce how many rows it looks at for that.
const (
	evictAtOnce = 64
	looksAtOnce = 1024
	evictWindow = 32  // of more than exactLimit entries, at least so many are compared
	leastSize   = 128 // bytes that any entry takes
	maxHands    = 1 << 12
)

// limit has what a key stands for kept within its limits at the end of the Batch.
func (b *Batch) limit(key string) {
	if b.limited == nil {
		b.limited = make(map[string]bool)
	}
	b.limited[key] = true
}

// evict removes entries until all limits are kept, or it has done enough: those that have
// expired, then those that are about the least recently used. What the batch itself wrote
// stays.
func (b *Batch) evict() error {
	options := b.m.tables.options.During(b.tx)
	for path := range b.settler.touched {
		if options.Len() > 0 {
			b.limit(path)
			b.limit(path + aboveBelow)
			for path := range above(path) {
				b.limit(path + aboveBelow)
			}
		}
	}
	if b.m.limits != (Limits{}) {
		b.limit(aboveBelow)
	}
	// In this order a space comes before those above it, which may be within their limits then.
	for _, key := range slices.Sorted(maps.Keys(b.limited)) {
		l, n := b.m.limitsOf(options, key), b.settler.total(key)
		if n.count <= exactLimit && 0 < l.MaxBytes && l.MaxBytes < 2*n.bytes {
			b.m.exact.Store(true) // it gets full with few entries
		}
		if !l.over(n) {
			continue
		}
		if err := b.evictFrom(key, l); err != nil {
			if path, _ := cutBelow(key); path != "" || key == "" {
				return spaceError(path, err)
			}
			return fmt.Errorf("memory: %w", bare.Wrap(err))
		}
	}
	return nil
}

// evictFrom evicts entries of what a key stands for while there are too many. It
// goes around in the order of the names, from where it ended the last time, in the manner
// of a clock (Corbató 1968), and of some entries there takes those that were not used for
// longest.
func (b *Batch) evictFrom(key string, l Limits) error {
	own := b.ownOf(key)
	// What there is more than before has its share of the indexes, too.
	if l.over(own) || l.over(b.settler.total(key).minus(b.before(key))) {
		return ErrFull
	}
	looks, evicts, frees := looksAtOnce+8*own.count+int(2*own.bytes/leastSize), evictAtOnce+2*own.count, 2*own.bytes
	for {
		n := b.settler.total(key)
		entries, bytes := over(n.count, l.MaxEntries), over(n.bytes, l.MaxBytes)
		if entries == 0 && bytes == 0 || looks <= 0 || evicts <= 0 && frees <= 0 {
			return nil // the rest is for later writes
		}
		window := evictWindow + 2*entries + int(2*bytes/max(leastSize, n.bytes/int64(max(1, n.count))))
		if n.count-own.count <= exactLimit {
			window = n.count // all of them
		}
		candidates, looked, all := b.candidates(key, min(window, looks), looks)
		looks -= looked
		if len(candidates) == 0 && all {
			return ErrFull
		}
		hand := ""
		for _, c := range candidates {
			if entries <= 0 && bytes <= 0 || evicts <= 0 && frees <= 0 {
				break
			}
			hand = strings.Clone(c.name) // not to keep the entry alive
			b.entries.Delete(hand)
			b.evicted = append(b.evicted, nameText(hand))
			entries--
			evicts--
			bytes -= c.size
			frees -= c.size
		}
		if hand != "" && !all {
			b.turn(key, hand)
		}
		if err := b.settler.settle(); err != nil {
			return err
		}
	}
}

// shrink evicts what is still too much, in steps, since limits were set.
func (m *Memory) shrink() error {
	s := m.Load()
	options := m.tables.options.In(s.root)
	keys := []string{aboveBelow}
	for path := range options.Keys() {
		keys = append(keys, path+aboveBelow)
	}
	if len(keys) > 1 { // there may be defaults
		keys = slices.AppendSeq(keys, m.spaces.In(s.root).Keys())
	}
	slices.Sort(keys)
	for _, key := range keys {
		path, below := cutBelow(key)
		for before := (total{}); ; {
			s := m.Load()
			n := s.space(path).total()
			if below {
				n = s.total(path)
			}
			if n == before || !m.limitsOf(m.tables.options.In(s.root), key).over(n) {
				break
			}
			before = n
			if err := m.Batch(func(b *Batch) error { b.limit(key); return nil }); err != nil {
				return err
			}
		}
	}
	return nil
}

// turn moves the hand of a limit behind a name.
func (b *Batch) turn(key, name string) {
	if b.m.hands == nil || len(b.m.hands) >= maxHands {
		b.m.hands = make(map[string]string) // those that were there begin anew
	}
	b.m.hands[key] = name
}

// before returns how much there was of what a key stands for when the update began.
func (b *Batch) before(key string) total {
	s := Snapshot{t: b.m.tables, root: b.tx.Base()}
	path, below := cutBelow(key)
	if below {
		return s.total(path)
	}
	return s.space(path).total()
}

// ownOf returns how much the batch itself wrote of what a key stands for, without indexes.
func (b *Batch) ownOf(key string) total {
	if b.own == nil {
		b.own = make(map[string]total)
		for c := range b.settler.settled.Diff(b.settler.base) {
			e, ok := c.New()
			if !ok {
				continue
			}
			path, _ := split(c.Key)
			n := total{1, e.whole() + nameSize(c.Key)}
			b.own[path] = b.own[path].plus(n)
			b.own[path+aboveBelow] = b.own[path+aboveBelow].plus(n)
			for path := range above(path) {
				b.own[path+aboveBelow] = b.own[path+aboveBelow].plus(n)
			}
		}
	}
	return b.own[key]
}

// A candidate is an entry that may be evicted.
type candidate struct {
	name     string
	used     uint64 // 0: not since it was loaded
	revision uint64 // which then tells when it was written
	size     int64
}

// candidates returns up to n entries after the hand, those that have expired first, then
// the least recently used, and at how many rows it looked, at most at looks, and whether
// those were all. What the batch wrote is not among them, nor what was cleared.
func (b *Batch) candidates(key string, n, looks int) (cs []candidate, looked int, all bool) {
	hand := b.m.hands[key]
	last := ""
	add := func(names cow.Range[string, *entry, string]) bool {
		for name, row := range names.All() {
			if len(cs) == n || looked == looks {
				return false
			}
			looked++
			last = name
			if row.Revision() == Pending {
				continue
			}
			if path, _ := split(name); !b.cleared.alive(path, row.Revision()) {
				continue
			}
			e := row.Shared()
			c := candidate{name, e.used.last(), row.Revision(), e.whole() + nameSize(name)}
			if e.expired(b.now) {
				c.used, c.revision = 0, 0
			}
			cs = append(cs, c)
		}
		return true
	}
	names := marked(b.m.order.During(b.entries), key)
	if hand == "" {
		all = add(names)
	} else {
		// Around, and the hand itself.
		all = add(names.After(hand, hand)) && add(names.Through(hand))
	}
	if len(cs) == 0 && !all {
		b.turn(key, strings.Clone(last))
	}
	slices.SortStableFunc(cs, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.used, b.used), cmp.Compare(a.revision, b.revision))
	})
	return cs, looked, all
}
