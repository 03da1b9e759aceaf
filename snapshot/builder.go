package snapshot

import (
	"iter"
	"reflect"
	"unsafe"

	"github.com/cowstore/cowstore/snapshot/clone"
)

// A Builder does with maps, editors and rows what builders of stores need, such as
// package cow, and their users do not. It has no state: its zero value is ready, and
// any number of goroutines may use it.
type Builder[K comparable, V any] struct{}

// EditAt makes e an Editor that makes the given version of m, for stores that number
// versions over several maps, and returns it. Nobody else must have e: it is new, or was made so
// before, and its edit has ended. EditAt panics unless version is above m.Version() and below
// 1<<55.
func (Builder[K, V]) EditAt(e *Editor[K, V], m *Map[K, V], version uint64) *Editor[K, V] {
	return e.editAt(m, version)
}

// Remake is EditAt for a version that is made once more, such as without some of its rows.
// The version may be that of m.
func (Builder[K, V]) Remake(m *Map[K, V], version uint64) *Editor[K, V] {
	return new(Editor[K, V]).remake(m, version)
}

// Erase removes key, and has Net tell that it was Erased, even if it is absent, or set again.
func (Builder[K, V]) Erase(e *Editor[K, V], key K) { e.erase(key) }

// Erases reports whether Erase was called.
func (Builder[K, V]) Erases(e *Editor[K, V]) bool { return e.erased != nil }

// PutRow stores a row as it is, at its revision. It panics if r is of a map with other Options.
func (Builder[K, V]) PutRow(e *Editor[K, V], r Row[K, V]) { e.putRow(r) }

// Name returns Options.Name.
func (Builder[K, V]) Name(m *Map[K, V]) string { return m.config().name }

// JSON is m.MarshalJSON for a map that lies in other JSON, around levels deep. These levels
// count too.
func (Builder[K, V]) JSON(m *Map[K, V], around int) ([]byte, error) { return m.json(around) }

// Empty returns an empty map, at version 0, with the Options of m.
func (Builder[K, V]) Empty(m *Map[K, V]) *Map[K, V] { return m.empty() }

// Akin reports whether two maps have come from one New: each from an edit of the other, or of
// a third. The nil map and the zero Map are akin to all.
func (Builder[K, V]) Akin(m, other *Map[K, V]) bool {
	return m == nil || other == nil || m.cfg == nil || other.cfg == nil || m.cfg.plain == other.cfg.plain
}

// Concerns reports whether a change is one of a map that is akin to m; see Akin.
func (Builder[K, V]) Concerns(c Change[K, V], m *Map[K, V]) bool {
	plain := m.config().plain
	return c.was == plain && c.cfg == plain
}

// Isolate returns v cloned as the map's Options say: the value as an Editor of
// this map, of one it was derived from or of one derived from it would store
// it under key. It is for cloning ahead, outside an update. It returns a *KeyError with
// ErrKey, ErrTooDeep or a *[clone.Error] for what cannot be stored.
func (Builder[K, V]) Isolate(m *Map[K, V], key K, v V) (Isolated[V], error) { return m.isolate(key, v) }

// Put stores a value that was cloned ahead under key. It panics if v was
// isolated by a map with other Options, or is the zero Isolated.
func (Builder[K, V]) Put(e *Editor[K, V], key K, v Isolated[V]) { e.put(key, v) }

// CheckAbsent returns the error of Insert for what an Editor has under key.
func (Builder[K, V]) CheckAbsent(e *Editor[K, V], key K) error { return e.checkAbsent(key) }

// Check returns the error of SetIf for what an Editor has under key.
func (Builder[K, V]) Check(e *Editor[K, V], key K, rev uint64) error { return e.check(key, rev) }

// Bulk returns an empty [Bulk] for Editors of this map, of one it was derived from or of one
// derived from it.
func (Builder[K, V]) Bulk(m *Map[K, V]) *Bulk[K, V] { return &Bulk[K, V]{base: m} }

// PutBulk is SetAll of the pairs of a Bulk, which stays as it is. It panics if that was made for
// a map with other Options.
func (Builder[K, V]) PutBulk(e *Editor[K, V], b *Bulk[K, V]) { e.putBulk(b) }

// Batch returns an empty Batch for n rows and an edit. Any number of goroutines may make
// and fill their own, meanwhile.
func (Builder[K, V]) Batch(e *Editor[K, V], n int) *Batch[K, V] { return e.batch(n) }

// PutBatches stores the rows of batches, which were made for e or an Editor of a map with
// the same Options, in their order: of equal keys the last wins. If there is nothing yet,
// it takes much less time than as many calls of Put. It calls each, maybe more than once,
// to have do called with 0 to n-1, in whatever goroutines, and return after the last.
func (Builder[K, V]) PutBatches(e *Editor[K, V], batches []*Batch[K, V], each func(n int, do func(i int))) {
	e.putBatches(batches, each)
}

