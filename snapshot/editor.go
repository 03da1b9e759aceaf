package snapshot

import (
	"iter"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"unsafe"

	"github.com/cowstore/cowstore/snapshot/clone"
)

// An Editor makes the next version of a Map. It reads its own writes; the
// map it began with, and every other version, stays as it is.
//
// What goes in is cloned, and what comes out: see [Options]. A value that an
// update function was handed or assigned is cloned once more when the function
// returns, so that nothing it kept reaches the map.
//
// An Editor is made by [Map.Edit], must not be copied, and must be used by one
// goroutine at a time, until Seal. It may be used inside the functions it
// calls. Late and concurrent use panics; it never touches a sealed map.
type Editor[K comparable, V any] struct {
	base    *Map[K, V]
	cur     *Map[K, V] // what has become of base
	version uint64
	owned   bool // cur is this Editor's, to be edited in place
	changed bool // cur differs from base
	undone  bool // an entry was removed: perhaps all that was added

	// What the only write replaced and stored, for Net; writes counts them, up to
	// many, or is all.
	writes   uint8
	state    atomic.Uint32
	old, new *entry[V]

	err  *KeyError[K] // of the first row that could not be stored
	open *opening[K]  // the keys for which a function of Upsert runs

	erased map[K]K // by Builder.Erase: each key is its own value; nil: none
}

// An opening is a key that was absent when a function of Upsert began, and whether it
// has been written since.
type opening[K comparable] struct {
	key     K
	written bool
	outer   *opening[K]
}

// many writes are more than one, and all are those of Clear.
const (
	many = 2
	all  = 3
)

// The states of an Editor.
const (
	idle uint32 = iota
	busy
	sealed
)

// Edit returns an Editor that makes version Version()+1 of m.
func (m *Map[K, V]) Edit() *Editor[K, V] { return new(Editor[K, V]).editAt(m, m.Version()+1) }

// editAt is Builder.EditAt.
func (e *Editor[K, V]) editAt(m *Map[K, V], version uint64) *Editor[K, V] {
	if version <= m.Version() || version >= 1<<55 {
		panic("snapshot: EditAt a version that is not above the map's own, or not below 1<<55")
	}
	return e.remake(m, version)
}

// remake is Builder.Remake, in e.
func (e *Editor[K, V]) remake(m *Map[K, V], version uint64) *Editor[K, V] {
	*e = Editor[K, V]{base: m, cur: m, version: version}
	return e
}

// Version returns the version that this Editor makes, if the edit is published: an
// update that fails, or changes nothing, leaves the number to the next.
func (e *Editor[K, V]) Version() uint64 { return e.version }

// Seal ends the edit and returns the map it made: the one it began with, if no
// key was changed, or if Err is not nil. Any later use of the Editor panics, but for
// Err and Version.
func (e *Editor[K, V]) Seal() *Map[K, V] {
	e.enter()
	e.state.Store(sealed)
	if e.err != nil {
		return e.base
	}
	if e.undone && e.writes > 1 && e.cur.Len() == e.base.Len() {
		e.changed = false
		for range e.cur.Diff(e.base) {
			e.changed = true
			break
		}
	}
	if !e.changed {
		return e.base
	}
	return e.cur
}

// Err returns the error of the first Set, SetAll, Put or PutBulk that could not store
// a row, for these cannot return it: a *KeyError with ErrKey or a *[clone.Error]. The
// edit is to be given up then.
func (e *Editor[K, V]) Err() error {
	if e.err == nil {
		return nil
	}
	return e.err
}

// fail notes the error of a row that could not be stored, a *KeyError.
func (e *Editor[K, V]) fail(err error) {
	if e.err == nil {
		e.err = err.(*KeyError[K])
	}
}

// keyError returns an error about a key.
func (e *Editor[K, V]) keyError(key K, err error) error {
	return e.current().config().keyError(key, err)
}

// discard is Builder.Discard.
func (e *Editor[K, V]) discard() { e.state.Store(sealed) }

