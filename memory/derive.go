package memory

import (
	"fmt"
	"slices"
	"strings"
	"weak"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/memory/text"
	"github.com/cowstore/cowstore/snapshot"
)

// What follows from the entries, and from what was cleared: how many there are, and the
// indexes. Nothing is decided here, and there is no clock: a replica derives the same.

// derive brings the derived tables up to the others: both, as the spaces are derived.
func (t *tables) derive(tx *cow.Tx, _ *cow.Editor[string, *space]) error {
	if !t.made.Load() {
		return nil // nobody can have written to them
	}
	_, here := t.settlers.Load(tx)
	s := t.settler(tx)
	defer t.settlers.Delete(tx)
	t.noteOptions(t.options.During(tx), t.options.In(tx.Base())) // before the version is published
	if err := s.settle(); err != nil {
		return err
	}
	if !here { // it comes from elsewhere: here the index is the one of its epoch already
		s.followEpochs()
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
	net     net                           // see changes
	cleared clearings                     // so far
	dropped map[string]bool               // keys of marks of this update, whose entries are not counted
	spaces  *snapshot.Map[string, *space] // of the base; nil: none of them is good any more
	touched map[string]*spaceEdit

	sums     map[string]total // what is below paths, where that is not stored yet
	unsummed []*spaceEdit     // those of touched spaces that the sums do not follow yet

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
	s.dropped, s.sums, s.unsummed = nil, nil, nil
}

// A spaceEdit is a space that is not stored yet.
type spaceEdit struct {
	*space  // not shared
	path    string
	summed  total // what the sums have of it, where it is among the unsummed
	behind  bool  // it is
	changed bool  // there is something in it that is not in the base
}

// space returns a space as it is settled, which must not be modified.
func (s *settler) space(path string) *space {
	if e := s.touched[path]; e != nil {
		return e.space
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
	e := s.touched[path]
	if e == nil {
		is := *s.space(path)
		e = &spaceEdit{space: &is, path: path}
		if s.touched == nil {
			s.touched = make(map[string]*spaceEdit)
		}
		s.touched[path] = e
	}
	if !e.behind {
		e.behind, e.summed = true, e.total()
		s.unsummed = append(s.unsummed, e)
	}
	return e.space
}

// settle makes the spaces follow what was done since the last time.
func (s *settler) settle() error {
	if now := s.t.cleared.During(s.tx); now != s.cleared.Map {
		if err := s.clear(now); err != nil {
			return err
		}
	}
	now := s.entries.Map()
	if now == s.settled {
		return nil
	}
	var changes []snapshot.Change[string, *entry]
	if s.settled == s.base {
		changes = snapshot.Builder[string, *entry]{}.Net(s.entries, nil)
	} else {
		changes = slices.Collect(now.Diff(s.settled))
	}
	// What goes first, so that the last vector of a space makes room for one of
	// another dimension.
	for _, c := range changes {
		old, _ := c.Rows()
		if old == (snapshot.Row[string, *entry]{}) {
			continue
		}
		path, key := split(c.Key)
		sp := s.touch(path) // which drops what is left of it, if it was cleared
		if s.cleared.alive(path, old.Revision()) {
			s.goes(sp, key, old.Shared(), c)
		}
	}
	for _, c := range changes {
		if err := s.comes(c); err != nil {
			s.restart() // for whoever goes on
			return err
		}
	}
	s.sum()
	s.net = net{}
	if s.settled == s.base {
		s.net = net{now, changes}
	}
	s.settled, s.words = now, nil
	return nil
}

// A net is what a map has changed of the base.
type net struct {
	of      *snapshot.Map[string, *entry]
	changes []snapshot.Change[string, *entry]
}

// changes returns what is settled that is not in the base.
func (s *settler) changes() []snapshot.Change[string, *entry] {
	if s.net.of != s.settled {
		s.net = net{s.settled, slices.Collect(s.settled.Diff(s.base))}
	}
	return s.net.changes
}

// goes takes an entry out of its space, and keeps of the indexes what c leaves or what
// comes puts something in place of.
func (s *settler) goes(sp *space, key string, e *entry, c snapshot.Change[string, *entry]) {
	s.count(sp, c.Key, e, -1)
	next, _ := c.New()
	if e.vector != nil && (next == nil || len(e.vector) != len(next.vector)) {
		sp.vectors = sp.vectors.Delete(key)
	}
	if e.value.Exists() && (next == nil || !next.value.Exists()) {
		sp.texts = sp.texts.Delete(key)
	}
}

// comes puts an entry into its space.
func (s *settler) comes(c snapshot.Change[string, *entry]) (err error) {
	path, key := split(c.Key)
	if _, is := c.Rows(); is == (snapshot.Row[string, *entry]{}) || !s.cleared.alive(path, is.Revision()) {
		return nil
	}
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
		before := sp.texts
		if sp.texts = before.Set(key, s.wordsOf(sp, path, next.value)); before == nil && sp.texts != nil {
			sp.since = s.tx.Version()
		}
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

// wordsOf returns the words of a value in a space, by the Analyzer that its index has.
func (s *settler) wordsOf(sp *space, path string, v Value) text.Words {
	w, ok := s.words[wordsKey{path, v}]
	switch how := sp.texts.Analyzer(); {
	case how == nil && ok, how != nil && w.Analyzer() == how:
		return w
	case how == nil:
		return s.t.texts.wordsAhead(path, v)
	default:
		return s.t.texts.wordsOf(how, path, v)
	}
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
	for _, c := range s.changes() {
		path, _ := split(c.Key)
		if e := s.touched[path]; e != nil {
			e.changed = true
		}
	}
	for path, e := range s.touched {
		switch sp := e.space; {
		case s.spaces != nil && !e.changed:
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
