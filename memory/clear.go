package memory

import (
	"iter"
	"strings"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/snapshot"
)

// A space with more than a few entries is cleared by a mark: from then on what it had is
// gone for everybody, and later writes remove a few of its rows each.

// clearAtOnce is how many entries are removed at once when a space is cleared: more are
// removed in steps.
const clearAtOnce = 64

// A clearing is the mark of a space that is cleared: nothing is there any more that was
// written up to a version. It is immutable.
type clearing struct {
	At   uint64
	Hand nameText `json:",omitempty"` // no row up to this name is to be removed any more
	Done bool     `json:",omitempty"` // all are removed: the mark can go
}

// A mark is a clearing by its key, for those who read the commits later.
type mark struct {
	Key nameText
	At  uint64
}

// The key of a mark is the path of the space, with aboveBelow behind it if the mark is
// for the spaces below too.

// covers reports whether a mark with that key is for a space.
func covers(key, path string) bool {
	if all, below := strings.CutSuffix(key, aboveBelow); below {
		return strings.HasPrefix(path, all)
	}
	return key == path
}

// clearings are the marks of a version.
type clearings struct {
	*snapshot.Map[string, *clearing]
}

// alive reports whether what was written to a space at a revision is still there.
func (c clearings) alive(path string, revision uint64) bool {
	if c.left() == 0 || revision == Pending {
		return true
	}
	goneBy := func(key string) bool {
		mark, ok := c.Get(key)
		return ok && revision <= mark.At
	}
	if goneBy(path) || goneBy(aboveBelow) {
		return false
	}
	for n := 0; n < len(path); {
		n += elementLen(path[n:])
		if goneBy(path[:n] + aboveBelow) {
			return false
		}
	}
	return true
}

// clearings returns the marks of a snapshot.
func (s Snapshot) clearings() clearings {
	if s.t == nil || !s.t.clears.Load() {
		return clearings{}
	}
	return clearings{s.t.cleared.In(s.root)}
}

// spacesOf returns the spaces of a snapshot that a mark with that key is for.
func (t *tables) spacesOf(s *cow.Snapshot, key string) iter.Seq2[string, cow.Row[string, *space]] {
	return func(yield func(string, cow.Row[string, *space]) bool) {
		spaces := t.spaces.In(s)
		if all, below := strings.CutSuffix(key, aboveBelow); below {
			within(t.byPath.In(spaces), all).All()(yield)
		} else if row, ok := spaces.Row(key); ok {
			yield(key, row)
		}
	}
}

// marked narrows a range to the entries that a mark with that key is for.
func marked(r cow.Range[string, *entry, string], key string) cow.Range[string, *entry, string] {
	if all, below := strings.CutSuffix(key, aboveBelow); below {
		return within(r, all)
	}
	return r.Prefix(nameOf(key, ""))
}

// clear removes the entries that a mark with that key would be for, and returns how many
// there were; see Editor.Clear.
func (b *Batch) clear(key string) int {
	var few []string
	for name, row := range marked(b.m.order.During(b.entries), key).All() {
		if few = append(few, name); len(few) > clearAtOnce {
			break
		}
		if path, _ := split(name); !b.cleared.alive(path, row.Revision()) {
			few = few[:len(few)-1]
		}
	}
	if len(few) <= clearAtOnce {
		n := 0
		for _, name := range few {
			if e, _ := b.lookup(name); e != nil {
				n++
			}
			b.remove(name)
		}
		return n
	}
	_ = b.settler.settle() // an error is that of the Batch
	before := b.settler.total.count
	for c := range b.entries.Map().Diff(b.settler.base) { // what the mark is not for: it was written just now
		if path, _ := split(c.Key); covers(key, path) && b.entries.Revision(c.Key) == Pending {
			b.entries.Delete(c.Key)
		}
	}
	b.mark(key, &clearing{At: b.tx.Base().Version()})
	b.wrote = true
	_ = b.settler.settle()
	b.dims = nil
	return before - b.settler.total.count
}

// mark sets a mark, or deletes it if it is nil.
func (b *Batch) mark(key string, c *clearing) {
	e := b.m.tables.cleared.Edit(b.tx)
	if c == nil {
		e.Delete(key)
	} else {
		e.Set(key, c)
	}
	b.m.clears.Store(true)
	b.cleared = clearings{e.Map()}
}

// purge removes up to n rows of spaces that were cleared, and reports whether there may
// be more. It looks at four times as many.
func (b *Batch) purge(n int) (more bool) {
	if b.cleared.left() == 0 {
		return false
	}
	for key, mark := range b.cleared.All() {
		if mark.Done {
			b.mark(key, nil)
			return b.cleared.left() > 0
		}
		r := marked(b.m.order.During(b.entries), key)
		if mark.Hand != "" {
			r = r.After(string(mark.Hand), string(mark.Hand))
		}
		next := clearing{At: mark.At, Hand: mark.Hand, Done: true}
		var gone []string
		looked := 0
		for name, row := range r.All() {
			if looked == 4*n || len(gone) == n {
				next.Done = false
				break
			}
			looked++
			next.Hand = nameText(strings.Clone(name)) // not to keep the entry alive
			if row.Revision() <= mark.At {
				gone = append(gone, name)
			}
		}
		for _, name := range gone {
			b.entries.Delete(name)
		}
		b.mark(key, &next)
		return true
	}
	return false
}

// without returns a snapshot without what was cleared, for a comparison of rows.
func (m *Memory) without(s Snapshot) (Snapshot, error) {
	if s.clearings().left() == 0 {
		return s, nil
	}
	f := m.Fork(s)
	err := f.db.Update(func(tx *cow.Tx) error {
		b := f.begin(tx)
		for b.purge(1 << 20) {
		}
		return nil
	})
	return Snapshot{m.tables, f.db.Load(), s.instant}, err
}

// left returns how many marks there are.
func (c clearings) left() int {
	if c.Map == nil {
		return 0
	}
	return c.Len()
}

// marks returns the marks that there are, and were before the update.
func (b *Batch) marks() (all []mark) {
	for _, c := range []clearings{b.cleared, {b.m.tables.cleared.In(b.tx.Base())}} {
		if c.left() > 0 {
			for key, c := range c.All() {
				all = append(all, mark{nameText(key), c.At})
			}
		}
	}
	return all
}

// gone reports whether what a space had in an older snapshot was cleared until a newer one.
func (t *tables) gone(newer, older *cow.Snapshot, path string) bool {
	before := clearings{t.cleared.In(older)}
	for key, is := range t.cleared.In(newer).All() {
		if covers(key, path) {
			if was, ok := before.Get(key); !ok || was.At != is.At {
				return true
			}
		}
	}
	return false
}
