package memory

import (
	"fmt"

	"github.com/cowstore/cowstore/memory/vector"
)

// An Editor writes to one space within a Batch, and reads what the Batch has
// written so far. It must not be used after the Batch has ended, which panics. Its
// verbs are those of Space, which are batches of one, but return no versions: there is
// one for the whole Batch. Where values, keys or vectors can be refused, Put included,
// the verb returns the error, for it is known at once; the entry stays as it was, and the
// Batch may go on.
//
// A value and a vector with its metadata are put apart or, by PutItem, together.
// An entry exists while it has either, and is deleted as a whole. To Insert,
// Modify and Take, only the value counts.
type Editor struct {
	b     *Batch
	space string
}

func (e *Editor) name(key string) string { return nameOf(e.space, key) }

// Get returns the value of key, and whether there is one.
func (e *Editor) Get(key string) (Value, bool) {
	row, _ := e.b.lookup(e.name(key))
	if row == nil {
		return Value{}, false
	}
	return row.value, row.value.Exists()
}

// Entry returns the entry of key, and whether there is one.
func (e *Editor) Entry(key string) (Entry, bool) {
	row, rev := e.b.lookup(e.name(key))
	return newEntry(key, row, rev), row != nil
}

// Put stores v, frozen, as the value of key. Metadata stays as it is. A vector stays beside an
// equal value, and beside the first; with another value it goes, since it is one of what was
// there before: put the new one after the value, or both by PutItem. The entry expires as its
// space says, from now on.
func (e *Editor) Put(key string, v any) error {
	e.b.live()
	d, err := e.b.m.freeze(e.space, key, v)
	if err != nil {
		return err
	}
	name := e.name(key)
	old, _ := e.b.lookup(name)
	next := old.next()
	next.expires = e.b.expiry(e.space, 0)
	e.value(next, d)
	e.b.store(name, next)
	return nil
}

// value makes the value of d that of an entry.
func (e *Editor) value(next *entry, d *draft) {
	next.set(d.value)
	e.b.settler.know(e.space, d.value, d.words)
}

// PutItem stores a whole entry under key, in place of what is there: what the Item does not
// have, the entry has no more. When it was created stays.
func (e *Editor) PutItem(key string, it Item) error {
	e.b.live()
	d, err := e.b.m.prepare(e.space, key, it)
	if err != nil {
		return err
	}
	if err := e.fits(key, d.vector); err != nil {
		return err
	}
	next := (*entry)(nil).next()
	if old, _ := e.b.lookup(e.name(key)); old != nil {
		next.created = old.created
	}
	next.expires = e.b.expiry(e.space, d.ttl)
	e.value(next, d)
	next.metadata, next.vector = d.metadata, d.vector
	e.b.store(e.name(key), next)
	return nil
}

// Insert is Put if key has no value, and returns ErrExists otherwise.
func (e *Editor) Insert(key string, v any) error {
	e.b.live()
	d, err := e.b.m.freeze(e.space, key, v)
	if err != nil {
		return err
	}
	if _, ok := e.Get(key); ok {
		return keyError(e.space, key, ErrExists)
	}
	return e.Put(key, d)
}

// Modify calls f with the value of key and stores what it returns, or returns
// its error as it is. It returns ErrNotFound if key has no value, and ErrModified if f
// itself writes key. When it expires stays as it is; vector and metadata are as after Put.
func (e *Editor) Modify(key string, f func(v Value) (any, error)) error {
	return e.Upsert(key, func(v Value) (any, error) {
		if !v.Exists() {
			return nil, keyError(e.space, key, ErrNotFound)
		}
		return f(v)
	})
}

// Upsert is like Modify, but calls f with an Absent value if key has none; then
// it expires as the space says.
func (e *Editor) Upsert(key string, f func(v Value) (any, error)) error {
	name := e.name(key)
	old, rev := e.b.lookup(name)
	next := old.next()
	v, err := f(next.value)
	if err != nil {
		return err
	}
	d, err := e.b.m.freeze(e.space, key, v)
	if err != nil {
		return err
	}
	if now, again := e.b.lookup(name); now != old || again != rev {
		return keyError(e.space, key, ErrModified)
	}
	if !next.value.Exists() {
		next.expires = e.b.expiry(e.space, 0)
	}
	e.value(next, d)
	e.b.store(name, next)
	return nil
}