// Get returns the value of key, isolated, and whether key is present.
func (e *Editor[K, V]) Get(key K) (V, bool) { return e.current().Get(key) }

// GetMany is [Map.GetMany] of the rows as they are when the iteration begins. The Editor may be
// used, and may write, during it.
func (e *Editor[K, V]) GetMany(keys []K) iter.Seq2[int, V] {
	return func(yield func(int, V) bool) { e.still().GetMany(keys)(yield) }
}

// Has reports whether key is present.
func (e *Editor[K, V]) Has(key K) bool { return e.current().Has(key) }

// Revision returns the version that last wrote key, [Pending] if this Editor did,
// or 0 if key is absent.
func (e *Editor[K, V]) Revision(key K) uint64 {
	rev := e.current().Revision(key)
	if rev == e.version {
		return Pending
	}
	return rev
}

// Len returns the number of keys.
func (e *Editor[K, V]) Len() int { return e.current().Len() }

// All returns an iterator over keys and isolated values as they are when the
// iteration begins. The Editor may be used, and may write, during it.
func (e *Editor[K, V]) All() iter.Seq2[K, V] {
	return func(yield func(K, V) bool) { e.still().All()(yield) }
}

// still returns the map as it is now: from here on the Editor edits another.
func (e *Editor[K, V]) still() *Map[K, V] {
	e.enter()
	defer e.leave()
	e.owned = false
	return e.cur
}

// Set stores a clone of v under key. If key or v cannot be stored, it stores nothing
// and leaves the error in Err, which makes an update fail.
func (e *Editor[K, V]) Set(key K, v V) {
	if err := e.set(key, v); err != nil {
		e.fail(err)
	}
}

// isolate clones v for Put; see [Builder.Isolate].
func (e *Editor[K, V]) isolate(key K, v V) (Isolated[V], error) { return e.current().isolate(key, v) }

// put is Builder.Put.
func (e *Editor[K, V]) put(key K, v Isolated[V]) {
	c := e.current().config()
	c.check(v)
	if err := c.checkKey(key); err != nil {
		e.fail(err)
		return
	}
	h := c.hashOf(key)
	e.enter()
	defer e.leave()
	e.store(h, key, e.newEntry(key, v))
}

// newEntry returns an entry for this edit. The Editor must be busy.
func (e *Editor[K, V]) newEntry(key K, v Isolated[V]) *entry[V] {
	return e.cur.config().newEntry(key, v.value, e.version)
}

// store stores an entry, with all foreign code behind it. The Editor must be busy.
func (e *Editor[K, V]) store(h uint64, key K, n *entry[V]) {
	for o := e.open; o != nil; o = o.outer {
		o.written = o.written || o.key == key
	}
	e.wrote(e.writable().put(h, key, n), n)
}

// wrote notes that n took the place of old; either may be nil.
func (e *Editor[K, V]) wrote(old, n *entry[V]) {
	if e.writes < many {
		e.writes++
	}
	e.old, e.new = old, n
}

// net is Builder.Net.
func (e *Editor[K, V]) net(changes []Change[K, V]) []Change[K, V] {
	cur, n := e.current(), len(changes)
	switch e.writes {
	case 0:
	case 1:
		changes = append(changes, change(cur.cfg, cur.cfg, e.old, e.new))
	default:
		e.enter()
		defer e.leave()
		changes = slices.AppendSeq(changes, e.cur.Diff(e.base))
	}
	if e.erased == nil {
		return changes
	}
	left := maps.Clone(e.erased)
	for i := range changes[n:] {
		c := &changes[n+i]
		if key, ok := left[c.Key]; ok {
			delete(left, key)
			c.Key, c.Kind = key, Erased // the key of the row keeps the row
		}
	}
	plain := e.cur.config().plain
	for _, key := range left {
		changes = append(changes, Change[K, V]{Key: key, Kind: Erased, was: plain, cfg: plain})
	}
	return changes
}

