package keep

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/memory/internal/bare"
	"github.com/cowstore/cowstore/memory/internal/data"
	"github.com/cowstore/cowstore/memory/internal/derive"
	"github.com/cowstore/cowstore/memory/internal/fault"
	"github.com/cowstore/cowstore/memory/internal/tuple"
	"github.com/cowstore/cowstore/snapshot"
)

// evictAtOnce is how many entries each update evicts besides twice as many as it wrote, or
// as take twice what it wrote, and looksAtOnce how many rows it looks at for that.
const (
	evictAtOnce = 64
	looksAtOnce = 1024
	evictWindow = 32  // of more than exactLimit entries, at least so many are compared
	leastSize   = 128 // bytes that any entry takes
	maxHands    = 1 << 12
)

// Limit has what a key stands for kept within its limits at the end of the Batch.
func (b *Update) Limit(key string) {
	if b.limited == nil {
		b.limited = make(map[string]bool)
	}
	b.limited[key] = true
}

// evict removes entries until all limits are kept, or it has done enough: those that have
// expired, then those that are about the least recently used. What the batch itself wrote
// stays.
func (b *Update) evict() error {
	options := b.p.Tables.Options.During(b.Tx)
	for path := range b.Settler.Touched {
		if options.Len() > 0 {
			b.Limit(path)
			b.Limit(path + tuple.AboveBelow)
			for path := range tuple.Above(path) {
				b.Limit(path + tuple.AboveBelow)
			}
		}
	}
	if b.p.Limits != (data.Limits{}) {
		b.Limit(tuple.AboveBelow)
	}
	// In this order a space comes before those above it, which may be within their limits then.
	for _, key := range slices.Sorted(maps.Keys(b.limited)) {
		l, n := data.LimitsOf(options, key, b.p.Limits), b.Settler.Total(key)
		if n.Count <= exactLimit && 0 < l.MaxBytes && l.MaxBytes < 2*n.Bytes {
			b.p.exact.Store(true) // it gets full with few entries
		}
		if !data.IsOver(l, n) {
			continue
		}
		if err := b.evictFrom(key, l); err != nil {
			if path, _ := tuple.CutBelow(key); path != "" || key == "" {
				return fault.OfSpace(path, err)
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
func (b *Update) evictFrom(key string, l data.Limits) error {
	own := b.ownOf(key)
	// What there is more than before has its share of the indexes, too.
	if data.IsOver(l, own) || data.IsOver(l, b.Settler.Total(key).Minus(b.before(key))) {
		return full(l)
	}
	looks, evicts, frees := looksAtOnce+8*own.Count+int(2*own.Bytes/leastSize), evictAtOnce+2*own.Count, 2*own.Bytes
	for {
		n := b.Settler.Total(key)
		entries, bytes := data.Over(n.Count, l.MaxEntries), data.Over(n.Bytes, l.MaxBytes)
		if entries == 0 && bytes == 0 || looks <= 0 || evicts <= 0 && frees <= 0 {
			return nil // the rest is for later writes
		}
		window := evictWindow + 2*entries + int(2*bytes/max(leastSize, n.Bytes/int64(max(1, n.Count))))
		if n.Count-own.Count <= exactLimit {
			window = n.Count // all of them
		}
		candidates, looked, all := b.candidates(key, min(window, looks), looks)
		looks -= looked
		if len(candidates) == 0 && all {
			if grown := n.Minus(b.before(key)); (entries == 0 || grown.Count <= 0) && (bytes == 0 || grown.Bytes <= 0) {
				return nil // what is too much was so before, and is kept
			}
			return full(l)
		}
		hand := ""
		for _, c := range candidates {
			if entries <= 0 && bytes <= 0 || evicts <= 0 && frees <= 0 {
				break
			}
			hand = strings.Clone(c.name) // not to keep the entry alive
			b.Entries.Delete(hand)
			b.evicted = append(b.evicted, data.NameText(hand))
			entries--
			evicts--
			bytes -= c.size
			frees -= c.size
		}
		if hand != "" && !all {
			b.turn(key, hand)
		}
		if err := b.Settler.Settle(); err != nil {
			return err
		}
	}
}

// turn moves the hand of a limit behind a name.
func (b *Update) turn(key, name string) {
	if b.w.Hands == nil || len(b.w.Hands) >= maxHands {
		b.w.Hands = make(map[string]string) // those that were there begin anew
	}
	b.w.Hands[key] = name
}

// before returns how much there was of what a key stands for when the update began.
func (b *Update) before(key string) data.Total {
	s := derive.View{T: b.p.Tables, Root: b.Tx.Base()}
	path, below := tuple.CutBelow(key)
	if below {
		return s.Total(path)
	}
	return s.Space(path).Total()
}

// ownOf returns how much the batch itself wrote of what a key stands for, without indexes.
func (b *Update) ownOf(key string) data.Total {
	if b.own == nil {
		b.own = make(map[string]data.Total)
		for c := range b.Settler.Settled.Diff(b.Settler.Base) {
			e, ok := c.New()
			if !ok {
				continue
			}
			path, _ := tuple.Split(c.Key)
			n := data.Total{Count: 1, Bytes: e.Whole() + data.NameSize(c.Key)}
			b.own[path] = b.own[path].Plus(n)
			b.own[path+tuple.AboveBelow] = b.own[path+tuple.AboveBelow].Plus(n)
			for path := range tuple.Above(path) {
				b.own[path+tuple.AboveBelow] = b.own[path+tuple.AboveBelow].Plus(n)
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
func (b *Update) candidates(key string, n, looks int) (cs []candidate, looked int, all bool) {
	hand := b.w.Hands[key]
	last := ""
	add := func(names cow.Range[string, *data.Entry, string]) bool {
		for name, row := range names.All() {
			if len(cs) == n || looked == looks {
				return false
			}
			looked++
			last = name
			if row.Revision() == snapshot.Pending {
				continue
			}
			if path, _ := tuple.Split(name); !b.Cleared.Alive(path, row.Revision()) {
				continue
			}
			e := row.Shared()
			if e.Kept() && !e.Expired(b.Now) {
				continue
			}
			c := candidate{name, e.Used.Last(), row.Revision(), e.Whole() + data.NameSize(name)}
			if e.Expired(b.Now) {
				c.used, c.revision = 0, 0
			}
			cs = append(cs, c)
		}
		return true
	}
	names := derive.Marked(b.p.Order.During(b.Entries), key)
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

// Configure sets how a space behaves. An error is that of End.
func (b *Update) Configure(space string, o data.Config) {
	if err := tuple.CheckDepth(space); err != nil {
		b.err = cmp.Or(b.err, err)
		return
	}
	options := b.p.Tables.Options.Edit(b.Tx)
	if was, ok := options.Get(space); ok && o == *was || !ok && o == (data.Config{}) {
		return
	}
	b.Wrote = true
	b.Limit(space)
	b.Limit(space + tuple.AboveBelow)
	if o == (data.Config{}) {
		options.Delete(space)
		return
	}
	options.Set(space, &o)
}

// ErrFull says that what a batch wrote is more than a limit allows.
var ErrFull = errors.New("more than a limit allows")

// full returns ErrFull with what is allowed.
func full(l data.Limits) error {
	switch {
	case l.MaxBytes == 0:
		return fmt.Errorf("%w: MaxEntries is %d", ErrFull, l.MaxEntries)
	case l.MaxEntries == 0:
		return fmt.Errorf("%w: MaxBytes is %d", ErrFull, l.MaxBytes)
	}
	return fmt.Errorf("%w: MaxEntries is %d, and MaxBytes %d", ErrFull, l.MaxEntries, l.MaxBytes)
}
