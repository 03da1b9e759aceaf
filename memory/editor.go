package memory

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/memory/internal/data"
	"github.com/cowstore/cowstore/memory/internal/derive"
	"github.com/cowstore/cowstore/memory/internal/fault"
	"github.com/cowstore/cowstore/memory/internal/keep"
	"github.com/cowstore/cowstore/memory/internal/tuple"
	"github.com/cowstore/cowstore/memory/text"
	"github.com/cowstore/cowstore/memory/value"
	"github.com/cowstore/cowstore/memory/vector"
)

// A Batch is one update of a [Memory]. It must be used by one goroutine at a time, and not after
// its function has returned: that panics.
type Batch struct {
	m      *Memory
	update any // see updateOf
	ended  bool
}

// updateOf returns the update that a Batch is: see tablesOf.
func updateOf(b *Batch) *keep.Update { return b.update.(*keep.Update) }

// Batch calls f with a [Batch], and publishes what f did through it, in any number
// of spaces, as one version when f returns nil. If f returns an error, Batch returns
// it. Then, or if f panics, or if what f did cannot be stored, nothing happens.
// Batches, and all other writes, run one at a time; f must not write to the Memory
// itself.
//
// Where a sink makes the DB durable or replicates it, Batch returns once its version is
// acknowledged, with the errors of [cow.DB.Update], and f may be called again.
func (m *Memory) Batch(f func(b *Batch) error) error { return m.BatchContext(context.Background(), f) }

// BatchContext is [Memory.Batch] that does nothing if ctx has ended before f is called or when it
// has returned: see [cow.DB.UpdateContext]. Use it also for a single verb that must not wait long.
func (m *Memory) BatchContext(ctx context.Context, f func(b *Batch) error) error {
	m.made()
	return m.db.UpdateContext(ctx, func(tx *cow.Tx) error { return m.BatchIn(tx, f) })
}

// called panics unless a verb has got the function that it is to call.
func called(is bool, verb string) {
	if !is {
		panic("memory: " + verb + " with a nil function: give it one")
	}
}

// BatchIn is [Memory.Batch] in an update of the DB, which may also write to other tables. If
// BatchIn returns an error, the function of the update must return one too. It may be called
// several times in one update.
func (m *Memory) BatchIn(tx *cow.Tx, f func(b *Batch) error) error {
	m.made()
	called(f != nil, "Batch")
	b := &Batch{m: m, update: keep.Begin(policyOf(m), &m.w, tx)}
	done := false
	defer func() {
		b.ended = true
		if !done {
			updateOf(b).Settler.Forget()
		}
	}()
	if err := f(b); err != nil {
		return err
	}
	if err := updateOf(b).End(); err != nil {
		return err
	}
	done = true
	return nil
}

// Version returns the version that the Batch will publish. A Batch that fails or changes
// nothing publishes none, and leaves the number to the next.
//
//go:noinline
func (b *Batch) Version() uint64 {
	b.live()
	return updateOf(b).Tx.Version()
}

// live panics if the Batch has ended, or is the zero Batch.
func (b *Batch) live() {
	if b == nil {
		b = new(Batch) // of the zero Editor
	}
	b.m.made()
	if b.ended {
		panic("memory: a Batch or Editor used after the Batch has ended: it must not be kept")
	}
}

// Space returns an Editor of the space with that path. No path is the root, a
// space like others.
func (b *Batch) Space(path ...string) *Editor {
	b.live()
	return b.editor(tuple.Encode(path))
}

// lookup returns an entry that is there and has not expired, or nil, and its revision.
func (b *Batch) lookup(name string) (*data.Entry, uint64) {
	b.live()
	return updateOf(b).Lookup(name)
}

func (b *Batch) editor(space string) *Editor { return &Editor{b, space} }

// An Editor writes to one space within a [Batch], and reads what the Batch has
// written so far. It must not be used after the Batch has ended: that panics. Its verbs
// are those of [Space], without versions: there is one for the whole Batch. A verb returns
// an error at once if it refuses a value, a key or a vector; the entry stays as it was, and
// the Batch may go on.
//
// A value, and a vector with its metadata, are put one by one or, by PutItem, together.
// An entry exists while it has either, and is deleted as a whole. Insert, Modify and Take
// look at the value alone.
type Editor struct {
	b     *Batch
	space string
}

func (e *Editor) name(key string) string { return tuple.Name(e.space, key) }