// erase is Builder.Erase.
func (e *Editor[K, V]) erase(key K) {
	c := e.current().config()
	if err := c.checkKey(key); err != nil {
		e.fail(err)
		return
	}
	if c.inline { // or a key from an iteration would keep its row
		s := strings.Clone(*(*string)(unsafe.Pointer(&key)))
		key = *(*K)(unsafe.Pointer(&s))
	}
	e.remove(key)
	if e.erased == nil {
		e.erased = make(map[K]K)
	}
	e.erased[key] = key
}

// putRow is Builder.PutRow.
func (e *Editor[K, V]) putRow(r Row[K, V]) {
	c := e.current().config()
	if r.cfg.plain != c.plain {
		panic("snapshot: PutRow of a row of a map with other Options")
	}
	key := r.Key()
	h := c.hashOf(key)
	e.enter()
	defer e.leave()
	e.store(h, key, r.e)
}

// Insert stores a clone of v under key, or returns ErrExists if key is
// present.
func (e *Editor[K, V]) Insert(key K, v V) error {
	if err := e.checkAbsent(key); err != nil {
		return err
	}
	return e.set(key, v)
}

// set is Set that returns its error.
func (e *Editor[K, V]) set(key K, v V) error {
	i, err := e.isolate(key, v)
	if err != nil {
		return err
	}
	e.put(key, i)
	return nil
}

// SetIf stores a clone of v under key if the revision of key is rev, and
// returns ErrRevision otherwise: with ErrNotFound if key is absent. Revision 0 means that key
// must be absent; if it is not, ErrExists comes with ErrRevision.
func (e *Editor[K, V]) SetIf(key K, rev uint64, v V) error {
	if err := e.check(key, rev); err != nil {
		return err
	}
	return e.set(key, v)
}

// checkAbsent returns ErrExists if key is present.
func (e *Editor[K, V]) checkAbsent(key K) error {
	if e.Has(key) {
		return e.keyError(key, ErrExists)
	}
	return nil
}

// check returns the error of SetIf unless the revision of key is rev, as it never is for a key that
// this Editor wrote.
func (e *Editor[K, V]) check(key K, rev uint64) error {
	switch is := e.Revision(key); {
	case is == 0 && rev != 0:
		return e.keyError(key, errAbsent)
	case is != 0 && rev == 0:
		return e.keyError(key, errPresent)
	case is != rev || rev == Pending:
		return e.keyError(key, ErrRevision)
	}
	if err := e.current().config().checkKey(key); err != nil {
		return err
	}
	return nil
}

// Modify calls f with the value of key, isolated, and stores what f made of it.
// It returns ErrNotFound if key is absent, and f's error, if any; then, or if f
// panics, the value stays as it was. If f itself writes key through the Editor,
// Modify returns ErrModified and leaves key as f did.
//
// Under Options.Immutable f is handed what is stored. It must not write to what
// that refers to, and assigns another value instead.
func (e *Editor[K, V]) Modify(key K, f func(v *V) error) error {
	given(f != nil, "Modify")
	return e.Upsert(key, func(v *V, found bool) error {
		if !found {
			return e.keyError(key, ErrNotFound)
		}
		return f(v)
	})
}

// Upsert is like Modify, but calls f with a zero value, and found false, if
// key is absent.
func (e *Editor[K, V]) Upsert(key K, f func(v *V, found bool) error) error {
	given(f != nil, "Upsert")
	if err := e.current().config().checkKey(key); err != nil {
		return err
	}
	var v V
	var opened *opening[K]
	before := e.current().lookup(key)
	if before != nil {
		v = e.cur.cfg.isolate(before.value)
	} else {
		// A write of a key that is there shows in its entry; one that is absent may
		// be written and deleted again.
		opened = &opening[K]{key: key, outer: e.open}
		e.open = opened
		defer func() { e.open = opened.outer }()
	}
	if err := f(&v, before != nil); err != nil {
		return err
	}
	after, err := e.isolate(key, v)
	if err != nil {
		return err
	}
	if opened != nil && opened.written || e.current().lookup(key) != before {
		return e.keyError(key, ErrModified)
	}
	e.put(key, after)
	return nil
}

