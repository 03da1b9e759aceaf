package memory

import (
	"strings"
	"weak"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/snapshot"
)

// A space with more than a few entries is cleared by a mark: from then on what it had is
// gone for everybody, and later writes remove a few of its rows each.

// clearAtOnce is how many entries are removed at once when a space is cleared: more are
// removed in steps, of up to purgeAtOnce by each update. Tests take smaller steps.
var (
	clearAtOnce = 64
	purgeAtOnce = 32
)

// A clearing is the mark of a space that is cleared: nothing is there any more that was
// written up to a version. It is immutable.
type clearing struct {
	At   uint64
	Hand nameText `json:",omitempty"` // no row up to this name is to be removed any more
	Done bool     `json:",omitempty"` // all are removed: the mark can go

	by weak.Pointer[cow.Tx] // the update that set it; zero: it was decoded
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
	if all, below := cutBelow(key); below {
		rest, ok := strings.CutPrefix(path, all)
		return ok && !strings.HasPrefix(rest, aboveBelow) // which is another element
	}
	return key == path
}

// clearings are the marks of a version.
type clearings struct {
	*snapshot.Map[string, *clearing]
}

// alive reports whether what was written to a space at a revision, or is Pending, is
// still there.
func (c clearings) alive(path string, revision uint64) bool {
	return revision > c.latest(path).At
}

// aliveBelow is alive for what is below a path, of which those that are for one space
// alone do not tell.
func (c clearings) aliveBelow(path string, revision uint64) bool {
	return revision > c.latestBelow(path).At
}

// latest returns the latest mark that is for a space; at 0, if there is none.
func (c clearings) latest(path string) mark {
	return c.later(path, c.latestBelow(path))
}

// latestBelow is latest for what is below a path.
func (c clearings) latestBelow(path string) mark {
	if c.left() == 0 {
		return mark{}
	}
	last := c.later(path+aboveBelow, mark{})
	for path := range above(path) {
		last = c.later(path+aboveBelow, last)
	}
	return last
}

// later returns the mark of a key, if there is one that is later than another.
func (c clearings) later(key string, than mark) mark {
	if c.left() > 0 {
		if m, ok := c.Get(key); ok && m.At > than.At {
			return mark{nameText(key), m.At}
		}
	}
	return than
}

// clearings returns the marks of a snapshot.
func (s Snapshot) clearings() clearings {
	if s.t == nil || !s.t.clears.Load() {
		return clearings{}
	}
	return clearings{s.t.cleared.In(s.root)}
}

// marked narrows a range to the entries that a mark with that key is for.
func marked(r cow.Range[string, *entry, string], key string) cow.Range[string, *entry, string] {
	if all, below := cutBelow(key); below {
		return within(r, all)
	}
	return r.Prefix(nameOf(key, ""))
}

// clear removes the entries that a mark with that key would be for, and returns how many
// there were; see Editor.Clear.
func (b *Batch) clear(key string) int {
	b.live()
	err := b.settler.settle() // an error is that of the Batch
	before := b.settler.total(aboveBelow).count
	if n, ok := b.clearFew(key); ok {
		return n
	}
	for c := range b.entries.Map().Diff(b.settler.base) { // what the mark is not for: it was written just now
		if path, _ := split(c.Key); covers(key, path) && b.entries.Revision(c.Key) == Pending {
			b.entries.Delete(c.Key)
		}
	}
	if err == nil {
		err = b.settler.settle()
	}
	b.mark(key, &clearing{At: b.tx.Base().Version(), by: weak.Make(b.tx)})
	b.wrote = true
	if err == nil {
		b.settler.dropNow(key, b.cleared)
	} else {
		_ = b.settler.settle()
	}
	b.dims = nil
	return before - b.settler.total(aboveBelow).count
}

// clearFew is clear where there are few entries, and few rows of what was cleared before.
func (b *Batch) clearFew(key string) (n int, ok bool) {
	left := b.settler.total(key).count
	if left > clearAtOnce {
		return 0, false
	}
	var few []string
	looked := 0
	for name, row := range marked(b.m.order.During(b.entries), key).All() {
		if len(few) == left {
			break
		}
		if looked++; looked > 4*clearAtOnce {
			return 0, false
		}
		if path, _ := split(name); b.cleared.alive(path, row.Revision()) {
			few = append(few, name)
		}
	}
	for _, name := range few {
		if e, _ := b.lookup(name); e != nil {
			n++
		}
		b.remove(name)
	}
	return n, true
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
	left, looks := n, 4*n
	for key, mark := range b.cleared.All() {
		if left == 0 || looks == 0 {
			break
		}
		if mark.Done {
			b.mark(key, nil)
			continue
		}
		r := marked(b.m.order.During(b.entries), key)
		if mark.Hand != "" {
			r = r.After(string(mark.Hand), string(mark.Hand))
		}
		next := *mark
		next.Done = true
		var gone []string
		for name, row := range r.All() {
			if looks == 0 || len(gone) == left {
				next.Done = false
				break
			}
			looks--
			next.Hand = nameText(strings.Clone(name)) // not to keep the entry alive
			if row.Revision() <= mark.At {
				gone = append(gone, name)
			}
		}
		for _, name := range gone {
			b.entries.Delete(name)
		}
		left -= len(gone)
		b.mark(key, &next)
	}
	return b.cleared.left() > 0
}

// purgeAll removes what was cleared, in steps, so that others need not wait for all of it.
func (m *Memory) purgeAll() error {
	for m.Load().clearings().left() > 0 {
		if err := m.Batch(func(b *Batch) error { b.purge(16 * purgeAtOnce); return nil }); err != nil {
			return err
		}
	}
	return nil
}

// without returns a snapshot without what was cleared, for a comparison of rows.
func (m *Memory) without(s Snapshot) (Snapshot, error) {
	if s.clearings().left() == 0 {
		return s, nil
	}
	return m.scratch(s, func(b *Batch) {
		for b.purge(1 << 20) {
		}
	})
}

// scratch returns what f makes of a snapshot, in a fork that nobody gets to see.
func (m *Memory) scratch(s Snapshot, f func(b *Batch)) (Snapshot, error) {
	fork := &Memory{db: m.db.Fork(s.root), tables: m.tables, options: m.options}
	err := fork.db.Update(func(tx *cow.Tx) error { f(fork.begin(tx)); return nil })
	return Snapshot{m.tables, fork.db.Load(), s.instant}, err
}

// left returns how many marks there are.
func (c clearings) left() int {
	if c.Map == nil {
		return 0
	}
	return c.Len()
}

// marks returns the marks by which what the update removed had gone before.
func (b *Batch) marks() (all []mark) {
	base := clearings{b.m.tables.cleared.In(b.tx.Base())}
	if b.cleared.left() == 0 && base.left() == 0 {
		return nil
	}
	latest := make(map[string]mark) // by path
	needed := make(map[string]bool)
	for c := range b.settler.settled.Diff(b.settler.base) {
		old, _ := c.Rows()
		if old == (snapshot.Row[string, *entry]{}) {
			continue
		}
		path, _ := split(c.Key)
		m, ok := latest[path]
		if !ok {
			path = strings.Clone(path) // not to keep the entry alive
			m = b.cleared.latest(path)
			if before := base.latest(path); before.At > m.At {
				m = before
			}
			latest[path] = m
		}
		if old.Revision() <= m.At && !needed[string(m.Key)] {
			needed[string(m.Key)] = true
			all = append(all, m)
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
