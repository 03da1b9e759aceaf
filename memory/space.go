package memory

import (
	"context"
	"iter"

	"github.com/cowstore/cowstore/memory/internal/derive"
	"github.com/cowstore/cowstore/memory/internal/tuple"
)

// A Space is one space of a Memory: a namespace, known by its path. It is a
// value, made by [Memory.Space], immutable, and safe for concurrent use. It need not
// be created: it is there once it has an entry.
//
// Each read is of the version that is current then: for several that must agree, Load a
// [SpaceSnapshot]. Reads count as use, where the least recently used entries are evicted;
// those of a SpaceSnapshot do not.
//
// Each write is a [Batch] of one. It returns the version that it published, which is the
// revision of what it stored, or 0 if it changed nothing or failed. [Editor] says what the
// verbs do. Unless they say otherwise, errors are a *[KeyError], [ErrFull], and those of
// [cow.DB.Update].
type Space struct {
	m    *Memory
	path string
}

// Space returns the space with that path. The elements of a path are any strings, empty
// ones too, and are never joined: "a:b", "c" and "a", "b:c" are different. Without a path
// it is the root, a space like others. A space with more than 128 elements in its path is
// always empty: the error of a Put is [value.ErrTooDeep].
func (m *Memory) Space(path ...string) Space { return Space{m, tuple.Encode(path)} }

// Path returns the path of the space.
func (s Space) Path() []string { return tuple.Decode(s.path) }

// Space returns the space that is below this one by that path.
func (s Space) Space(path ...string) Space { return Space{s.m, s.path + tuple.Encode(path)} }

// Load returns the space in the current snapshot.
func (s Space) Load() SpaceSnapshot { return SpaceSnapshot{s.m.Load(), s.path} }

// In returns the space in a snapshot. It panics if that is of another Memory, unless
// one is a fork of the other.
func (s Space) In(snapshot Snapshot) SpaceSnapshot {
	if snapshot.tables != nil && snapshot.tables != s.m.tables {
		panic("memory: Space.In of a snapshot of another Memory: use the Space method of the snapshot")
	}
	return SpaceSnapshot{snapshot, s.path}
}

// Get returns the value of key, and whether there is one. It allocates nothing,
// unless the path and the key are very long.
func (s Space) Get(key string) (Value, bool) {
	e := currentView(s.m).Lookup(s.path, key)
	if e == nil {
		return Value{}, false
	}
	policyOf(s.m).Stamp(e)
	return e.Value, e.Value.Exists()
}

// GetMany returns an iterator over the values of many keys, in the snapshot that is current when
// the iteration begins. It yields i and the value of keys[i], in the order of keys, and leaves out
// keys without a value. It allocates nothing. In a large Memory it takes half the time of Get in a
// loop. The slice must not be modified meanwhile.
func (s Space) GetMany(keys []string) iter.Seq2[int, Value] {
	return func(yield func(int, Value) bool) { s.getMany(keys, yield) }
}

func (s Space) getMany(keys []string, yield func(int, Value) bool) {
	currentView(s.m).Many(s.path, keys, func(i int, row derive.Row) bool {
		e := row.Shared()
		policyOf(s.m).Stamp(e)
		return !e.Value.Exists() || yield(i, e.Value)
	})
}

// Entry returns the entry of key, and whether there is one.
func (s Space) Entry(key string) (Entry, bool) {
	v := s.Load()
	e, ok := v.Entry(key)
	if ok {
		policyOf(s.m).Stamp(e.row)
	}
	return e, ok
}

// Contains reports whether there is an entry of key. It does not count as use.
func (s Space) Contains(key string) bool { return s.Load().Contains(key) }

// Len returns the number of entries; see [SpaceSnapshot.Len].
func (s Space) Len() int { return s.Load().Len() }

// List returns an iterator over the entries of the version that is current when
// it begins; see [SpaceSnapshot.List].
func (s Space) List(o ListOptions) iter.Seq[Entry] {
	return func(yield func(Entry) bool) { s.Load().List(o)(yield) }
}

