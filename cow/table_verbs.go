package cow

import (
	"context"
	"iter"
)

// The verbs of a Table are those of a Store, for the DB that the table is of: each is
// one update of it, the revision that it returns is the version of the DB, and where
// a sink makes the DB durable or replicates it they have the errors of [DB.Update].

// Load returns the table's map in the current snapshot.
func (t *Table[K, V]) Load() *Map[K, V] {
	t.made()
	return t.def.in(t.db.Load())
}

// Update calls f with an Editor of the table, in an update of the DB.
func (t *Table[K, V]) Update(f func(e *Editor[K, V]) error) error {
	return t.UpdateContext(context.Background(), f)
}

// UpdateContext is [DB.UpdateContext] with an Editor of the table.
func (t *Table[K, V]) UpdateContext(ctx context.Context, f func(e *Editor[K, V]) error) error {
	_, err := t.run(ctx, f)
	return err
}

// run is UpdateContext that returns the version that was published, or 0 for none.
func (t *Table[K, V]) run(ctx context.Context, f func(e *Editor[K, V]) error) (uint64, error) {
	t.made()
	return t.db.run(ctx, func(tx *Tx) error { return f(t.Edit(tx)) })
}

// Get returns the value of key in the current snapshot, isolated, and whether key is
// present.
func (t *Table[K, V]) Get(key K) (V, bool) { return t.Load().Get(key) }

// Set is [Store.Set] for the table.
func (t *Table[K, V]) Set(key K, v V) (rev uint64, err error) { return put(t, key, v, nil) }

// Insert is [Store.Insert] for the table.
func (t *Table[K, V]) Insert(key K, v V) (rev uint64, err error) {
	return put(t, key, v, absent[K, V])
}

// SetIf is [Store.SetIf] for the table.
func (t *Table[K, V]) SetIf(key K, rev uint64, v V) (now uint64, err error) {
	return put(t, key, v, at[K, V](rev))
}

// Modify is [Store.Modify] for the table.
func (t *Table[K, V]) Modify(key K, f func(v *V) error) (rev uint64, err error) {
	return update(t, func(e *Editor[K, V]) error { return e.Modify(key, f) })
}

// Upsert is [Store.Upsert] for the table.
func (t *Table[K, V]) Upsert(key K, f func(v *V, found bool) error) (rev uint64, err error) {
	return update(t, func(e *Editor[K, V]) error { return e.Upsert(key, f) })
}

// Delete is [Store.Delete] for the table.
func (t *Table[K, V]) Delete(key K) (rev uint64, err error) {
	return update(t, func(e *Editor[K, V]) error { e.Delete(key); return nil })
}

// DeleteIf is [Store.DeleteIf] for the table.
func (t *Table[K, V]) DeleteIf(key K, rev uint64) (now uint64, err error) {
	return update(t, func(e *Editor[K, V]) error { return e.DeleteIf(key, rev) })
}

// Take is [Store.Take] for the table.
func (t *Table[K, V]) Take(key K) (v V, found bool, err error) { return take(t, key) }

// DeleteFunc is [Store.DeleteFunc] for the table.
func (t *Table[K, V]) DeleteFunc(f func(key K, v V) bool) (n int, err error) { return deleteFunc(t, f) }

// Clear is [Store.Clear] for the table.
func (t *Table[K, V]) Clear() (n int, err error) { return clearAll(t) }

// Replace is [Store.Replace] for the table.
func (t *Table[K, V]) Replace(seq iter.Seq2[K, V]) error { return replace(t, seq) }

// Sync is [Store.Sync] for the table.
func (t *Table[K, V]) Sync(seq iter.Seq2[K, V], equal func(a, b V) bool) error {
	return syncRows(t, seq, equal)
}

// Has is [Store.Has] for the table.
func (t *Table[K, V]) Has(key K) bool { return t.Load().Has(key) }

// Len is [Store.Len] for the table.
func (t *Table[K, V]) Len() int { return t.Load().Len() }

// All is [Store.All] for the table.
func (t *Table[K, V]) All() iter.Seq2[K, V] { return all(t) }

// Keys is [Store.Keys] for the table.
func (t *Table[K, V]) Keys() iter.Seq[K] { return keys(t) }

// Values is [Store.Values] for the table.
func (t *Table[K, V]) Values() iter.Seq[V] { return values(t) }
