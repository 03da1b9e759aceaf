package cow

import (
	"context"
	"iter"

	"github.com/cowstore/cowstore/snapshot"
)

// The verbs of one key, and of whole maps, in the same words for Stores and Tables.
// Each is one update; a read is of the current snapshot.

// A keyed is a *Store or a *Table.
type keyed[K comparable, V any] interface {
	Load() *Map[K, V]

	// run is UpdateContext that returns the version that was published, or 0 for
	// none.
	run(ctx context.Context, f func(e *Editor[K, V]) error) (uint64, error)
}

// A condition returns why a key is not to be written, or nil.
type condition[K comparable, V any] func(e *Editor[K, V], key K) error

// absent is the condition of Insert.
func absent[K comparable, V any](e *Editor[K, V], key K) error {
	if e.Has(key) {
		return ErrExists
	}
	return nil
}

// at returns the condition of SetIf: that the revision of the key is rev, and so not of the
// update itself.
func at[K comparable, V any](rev uint64) condition[K, V] {
	return func(e *Editor[K, V], key K) error {
		if e.Revision(key) != rev || rev == snapshot.Pending {
			return ErrRevision
		}
		return nil
	}
}

// put is Set, under a condition that nil leaves out. The value is cloned before the
// update queues.
func put[K comparable, V any](s keyed[K, V], key K, v V, may condition[K, V]) (rev uint64, err error) {
	base := s.Load()
	clone, err := builder[K, V]{}.Isolate(base, key, v)
	if err != nil {
		return 0, err
	}
	return s.run(context.Background(), func(e *Editor[K, V]) error {
		if may != nil {
			if err := may(e, key); err != nil {
				return &KeyError[K]{Name: builder[K, V]{}.Name(base), Key: key, Err: err}
			}
		}
		builder[K, V]{}.Put(e, key, clone)
		return nil
	})
}

func update[K comparable, V any](s keyed[K, V], f func(e *Editor[K, V]) error) (rev uint64, err error) {
	return s.run(context.Background(), f)
}

func take[K comparable, V any](s keyed[K, V], key K) (v V, found bool, err error) {
	_, err = update(s, func(e *Editor[K, V]) error { v, found = e.Take(key); return nil })
	if err != nil {
		var none V
		return none, false, err
	}
	return v, found, nil
}

// deleteFunc removes the rows of which f says so.
func deleteFunc[K comparable, V any](s keyed[K, V], f func(key K, v V) bool) (n int, err error) {
	_, err = update(s, func(e *Editor[K, V]) error {
		n = 0
		for k, v := range e.All() {
			if f(k, v) {
				e.Delete(k)
				n++
			}
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	return n, nil
}

func clearAll[K comparable, V any](s keyed[K, V]) (n int, err error) {
	_, err = update(s, func(e *Editor[K, V]) error {
		n = e.Len()
		e.Clear()
		return nil
	})
	if err != nil {
		return 0, err
	}
	return n, nil
}

// A given is a row that Replace and Sync were given, cloned.
type given[K comparable, V any] struct {
	key   K
	clone snapshot.Isolated[V]
}

func replace[K comparable, V any](s keyed[K, V], seq iter.Seq2[K, V]) error {
	var rows []given[K, V]
	base := s.Load()
	for k, v := range seq {
		clone, err := builder[K, V]{}.Isolate(base, k, v)
		if err != nil {
			return err
		}
		rows = append(rows, given[K, V]{k, clone})
	}
	_, err := update(s, func(e *Editor[K, V]) error {
		e.Clear()
		builder[K, V]{}.PutAll(e, func(yield func(K, snapshot.Isolated[V]) bool) {
			for _, r := range rows {
				if !yield(r.key, r.clone) {
					return
				}
			}
		})
		return nil
	})
	return err
}

// A synced is a row that Sync was given: as it was when the update began, at a
// revision, or else cloned.
type synced[V any] struct {
	equal uint64 // 0: it was not
	clone snapshot.Isolated[V]
}

func syncRows[K comparable, V any](s keyed[K, V], seq iter.Seq2[K, V], equal func(a, b V) bool) error {
	if equal == nil {
		panic("cow: Sync needs a function that tells whether two values are equal, such as reflect.DeepEqual for those that have no better one")
	}
	rows := map[K]synced[V]{}
	base := s.Load()
	for k, v := range seq {
		var r synced[V]
		if is, ok := base.Get(k); ok && equal(is, v) {
			r.equal = base.Revision(k)
		} else {
			clone, err := builder[K, V]{}.Isolate(base, k, v)
			if err != nil {
				return err
			}
			r.clone = clone
		}
		rows[k] = r
	}
	_, err := update(s, func(e *Editor[K, V]) error {
		for k := range e.Map().Keys() {
			if _, ok := rows[k]; !ok {
				e.Delete(k)
			}
		}
		for k, r := range rows {
			switch {
			case r.equal == 0:
				builder[K, V]{}.Put(e, k, r.clone)
			case e.Revision(k) != r.equal:
				v, _ := base.Get(k) // what it was compared with, and equal to
				e.Set(k, v)
			}
		}
		return nil
	})
	return err
}

func all[K comparable, V any](s keyed[K, V]) iter.Seq2[K, V] {
	return func(yield func(K, V) bool) { s.Load().All()(yield) }
}

func keys[K comparable, V any](s keyed[K, V]) iter.Seq[K] {
	return func(yield func(K) bool) { s.Load().Keys()(yield) }
}

func values[K comparable, V any](s keyed[K, V]) iter.Seq[V] {
	return func(yield func(V) bool) { s.Load().Values()(yield) }
}
