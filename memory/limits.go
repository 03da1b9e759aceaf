package memory

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
	"unsafe"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/memory/internal/bare"
	"github.com/cowstore/cowstore/memory/internal/size"
)

// SpaceOptions say how one space behaves. They are part of its versions.
type SpaceOptions struct {
	MaxEntries int           // in this space; 0: no limit
	MaxBytes   int64         // that the space takes on the heap, indexes included; 0: no limit
	TTL        time.Duration // for entries put from now on without one; 0: that of the Memory; Never: none
}

// Configure sets how the space behaves, for what is in it too. It does not go for
// the spaces below. What is too much is evicted in steps, by this write and later ones.
func (e *Editor) Configure(o SpaceOptions) {
	if o.MaxEntries < 0 || o.MaxBytes < 0 || validTTL(o.TTL) != nil {
		panic("memory: Configure with a negative limit: 0 is none, and Never a TTL that is none")
	}
	e.b.m.note(o.MaxEntries, o.MaxBytes)
	if o == e.b.optionsOf(e.space) {
		return
	}
	e.b.wrote = true
	options := e.b.m.tables.options.Edit(e.b.tx)
	if o == (SpaceOptions{}) {
		options.Delete(e.space)
		return
	}
	options.Set(e.space, &o)
	if e.b.limited == nil {
		e.b.limited = make(map[string]bool)
	}
	e.b.limited[e.space] = true
}

// optionsOf returns what a space is configured to.
func (b *Batch) optionsOf(path string) SpaceOptions {
	if o, ok := b.m.tables.options.Edit(b.tx).Get(path); ok {
		return *o
	}
	return SpaceOptions{}
}

// exactLimit is up to how many entries of a space, or of a Memory, the one that was used
// least recently is known exactly. It is the entry that is evicted. Of more, only some
// are compared.
const exactLimit = 256

// note sees to it that reads are stamped as a limit needs it.
func (t *tables) note(maxEntries int, maxBytes int64) {
	if maxEntries > 0 || maxBytes > 0 {
		t.stamps.Store(true)
	}
	if 0 < maxEntries && maxEntries <= exactLimit || 0 < maxBytes && maxBytes <= exactLimit<<10 {
		t.exact.Store(true)
	}
}

// rowSize is about what an entry takes besides its parts and its name: its row, and its
// place in the table, in the order, and in the row of the index of vectors and text.
var rowSize = int64(size.Object(int(unsafe.Sizeof(entry{})))) + 48

// measure sets the size of an entry.
func (e *entry) measure() {
	e.size = rowSize + e.value.Size() + e.metadata.Size()
	if e.vector != nil {
		e.size += int64(size.Object(4 * len(e.vector)))
	}
}

// nameSize returns what the name of an entry takes, with the head of the row it lies in.
func nameSize(name string) int64 { return int64(size.Row(name)) }

// evictAtOnce is how many entries each update evicts besides twice as many as it wrote,
// and looksAtOnce how many rows it looks at for that.
const (
	evictAtOnce = 64
	looksAtOnce = 512
	evictWindow = 32 // of more than exactLimit entries, at least so many are compared
)

// evict removes entries until all limits are kept, or it has done enough: those that have
// expired, then those that are about the least recently used. What the batch itself wrote
// stays.
func (b *Batch) evict() error {
	paths := make([]string, 0, len(b.settler.touched)+len(b.limited))
	for path := range b.settler.touched {
		paths = append(paths, path)
	}
	for path := range b.limited {
		if b.settler.touched[path] == nil {
			paths = append(paths, path)
		}
	}
	for _, path := range paths {
		o := b.optionsOf(path)
		if o.MaxEntries == 0 && o.MaxBytes == 0 {
			continue
		}
		err := b.evictFrom(nameOf(path, ""), o.MaxEntries, o.MaxBytes, func() (int, int64) {
			sp := b.settler.space(path)
			return sp.count, sp.size()
		})
		if err != nil {
			return spaceError(path, err)
		}
	}
	o := b.m.options
	if o.MaxEntries == 0 && o.MaxBytes == 0 {
		return nil
	}
	err := b.evictFrom("", o.MaxEntries, o.MaxBytes, func() (int, int64) {
		return b.settler.total.count, b.settler.total.bytes
	})
	if err != nil {
		return fmt.Errorf("memory: %w", bare.Wrap(err))
	}
	return nil
}