// Get returns the value of key, and whether there is one.
func (e *Editor) Get(key string) (Value, bool) {
	row, _ := e.b.lookup(e.name(key))
	if row == nil {
		return Value{}, false
	}
	return row.Value, row.Value.Exists()
}

// GetMany returns an iterator over the values of many keys, as they are when the iteration begins.
// Each comes with the place of its key in keys; see [Space.GetMany].
func (e *Editor) GetMany(keys []string) iter.Seq2[int, Value] {
	return func(yield func(int, Value) bool) { e.getMany(keys, yield) }
}

func (e *Editor) getMany(keys []string, yield func(int, Value) bool) {
	e.b.live()
	u := updateOf(e.b)
	derive.Many(u.Entries.Map(), u.Cleared, u.Now, e.space, keys, func(i int, row derive.Row) bool {
		v := row.Shared().Value
		return !v.Exists() || yield(i, v)
	})
}

// Entry returns the entry of key, and whether there is one.
func (e *Editor) Entry(key string) (Entry, bool) {
	row, rev := e.b.lookup(e.name(key))
	return newEntry(key, row, rev), row != nil
}

// Contains reports whether there is an entry of key.
func (e *Editor) Contains(key string) bool {
	row, _ := e.b.lookup(e.name(key))
	return row != nil
}

// Search returns the entries that fit a query best, with what the Batch has written so far; see
// [SpaceSnapshot.Search]. It first indexes what was written since the last Search.
func (e *Editor) Search(q Query) ([]Hit, error) {
	e.b.live()
	u := updateOf(e.b)
	if err := u.Settler.Settle(); err != nil {
		return nil, err
	}
	s := sight{source: soFar{e.b}, t: tablesOf(e.b.m), entries: u.Entries.Map(), cleared: u.Cleared, instant: u.Now}
	hits, err := s.search(e.space, q)
	for i := range hits {
		h := &hits[i]
		_, h.Revision = u.Lookup(tuple.Name(h.space, h.Key)) // Pending, of what the Batch wrote
	}
	return hits, err
}

// soFar is what a Batch sees.
type soFar struct{ *Batch }

func (b soFar) Space(path string) *data.Space { return updateOf(b.Batch).Settler.Space(path) }
func (b soFar) Within(path string) []string   { return updateOf(b.Batch).Settler.Within(path) }
func (b soFar) InOrder() cow.Range[string, *data.Entry, string] {
	return tablesOf(b.m).Order.During(updateOf(b.Batch).Entries)
}

func (b soFar) Lookup(path, key string) *data.Entry {
	row, _ := updateOf(b.Batch).Lookup(tuple.Name(path, key))
	return row
}

// Put stores v, frozen, as the value of key: see [value.Freeze]. Metadata stays as it is. A vector
// stays if there was no value yet, or an equal one. Beside another value it goes, as it describes
// what was there before: put the new vector after the value, or both by PutItem. The entry expires
// as its space or the Memory says, counted from now, and not at an end that it had of its own;
// Modify keeps that.
func (e *Editor) Put(key string, v any) error {
	e.b.live()
	d, err := e.b.m.freeze(e.space, key, v)
	if err == nil {
		e.put(key, d)
	}
	return err
}

func (e *Editor) put(key string, d *draft) {
	name := e.name(key)
	old, _ := e.b.lookup(name)
	next := old.Next()
	next.Expires = updateOf(e.b).Expiry(e.space, 0)
	e.value(next, d)
	updateOf(e.b).Store(name, next)
}

// value makes the value of d that of an entry.
func (e *Editor) value(next *data.Entry, d *draft) {
	next.Set(d.value)
	updateOf(e.b).Settler.Know(e.space, d.value, d.words)
}

// PutItem stores a whole entry under key, in place of what is there. What the Item does not have
// is removed. The time at which the entry was created stays.
func (e *Editor) PutItem(key string, it Item) error {
	e.b.live()
	d, err := e.b.m.prepare(e.space, key, it)
	if err != nil {
		return err
	}
	return e.putItem(key, d)
}

func (e *Editor) putItem(key string, d *draft) error {
	if err := updateOf(e.b).Fits(e.space, key, d.vector); err != nil {
		return err
	}
	next := (*data.Entry)(nil).Next()
	if old, _ := e.b.lookup(e.name(key)); old != nil {
		next.Created = old.Created
	}
	next.Expires = updateOf(e.b).Expiry(e.space, d.ttl)
	e.value(next, d)
	next.Metadata = d.metadata
	next.SetVector(d.vector, false)
	next.Keep(d.keep)
	updateOf(e.b).Store(e.name(key), next)
	return nil
}

