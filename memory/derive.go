package memory

import (
	"slices"
	"strings"

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
	if err := s.settle(); err != nil {
		return err
	}
	return s.store()
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
	spaces  *snapshot.Map[string, *space] // of the base; nil: none of them is good any more
	touched map[string]*space             // not stored yet, and not shared
	total   total

	words map[wordsKey]text.Words // what is known of values, ahead
}

// settler returns the settler of an update.
func (t *tables) settler(tx *cow.Tx) *settler {
	if s, ok := t.settlers.Load(tx); ok {
		return s.(*settler)
	}
	s := &settler{t: t, tx: tx, entries: t.entries.Edit(tx), base: t.entries.In(tx.Base())}
	s.restart()
	s.cleared = clearings{t.cleared.In(tx.Base())}
	t.settlers.Store(tx, s)
	return s
}

// restart goes back to what the update began with.
func (s *settler) restart() {
	s.settled, s.spaces, s.touched = s.base, s.t.spaces.In(s.tx.Base()), nil
	s.total = s.t.total(s.tx.Base())
}

// total returns what follows from all entries in a snapshot.
func (t *tables) total(s *cow.Snapshot) total {
	if n, ok := t.totals.In(s).Get(theRow); ok {
		return *n
	}
	return total{}
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
	if sp := s.touched[path]; sp != nil {
		return sp
	}
	sp := *s.space(path)
	if s.touched == nil {
		s.touched = make(map[string]*space)
	}
	s.touched[path] = &sp
	return &sp
}

// settle makes the spaces follow what was done since the last time.
func (s *settler) settle() error {
	if now := s.t.cleared.Edit(s.tx).Map(); now != s.cleared.Map {
		s.clear(now)
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
			return err
		}
	}
	s.settled, s.words = now, nil
	return nil
}

// goes takes an entry out of its space, and keeps of the indexes what c leaves.
func (s *settler) goes(sp *space, key string, e *entry, c snapshot.Change[string, *entry]) {
	s.count(sp, c.Key, e, -1)
	next, _ := c.New()
	if e.vector != nil && (next == nil || !sameVector(e.vector, next.vector)) {
		s.weigh(sp, func() { sp.vectors = sp.vectors.Delete(key) })
	}
	if e.value.Exists() && (next == nil || !next.value.Exists()) {
		s.weigh(sp, func() { sp.texts = sp.texts.Delete(key) })
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
		s.weigh(sp, func() { sp.vectors, err = sp.vectors.Set(key, next.vector) })
		if err != nil {
			return keyError(path, key, err)
		}
	}
	if next.value != was.value && next.value.Exists() && !s.t.texts.none {
		s.weigh(sp, func() { sp.texts = sp.texts.Set(key, s.wordsOf(path, next.value)) })
	}
	return nil
}

// count counts an entry of a space in or out.
func (s *settler) count(sp *space, name string, e *entry, n int) {
	size := e.size + nameSize(name)
	before := sp.count
	sp.count += n
	switch 0 {
	case before:
		s.total.bytes += spaceSize
	case sp.count:
		s.total.bytes -= spaceSize
	}
	sp.bytes += int64(n) * size
	s.total.count += n
	s.total.bytes += int64(n) * size
	if e.expires != 0 {
		sp.expiring += n
		s.t.expires.Store(true) // before the version is published
	}
}

// weigh adds what f changes in the indexes of a space to the total.
func (s *settler) weigh(sp *space, f func()) {
	before := sp.vectors.Bytes() + sp.texts.Bytes()
	f()
	s.total.bytes += int64(sp.vectors.Bytes() + sp.texts.Bytes() - before)
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
// as after a merge by the DB, all is settled anew.
func (s *settler) clear(now *snapshot.Map[string, *clearing]) {
	base := s.t.cleared.In(s.tx.Base())
	s.restart()
	s.cleared = clearings{base}
	var dropped []string
	for c := range now.Diff(base) {
		old, _ := c.Old()
		next, _ := c.New()
		switch {
		case next == nil && old.Done, next != nil && old != nil && next.At == old.At:
		case next != nil && next.At >= s.tx.Base().Version():
			s.drop(c.Key, dropped)
			dropped = append(dropped, c.Key)
		default:
			s.settled, s.spaces, s.total = s.t.entries.In(nil), nil, total{}
			s.cleared = clearings{now}
			return
		}
	}
	s.cleared = clearings{now}
}

// drop takes spaces that are cleared out of the total, unless they are among others that
// were dropped before. Their rows are left as they are.
func (s *settler) drop(key string, dropped []string) {
	s.t.clears.Store(true) // before the version is published
	for path, row := range s.t.spacesOf(s.tx.Base(), key) {
		covers := func(key string) bool { return covers(key, path) }
		if s.cleared.alive(path, row.Revision()) && !slices.ContainsFunc(dropped, covers) {
			s.total.count -= row.Shared().count
			s.total.bytes -= row.Shared().size()
		}
	}
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
func (s *settler) store() error {
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
			if row, ok := was.Row(path); ok && s.cleared.alive(path, row.Revision()) {
				s.total.bytes += row.Shared().size()
			}
			s.total.bytes -= sp.size() // its indexes may have another shape
		case sp.count == 0:
			spaces.Delete(path)
		default:
			spaces.Set(path, sp)
		}
	}
	s.touched = nil
	if total := s.total; total != s.t.total(s.tx.Base()) {
		s.t.totals.Edit(s.tx).Set(theRow, &total)
	}
	return nil
}