// evictFrom evicts entries whose names begin with prefix while there are too many. It
// goes around in the order of the names, from where it ended the last time, in the manner
// of a clock (Corbató 1968), and of some entries there takes those that were not used for
// longest.
func (b *Batch) evictFrom(prefix string, maxEntries int, maxBytes int64, size func() (int, int64)) error {
	for looks, evicts := looksAtOnce+8*b.stored, evictAtOnce+2*b.stored; ; {
		count, bytes := size()
		entries := over(count, maxEntries)
		bytes = over(bytes, maxBytes)
		if entries == 0 && bytes == 0 {
			return nil
		}
		if b.tooMuch(prefix, maxEntries, maxBytes) {
			return ErrFull
		}
		if looks <= 0 || evicts <= 0 {
			return nil // the rest is for later writes
		}
		window := evictWindow + 2*entries
		if count <= exactLimit {
			window = exactLimit
		}
		candidates, looked, all := b.candidates(prefix, min(window, looks), looks)
		looks -= looked
		if len(candidates) == 0 && all {
			return ErrFull
		}
		hand := ""
		for _, c := range candidates {
			if entries <= 0 && bytes <= 0 || evicts == 0 {
				break
			}
			hand = strings.Clone(c.name) // not to keep the entry alive
			b.entries.Delete(hand)
			b.evicted = append(b.evicted, nameText(hand))
			entries--
			evicts--
			bytes -= c.size
		}
		if hand != "" {
			b.turn(prefix, hand)
		}
		if err := b.settler.settle(); err != nil {
			return err
		}
	}
}

// shrink evicts what is still too much, in steps, since limits were set.
func (m *Memory) shrink() error {
	for path, o := range m.tables.options.In(m.db.Load()).All() {
		for before := -1; ; {
			is := m.Load().space(path)
			if over(is.count, o.MaxEntries) == 0 && over(is.size(), o.MaxBytes) == 0 || is.count == before {
				break
			}
			before = is.count
			err := m.Batch(func(b *Batch) error { b.limited = map[string]bool{path: true}; return nil })
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// turn moves the hand of a limit behind a name.
func (b *Batch) turn(prefix, name string) {
	if b.m.hands == nil {
		b.m.hands = make(map[string]string)
	}
	b.m.hands[prefix] = name
}

// over returns by how much a limit is exceeded.
func over[N int | int64](n, most N) N {
	if most == 0 {
		return 0
	}
	return max(0, n-most)
}

// tooMuch reports whether what the batch itself wrote is more than limits allow.
func (b *Batch) tooMuch(prefix string, maxEntries int, maxBytes int64) bool {
	entries, bytes := 0, int64(0)
	for c := range b.settler.settled.Diff(b.settler.base) {
		if e, ok := c.New(); ok && strings.HasPrefix(c.Key, prefix) {
			entries++
			bytes += e.size
		}
	}
	return over(entries, maxEntries) > 0 || over(bytes, maxBytes) > 0
}

// A candidate is an entry that may be evicted.
type candidate struct {
	name string
	used uint64
	size int64
}

// candidates returns up to n entries after the hand, those that have expired first, then
// the least recently used, and at how many rows it looked, at most at looks, and whether
// those were all. What the batch wrote is not among them, nor what was cleared.
func (b *Batch) candidates(prefix string, n, looks int) (cs []candidate, looked int, all bool) {
	hand := b.m.hands[prefix]
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
			c := candidate{name, e.used.last(), e.size}
			if e.expired(b.now) {
				c.used = 0
			}
			cs = append(cs, c)
		}
		return true
	}
	names := b.m.order.During(b.entries).Prefix(prefix)
	if hand == "" {
		all = add(names)
	} else {
		// Around, and the hand itself.
		all = add(names.After(hand, hand)) && add(names.To(hand+"\x00"))
	}
	if len(cs) == 0 && !all {
		b.turn(prefix, strings.Clone(last))
	}
	slices.SortStableFunc(cs, func(a, b candidate) int { return cmp.Compare(a.used, b.used) })
	return cs, looked, all
}