// Net appends to changes what the edit has changed so far, a key at most once, as
// Diff of the map it began with has it: nothing if all is as it was. It takes time
// proportional to the changes, and constant time after a single write.
func (Builder[K, V]) Net(e *Editor[K, V], changes []Change[K, V]) []Change[K, V] {
	return e.net(changes)
}

// Cleared reports whether the edit has removed all keys by Clear, whatever came after, or has
// made much of nothing: then nothing is shared with the map it began with, and Net takes time
// proportional to both.
func (Builder[K, V]) Cleared(e *Editor[K, V]) bool {
	return e.writes == all || e.base.Len() == 0 && e.cur != nil && e.cur.Len() > 1000
}

// Discard ends the edit without a result, if Seal has not ended it. Any later
// use of the Editor panics.
func (Builder[K, V]) Discard(e *Editor[K, V]) { e.discard() }

// Rewind returns the map that m was at an earlier version, given what changed
// since: the changes of every later edit, those of the latest first. Values and
// revisions are those of then, the same entries and not clones. It panics if a
// change is of a map with other Options. The time is proportional to the changes.
func (Builder[K, V]) Rewind(m *Map[K, V], version uint64, changes iter.Seq[Change[K, V]]) *Map[K, V] {
	return m.rewind(version, changes)
}

// Annotate returns a map equal to m, at its version, with the annotation x: something
// computed from m that is worth keeping with it, such as an index. Maps derived
// from it remember it as their nearest ancestor that carries something; see
// Annotation. The x must not hold a map: one from before the annotation remembers
// its ancestor, and so on, so that no version would ever be let go. With a nil x
// there is no annotation any more, and no ancestor is remembered. It takes
// constant time.
func (Builder[K, V]) Annotate(m *Map[K, V], x any) *Map[K, V] { return m.annotate(x) }

// AnnotateSealed annotates the map that an Editor made, whose Seal has returned it, in place if
// nobody else has it yet; see Annotate.
func (Builder[K, V]) AnnotateSealed(e *Editor[K, V], x any) *Map[K, V] {
	if e.owned {
		return e.cur.carry(x)
	}
	return e.cur.annotate(x)
}

// AnnotateDuring annotates the map as it is now with x, and returns that; see
// Annotate. It does not count as a change.
func (Builder[K, V]) AnnotateDuring(e *Editor[K, V], x any) *Map[K, V] { return e.annotate(x) }

// Annotation returns the annotation of the nearest ancestor of m that has
// one, and that ancestor: m itself, or a map which m was derived from,
// so that m.Diff of it is what happened since. Both are nil if there is none.
// An ancestor lives as long as maps that remember it.
func (Builder[K, V]) Annotation(m *Map[K, V]) (x any, to *Map[K, V]) { return m.annotation() }

// Part returns c as it looks to one who sees only the old row, only the new one, both
// or none, which is no change.
func (Builder[K, V]) Part(c Change[K, V], old, new bool) (Change[K, V], bool) {
	was, is := c.old, c.new
	if !old {
		was = nil
	}
	if !new {
		is = nil
	}
	if was == nil && is == nil {
		return Change[K, V]{}, false
	}
	return change(c.was, c.cfg, was, is), true
}

// Forget returns a change without its old row.
func (Builder[K, V]) Forget(c Change[K, V]) Change[K, V] {
	c.old = nil
	return c
}

// Between returns the change of one row of a key into another, of which one may be the zero Row.
func (Builder[K, V]) Between(old, new Row[K, V]) Change[K, V] {
	was, is := old.cfg, new.cfg
	if was == nil {
		was = is
	}
	if is == nil {
		is = was
	}
	return change(was, is, old.e, new.e)
}

// Ref returns the row in half the memory.
func (Builder[K, V]) Ref(r Row[K, V]) *RowRef { return r.ref() }

// KeyOf returns the key of r, which is not nil and was a row of maps of this type.
func (Builder[K, V]) KeyOf(r *RowRef) K { return keyOf[K, V](r) }

// Deref returns a [Deref] for the RowRefs of maps of m's line, with its Options; m need not
// hold their rows. Of a row that version running wrote, the revision is [Pending]: running
// is the version of the update that runs, or 0 if none does.
func (Builder[K, V]) Deref(m *Map[K, V], running uint64) Deref[K, V] {
	return Deref[K, V]{m.config().plain, running}
}

// A Deref makes rows of RowRefs: see [Builder.Deref]. It is immutable.
type Deref[K comparable, V any] struct {
	cfg     *config[K, V]
	running uint64
}

