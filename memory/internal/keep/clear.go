package keep

import (
	"strings"
	"weak"

	"github.com/cowstore/cowstore/memory/internal/data"
	"github.com/cowstore/cowstore/memory/internal/derive"
	"github.com/cowstore/cowstore/memory/internal/tuple"
	"github.com/cowstore/cowstore/snapshot"
)

// A space with more than a few entries is cleared by a mark: from then on what it had is
// gone for everybody, and later writes remove a few of its rows each.

// ClearAtOnce is how many entries are removed at once when a space is cleared: more are
// removed in steps, of up to PurgeAtOnce by each update. Tests take smaller steps.
var (
	ClearAtOnce = 64
	PurgeAtOnce = 32
)

// The key of a mark is the path of the space, with AboveBelow behind it if the mark is
// for the spaces below too.

// Clear removes the entries that a mark with that key would be for, and returns how many
// there were; see Editor.Clear.
func (b *Update) Clear(key string) int {
	err := b.Settler.Settle() // an error is that of the Batch
	before := b.Settler.Total(tuple.AboveBelow).Count
	if n, ok := b.clearFew(key); ok {
		return n
	}
	for c := range b.Entries.Map().Diff(b.Settler.Base) { // what the mark is not for: it was written just now
		if path, _ := tuple.Split(c.Key); data.Covers(key, path) && b.Entries.Revision(c.Key) == snapshot.Pending {
			b.Entries.Delete(c.Key)
		}
	}
	if err == nil {
		err = b.Settler.Settle()
	}
	b.mark(key, &data.Clearing{At: b.Tx.Base().Version(), By: weak.Make(b.Tx)})
	b.Wrote = true
	if err == nil {
		b.Settler.DropNow(key, b.Cleared)
	} else {
		_ = b.Settler.Settle()
	}
	b.dims = nil
	return before - b.Settler.Total(tuple.AboveBelow).Count
}

// clearFew is Clear where there are few entries, and few rows of what was cleared before.
func (b *Update) clearFew(key string) (n int, ok bool) {
	left := b.Settler.Total(key).Count
	if left > ClearAtOnce {
		return 0, false
	}
	var few []string
	looked := 0
	for name, row := range derive.Marked(b.p.Order.During(b.Entries), key).All() {
		if len(few) == left {
			break
		}
		if looked++; looked > 4*ClearAtOnce {
			return 0, false
		}
		if path, _ := tuple.Split(name); b.Cleared.Alive(path, row.Revision()) {
			few = append(few, name)
		}
	}
	for _, name := range few {
		if e, _ := b.Lookup(name); e != nil {
			n++
		}
		b.Remove(name)
	}
	return n, true
}

// mark sets a mark, or deletes it if it is nil.
func (b *Update) mark(key string, c *data.Clearing) {
	e := b.p.Tables.Cleared.Edit(b.Tx)
	if c == nil {
		e.Delete(key)
	} else {
		e.Set(key, c)
	}
	b.p.Clears.Store(true)
	b.Cleared = data.Marks{Map: e.Map()}
}

// Purge removes up to n rows of spaces that were cleared, and reports whether there may
// be more. It looks at four times as many.
func (b *Update) Purge(n int) (more bool) {
	if b.Cleared.Left() == 0 {
		return false
	}
	left, looks := n, 4*n
	for key, mark := range b.Cleared.All() {
		if left == 0 || looks == 0 {
			break
		}
		if mark.Done {
			b.mark(key, nil)
			continue
		}
		r := derive.Marked(b.p.Order.During(b.Entries), key)
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
			next.Hand = data.NameText(strings.Clone(name)) // not to keep the entry alive
			if row.Revision() <= mark.At {
				gone = append(gone, name)
			}
		}
		for _, name := range gone {
			b.Entries.Delete(name)
		}
		left -= len(gone)
		b.mark(key, &next)
	}
	return b.Cleared.Left() > 0
}

// marks returns the marks by which what the update removed had gone before.
func (b *Update) marks() (all []data.Mark) {
	base := data.Marks{Map: b.p.Tables.Cleared.In(b.Tx.Base())}
	if b.Cleared.Left() == 0 && base.Left() == 0 {
		return nil
	}
	latest := make(map[string]data.Mark) // by path
	needed := make(map[string]bool)
	for c := range b.Settler.Settled.Diff(b.Settler.Base) {
		old, _ := c.Rows()
		if old == (snapshot.Row[string, *data.Entry]{}) {
			continue
		}
		path, _ := tuple.Split(c.Key)
		m, ok := latest[path]
		if !ok {
			path = strings.Clone(path) // not to keep the entry alive
			m = b.Cleared.Latest(path)
			if before := base.Latest(path); before.At > m.At {
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
