package cow

import (
	"context"
	"iter"
	"sync/atomic"
)

// A Store is a map whose every version is an immutable snapshot.
//
// The zero Store is empty and ready for use, with zero Options; it panics at
// the first write if V needs others. A Store must not be copied once it was
// used: writes to a copy panic. All methods may be called from any number of
// goroutines at once. Reads never wait; writes queue. The Store owns its values: see the
// package documentation.
type Store[K comparable, V any] struct {
	line[*Map[K, V]]
	hub     atomic.Pointer[hub[K, V]]       // who watches; nil until there is one
	indexes atomic.Pointer[indexList[K, V]] // nil: none; set in the writer's place
}

// New returns an empty Store. It panics if V cannot be kept isolated as o
// says.
func New[K comparable, V any](o Options[V]) *Store[K, V] {
	s := new(Store[K, V])
	s.published.Store(newMap[K](o, "cow"))
	return s
}

// Get returns the value of key in the current snapshot, isolated, and whether
// key is present.
func (s *Store[K, V]) Get(key K) (V, bool) { return s.published.Load().Get(key) }

// Update calls f with an Editor of the current snapshot, and publishes the
// edited map as the next version when f returns nil, in one step. If f returns
// an error, which Update returns, panics, or calls runtime.Goexit, if f changed
// nothing, if two rows end up under one key of a unique index, which is an
// *IndexError, or if it set what cannot be stored, which is a *KeyError,
// nothing is published and the version stays. Updates run one at a
// time; f must not update the Store itself.
func (s *Store[K, V]) Update(f func(e *Editor[K, V]) error) error {
	return s.UpdateContext(context.Background(), f)
}

// UpdateContext is Update, unless ctx has ended before f is called, or when it has
// returned nil: then nothing happens, and it returns ctx's cause. It does not give up
// waiting for the function of another update.
func (s *Store[K, V]) UpdateContext(ctx context.Context, f func(e *Editor[K, V]) error) error {
	_, err := s.run(ctx, f)
	return err
}

// run is UpdateContext that returns the version that was published, or 0 for none.
func (s *Store[K, V]) run(ctx context.Context, f func(e *Editor[K, V]) error) (uint64, error) {
	return s.update(ctx, func(base *Map[K, V], wanted bool) (d draft[*Map[K, V]], err error) {
		e := base.Edit()
		defer builder[K, V]{}.Discard(e)
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

func (s *Store[K, V]) reindex(what string, edit func(list indexList[K, V], m *Map[K, V]) (indexList[K, V], *Map[K, V], error)) error {
	return s.amend(what, func(m *Map[K, V]) (*Map[K, V], error) {
		list, m, err := edit(s.indexList(), m)
		if err == nil {
			s.indexes.Store(&list) // before the map: what derives from it looks here
		}
		return m, err
	})
}

// Set stores a clone of v under key, and returns the revision of that: the version
// that it published. The clone is made before Set queues, as it is in Insert and
// SetIf. What a row can be refused for is an error, and nothing is stored: a
// *KeyError with ErrKey, or ErrTooDeep for a key, or with a *CloneError for what must not
// be copied; an *IndexError for a second row under one key of a unique index. These are
// the errors of all verbs that store.
func (s *Store[K, V]) Set(key K, v V) (rev uint64, err error) { return put(s, key, v, nil) }

// Insert stores a clone of v under key, or returns ErrExists if key is present.
func (s *Store[K, V]) Insert(key K, v V) (rev uint64, err error) {
	return put(s, key, v, absent[K, V])
}

// SetIf stores a clone of v under key if the revision of key is rev, and
// returns ErrRevision otherwise. Revision 0 means that key must be absent.
func (s *Store[K, V]) SetIf(key K, rev uint64, v V) (now uint64, err error) {
	return put(s, key, v, at[K, V](rev))
}

// Modify calls f with the value of key, isolated, and stores what f made of it. It
// returns ErrNotFound, in a *KeyError with key, if key is absent, or f's
// error as it is.
func (s *Store[K, V]) Modify(key K, f func(v *V) error) (rev uint64, err error) {
	return update(s, func(e *Editor[K, V]) error { return e.Modify(key, f) })
}

// Upsert is like Modify, but calls f with a zero value, and found false, if
// key is absent.
func (s *Store[K, V]) Upsert(key K, f func(v *V, found bool) error) (rev uint64, err error) {
	return update(s, func(e *Editor[K, V]) error { return e.Upsert(key, f) })
}

// Delete removes key, and returns the version that did, or 0 if key was absent. Like
// the verbs below it fails only where a sink decides, or a derived table.
func (s *Store[K, V]) Delete(key K) (rev uint64, err error) {
	return update(s, func(e *Editor[K, V]) error { e.Delete(key); return nil })
}

// DeleteIf removes key if its revision is rev, and returns ErrRevision otherwise.
func (s *Store[K, V]) DeleteIf(key K, rev uint64) (now uint64, err error) {
	return update(s, func(e *Editor[K, V]) error { return e.DeleteIf(key, rev) })
}

// Take removes key and returns its value, isolated, and whether it was present. Of
// any number of concurrent calls one gets it.
func (s *Store[K, V]) Take(key K) (v V, found bool, err error) { return take(s, key) }

// DeleteFunc removes the rows for which f, called with an isolated value, returns
// true, and returns how many.
func (s *Store[K, V]) DeleteFunc(f func(key K, v V) bool) (n int, err error) { return deleteFunc(s, f) }

// Clear removes all rows, in constant time, and returns how many.
func (s *Store[K, V]) Clear() (n int, err error) { return clearAll(s) }

// Replace makes the pairs of seq, cloned, the whole content, in one version. Of equal
// keys the last wins. It takes maps.All of a map as well as All of a snapshot. Like
// the clones, all of the iteration happens before Replace queues.
func (s *Store[K, V]) Replace(seq iter.Seq2[K, V]) error { return replace(s, seq) }

// Sync is Replace that leaves rows alone whose value is equal to the new one, as
// equal says: they keep their revision, and who watches them is not woken. Equal gets
// what is stored, isolated, and what seq has. For values that may be nested without a bound
// there is view.Equal: reflect.DeepEqual takes more stack for each level.
func (s *Store[K, V]) Sync(seq iter.Seq2[K, V], equal func(a, b V) bool) error {
	return syncRows(s, seq, equal)
}

// Has reports whether key is present in the current snapshot.
func (s *Store[K, V]) Has(key K) bool { return s.Load().Has(key) }

// Len returns the number of rows of the current snapshot.
func (s *Store[K, V]) Len() int { return s.Load().Len() }

// All returns an iterator over the keys and isolated values of the snapshot that is
// current when the iteration begins, in no particular order.
func (s *Store[K, V]) All() iter.Seq2[K, V] { return all(s) }

// Keys returns an iterator over keys, as All.
func (s *Store[K, V]) Keys() iter.Seq[K] { return keys(s) }

// Values returns an iterator over isolated values, as All.
func (s *Store[K, V]) Values() iter.Seq[V] { return values(s) }
