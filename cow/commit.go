package cow

import (
	"iter"
	"slices"
	"time"
	"unsafe"
)

// A Commit is one published update: its version, its time, and the net changes of
// every key, a key at most once. What changed is read typed, by Store.Rows or
// Table.Rows. A Commit is made once, for history, feeds and sinks alike. It is
// immutable, safe for concurrent use, and stays valid.
type Commit struct {
	lineage *name
	version uint64
	at      int64 // wall clock, ns since 1970; never below that of the version before
	elapsed int64 // monotonic clock, ns since the process began; below 0 if it was before
	changes net
}

// Version returns the version that the update published.
func (c *Commit) Version() uint64 { return c.version }

// Time returns the time of the update, never before that of the version before.
func (c *Commit) Time() time.Time { return time.Unix(0, c.at) }

// Cursor returns a text, fit for an event id, from which Resume goes on after this
// Commit.
func (c *Commit) Cursor() string { return cursor(c.lineage, c.version) }

// stamp makes c the commit of a version of a line, after one at the time last.
func (c *Commit) stamp(lineage *name, version uint64, last int64) {
	now := time.Now()
	c.lineage, c.version = lineage, version
	c.at, c.elapsed = max(now.UnixNano(), last), elapsed(now)
}

// began is when the process began, near enough.
var began = time.Now()

// elapsed returns a time of this process on its monotonic clock.
func elapsed(t time.Time) int64 { return int64(t.Sub(began)) }

// net are the net changes of one commit: those of the one map of a Store, or of
// the tables of a DB. They are immutable.
type net interface {
	// weigh returns how many rows the changes replaced or removed, which the
	// commit keeps alive, and about how many bytes it holds back.
	weigh() weight

	// len returns how many changes there are.
	len() int

	// rewind returns the snapshot that newest was at version, given the commits
	// since, the latest first, of which the last is that of this.
	rewind(newest any, version uint64, since []*Commit) any

	// structure returns about how many bytes such a snapshot takes apart from its
	// rows.
	structure(snapshot any) int
}

// changes are the net changes of one map, a key at most once.
type changes[K comparable, V any] struct {
	list   []Change[K, V]
	first  [1]Change[K, V] // where list is, if there is but one
	before uint64          // the version of the map that was changed
}

// comparing is called at each comparison, in tests that count them.
var comparing func()

// compare fills in what e has changed so far. It is the one place where versions
// are compared for a commit.
func (c *changes[K, V]) compare(e *Editor[K, V], before uint64) {
	if comparing != nil {
		comparing()
	}
	c.list = builder[K, V]{}.Net(e, c.first[:0])
	c.before = before
}

func (c *changes[K, V]) len() int { return len(c.list) }

func (c *changes[K, V]) weigh() (w weight) {
	w.bytes = int(unsafe.Sizeof(Commit{})+unsafe.Sizeof(*c)) + (cap(c.list)-1)*int(unsafe.Sizeof(c.first))
	for i := range c.list {
		if old, _ := c.list[i].Rows(); old != (Row[K, V]{}) {
			w.add(1, builder[K, V]{}.Size(old))
		}
	}
	return w
}

func (c *changes[K, V]) rewind(newest any, _ uint64, since []*Commit) any {
	return rewind(newest.(*Map[K, V]), func(yield func(*changes[K, V]) bool) {
		for _, s := range since {
			if !yield(s.changes.(*changes[K, V])) {
				return
			}
		}
	})
}

func (*changes[K, V]) structure(m any) int {
	return builder[K, V]{}.Structure(m.(*Map[K, V]))
}

// rewind returns the map that newest was before the changes, the latest first.
func rewind[K comparable, V any](newest *Map[K, V], since iter.Seq[*changes[K, V]]) *Map[K, V] {
	before := newest.Version()
	for c := range since {
		before = c.before
	}
	return builder[K, V]{}.Rewind(newest, before, func(yield func(Change[K, V]) bool) {
		for c := range since {
			for _, change := range c.list {
				if !yield(change) {
					return
				}
			}
		}
	})
}

// A storeCommit is the Commit of a Store and its changes as one object.
type storeCommit[K comparable, V any] struct {
	Commit
	of changes[K, V]
}

// A dbCommit is the Commit of a DB and its changes as one object.
type dbCommit struct {
	Commit
	of tables
}

// tables are the changes of the tables of a DB.
type tables struct {
	list []tableNet // by index of table; nil where a table was not changed
}

// A tableNet is the net changes of one table.
type tableNet interface {
	weigh() weight
	len() int
	rewindTable(newest any, since []*Commit, table int) any
}

// set puts in the changes of a table.
func (t *tables) set(table int, n tableNet) {
	for table >= len(t.list) {
		t.list = append(t.list, nil)
	}
	t.list[table] = n
}

// of returns the changes of a table, or nil.
func (t *tables) of(table int) tableNet {
	if table < len(t.list) {
		return t.list[table]
	}
	return nil
}

func (t *tables) len() int {
	n := 0
	for _, c := range t.list {
		if c != nil {
			n += c.len()
		}
	}
	return n
}

func (t *tables) weigh() (w weight) {
	w.bytes = int(unsafe.Sizeof(dbCommit{})) + cap(t.list)*int(unsafe.Sizeof(t.list[0]))
	for _, n := range t.list {
		if n != nil {
			of := n.weigh()
			w.add(of.rows, of.bytes)
		}
	}
	return w
}

func (*tables) rewind(newest any, version uint64, since []*Commit) any {
	s := newest.(*Snapshot)
	older := &Snapshot{of: s.of, version: version, maps: slices.Clone(s.maps)}
	for i, m := range s.maps {
		for _, c := range since {
			if n := c.changes.(*tables).of(i); n != nil {
				older.maps[i] = n.rewindTable(m, since, i)
				break
			}
		}
	}
	return older
}

func (*tables) structure(of any) int {
	s, n := of.(*Snapshot), 0
	if s != nil {
		for _, t := range s.of.schema.all() {
			n += t.structure(s)
		}
	}
	return n
}

func (c *changes[K, V]) rewindTable(newest any, since []*Commit, table int) any {
	return rewind(newest.(*Map[K, V]), func(yield func(*changes[K, V]) bool) {
		for _, s := range since {
			if n := s.changes.(*tables).of(table); n != nil && !yield(n.(*changes[K, V])) {
				return
			}
		}
	})
}

// Rows returns an iterator over what the commit changed, a key at most once:
// what was added and removed within it is not there, and a key set to an equal
// value counts as changed. The commit must be of this Store or a fork of it; Rows
// panics if it is of something else that it can tell apart.
func (s *Store[K, V]) Rows(c *Commit) iter.Seq[Change[K, V]] {
	n, ok := c.changes.(*changes[K, V])
	if !ok {
		panic("cow: Rows of a Commit of something else")
	}
	return slices.Values(n.list)
}

// Rows returns an iterator over what the commit changed in this table, as
// Store.Rows does.
func (t *Table[K, V]) Rows(c *Commit) iter.Seq[Change[K, V]] {
	t.made()
	all, ok := c.changes.(*tables)
	if !ok {
		panic("cow: Rows of a Commit of something else")
	}
	switch n := all.of(t.def.index).(type) {
	case nil:
		return func(func(Change[K, V]) bool) {}
	case *changes[K, V]:
		return slices.Values(n.list)
	}
	panic("cow: Rows of a Commit of another DB")
}