// Insert is [Editor.Put] if key has no value, and returns [ErrExists] otherwise.
func (e *Editor) Insert(key string, v any) error {
	e.b.live()
	d, err := e.b.m.freeze(e.space, key, v)
	if err != nil {
		return err
	}
	return e.insert(key, d)
}

func (e *Editor) insert(key string, d *draft) error {
	if _, ok := e.Get(key); ok {
		return fault.Of(e.space, key, ErrExists)
	}
	e.put(key, d)
	return nil
}

// Modify calls f with the value of key and stores what f returns. An error of f is returned as it
// is. Modify returns [ErrNotFound] if key has no value, and [cow.ErrModified] if f itself changes
// what key has. The entry expires when it did before; vector and metadata are as after Put.
func (e *Editor) Modify(key string, f func(v Value) (any, error)) error {
	called(f != nil, "Modify")
	return e.Upsert(key, func(v Value) (any, error) {
		if !v.Exists() {
			return nil, fault.Of(e.space, key, ErrNotFound)
		}
		return f(v)
	})
}

// Upsert is [Editor.Modify] that calls f with an Absent value if key has none. Then the entry
// expires as the space says.
func (e *Editor) Upsert(key string, f func(v Value) (any, error)) error {
	called(f != nil, "Upsert")
	name := e.name(key)
	old, rev := e.b.lookup(name)
	next := old.Next()
	v, err := f(next.Value)
	if err != nil {
		return err
	}
	d, err := e.b.m.freeze(e.space, key, v)
	if err != nil {
		return err
	}
	if now, again := e.b.lookup(name); now != old || again != rev {
		return fault.Of(e.space, key, cow.ErrModified)
	}
	if !next.Value.Exists() {
		next.Expires = updateOf(e.b).Expiry(e.space, 0)
	}
	e.value(next, d)
	updateOf(e.b).Store(name, next)
	return nil
}

// SetIf is [Editor.Put] if the revision of key is rev, and returns [ErrRevision] otherwise.
// Revision 0 means that there must be no entry.
func (e *Editor) SetIf(key string, rev uint64, v any) error {
	e.b.live()
	d, err := e.b.m.freeze(e.space, key, v)
	if err != nil {
		return err
	}
	return e.setIf(key, rev, d)
}

func (e *Editor) setIf(key string, rev uint64, d *draft) error {
	if err := e.check(key, rev); err != nil {
		return err
	}
	e.put(key, d)
	return nil
}

// AppendTo appends elements, frozen, to the List that is the value of key. If there is no value it
// makes a List, and the entry expires as the space says; all else is as after Modify. Without
// elements nothing happens. For a value of another kind the error is [value.ErrUnsupported]. A list
// that came in as a []string, say, is an []any from then on. AppendTo takes time proportional to
// the list.
func (e *Editor) AppendTo(key string, elements ...any) error {
	e.b.live()
	more, err := freezeList(e.space, key, elements)
	if err != nil || more.Len() == 0 {
		return err
	}
	return e.appendTo(key, more)
}

// freezeList freezes the elements of a list.
func freezeList(space, key string, elements []any) (Value, error) {
	list, err := Freeze(elements)
	if err != nil {
		return Value{}, fault.Of(space, key, err)
	}
	return list, nil
}

func (e *Editor) appendTo(key string, more Value) error {
	return e.Upsert(key, func(v Value) (any, error) {
		switch {
		case !v.Exists():
			return more, nil
		case v.Kind() != value.List:
			return nil, fault.Of(e.space, key, unsupported("AppendTo a value that is no list"))
		}
		all := make([]any, 0, v.Len()+more.Len())
		for _, list := range []Value{v, more} {
			for _, element := range list.Values() {
				all = append(all, element)
			}
		}
		return all, nil
	})
}

// Keep sets whether the entry of key is kept: an entry that is kept is never evicted. It may still
// expire, be removed and be written; all writes but PutItem leave it kept. Where limits leave
// room for nothing but what is kept, writes return [ErrFull]. Keep returns [ErrNotFound] if there
// is no entry.
func (e *Editor) Keep(key string, keep bool) error {
	old, _ := e.b.lookup(e.name(key))
	if old == nil {
		return fault.Of(e.space, key, ErrNotFound)
	}
	if old.Kept() != keep {
		next := old.Next()
		next.Updated = old.Updated
		next.Keep(keep)
		updateOf(e.b).Store(e.name(key), next)
	}
	return nil
}