// Vector returns a copy of the vector of key, and whether there is one.
func (s Space) Vector(key string) ([]float32, bool) {
	v := s.Load()
	if e := v.lookup(key); e != nil {
		policyOf(s.m).Stamp(e)
	}
	return v.Vector(key)
}

// Search returns the entries that fit a query best; see [SpaceSnapshot.Search].
func (s Space) Search(q Query) ([]Hit, error) { return s.search(context.Background(), q) }

func (s Space) search(ctx context.Context, q Query) ([]Hit, error) {
	hits, err := s.Load().search(ctx, q)
	return s.used(hits), err
}

// used stamps what was found.
func (s Space) used(hits []Hit) []Hit {
	for _, h := range hits {
		policyOf(s.m).Stamp(h.row)
	}
	return hits
}

// edit runs f on the space as a batch, and returns the version that it published, or 0
// if f changed nothing.
func (s Space) edit(f func(e *Editor) error) (rev uint64, err error) {
	return s.editContext(context.Background(), f)
}

func (s Space) editContext(ctx context.Context, f func(e *Editor) error) (rev uint64, err error) {
	err = s.m.BatchContext(ctx, func(b *Batch) error {
		err := f(b.editor(s.path))
		if updateOf(b).Wrote {
			rev = b.Version()
		}
		return err
	})
	if err != nil {
		return 0, err
	}
	return rev, nil
}

// ahead is edit with a value that is frozen before the writer's place is taken.
func (s Space) ahead(key string, v any, f func(e *Editor, d *draft) error) (rev uint64, err error) {
	d, err := s.m.freeze(s.path, key, v)
	if err != nil {
		return 0, err
	}
	return s.edit(func(e *Editor) error { return f(e, d) })
}

// count is edit that returns what f counts.
func (s Space) count(f func(e *Editor) int) (n int, err error) {
	_, err = s.edit(func(e *Editor) error { n = f(e); return nil })
	if err != nil {
		return 0, err
	}
	return n, nil
}

// Put stores v, frozen, as the value of key, and returns its revision: the version that was
// published. Metadata stays as it is; a vector goes if it was put beside another value, see
// [Editor.Put].
func (s Space) Put(key string, v any) (rev uint64, err error) {
	return s.ahead(key, v, func(e *Editor, d *draft) error { e.put(key, d); return nil })
}

// PutItem stores a whole entry under key, in place of what is there. What the Item does not have
// is removed.
func (s Space) PutItem(key string, it Item) (rev uint64, err error) {
	d, err := s.m.prepare(s.path, key, it)
	if err != nil {
		return 0, err
	}
	return s.edit(func(e *Editor) error { return e.putItem(key, d) })
}

// Insert is [Space.Put] if key has no value, and returns [ErrExists] otherwise.
func (s Space) Insert(key string, v any) (rev uint64, err error) {
	return s.ahead(key, v, func(e *Editor, d *draft) error { return e.insert(key, d) })
}

// Modify calls f with the value of key and stores what it returns, in one step;
// see [Editor.Modify].
func (s Space) Modify(key string, f func(v Value) (any, error)) (rev uint64, err error) {
	return s.edit(func(e *Editor) error { return e.Modify(key, f) })
}

// Upsert is [Space.Modify] that calls f with an Absent value if key has none.
func (s Space) Upsert(key string, f func(v Value) (any, error)) (rev uint64, err error) {
	return s.edit(func(e *Editor) error { return e.Upsert(key, f) })
}

// SetIf is [Space.Put] if the revision of key is rev, and returns [ErrRevision] otherwise.
// Revision 0 means that there must be no entry.
func (s Space) SetIf(key string, rev uint64, v any) (now uint64, err error) {
	return s.ahead(key, v, func(e *Editor, d *draft) error { return e.setIf(key, rev, d) })
}

