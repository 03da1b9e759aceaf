package memory

import (
	"fmt"
	"strings"
	"weak"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/memory/text"
	"github.com/cowstore/cowstore/snapshot"
)

// What follows from the entries, and from what was cleared: how many there are, and the
// indexes. Nothing is decided here, and there is no clock: a replica derives the same.

// derive brings the derived tables up to the others. It is the Derive of the spaces.
func (t *tables) derive(tx *cow.Tx) error {
	s := t.settler(tx)
	defer t.settlers.Delete(tx)
	t.noteOptions(t.options.Edit(tx).Map(), t.options.In(tx.Base())) // before the version is published
	if err := s.settle(); err != nil {
		return err
	}
	s.store()
	return nil
}

// A settler keeps the spaces of one update in step with its entries. The entries are
// the one truth: whatever the update did to them, a verb, a merge, an eviction, is
// found by comparing versions, and counts, vectors and text follow. It is for the
// goroutine of the update.
type settler struct {
	t       *tables
	tx      *cow.Tx
	entries *cow.Editor[string, *entry]

	base    *snapshot.Map[string, *entry] // what the update began with
	settled *snapshot.Map[string, *entry] // up to here
	cleared clearings                     // so far
	dropped map[string]bool               // keys of marks of this update, whose entries are not counted
	spaces  *snapshot.Map[string, *space] // of the base; nil: none of them is good any more
	touched map[string]*space             // not stored yet, and not shared

	sums     map[string]*total // what is below paths, where that is not stored yet
	unsummed map[string]total  // of touched spaces, what the sums have of them

	words map[wordsKey]text.Words // what is known of values, ahead
}

// settler returns the settler of an update.
func (t *tables) settler(tx *cow.Tx) *settler {
	if s, ok := t.settlers.Load(tx); ok {
		return s.(*settler)
	}
	s := &settler{t: t, tx: tx, entries: t.entries.Edit(tx), base: t.entries.In(tx.Base())}
	s.restart()
	t.settlers.Store(tx, s)
	return s
}

// restart goes back to what the update began with.
func (s *settler) restart() {
	s.settled, s.spaces, s.touched = s.base, s.t.spaces.In(s.tx.Base()), nil
	s.cleared = clearings{s.t.cleared.In(s.tx.Base())}
	s.dropped, s.sums, s.unsummed = make(map[string]bool), nil, nil
}

// space returns a space as it is settled, which must not be modified.
func (s *settler) space(path string) *space {
	if sp := s.touched[path]; sp != nil {
		return sp
	}
	if s.spaces != nil {
		if row, ok := s.spaces.Row(path); ok && s.cleared.alive(path, row.Revision()) {
			return row.Shared()
		}
	}
	return new(space)
}

// touch returns a space to be modified.
func (s *settler) touch(path string) *space {
	sp := s.touched[path]
	if sp == nil {
		is := *s.space(path)
		sp = &is
		if s.touched == nil {
			s.touched = make(map[string]*space)
		}
		s.touched[path] = sp
	}
	if _, ok := s.unsummed[path]; !ok {
		if s.unsummed == nil {
			s.unsummed = make(map[string]total)
		}
		s.unsummed[path] = sp.total()
	}
	return sp
}

// settle makes the spaces follow what was done since the last time.
func (s *settler) settle() error {
	if now := s.t.cleared.Edit(s.tx).Map(); now != s.cleared.Map {
		if err := s.clear(now); err != nil {
			return err
		}
	}
	now := s.entries.Map()
	if now == s.settled {
		return nil
	}
	// What goes first, so that the last vector of a space makes room for one of
	// another dimension.
	var come []snapshot.Change[string, *entry]
	for c := range now.Diff(s.settled) {
		old, is := c.Rows()
		path, key := split(c.Key)
		if is != (snapshot.Row[string, *entry]{}) && s.cleared.alive(path, is.Revision()) {
			come = append(come, c)
		}
		if old == (snapshot.Row[string, *entry]{}) {
			continue
		}
		sp := s.touch(path) // which drops what is left of it, if it was cleared
		if e := old.Shared(); s.cleared.alive(path, old.Revision()) {
			s.goes(sp, key, e, c)
		}
	}
	for _, c := range come {
		if err := s.comes(c); err != nil {
			s.restart() // for whoever goes on
			return err
		}
	}
	s.sum()
	s.settled, s.words = now, nil
	return nil
}

// goes takes an entry out of its space, and keeps of the indexes what c leaves.
func (s *settler) goes(sp *space, key string, e *entry, c snapshot.Change[string, *entry]) {
	s.count(sp, c.Key, e, -1)
	next, _ := c.New()
	if e.vector != nil && (next == nil || !sameVector(e.vector, next.vector)) {
		sp.vectors = sp.vectors.Delete(key)
	}
	if e.value.Exists() && (next == nil || !next.value.Exists()) {
		sp.texts = sp.texts.Delete(key)
	}
}

