package cow

import (
	"iter"
	"slices"
	"time"
	"unsafe"

	"github.com/cowstore/cowstore/snapshot"
)

// A delta is what one commit changed: the changes of the one map of a Store, or
// the deltas of the tables of a DB. It is immutable, but for its record, which
// the log fills in.
type delta interface {
	// meta returns the record that lies in the delta, so that both are one
	// object.
	meta() *record

	// weigh returns how many changes there are, how many of them replaced or
	// removed a row, which the delta keeps alive, and about how many bytes
	// it holds back.
	weigh() (changes, rows, bytes int)

	// rewind returns the snapshot that newest was at version, given the
	// deltas since, the latest first, of which this is one.
	rewind(newest any, version uint64, since []delta) any
}

// changes is the delta of one map, a key at most once.
type changes[K comparable, V any] struct {
	record
	before uint64 // the version of the map that was changed
	list   []snapshot.Change[K, V]
	first  [1]snapshot.Change[K, V] // where list is, if there is but one
}

// A record is what a log knows of a commit apart from what it changed.
type record struct {
	version uint64
	at      int64 // ns since 1970
	rows    int   // what weigh says
	bytes   int
}

func (r *record) meta() *record { return r }

func newChanges[K comparable, V any](newer, older *snapshot.Map[K, V]) *changes[K, V] {
	c := &changes[K, V]{before: older.Version()}
	c.list = slices.AppendSeq(c.first[:0], newer.Diff(older))
	return c
}

func (c *changes[K, V]) weigh() (changes, rows, bytes int) {
	bytes = int(unsafe.Sizeof(*c)) + (cap(c.list)-1)*int(unsafe.Sizeof(c.first))
	for i := range c.list {
		if old, _ := c.list[i].Rows(); old != (snapshot.Row[K, V]{}) {
			rows++
			bytes += old.Size()
		}
	}
	return len(c.list), rows, bytes
}

func (c *changes[K, V]) rewind(newest any, _ uint64, since []delta) any {
	first := since[len(since)-1].(*changes[K, V])
	return newest.(*snapshot.Map[K, V]).Rewind(first.before, func(yield func(snapshot.Change[K, V]) bool) {
		for _, d := range since {
			for _, c := range d.(*changes[K, V]).list {
				if !yield(c) {
					return
				}
			}
		}
	})
}

// tables is the delta of a DB.
type tables struct {
	record
	list []delta // by index of table; nil where a table was not changed
}

func (t *tables) weigh() (changes, rows, bytes int) {
	bytes = int(unsafe.Sizeof(*t)) + cap(t.list)*int(unsafe.Sizeof(t.list[0]))
	for _, d := range t.list {
		if d != nil {
			c, r, b := d.weigh()
			changes, rows, bytes = changes+c, rows+r, bytes+b
		}
	}
	return changes, rows, bytes
}

func (*tables) rewind(newest any, version uint64, since []delta) any {
	s := newest.(*Snapshot)
	older := &Snapshot{db: s.db, version: version, maps: slices.Clone(s.maps)}
	for i, m := range s.maps {
		var of []delta
		for _, d := range since {
			if t := d.(*tables).list; i < len(t) && t[i] != nil {
				of = append(of, t[i])
			}
		}
		if len(of) > 0 {
			older.maps[i] = of[0].rewind(m, 0, of)
		}
	}
	return older
}

// A Commit is one published update, as history keeps it and Changes hands it
// out: its version, its time, and the net changes of every key. It is an
// immutable value, safe for concurrent use, and stays valid. What changed is
// read typed, by Store.Rows or Table.Rows.
type Commit struct {
	Version uint64
	Time    time.Time // of publication, never before that of the version before

	delta delta
}

// Rows returns an iterator over what the commit changed, a key at most once:
// what was added and removed within it is not there, and a key set to an equal
// value counts as changed. The commit must be of this Store or a fork of it; Rows
// panics if it is of something else that it can tell apart.
func (s *Store[K, V]) Rows(c Commit) iter.Seq[snapshot.Change[K, V]] {
	d, ok := c.delta.(*changes[K, V])
	if !ok {
		panic("cow: Rows of a Commit of something else")
	}
	return slices.Values(d.list)
}

// Rows returns an iterator over what the commit changed in this table, as
// Store.Rows does.
func (t *Table[K, V]) Rows(c Commit) iter.Seq[snapshot.Change[K, V]] {
	all, ok := c.delta.(*tables)
	if !ok {
		panic("cow: Rows of a Commit of something else")
	}
	if t.index >= len(all.list) || all.list[t.index] == nil {
		return func(func(snapshot.Change[K, V]) bool) {}
	}
	d, ok := all.list[t.index].(*changes[K, V])
	if !ok {
		panic("cow: Rows of a Commit of another DB")
	}
	return slices.Values(d.list)
}