// SetIf is Put if the revision of key is rev, and returns ErrRevision otherwise.
// Revision 0 means that there must be no entry.
func (e *Editor) SetIf(key string, rev uint64, v any) error {
	e.b.live()
	d, err := e.b.m.freeze(e.space, key, v)
	if err != nil {
		return err
	}
	if err := e.check(key, rev); err != nil {
		return err
	}
	return e.Put(key, d)
}

// Delete removes the entry of key and reports whether there was one.
func (e *Editor) Delete(key string) bool {
	name := e.name(key)
	row, _ := e.b.lookup(name)
	if row != nil {
		e.b.remove(name)
	}
	return row != nil
}

// DeleteIf removes the entry of key if its revision is rev, and returns
// ErrRevision otherwise. Revision 0 succeeds if there is no entry.
func (e *Editor) DeleteIf(key string, rev uint64) error {
	if err := e.check(key, rev); err != nil {
		return err
	}
	e.Delete(key)
	return nil
}

// check returns ErrRevision unless the revision of key is rev, which Pending never is.
func (e *Editor) check(key string, rev uint64) error {
	if _, is := e.b.lookup(e.name(key)); is != rev || rev == Pending {
		return keyError(e.space, key, ErrRevision)
	}
	return nil
}

// Take removes the entry of key and returns its value, and whether there was
// one. An entry without a value stays.
func (e *Editor) Take(key string) (Value, bool) {
	v, ok := e.Get(key)
	if ok {
		e.b.remove(e.name(key))
	}
	return v, ok
}

// Clear removes all entries of the space and returns how many there were; of more than
// 64, those count too that have expired and are not swept yet. What Configure has set
// stays. It takes about no time, however many there are: what they took is given back in
// steps, by later writes and by Memory.Sweep.
func (e *Editor) Clear() int {
	return e.b.clear(e.space)
}

// ClearAll is Clear for the space and all spaces below it.
func (e *Editor) ClearAll() int {
	return e.b.clear(e.space + aboveBelow)
}

// PutVector stores a vector and metadata, in place of those that key has. A
// value stays as it is, and so does when it expires. All vectors of a space have
// as many dimensions as its first.
func (e *Editor) PutVector(key string, v []float32, metadata map[string]any) error {
	e.b.live()
	d, err := e.b.m.embed(e.space, key, v, metadata)
	if err != nil {
		return err
	}
	return e.putVector(key, d)
}

func (e *Editor) putVector(key string, d *draft) error {
	if err := e.fits(key, d.vector); err != nil {
		return err
	}
	old, _ := e.b.lookup(e.name(key))
	next := old.next()
	if old == nil {
		next.expires = e.b.expiry(e.space, 0)
	}
	next.metadata, next.vector = d.metadata, d.vector
	e.b.store(e.name(key), next)
	return nil
}

// fits returns an error if v cannot be a vector of the space.
func (e *Editor) fits(key string, v []float32) error {
	if v == nil {
		return nil
	}
	dim := func() int {
		if d := e.b.settler.space(e.space).vectors.Dim(); d > 0 {
			return d
		}
		return e.b.dims[e.space]
	}
	if d := dim(); d != 0 && d != len(v) {
		// The vectors that had so many dimensions may be gone by now.
		e.b.sweepSpace(e.space)
		if err := e.b.settler.settle(); err != nil {
			return err
		}
		e.b.dims = nil
		if d := dim(); d != 0 && d != len(v) {
			return keyError(e.space, key, fmt.Errorf("%w: %d, not %d", vector.ErrDimension, len(v), d))
		}
	}
	if e.b.dims == nil {
		e.b.dims = make(map[string]int)
	}
	e.b.dims[e.space] = len(v)
	return nil
}

// DeleteVector removes the vector of key and its metadata, and reports whether
// there was a vector; if not, nothing happens. An entry without a value is gone
// then.
func (e *Editor) DeleteVector(key string) bool {
	old, _ := e.b.lookup(e.name(key))
	if old == nil || old.vector == nil {
		return false
	}
	if !old.value.Exists() {
		return e.Delete(key)
	}
	next := old.next()
	next.vector, next.metadata = nil, Value{}
	e.b.store(e.name(key), next)
	return true
}