// comes puts an entry into its space.
func (s *settler) comes(c snapshot.Change[string, *entry]) (err error) {
	path, key := split(c.Key)
	key = strings.Clone(key) // not to keep the entry alive
	sp := s.touch(path)
	next, _ := c.New()
	was := new(entry)
	if old, _ := c.Rows(); old != (snapshot.Row[string, *entry]{}) && s.cleared.alive(path, old.Revision()) {
		was = old.Shared()
	}
	s.count(sp, c.Key, next, 1)
	if next.vector != nil && !sameVector(next.vector, was.vector) {
		if sp.vectors, err = sp.vectors.SetImmutable(key, next.vector); err != nil {
			return keyError(path, key, err)
		}
	}
	if next.value != was.value && next.value.Exists() && !s.t.texts.none {
		sp.texts = sp.texts.Set(key, s.wordsOf(path, next.value))
	}
	return nil
}

// count counts an entry of a space in or out.
func (s *settler) count(sp *space, name string, e *entry, n int) {
	sp.count += n
	sp.bytes += int64(n) * (e.size + nameSize(name))
	if e.expires != 0 {
		sp.expiring += n
		s.t.expires.Store(true) // before the version is published
	}
}

// A wordsKey is a value in a space: its words may be others elsewhere.
type wordsKey struct {
	path  string
	value Value
}

// wordsOf returns the words of a value in a space.
func (s *settler) wordsOf(path string, v Value) text.Words {
	if w, ok := s.words[wordsKey{path, v}]; ok {
		return w
	}
	return s.t.wordsOf(path, v)
}

// know says what the words of a value are, to be used for the next settle.
func (s *settler) know(path string, v Value, words text.Words) {
	if s.t.texts.none {
		return
	}
	if s.words == nil {
		s.words = make(map[wordsKey]text.Words)
	}
	s.words[wordsKey{path, v}] = words
}

// clear makes what is settled follow what was cleared. A space that was cleared in this
// update, as all are that are cleared by a verb, is dropped as it is; of anything else,
// as in new contents, all is settled anew. A mark that a merge by the DB brings is refused:
// its version is one of a fork.
func (s *settler) clear(now *snapshot.Map[string, *clearing]) error {
	base := s.t.cleared.In(s.tx.Base())
	s.restart()
	for c := range now.Diff(base) {
		old, _ := c.Old()
		next, _ := c.New()
		switch {
		case next == nil && old.Done, next != nil && old != nil && next.At == old.At && next.by == old.by:
		case next != nil && next.by != weak.Pointer[cow.Tx]{} && next.by != weak.Make(s.tx):
			path, _ := cutBelow(c.Key)
			return spaceError(path, fmt.Errorf("%w: it was cleared in a fork: Sweep that before DB.Merge, or use Memory.Merge", ErrConflict))
		case next != nil && next.At >= s.tx.Base().Version():
			s.drop(c.Key)
		default:
			s.settled, s.spaces, s.sums = s.t.entries.In(nil), nil, nil
			s.cleared = clearings{now}
			return nil
		}
	}
	s.cleared = clearings{now}
	return nil
}

// dropNow makes what is settled follow a mark that was just set, with nothing to settle
// besides: what this update has put elsewhere stays settled.
func (s *settler) dropNow(key string, now clearings) {
	s.drop(key)
	for path := range s.touched {
		if covers(key, path) {
			delete(s.touched, path)
		}
	}
	s.cleared = now
}

// changed returns the paths of the spaces in which something is left of what was done.
func (s *settler) changed() map[string]bool {
	paths := make(map[string]bool)
	if s.settled != s.base {
		for c := range s.settled.Diff(s.base) {
			path, _ := split(c.Key)
			paths[path] = true
		}
	}
	return paths
}

// store stores the spaces.
func (s *settler) store() {
	spaces := s.t.spaces.Edit(s.tx)
	was := s.t.spaces.In(s.tx.Base())
	if s.spaces == nil { // all of them are new
		for path := range was.Keys() {
			if s.touched[path] == nil {
				spaces.Delete(path)
			}
		}
	}
	changed := s.changed()
	for path, sp := range s.touched {
		switch {
		case s.spaces != nil && !changed[path]:
			var is total
			if row, ok := was.Row(path); ok && s.cleared.alive(path, row.Revision()) {
				is = row.Shared().total()
			}
			s.add(path, is.minus(sp.total())) // its indexes may have another shape
		case sp.count == 0:
			spaces.Delete(path)
		default:
			spaces.Set(path, sp)
		}
	}
	s.touched = nil
	s.storeSums()
}