// given panics unless a verb has got the function that it is to call.
func given(is bool, verb string) {
	if !is {
		panic("snapshot: " + verb + " with a nil function: give it one")
	}
}

// Delete removes key and reports whether it was present.
func (e *Editor[K, V]) Delete(key K) bool { return e.remove(key) != nil }

// DeleteIf removes key if its revision is rev, and returns the errors of SetIf
// otherwise. A rev of 0 succeeds if key is absent, and changes nothing.
func (e *Editor[K, V]) DeleteIf(key K, rev uint64) error {
	if err := e.check(key, rev); err != nil {
		return err
	}
	e.Delete(key)
	return nil
}

// Take removes key and returns its value, isolated, and whether it was
// present.
func (e *Editor[K, V]) Take(key K) (V, bool) {
	v, ok := e.Get(key)
	if ok {
		e.remove(key)
	}
	return v, ok
}

func (e *Editor[K, V]) remove(key K) *entry[V] {
	m := e.current()
	if m.Len() == 0 {
		return nil
	}
	h := m.cfg.hashOf(key)
	if m.find(h, key) == nil {
		return nil
	}
	e.enter()
	defer e.leave()
	e.undone = true
	old := e.writable().remove(h, key)
	e.wrote(old, nil)
	return old
}

// Clear removes all keys, in constant time.
func (e *Editor[K, V]) Clear() {
	if e.Len() == 0 {
		return
	}
	e.enter()
	defer e.leave()
	w := e.writable()
	w.len, w.root = 0, directory[V]{}
	e.undone, e.writes = true, all
}

// enter takes the Editor for one step of its own, in which no foreign code
// runs, and panics if that is not possible.
func (e *Editor[K, V]) enter() {
	if !e.state.CompareAndSwap(idle, busy) {
		e.misuse()
	}
}

// leave lets go of the Editor again, unless it was ended meanwhile.
func (e *Editor[K, V]) leave() { e.state.CompareAndSwap(busy, idle) }

func (e *Editor[K, V]) misuse() {
	if e.state.Load() == sealed {
		panic("snapshot: Editor used after its update or transaction has ended: get another one in the next")
	}
	panic("snapshot: Editor used by two goroutines at once: do all edits of an update in its own goroutine")
}

// current returns the map as it is now.
func (e *Editor[K, V]) current() *Map[K, V] {
	if e.state.Load() != idle {
		e.misuse()
	}
	return e.cur
}

// writable returns cur, made this Editor's own: a copy whose root owns no kid.
func (e *Editor[K, V]) writable() *Map[K, V] {
	if !e.owned {
		m := &Map[K, V]{version: e.version}
		m.cfg = e.cur.config()
		if e.cur != nil {
			m.len, m.root.kid = e.cur.len, e.cur.root.kid
		}
		e.cur, e.owned, e.changed = m, true, true
	}
	return e.cur
}

// isolate is Builder.Isolate.
func (m *Map[K, V]) isolate(key K, v V) (i Isolated[V], err error) {
	c := m.config()
	if err := c.checkKey(key); err != nil {
		return Isolated[V]{}, err
	}
	if c.clone != nil {
		defer func() {
			switch r := recover().(type) {
			case nil:
			case *clone.Error:
				i, err = Isolated[V]{}, c.keyError(key, r)
			default:
				panic(r)
			}
		}()
	}
	return Isolated[V]{value: c.isolate(v), by: c.plain}, nil
}

// An Isolated is a value that was cloned ahead for [Builder.Put]. Only maps that
// share the Options of the one that isolated it take it. It is immutable and
// may be copied and used any number of times, from any goroutine.
type Isolated[V any] struct {
	value V
	by    any
}

// check panics unless v was isolated as c says.
func (c *config[K, V]) check(v Isolated[V]) {
	if by, ok := v.by.(*config[K, V]); !ok || by != c.plain {
		panic("snapshot: Put of a value that a map with other Options isolated: isolate it for this map")
	}
}
