package cow

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/cowstore/cowstore/cow/hook"
	"github.com/cowstore/cowstore/cow/internal/line"
)

// Erase is [DB.UpdateContext] that also erases keys from the past. It removes the rows of the keys
// that f gives to [Table.Erase] from the tables, from all retained versions and from the pins, and
// changes nothing else there. All other rows keep their revisions, and versions and cursors keep
// their numbers; derived tables follow in each version. If f gives it a key, it publishes a version,
// even if no table has that any more.
//
// When Erase returns nil, At, AsOf, Changes, Commits and Pins no longer have any of these rows. A
// consumer of Changes that is behind gets the commits without them, and then that of Erase, in
// which the key is [Erased], without a value. A replica erases them from its past when it publishes
// that version. A file erases them in the transaction that stores it, whole or not at all; the
// pages that this frees have them until the file is compacted: see package bolt.
//
// Erase does not reach what others hold: snapshots, commits, values in variables, backups, and the
// DBs that were forked from this one or that it was forked from. It returns those of these DBs that
// have one of the rows in any version that they keep, and that are still in use.
//
// The past is rebuilt while readers and writers go on; only Pin and Unpin wait. That takes time
// proportional to the commits since one of the keys was first written, including the work of
// derived tables in each, and to the number of pins. If the function of a derived table returns an
// error there, Erase returns it: then the rows are gone from the current version, and the past is
// as it was. If ctx ends, see [DB.UpdateContext]; what happens after that is still done whole or
// not at all.
func (db *DB) Erase(ctx context.Context, f func(tx *Tx) error) (others []*DB, err error) {
	given(f != nil, "Erase")
	begun := time.Now()
	var gone erasure
	err = hook.ErrPanicked // unless Update returns
	defer func() {
		if gone != nil || err != nil {
			line.Tell(&db.line, func(h hook.Erased) {
				h.OnErased(ctx, hook.Removal{Rows: gone.size(), Others: len(others), Duration: time.Since(begun), Err: err})
			})
		}
	}()
	_, err = db.line.Update(ctx, func(base *line.Root, want line.Want) (line.Draft, error) {
		want.Commit = true
		tx := &Tx{db: db, base: base, want: want, erases: true}
		defer tx.end()
		if err := f(tx); err != nil {
			return line.Draft{}, err
		}
		d, err := tx.seal()
		d, gone = db.erasing(d)
		return d, err
	})
	if err != nil || gone == nil {
		return nil, err
	}
	for _, other := range db.catalog().family(db) {
		if other.has(gone) {
			others = append(others, other)
		}
	}
	return others, nil
}

// erasing returns d with what is to become of the past if it erases something, and what that is.
func (db *DB) erasing(d line.Draft) (line.Draft, erasure) {
	if d.Commit == nil {
		return d, nil
	}
	gone := db.catalog().erased(d.Commit)
	if gone != nil {
		d.Erase = line.Erase(func(p *line.Past) (line.Remade, error) { return db.erase(gone, d.Next, p) })
	}
	return d, gone
}

// Erase erases a key in an update of [DB.Erase]; anywhere else it panics. If the same update sets
// the key again, the new row stays.
func (t *Table[K, V]) Erase(tx *Tx, key K) {
	t.made()
	if !tx.erases {
		panic("cow: Table.Erase outside of DB.Erase: use Edit and Delete, which leave the past as it is")
	}
	builder[K, V]{}.Erase(t.def.edit(tx), key)
}

// Replays reports whether the transaction replays what was decided before: a commit from a file or
// another replica, contents that are restored, or a past version that Erase rebuilds. It is for the
// functions of derived tables.
func (tx *Tx) Replays() bool { return tx.version != 0 }

// A tableErased is an erased.
type tableErased[K comparable, V any] struct {
	def  *tableDef[K, V]
	keys map[K]struct{}
}

func (d *tableDef[K, V]) erased(n line.Net) erased {
	c, ok := n.(*changes[K, V])
	if !ok || !c.erases {
		return nil
	}
	e := &tableErased[K, V]{d, make(map[K]struct{})}
	for _, c := range c.list {
		if c.Kind == Erased {
			e.keys[c.Key] = struct{}{}
		}
	}
	return e
}

func (e *tableErased[K, V]) in(n line.Net) bool {
	c, ok := n.(*changes[K, V])
	if !ok {
		return false
	}
	if x := c.cleared; x != nil {
		return e.holds(x.was) || e.holds(x.is)
	}
	return slices.ContainsFunc(c.rows(), func(c Change[K, V]) bool { return e.has(c.Key) })
}