// Row returns the row of r, which is not nil.
func (d Deref[K, V]) Row(r *RowRef) Row[K, V] {
	row := Row[K, V]{(*entry[V])(unsafe.Pointer(r)), d.cfg}
	if d.running != 0 {
		return row.asPending(d.running)
	}
	return row
}

// Probe returns the row of key and a zero value, which is in no map, to compare
// others with.
func (Builder[K, V]) Probe(m *Map[K, V], key K) Row[K, V] { return m.probe(key) }

// Prefetch reads a little of each row, for whoever is about to use all of them:
// rows are all over the heap, and with nothing in between the processor fetches
// those that are not in its caches at the same time.
func (Builder[K, V]) Prefetch(rows []*RowRef) {
	touch(rows, unsafe.Sizeof(entry[V]{}))
}

// RowsFrom returns an iterator over the rows behind that of a key in the order of All, or before it
// in the opposite one; nil is no key: over all. To begin takes as long as a lookup. If the key is
// not there, the iteration begins near where it would be, so that a few rows may come again.
func (Builder[K, V]) RowsFrom(m *Map[K, V], after *K, back bool) iter.Seq[Row[K, V]] {
	return m.rowsFrom(after, back)
}

// RowsOf returns an iterator over rows as Map.GetMany returns one over values.
func (Builder[K, V]) RowsOf(m *Map[K, V], keys []K) iter.Seq2[int, Row[K, V]] { return m.rowsOf(keys) }

// Lookup returns where the value of key lies, or nil. What it points to must not be
// modified.
func (Builder[K, V]) Lookup(m *Map[K, V], key K) *V {
	if e := m.lookup(key); e != nil {
		return &e.value
	}
	return nil
}

// Pointer returns where the value of a row lies. What it points to must not be modified.
func (Builder[K, V]) Pointer(r Row[K, V]) *V { return &r.e.value }

// Size returns about how many bytes the row keeps alive: itself, its key, and
// what its value reaches, of which it looks at the first thousand objects. It
// passes over what values share, as time zones, and reads nothing that somebody
// else may write to. So of a value that Options call Immutable or clone by a
// function, or that has a method Clone, only what it refers to directly counts.
func (Builder[K, V]) Size(r Row[K, V]) int { return r.size() }

// Structure returns about how many bytes m takes apart from its rows: the pages
// and directories they lie in, at their usual fill, and what its annotation takes,
// where that says so by a method Structure() int.
func (Builder[K, V]) Structure(m *Map[K, V]) int { return m.structure() }

// annotate is Builder.Annotate.
func (m *Map[K, V]) annotate(x any) *Map[K, V] {
	n := new(Map[K, V])
	n.cfg = m.config()
	if m != nil {
		n.len, n.version, n.root.kid = m.len, m.version, m.root.kid
	}
	return n.carry(x)
}

// carry annotates m itself with x, which nobody else has, and returns m.
func (m *Map[K, V]) carry(x any) *Map[K, V] {
	m.cfg = m.cfg.plain
	if x != nil {
		c := *m.cfg
		c.annotation, c.to = x, m
		m.cfg = &c
	}
	return m
}

// annotation is Builder.Annotation.
func (m *Map[K, V]) annotation() (x any, to *Map[K, V]) {
	if m == nil || m.cfg == nil {
		return nil, nil
	}
	return m.cfg.annotation, m.cfg.to
}

// Map returns the map as it is now, at Version(), or the one the edit began
// with if nothing was changed yet. The edit may go on; it does not change what
// Map returned.
func (e *Editor[K, V]) Map() *Map[K, V] {
	e.enter()
	defer e.leave()
	e.owned = false
	return e.cur
}

// annotate is Builder.AnnotateDuring.
func (e *Editor[K, V]) annotate(x any) *Map[K, V] {
	m := e.Map().annotate(x)
	e.enter()
	defer e.leave()
	e.cur = m
	return m
}

// size is Builder.Size.
func (r Row[K, V]) size() int {
	n := int(unsafe.Sizeof(*r.e))
	key := r.Key()
	n += int(unsafe.Sizeof(key))
	if r.cfg.inline {
		n += len(*(*string)(unsafe.Pointer(&key)))
	}
	if !r.cfg.noscan {
		n += clone.Size(reflect.ValueOf(&r.e.value).Elem(), r.cfg.handle)
	}
	return n
}

// structure is Builder.Structure.
func (m *Map[K, V]) structure() int {
	n := m.Len() * structurePerRow
	if x, to := m.annotation(); to == m {
		if x, ok := x.(interface{ Structure() int }); ok {
			n += x.Structure()
		}
	}
	return n
}

// structurePerRow is how many bytes of pages and directories a row takes: 64 a
// bucket of seven, of which about two thirds are in use.
const structurePerRow = 16
