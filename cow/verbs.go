package cow

import (
	"context"
	"iter"

	"github.com/cowstore/cowstore/snapshot"
)

// The verbs of a table: each is one update, a read is of the current snapshot.

// Get returns the value of key in the current snapshot, isolated, and whether key is present.
func (t *Table[K, V]) Get(key K) (V, bool) {
	if t.first { // as in Load, which is not inlined
		if r := t.db.line.Load(); r != nil {
			if m, ok := r.First().(*Map[K, V]); ok {
				return m.Get(key)
			}
		}
	}
	return t.load().Get(key)
}

// GetMany returns an iterator over those keys that are present in the snapshot that is current when
// the iteration begins. It yields the index of each in keys, in order, and its value, isolated. In
// a large table that takes about half the time of Get in a loop; see [snapshot.Map.GetMany].
func (t *Table[K, V]) GetMany(keys []K) iter.Seq2[int, V] {
	return func(yield func(int, V) bool) { t.Load().GetMany(keys)(yield) }
}

// Has reports whether key is present in the current snapshot.
func (t *Table[K, V]) Has(key K) bool { return t.Load().Has(key) }

// Len returns the number of rows in the current snapshot.
func (t *Table[K, V]) Len() int { return t.Load().Len() }

// All returns an iterator over the keys and isolated values of the snapshot that is
// current when the iteration begins, in no particular order.
func (t *Table[K, V]) All() iter.Seq2[K, V] {
	return func(yield func(K, V) bool) { t.Load().All()(yield) }
}

// Update calls f with an Editor of the table. When f returns nil, Update publishes the edited map
// in one step, as the next version of the DB. When nothing is published, and which errors there
// are, is as in [DB.Update]. Updates run one at a time; f must not update the DB itself.
func (t *Table[K, V]) Update(f func(e *Editor[K, V]) error) error {
	return t.UpdateContext(context.Background(), f)
}

// UpdateContext is [DB.UpdateContext] with an Editor of the table.
func (t *Table[K, V]) UpdateContext(ctx context.Context, f func(e *Editor[K, V]) error) error {
	given(f != nil, "Update")
	_, err := t.run(ctx, f)
	return err
}

// put is Set, if may has no error, which nil leaves out. The value is cloned before the
// update queues.
func (t *Table[K, V]) put(key K, v V, may func(e *Editor[K, V]) error) (rev uint64, err error) {
	base := t.Load()
	clone, err := builder[K, V]{}.Isolate(base, key, v)
	if err != nil {
		return 0, err
	}
	p := t.putting()
	p.key, p.value, p.may = key, clone, may
	rev, err = t.db.line.Update(context.Background(), p.update)
	p.free()
	return rev, err
}

// Set stores a clone of v under key, and returns the version that it published: the revision of the
// row. Like Insert and SetIf, it makes the clone before it queues.
//
// If the row cannot be stored, nothing is published. The error is then
//
//   - a *KeyError that wraps ErrKey or ErrTooDeep, for the key
//   - a *KeyError that wraps a *[clone.Error], for a value that must not be copied
//   - a *KeyError that wraps the error of an index that refuses the row
//   - an *IndexError, for a second row under one key of a unique index
//
// All verbs that store have these errors, and those of derived tables and sinks: see [DB.Update].
func (t *Table[K, V]) Set(key K, v V) (rev uint64, err error) { return t.put(key, v, nil) }

// Insert stores a clone of v under key, and returns the version that it published. If key is
// present, the error is a *KeyError that wraps ErrExists.
func (t *Table[K, V]) Insert(key K, v V) (rev uint64, err error) {
	return t.put(key, v, func(e *Editor[K, V]) error { return builder[K, V]{}.CheckAbsent(e, key) })
}

// SetIf stores a clone of v under key if the revision of key is rev, and returns the version that
// it published. Otherwise the error is a *KeyError that wraps ErrRevision, and ErrNotFound too if
// key is absent. A rev of 0 means that key must be absent; if it is present, the error wraps
// ErrRevision and ErrExists.
func (t *Table[K, V]) SetIf(key K, rev uint64, v V) (now uint64, err error) {
	return t.put(key, v, func(e *Editor[K, V]) error { return builder[K, V]{}.Check(e, key, rev) })
}