// Supersede is PutItem for key, and marks the entry of another key, old, as superseded by it: no
// search finds that entry any more. It stays, without its vector: Get, History, and List without
// Current show it, with SupersededBy, and its [Change] is Changed.
//
// The mark stays if the new entry is removed or expires. [Memory.Undo] of the version takes it
// away, and so does any value or vector that is put under old, by Modify too.
//
// Supersede returns [ErrNotFound] if old has no value, and [ErrExists] if old is key.
func (e *Editor) Supersede(old, key string, it Item) error {
	e.b.live()
	d, err := e.b.m.prepare(e.space, key, it)
	if err != nil {
		return err
	}
	return e.supersede(old, key, d)
}

func (e *Editor) supersede(old, key string, d *draft) error {
	was, _ := e.b.lookup(e.name(old))
	switch {
	case was == nil || !was.Value.Exists():
		return fault.Of(e.space, old, ErrNotFound)
	case old == key:
		return fault.Of(e.space, key, fmt.Errorf("%w: an entry does not supersede itself", ErrExists))
	}
	if err := e.putItem(key, d); err != nil {
		return err
	}
	next := was.Next()
	next.Supersede(key)
	updateOf(e.b).Store(e.name(old), next)
	return nil
}

// PutUnlessSimilar is PutItem unless q finds another entry: then it returns the best one, and
// nothing happens. Whatever q finds is similar, so give it a MinScore. K of q is not used.
//
// If q has neither Text nor Vector, it is a query for the Vector of the Item, which must have one:
// nothing is embedded here. With Cosine and a MinScore of 0.95, say, that finds what means the
// same. Words say less: a correction has most words of what it corrects.
func (e *Editor) PutUnlessSimilar(key string, it Item, q Query) (like Hit, err error) {
	e.b.live()
	d, err := e.b.m.prepare(e.space, key, it)
	if err != nil {
		return Hit{}, err
	}
	return e.putUnlessSimilar(key, d, q)
}

func (e *Editor) putUnlessSimilar(key string, d *draft, q Query) (like Hit, err error) {
	if q.Text == "" && q.Vector == nil {
		if q.Vector = d.vector; q.Vector == nil {
			return Hit{}, fault.Of(e.space, key, fmt.Errorf("%w: neither it nor the Item has a Vector, and it has no Text", ErrQuery))
		}
	}
	if q.K >= 0 {
		q.K = 2 // one may be that of key
	}
	hits, err := e.Search(q)
	if err != nil {
		return Hit{}, err
	}
	for _, h := range hits {
		if h.Key != key || h.space != e.space {
			return h, nil
		}
	}
	return Hit{}, e.putItem(key, d)
}

// Delete removes the entry of key and reports whether there was one.
func (e *Editor) Delete(key string) bool {
	name := e.name(key)
	row, _ := e.b.lookup(name)
	if row != nil {
		updateOf(e.b).Remove(name)
	}
	return row != nil
}

// DeleteIf removes the entry of key if its revision is rev, and returns [ErrRevision]
// otherwise. With revision 0 it does nothing, without an error, if there is no entry.
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
		return fault.Of(e.space, key, ErrRevision)
	}
	return nil
}

// Take removes the entry of key and returns its value, and whether there was
// one. An entry without a value stays.
func (e *Editor) Take(key string) (Value, bool) {
	v, ok := e.Get(key)
	if ok {
		updateOf(e.b).Remove(e.name(key))
	}
	return v, ok
}

// Clear removes all entries of the space and returns how many there were. Where there are more
// than 64, it also counts those that have expired and are not swept yet. What Configure has set
// stays. Clear takes about no time, however many entries there are: later writes, and
// [Memory.Sweep], free their memory in steps.
func (e *Editor) Clear() int {
	e.b.live()
	return updateOf(e.b).Clear(e.space)
}

// ClearAll is Clear for the space and all spaces below it.
func (e *Editor) ClearAll() int {
	e.b.live()
	return updateOf(e.b).Clear(e.space + tuple.AboveBelow)
}

// PutVector stores a vector and metadata, as those of an [Item], in place of those that key has.
// The value, and the time at which the entry expires, stay as they are. All vectors of a space have
// the dimension of its first: the error for others is [ErrDimension].
func (e *Editor) PutVector(key string, v []float32, metadata any) error {
	e.b.live()
	d, err := e.b.m.embed(e.space, key, v, metadata)
	if err != nil {
		return err
	}
	return e.putVector(key, d)
}