func (e *tableErased[K, V]) has(key K) bool {
	_, ok := e.keys[key]
	return ok
}

func (e *tableErased[K, V]) size() int { return len(e.keys) }

func (e *tableErased[K, V]) holds(content any) bool {
	m := e.def.mapOf(content)
	for key := range e.keys {
		if m.Has(key) {
			return true
		}
	}
	return false
}

func (e *tableErased[K, V]) erase(tx *Tx) {
	for key := range e.keys {
		builder[K, V]{}.Erase(e.def.edit(tx), key)
	}
}

func (d *tableDef[K, V]) redo(tx *Tx, n line.Net, gone erased) {
	c, ok := n.(*changes[K, V])
	if !ok {
		return
	}
	without, _ := gone.(*tableErased[K, V])
	e := d.edit(tx)
	put := func(row Row[K, V]) {
		if without == nil || !without.has(row.Key()) {
			builder[K, V]{}.PutRow(e, row)
		}
	}
	if x := c.cleared; x != nil {
		e.Clear()
		for row := range x.is.Rows() {
			put(row)
		}
		return
	}
	for _, c := range c.list {
		_, row := c.Rows()
		switch {
		case c.Kind == Erased: // by another commit
			builder[K, V]{}.Erase(e, c.Key)
		case row == Row[K, V]{}:
			e.Delete(c.Key)
		}
		if row != (Row[K, V]{}) {
			put(row)
		}
	}
}

func (d *tableDef[K, V]) since(content any, n line.Net) line.Net {
	m, c := d.mapOf(content), n.(*changes[K, V])
	next := &changes[K, V]{before: m.Version(), erases: c.erases}
	for c := range c.all() {
		_, is := c.Rows()
		was, _ := m.Row(c.Key)
		if c.Kind != Erased {
			if was == is {
				continue // both are the zero Row
			}
			c = builder[K, V]{}.Between(was, is)
		}
		next.list = append(next.list, c)
	}
	return next
}

// between returns nil where nothing differs, not the version of the map either.
func (d *tableDef[K, V]) between(older, newer any) line.Net {
	was, is := d.mapOf(older), d.mapOf(newer)
	next := &changes[K, V]{before: was.Version(), begins: older == nil && newer != nil, list: slices.Collect(is.Diff(was))}
	if len(next.list) == 0 && !next.begins && was.Version() == is.Version() {
		return nil
	}
	return next
}

func (d *tableDef[K, V]) begins(c *line.Commit) bool {
	if c == nil {
		return false
	}
	n, ok := c.Net(d.at).(*changes[K, V])
	return ok && n.begins
}

func (d *tableDef[K, V]) loose(content any) any {
	m := d.mapOf(content)
	if _, to := (builder[K, V]{}).Annotation(m); to == nil || to == m {
		return m
	}
	return builder[K, V]{}.Annotate(m, nil)
}

// An erasure is what a commit has erased, by the place of the table.
type erasure map[int]erased

// size returns how many keys that is.
func (g erasure) size() (n int) {
	for _, e := range g {
		n += e.size()
	}
	return n
}

func (s *catalog) erased(c *line.Commit) erasure {
	var all erasure // nil: nothing
	for _, t := range s.all() {
		if n := c.Net(t.place()); n != nil {
			if e := t.erased(n); e != nil {
				if all == nil {
					all = make(erasure)
				}
				all[t.place()] = e
			}
		}
	}
	return all
}

// in reports whether a commit has a row that was erased, and holds whether a version has.
func (e erasure) in(c *line.Commit) bool {
	for at, e := range e {
		if n := c.Net(at); n != nil && e.in(n) {
			return true
		}
	}
	return false
}

func (e erasure) holds(r *line.Root) bool {
	for at, e := range e {
		if e.holds(r.Table(at)) {
			return true
		}
	}
	return false
}

// has reports whether db has a row that was erased elsewhere, in any version that it keeps.
func (db *DB) has(gone erasure) bool {
	r := db.line.Load()
	p := db.line.Past(r, r.Version()+1)
	return gone.holds(r) || slices.ContainsFunc(p.Roots, gone.holds) || slices.ContainsFunc(p.Commits, gone.in)
}