// Modify calls f with a pointer to a clone of the value of key, stores a clone of what f made of it,
// and returns the version that it published. If key is absent, the error is a *KeyError that wraps
// ErrNotFound. An error of f is returned as it is, and nothing is published. If f leaves the value
// as it was, that is a version all the same: to write nothing, f must return an error.
func (t *Table[K, V]) Modify(key K, f func(v *V) error) (rev uint64, err error) {
	return t.run(context.Background(), func(e *Editor[K, V]) error { return e.Modify(key, f) })
}

// Upsert is Modify, but calls f with a zero value, and found false, if key is absent.
func (t *Table[K, V]) Upsert(key K, f func(v *V, found bool) error) (rev uint64, err error) {
	return t.run(context.Background(), func(e *Editor[K, V]) error { return e.Upsert(key, f) })
}

// Delete removes key, and returns the version that it published, or 0 if key was absent. Delete,
// Take, DeleteFunc and Clear fail only if a sink or a derived table fails, or, in a fork, if an
// index does not allow the rows that the fork began with.
func (t *Table[K, V]) Delete(key K) (rev uint64, err error) {
	return t.run(context.Background(), func(e *Editor[K, V]) error { e.Delete(key); return nil })
}

// DeleteIf removes key if its revision is rev, and returns the version that it published. Otherwise
// it returns the errors of SetIf. A rev of 0 succeeds if key is absent, and changes nothing.
func (t *Table[K, V]) DeleteIf(key K, rev uint64) (now uint64, err error) {
	return t.run(context.Background(), func(e *Editor[K, V]) error { return e.DeleteIf(key, rev) })
}

// Take removes key and returns its value, isolated, and whether key was present. Of several
// concurrent calls only one gets the value.
func (t *Table[K, V]) Take(key K) (v V, found bool, err error) {
	_, err = t.run(context.Background(), func(e *Editor[K, V]) error { v, found = e.Take(key); return nil })
	if err != nil {
		var none V
		return none, false, err
	}
	return v, found, nil
}

// count is an update whose function returns how many rows it was about.
func (t *Table[K, V]) count(f func(e *Editor[K, V]) int) (n int, err error) {
	_, err = t.run(context.Background(), func(e *Editor[K, V]) error { n = f(e); return nil })
	if err != nil {
		return 0, err
	}
	return n, nil
}

// DeleteFunc removes the rows for which f returns true, and returns how many. It calls f with an
// isolated value.
func (t *Table[K, V]) DeleteFunc(f func(key K, v V) bool) (n int, err error) {
	given(f != nil, "DeleteFunc")
	return t.count(func(e *Editor[K, V]) int {
		n := 0
		for k, v := range e.All() {
			if f(k, v) {
				e.Delete(k)
				n++
			}
		}
		return n
	})
}

// Clear removes all rows and returns how many there were. It takes constant time, with indexes and
// history too; a sink gets every row.
func (t *Table[K, V]) Clear() (n int, err error) {
	return t.count(func(e *Editor[K, V]) int {
		n := e.Len()
		e.Clear()
		return n
	})
}

// Replace replaces all rows by clones of the pairs of seq, in one version. Of equal keys the last
// wins. Seq may be maps.All of a Go map, or All of a snapshot's map. Replace iterates over seq and
// clones before it queues.
func (t *Table[K, V]) Replace(seq iter.Seq2[K, V]) error {
	given(seq != nil, "Replace")
	rows := builder[K, V]{}.Bulk(t.Load())
	for k, v := range seq {
		if err := rows.Add(k, v); err != nil {
			return err
		}
	}
	return t.Update(func(e *Editor[K, V]) error {
		e.Clear()
		builder[K, V]{}.PutBulk(e, rows)
		return nil
	})
}

// A synced is a row that Sync was given: as it was when the update began, at a
// revision, or else cloned.
type synced[V any] struct {
	equal uint64 // 0: it was not
	clone snapshot.Isolated[V]
}

// Sync is Replace that leaves rows alone whose value is equal to the new one. They keep their
// revision, and watches of them are not woken. The function equal gets the stored value, isolated,
// and that of seq. For values of unbounded depth use view.Equal in it, as reflect.DeepEqual takes
// stack for each level.
func (t *Table[K, V]) Sync(seq iter.Seq2[K, V], equal func(a, b V) bool) error {
	if equal == nil {
		panic("cow: Sync needs a function that tells whether two values are equal, such as reflect.DeepEqual for those that have no better one")
	}
	given(seq != nil, "Sync")
	rows := map[K]synced[V]{}
	base := t.Load()
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
	return t.Update(func(e *Editor[K, V]) error {
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
}