func (e *Editor) putVector(key string, d *draft) error {
	if err := updateOf(e.b).Fits(e.space, key, d.vector); err != nil {
		return err
	}
	old, _ := e.b.lookup(e.name(key))
	next := old.Next()
	if old == nil {
		next.Expires = updateOf(e.b).Expiry(e.space, 0)
	}
	next.Metadata = d.metadata
	next.SetVector(d.vector, false)
	updateOf(e.b).Store(e.name(key), next)
	return nil
}

// DeleteVector removes the vector of key and its metadata, and reports whether
// there was a vector; if not, nothing happens. An entry without a value is gone
// then.
func (e *Editor) DeleteVector(key string) bool {
	old, _ := e.b.lookup(e.name(key))
	if old == nil || old.Vector() == nil {
		return false
	}
	if !old.Value.Exists() {
		return e.Delete(key)
	}
	next := old.Next()
	next.SetVector(nil, false)
	next.Metadata = Value{}
	updateOf(e.b).Store(e.name(key), next)
	return true
}

// Configure sets how the space behaves, also for the entries that are in it. o replaces all of
// what was configured before. This write and later ones evict in steps what is too much. What Each
// makes too much in a space below is evicted by writes there and by [Memory.Sweep]. If the path has
// more than 128 elements the Batch returns [value.ErrTooDeep], and nothing happens.
func (e *Editor) Configure(o SpaceOptions) {
	e.b.live()
	c := o.config()
	if !data.Valid(c) {
		panic("memory: Configure with a negative limit: 0 is none, and Never a TTL that is none")
	}
	updateOf(e.b).Configure(e.space, c)
}

// An Item is a whole entry to be stored by [Space.PutItem] or [Editor.PutItem].
type Item struct {
	Value    any           // as for Freeze; nil is Null
	Vector   []float32     // none if nil
	Metadata any           // as for Freeze, and a Map; none if it is nil or Null
	TTL      time.Duration // 0: that of the space, or of the Memory; Never: none
	Keep     bool          // it is never evicted; see Editor.Keep
}

// A draft is an Item as it will be stored: frozen and checked, in memory of its
// own. A Space makes one before the writer's place is taken, and hands it to its Editor.
type draft struct {
	value    Value
	words    text.Words
	metadata Value
	vector   []float32
	ttl      time.Duration
	keep     bool
}

// prepare makes a draft of it.
func (m *Memory) prepare(space, key string, it Item) (*draft, error) {
	d, err := m.freeze(space, key, it.Value)
	if err != nil {
		return nil, err
	}
	d.metadata, err = freezeMetadata(it.Metadata)
	if err == nil && it.Vector != nil {
		d.vector, err = slices.Clone(it.Vector), vector.Check(it.Vector)
	}
	if err == nil && data.ValidTTL(it.TTL) != nil {
		err = unsupported(data.ValidTTL(it.TTL).Error())
	}
	if err != nil {
		return nil, fault.Of(space, key, err)
	}
	d.ttl, d.keep = it.TTL, it.Keep
	return d, nil
}

// An unsupported is what is wrong with what is no value. It is value.ErrUnsupported.
type unsupported string

func (u unsupported) Error() string { return string(u) }

func (u unsupported) Is(target error) bool { return target == value.ErrUnsupported }

// freezeMetadata returns metadata as a Map, or Absent.
func freezeMetadata(metadata any) (Value, error) {
	v, err := Freeze(metadata)
	switch {
	case err != nil:
		return Value{}, err
	case v.Kind() == value.Map:
		return v, nil
	case v.Exists() && !v.IsNull():
		return Value{}, &value.Error{Type: fmt.Sprintf("%T", metadata), Err: unsupported("metadata must be a map")}
	}
	return Value{}, nil
}

// freeze makes a draft of a value.
func (m *Memory) freeze(space, key string, v any) (*draft, error) {
	m.made()
	frozen, err := Freeze(v)
	if err == nil {
		err = tuple.CheckDepth(space)
	}
	if err != nil {
		return nil, fault.Of(space, key, err)
	}
	if !frozen.Exists() {
		frozen, _ = Freeze(nil) // what is Absent would be no value
	}
	return &draft{value: frozen, words: tablesOf(m).Texts.WordsAhead(space, frozen)}, nil
}

// embed makes a draft of a vector and its metadata.
func (m *Memory) embed(space, key string, v []float32, metadata any) (*draft, error) {
	if v == nil {
		v = []float32{}
	}
	d, err := m.prepare(space, key, Item{Vector: v, Metadata: metadata})
	if err == nil {
		d.value = Value{}
	}
	return d, err
}