// erase makes what is kept of the past anew, up to the commit that leads to what is published,
// without what that has erased.
//
// What is derived has traces of a row that no function knows but that which derives it. So the
// past is made anew: from the first version that had one of the rows on, but without them, all
// commits are done once more. A past version is the current one with commits undone, the latest
// first: nothing of the old commits is left in it. Pins and whole snapshots among these commits are
// what they lead to. The others go by themselves: the rows are deleted in each, and what is derived
// follows.
func (db *DB) erase(gone erasure, published *line.Root, p *line.Past) (made line.Remade, err error) {
	made.Roots = make(map[*line.Root]*line.Root)
	if len(p.Commits) > 0 {
		if err := db.eraseCommits(gone, published, p, &made); err != nil {
			return made, err
		}
	}
	for _, r := range p.Roots {
		if made.Roots[r] == nil {
			if made.Roots[r], err = db.without(r, gone); err != nil {
				return made, err
			}
		}
	}
	return made, nil
}

// eraseCommits makes commits anew, and the pins and whole snapshots that lie among them.
func (db *DB) eraseCommits(gone erasure, published *line.Root, p *line.Past, made *line.Remade) error {
	first, last := 0, len(p.Commits)-1
	if !gone.holds(p.At(p.Base())) {
		if first = slices.IndexFunc(p.Commits, gone.in); first < 0 {
			first = last // what is derived may have more
		}
	}
	from := p.At(p.Base() + uint64(first))
	r, err := db.without(from, gone)
	if err == nil && first > 0 && !db.sameDerived(from, r) { // it remembers something from before the past
		first = 0
		r, err = db.without(p.At(p.Base()), gone)
	}
	if err != nil {
		return err
	}
	for _, c := range p.Commits[first:last] {
		var next *line.Commit
		if r, next, err = db.again(r, c, gone); err != nil {
			return err
		}
		made.Commits = append(made.Commits, next)
		runtime.Gosched() // or a writer on this processor waits until this goroutine is preempted
		for _, was := range p.Roots {
			if was.Version() == r.Version() { // from here the commits lead back, and to here
				made.Roots[was] = db.loose(r)
			}
		}
	}
	made.Commits = append(made.Commits, db.after(r, p.Commits[last], published))
	return nil
}

// sameDerived reports whether derived tables are the same in two versions.
func (db *DB) sameDerived(a, b *line.Root) bool {
	return !slices.ContainsFunc(db.catalog().all(), func(t table) bool {
		return t.isDerived() && t.differs(b, a)
	})
}

// loose returns r with tables none of which keeps a version from before something was erased.
func (db *DB) loose(r *line.Root) *line.Root {
	next := line.Make(r, db.owner(), r.Version())
	for _, t := range db.catalog().all() {
		if content := r.Table(t.place()); content != nil {
			next.Set(t.place(), t.loose(content))
		}
	}
	return next.Root
}

// past returns a Tx that makes a version of the past anew.
func (db *DB) past(base *line.Root, version uint64) *Tx {
	return &Tx{db: db, base: base, version: version, want: line.Want{Commit: true, Past: true}}
}

// without returns r without what was erased.
func (db *DB) without(r *line.Root, gone erasure) (*line.Root, error) {
	if r.Version() == 0 {
		return r, nil
	}
	tx := db.past(r, r.Version())
	defer tx.end()
	for _, e := range gone {
		e.erase(tx)
	}
	d, err := tx.seal()
	if err != nil {
		return nil, fmt.Errorf("cow: version %d without what is erased: %w", r.Version(), err)
	}
	return db.loose(d.Next), nil
}

// again returns the version that a commit makes of another base, without what was erased, and
// its commit.
func (db *DB) again(base *line.Root, c *line.Commit, gone erasure) (*line.Root, *line.Commit, error) {
	tx := db.past(base, c.Version())
	defer tx.end()
	tx.again = c
	for _, t := range db.catalog().all() {
		if n := c.Net(t.place()); n != nil && !t.isDerived() {
			t.redo(tx, n, gone[t.place()])
		}
	}
	d, err := tx.seal()
	if err != nil {
		return nil, nil, fmt.Errorf("cow: version %d without what is erased: %w", c.Version(), err)
	}
	next := d.Commit
	if next == nil { // nothing is left of it
		next = new(line.Commit)
	}
	return tx.made(d), next.As(c.Version()), nil
}

// after returns a commit, which leads to what is published, with another version before it. It has
// the derived tables in which the two differ, be it in shape, or in the version of the map alone:
// without that, who undoes the commit would have a map from after the version that he goes back to.
func (db *DB) after(r *line.Root, c *line.Commit, published *line.Root) *line.Commit {
	next := new(line.Commit).As(c.Version())
	for _, t := range db.catalog().all() {
		n := c.Net(t.place())
		switch {
		case t.isDerived():
			n = t.between(r.Table(t.place()), published.Table(t.place()))
		case n != nil:
			n = t.since(r.Table(t.place()), n)
		}
		if n != nil {
			next.Add(t.place(), n)
		}
	}
	return next
}