// AppendTo appends elements to the List that is the value of key, or makes a List of them; see
// [Editor.AppendTo].
func (s Space) AppendTo(key string, elements ...any) (rev uint64, err error) {
	s.m.made()
	more, err := freezeList(s.path, key, elements)
	if err != nil || more.Len() == 0 {
		return 0, err
	}
	return s.edit(func(e *Editor) error { return e.appendTo(key, more) })
}

// Keep sets whether the entry of key is kept, which is never evicted; see [Editor.Keep]. It returns
// the version that it published, or 0 if nothing changed.
func (s Space) Keep(key string, keep bool) (rev uint64, err error) {
	return s.edit(func(e *Editor) error { return e.Keep(key, keep) })
}

// Supersede stores a whole entry under key, as [Space.PutItem] does, and marks the entry of old as
// superseded: it stays, and no search finds it any more; see [Editor.Supersede].
func (s Space) Supersede(old, key string, it Item) (rev uint64, err error) {
	d, err := s.m.prepare(s.path, key, it)
	if err != nil {
		return 0, err
	}
	return s.edit(func(e *Editor) error { return e.supersede(old, key, d) })
}

// PutUnlessSimilar is [Space.PutItem] unless q finds another entry, in one step: then it
// returns the best one, and 0; see [Editor.PutUnlessSimilar].
func (s Space) PutUnlessSimilar(key string, it Item, q Query) (like Hit, rev uint64, err error) {
	d, err := s.m.prepare(s.path, key, it)
	if err != nil {
		return Hit{}, 0, err
	}
	rev, err = s.edit(func(e *Editor) error {
		like, err = e.putUnlessSimilar(key, d, q)
		return err
	})
	if err != nil {
		return Hit{}, 0, err
	}
	return like, rev, nil
}

// Delete removes the entry of key, and returns the version that was published, or 0 if there
// was no entry. Like the other verbs that remove, it needs no room: its only errors are those
// of a sink.
func (s Space) Delete(key string) (rev uint64, err error) {
	return s.edit(func(e *Editor) error { e.Delete(key); return nil })
}

// DeleteIf removes the entry of key if its revision is rev, and returns [ErrRevision] otherwise;
// see [Editor.DeleteIf].
func (s Space) DeleteIf(key string, rev uint64) (now uint64, err error) {
	return s.edit(func(e *Editor) error { return e.DeleteIf(key, rev) })
}

// Take removes the entry of key and returns its value, and whether there was one. If several calls
// run at once, exactly one gets it.
func (s Space) Take(key string) (v Value, found bool, err error) {
	_, err = s.edit(func(e *Editor) error { v, found = e.Take(key); return nil })
	if err != nil {
		return Value{}, false, err
	}
	return v, found, nil
}

// Clear removes all entries of the space and returns how many there were; see [Editor.Clear].
func (s Space) Clear() (n int, err error) { return s.count((*Editor).Clear) }

// ClearAll is Clear for the space and all spaces below it, in one version.
func (s Space) ClearAll() (n int, err error) { return s.count((*Editor).ClearAll) }

// PutVector stores a copy of v, and metadata, as that of an [Item], for key, in place of those that
// it has: with nil metadata it has none afterwards. A value stays as it is; see [Editor.PutVector].
func (s Space) PutVector(key string, v []float32, metadata any) (rev uint64, err error) {
	d, err := s.m.embed(s.path, key, v, metadata)
	if err != nil {
		return 0, err
	}
	return s.edit(func(e *Editor) error { return e.putVector(key, d) })
}

// DeleteVector removes the vector and the metadata of key, and returns the version that was
// published, or 0 if there was no vector.
func (s Space) DeleteVector(key string) (rev uint64, err error) {
	return s.edit(func(e *Editor) error { e.DeleteVector(key); return nil })
}

// Configure sets how the space behaves; see [Editor.Configure]. It returns the version that was
// published, or 0 if the space behaves so already.
func (s Space) Configure(o SpaceOptions) (rev uint64, err error) {
	return s.edit(func(e *Editor) error { e.Configure(o); return nil })
}
