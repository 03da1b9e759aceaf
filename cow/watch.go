package cow

import (
	"context"
	"fmt"

	"github.com/cowstore/cowstore/cow/internal/line"
	"github.com/cowstore/cowstore/cow/internal/watch"
)

// A Watched selects what a Watch of a Table waits for: keys, present or not, or keys or a
// range of an index, of that table. It is made by Table.OnKeys, Index.OnKeys and
// Index.OnRange, immutable, and safe for concurrent use.
type Watched[K comparable, V any] interface{ watched() watched[K, V] }

type watched[K comparable, V any] struct {
	watch.Watched[K, V]
	of *tableDef[K, V]
}

func (w watched[K, V]) watched() watched[K, V] { return w }

// OnKeys returns keys of the table for Watch.
func (t *Table[K, V]) OnKeys(keys ...K) Watched[K, V] {
	t.made()
	return watched[K, V]{watch.NewKeys[K, V](keys), t.def}
}

// OnKeys returns index keys for Watch. An index key differs once a row came to it,
// left it, or was written under it.
func (x *Index[K, V, I]) OnKeys(keys ...I) Watched[K, V] {
	return watched[K, V]{watch.NewIndexKeys(x.made(), keys), x.of}
}

// OnRange returns the rows of a part of the index for Watch. It differs once a row came
// into it, left it, or was written in it. Of r, which must be of this index, only the
// bounds count; one of In(nil) has no rows to keep alive.
func (x *Index[K, V, I]) OnRange(r Range[K, V, I]) Watched[K, V] {
	if def := x.made(); r.span.Index() != def {
		panic(fmt.Sprintf("cow: OnRange of index %q with a Range of another: make it by In or During of this one", def.Name))
	}
	return watched[K, V]{watch.NewPart(x.def, r.span.Bounds), x.of}
}

// Watch blocks until the table differs in the current snapshot from what it was in since:
// in any of what is listed, or, if nothing is, anywhere. It returns that
// snapshot, or ctx's cause and no snapshot if ctx ends first. A nil since has no
// rows; Watch panics for a snapshot of another DB: to watch a fork, use [Table.Of]. A key
// differs once it was written, even with an equal value; other writes never
// end a Watch. It panics for what is of another table. Watch starts no goroutine, and a commit pays for the watches it wakes,
// not for those there are. It panics for a key that cannot be hashed, or compared.
func (t *Table[K, V]) Watch(ctx context.Context, since *Snapshot, what ...Watched[K, V]) (*Snapshot, error) {
	t.made()
	db, d := t.db, t.def
	if since != nil && since.root().Owner() != db.owner() {
		panic("cow: Watch from a snapshot of another DB: use the Table's Of to watch that")
	}
	older := d.content(since.root())
	all := []watch.Watched[K, V]{watch.Whole[K, V]{}}
	if len(what) > 0 {
		all = make([]watch.Watched[K, V], len(what))
	}
	for i, w := range what {
		is := w.watched()
		if is.of != d {
			panic(fmt.Sprintf("cow: Watch of %v for what is of %v: call Watch of that table", d, is.of))
		}
		all[i] = is.Watched
	}
	differs := func() (*Snapshot, bool) {
		s := db.Load()
		newer := d.content(s.root())
		for _, w := range all {
			if w.Differs(newer, older) {
				return s, true
			}
		}
		return s, false
	}
	// At first without registering: so what panics for a bad key leaves nothing
	// behind.
	if s, ok := differs(); ok {
		return s, nil
	}
	db.line.PanicInUpdate("a Watch")
	h := d.state(db).watching()
	db.line.WakeBy(db.wake)
	// A publication swaps, and then looks for who waits; this makes itself known,
	// and then looks at what is published. So one of the two sees the other.
	c := make(chan struct{}, 1)
	h.Enter()
	defer func() {
		for _, w := range all {
			w.Remove(h, c)
		}
		h.Leave(c)
	}()
	for _, w := range all {
		w.Add(h, c)
	}
	for {
		if s, ok := differs(); ok {
			return s, nil
		}
		if err := db.line.Block(ctx, c); err != nil {
			return nil, err
		}
	}
}

// watching returns the Hub, made at the first call.
func (s *tableState[K, V]) watching() *watch.Hub[K] {
	if h := s.hub.Load(); h != nil {
		return h
	}
	s.hub.CompareAndSwap(nil, watch.New[K]())
	return s.hub.Load()
}

// wake wakes those who watch tables in which two versions differ: a line.Wake.
func (db *DB) wake(newer, older *line.Root, table int) {
	states := *db.states.Load() // whoever watches has made some
	if table >= 0 {
		if table < len(states) {
			states[table].fire(newer.Version())
		}
		return
	}
	for i, s := range states {
		if newer.Table(i) != older.Table(i) {
			s.fire(newer.Version())
		}
	}
}
