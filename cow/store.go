package cow

import (
	"context"
	"iter"
	"sync/atomic"

	"github.com/cowstore/cowstore/snapshot"
)

// A Store is a map whose every version is an immutable snapshot.
//
// The zero Store is empty and ready for use, with zero Options; it panics at
// the first write if V needs others. A Store must not be copied. All methods
// may be called from any number of goroutines at once. Reads never wait;
// writes queue. The Store owns its values: see the package documentation. Where
// a method speaks of P, that is *snapshot.Map[K, V].
type Store[K comparable, V any] struct {
	line[*snapshot.Map[K, V]]
	hub     atomic.Pointer[hub[K, V]]       // who watches; nil until there is one
	indexes atomic.Pointer[indexList[K, V]] // nil: none; set in the writer's place
}

// New returns an empty Store. It panics if V cannot be kept isolated as o
// says.
func New[K comparable, V any](o Options[V]) *Store[K, V] {
	s := new(Store[K, V])
	s.published.Store(newMap[K](o))
	return s
}

// Get returns the value of key in the current snapshot, isolated, and whether
// key is present.
func (s *Store[K, V]) Get(key K) (V, bool) { return s.published.Load().Get(key) }

// Update calls f with an Editor of the current snapshot, and publishes the
// edited map as the next version when f returns nil, in one step. If f returns
// an error, which Update returns, panics, or calls runtime.Goexit, if f changed
// nothing, if two rows end up under one key of a unique index, which is an
// *IndexError, or if it set a key that is not equal to itself, which is ErrKey,
// nothing is published and the version stays. Updates run one at a
// time; f must not update the Store itself.
func (s *Store[K, V]) Update(f func(e *Editor[K, V]) error) error {
	return s.UpdateContext(context.Background(), f)
}

// UpdateContext is Update, unless ctx has ended before f is called: then it returns
// ctx's cause.
func (s *Store[K, V]) UpdateContext(ctx context.Context, f func(e *Editor[K, V]) error) error {
	return s.update(ctx, func(base *snapshot.Map[K, V], wanted bool) (d draft[*snapshot.Map[K, V]], err error) {
		e := base.Edit()
		defer e.Discard()
		if err := f(e); err != nil {
			return d, err
		}
		var of *changes[K, V]
		list := s.indexList()
		if wanted || len(list) > 0 {
			c := new(storeCommit[K, V])
			c.changes, of = &c.of, &c.of
			if wanted {
				d.commit = &c.Commit
			}
		}
		d.next, err = seal(e, base, list, s.hub.Load(), of)
		return d, err
	})
}

// indexList returns the indexes.
func (s *Store[K, V]) indexList() indexList[K, V] {
	if list := s.indexes.Load(); list != nil {
		return *list
	}
	return nil
}

func (s *Store[K, V]) reindex(what string, edit func(list indexList[K, V], m *snapshot.Map[K, V]) (indexList[K, V], *snapshot.Map[K, V], error)) error {
	return s.amend(what, func(m *snapshot.Map[K, V]) (*snapshot.Map[K, V], error) {
		list, m, err := edit(s.indexList(), m)
		if err == nil {
			s.indexes.Store(&list) // before the map: what derives from it looks here
		}
		return m, err
	})
}

// Set stores a clone of v under key. The clone is made before Set queues, as
// it is in Insert and SetIf. It panics with an *IndexError if that puts two rows
// under one key of a unique index, and with ErrKey for a key that is not equal to
// itself: where that can happen, use Upsert.
func (s *Store[K, V]) Set(key K, v V) {
	clone := s.Load().Isolate(v)
	must(s.Update(func(e *Editor[K, V]) error { e.Put(key, clone); return nil }))
}

// must panics if an update failed that only an index can make fail.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

// Insert stores a clone of v under key, or returns ErrExists if key is present.
func (s *Store[K, V]) Insert(key K, v V) error {
	clone := s.Load().Isolate(v)
	return s.Update(func(e *Editor[K, V]) error {
		if e.Has(key) {
			return &snapshot.KeyError[K]{Key: key, Err: ErrExists}
		}
		e.Put(key, clone)
		return nil
	})
}

// SetIf stores a clone of v under key if the revision of key is rev, and
// returns ErrConflict otherwise. Revision 0 means that key must be absent.
func (s *Store[K, V]) SetIf(key K, rev uint64, v V) error {
	clone := s.Load().Isolate(v)
	return s.Update(func(e *Editor[K, V]) error {
		if err := e.Check(key, rev); err != nil {
			return err
		}
		e.Put(key, clone)
		return nil
	})
}

// Modify calls f with the value of key, isolated, and stores what f
// made of it. It returns ErrNotFound if key is absent, or f's error.
func (s *Store[K, V]) Modify(key K, f func(v *V) error) error {
	return s.Update(func(e *Editor[K, V]) error { return e.Modify(key, f) })
}

// Upsert is like Modify, but calls f with a zero value, and found false, if
// key is absent.
func (s *Store[K, V]) Upsert(key K, f func(v *V, found bool) error) error {
	return s.Update(func(e *Editor[K, V]) error { return e.Upsert(key, f) })
}

// Delete removes key and reports whether it was present.
func (s *Store[K, V]) Delete(key K) (found bool) {
	must(s.Update(func(e *Editor[K, V]) error { found = e.Delete(key); return nil }))
	return found
}

// DeleteIf removes key if its revision is rev, and returns ErrConflict
// otherwise.
func (s *Store[K, V]) DeleteIf(key K, rev uint64) error {
	return s.Update(func(e *Editor[K, V]) error { return e.DeleteIf(key, rev) })
}

// Take removes key and returns its value, isolated, and whether it was
// present. Of any number of concurrent calls one gets it.
func (s *Store[K, V]) Take(key K) (v V, found bool) {
	must(s.Update(func(e *Editor[K, V]) error { v, found = e.Take(key); return nil }))
	return v, found
}

// Replace makes the pairs of seq, cloned, the whole content, in one version.
// Of equal keys the last wins. It takes maps.All of a map as well as All of a
// snapshot. Like the clones, all of the iteration happens before Replace
// queues. It panics with an *IndexError if seq puts two rows under one key of a
// unique index, and with ErrKey for a key that is not equal to itself: where that
// can happen, use Update.
func (s *Store[K, V]) Replace(seq iter.Seq2[K, V]) {
	type pair struct {
		key   K
		value snapshot.Isolated[V]
	}
	var pairs []pair
	base := s.Load()
	for k, v := range seq {
		pairs = append(pairs, pair{k, base.Isolate(v)})
	}
	must(s.Update(func(e *Editor[K, V]) error {
		e.Clear()
		e.PutAll(func(yield func(K, snapshot.Isolated[V]) bool) {
			for _, p := range pairs {
				if !yield(p.key, p.value) {
					return
				}
			}
		})
		return nil
	}))
}
