package derive

import (
	"fmt"
	"slices"
	"strings"
	"weak"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/memory/internal/data"
	"github.com/cowstore/cowstore/memory/internal/fault"
	"github.com/cowstore/cowstore/memory/internal/tuple"
	"github.com/cowstore/cowstore/memory/text"
	"github.com/cowstore/cowstore/memory/value"
	"github.com/cowstore/cowstore/snapshot"
)

// derive brings the derived tables up to the others: both, as the spaces are derived.
func (t *Tables) derive(tx *cow.Tx, _ *cow.Editor[string, *data.Space]) error {
	if !t.made.Load() {
		return nil // nobody can have written to them
	}
	here := *tx.Local(t) != nil
	s := t.Settler(tx)
	defer s.Forget()
	t.before(t, tx)
	if err := s.Settle(); err != nil {
		return err
	}
	if !here { // it comes from elsewhere: here the index is the one of its epoch already
		s.followEpochs()
	}
	s.store()
	return nil
}

// A Settler keeps the spaces of one update in step with its entries. The entries are
// the one truth: whatever the update did to them, a verb, a merge, an eviction, is
// found by comparing versions, and counts, vectors and text follow. It is for the
// goroutine of the update.
type Settler struct {
	t       *Tables
	tx      *cow.Tx
	local   *any // its place in tx
	entries *cow.Editor[string, *data.Entry]

	Base    *snapshot.Map[string, *data.Entry] // what the update began with
	Settled *snapshot.Map[string, *data.Entry] // up to here
	net     net                                // see Changes
	cleared data.Marks                         // so far
	dropped map[string]bool                    // keys of marks of this update, whose entries are not counted
	erased  map[string]bool                    // names of what was erased, up to here
	spaces  *snapshot.Map[string, *data.Space] // of the base; nil: none of them is good any more
	Touched map[string]*spaceEdit

	sums     map[string]data.Total // what is below paths, where that is not stored yet
	unsummed []*spaceEdit          // those of touched spaces that the sums do not follow yet

	words map[wordsKey]text.Words // what is known of values, ahead
}

// Settler returns the settler of an update.
func (t *Tables) Settler(tx *cow.Tx) *Settler {
	local := tx.Local(t)
	if s, ok := (*local).(*Settler); ok {
		return s
	}
	s := &Settler{t: t, tx: tx, entries: t.Entries.Edit(tx), Base: t.Entries.In(tx.Base())}
	s.restart()
	s.local, *local = local, s
	return s
}

// Forget has the update begin with a new settler the next time, if there is one: not all that
// this has seen has happened.
func (s *Settler) Forget() { *s.local = nil }

// restart goes back to what the update began with.
func (s *Settler) restart() {
	s.Settled, s.spaces, s.Touched = s.Base, s.t.Spaces.In(s.tx.Base()), nil
	s.cleared = data.Marks{Map: s.t.Cleared.In(s.tx.Base())}
	s.dropped, s.erased, s.sums, s.unsummed = nil, nil, nil, nil
}

// A spaceEdit is a space that is not stored yet.
type spaceEdit struct {
	*data.Space // not shared
	path        string
	summed      data.Total // what the sums have of it, where it is among the unsummed
	behind      bool       // it is
	changed     bool       // there is something in it that is not in the base
}

// Space returns a space as it is settled, which must not be modified.
func (s *Settler) Space(path string) *data.Space {
	if e := s.Touched[path]; e != nil {
		return e.Space
	}
	if s.spaces != nil {
		if row, ok := s.spaces.Row(path); ok && s.cleared.Alive(path, row.Revision()) {
			return row.Shared()
		}
	}
	return new(data.Space)
}

// Within returns the paths of a space and those below it that have entries, in order, as they are
// settled.
func (s *Settler) Within(path string) (paths []string) {
	if s.spaces != nil {
		for _, at := range s.t.within(s.spaces, s.cleared, path) {
			if s.Space(at).Count > 0 {
				paths = append(paths, at)
			}
		}
	}
	for at, e := range s.Touched {
		if e.Count > 0 && (path == "" || path <= at && at < path+tuple.AboveBelow) {
			paths = append(paths, at)
		}
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}

// touch returns a space to be modified.
func (s *Settler) touch(path string) *data.Space {
	e := s.Touched[path]
	if e == nil {
		is := *s.Space(path)
		e = &spaceEdit{Space: &is, path: path}
		if s.Touched == nil {
			s.Touched = make(map[string]*spaceEdit)
		}
		s.Touched[path] = e
	}
	if !e.behind {
		e.behind, e.summed = true, e.Total()
		s.unsummed = append(s.unsummed, e)
	}
	return e.Space
}

// Settle makes the spaces follow what was done since the last time.
func (s *Settler) Settle() error {
	if now := s.t.Cleared.During(s.tx); now != s.cleared.Map {
		if err := s.clear(now); err != nil {
			return err
		}
	}
	gone := s.erase()
	now := s.entries.Map()
	if now == s.Settled {
		s.sum()
		return nil
	}
	var changes []snapshot.Change[string, *data.Entry]
	if s.Settled == s.Base {
		changes = snapshot.Builder[string, *data.Entry]{}.Net(s.entries, nil)
	} else {
		changes = slices.Collect(now.Diff(s.Settled))
	}
	// What goes first, so that the last vector of a space makes room for one of
	// another dimension.
	for _, c := range changes {
		old, _ := c.Rows()
		if old == (snapshot.Row[string, *data.Entry]{}) {
			continue
		}
		path, key := tuple.Split(c.Key)
		sp := s.touch(path) // which drops what is left of it, if it was cleared
		if s.cleared.Alive(path, old.Revision()) {
			s.goes(sp, key, old.Shared(), c)
		}
	}
	for _, c := range changes {
		if err := s.comes(c, gone[c.Key]); err != nil {
			s.restart() // for whoever goes on
			return err
		}
	}
	s.sum()
	s.net = net{}
	if s.Settled == s.Base {
		s.net = net{now, changes}
	}
	s.Settled, s.words = now, nil
	return nil
}

// A net is what a map has changed of the base.
type net struct {
	of      *snapshot.Map[string, *data.Entry]
	changes []snapshot.Change[string, *data.Entry]
}

// Changes returns what is settled that is not in the base.
func (s *Settler) Changes() []snapshot.Change[string, *data.Entry] {
	if s.net.of != s.Settled {
		s.net = net{s.Settled, slices.Collect(s.Settled.Diff(s.Base))}
	}
	return s.net.changes
}

// goes takes an entry out of its space, and keeps of the indexes what c leaves or what
// comes puts something in place of.
func (s *Settler) goes(sp *data.Space, key string, e *data.Entry, c snapshot.Change[string, *data.Entry]) {
	s.count(sp, c.Key, e, -1)
	var next data.Searched
	if e, ok := c.New(); ok {
		next = e.Searched()
	}
	was := e.Searched()
	if was.Vector != nil && len(was.Vector) != len(next.Vector) {
		sp.Vectors = sp.Vectors.Delete(key)
	}
	if was.Value.Exists() && !next.Value.Exists() {
		sp.Texts = sp.Texts.Delete(key)
	}
}

// erase lets go of what the spaces have left of entries that were erased since the last time, of
// whatever version, and returns their names. Texts leave nothing, but for what was cleared.
func (s *Settler) erase() (names map[string]bool) {
	if !(snapshot.Builder[string, *data.Entry]{}).Erases(s.entries) {
		return nil
	}
	for _, c := range (snapshot.Builder[string, *data.Entry]{}).Net(s.entries, nil) {
		if c.Kind != snapshot.Erased || s.erased[c.Key] {
			continue
		}
		if s.erased == nil {
			s.erased = make(map[string]bool)
		}
		if names == nil {
			names = make(map[string]bool)
		}
		s.erased[c.Key], names[c.Key] = true, true
		path, key := tuple.Split(c.Key)
		was := s.Space(path).Vectors
		is := was.Purge(key)
		if is == was && (s.spaces == nil || s.Touched[path] != nil || s.cleared.Alive(path, s.revision(path))) {
			continue
		}
		s.touch(path).Vectors = is
		s.Touched[path].changed = true
	}
	return names
}

// revision returns that of the row of a space in the base, Pending if there is none.
func (s *Settler) revision(path string) uint64 {
	if row, ok := s.spaces.Row(path); ok {
		return row.Revision()
	}
	return snapshot.Pending
}

// comes puts an entry into its space: anew, if nothing of the old one is left there.
func (s *Settler) comes(c snapshot.Change[string, *data.Entry], anew bool) (err error) {
	path, key := tuple.Split(c.Key)
	if _, is := c.Rows(); is == (snapshot.Row[string, *data.Entry]{}) || !s.cleared.Alive(path, is.Revision()) {
		return nil
	}
	key = strings.Clone(key) // not to keep the entry alive
	sp := s.touch(path)
	e, _ := c.New()
	s.count(sp, c.Key, e, 1)
	var was data.Searched
	if old, _ := c.Rows(); old != (snapshot.Row[string, *data.Entry]{}) && s.cleared.Alive(path, old.Revision()) && !anew {
		was = old.Shared().Searched()
	}
	next := e.Searched()
	if next.Vector != nil && !data.SameVector(next.Vector, was.Vector) {
		if sp.Vectors, err = sp.Vectors.SetImmutable(key, next.Vector); err != nil {
			return fault.Of(path, key, err)
		}
	}
	if next.Value != was.Value && next.Value.Exists() && !s.t.Texts.None {
		before := sp.Texts
		if sp.Texts = before.Set(key, s.wordsOf(sp, path, next.Value)); before == nil && sp.Texts != nil {
			sp.Since = s.tx.Version()
		}
	}
	return nil
}

// count counts an entry of a space in or out.
func (s *Settler) count(sp *data.Space, name string, e *data.Entry, n int) {
	sp.Count += n
	sp.Bytes += int64(n) * (e.Size + data.NameSize(name))
	if e.Expires != 0 {
		sp.Expiring += n
	}
}

// A wordsKey is a value in a space: its words may be others elsewhere.
type wordsKey struct {
	path  string
	value value.Value
}

// wordsOf returns the words of a value in a space, by the Analyzer that its index has.
func (s *Settler) wordsOf(sp *data.Space, path string, v value.Value) text.Words {
	w, ok := s.words[wordsKey{path, v}]
	switch how := sp.Texts.Analyzer(); {
	case how == nil && ok, how != nil && w.Analyzer() == how:
		return w
	case how == nil:
		return s.t.Texts.WordsAhead(path, v)
	default:
		return s.t.Texts.wordsOf(how, path, v)
	}
}

// Know says what the words of a value are, to be used for the next Settle.
func (s *Settler) Know(path string, v value.Value, words text.Words) {
	if s.t.Texts.None {
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
func (s *Settler) clear(now *snapshot.Map[string, *data.Clearing]) error {
	base := s.t.Cleared.In(s.tx.Base())
	s.restart()
	for c := range now.Diff(base) {
		old, _ := c.Old()
		next, _ := c.New()
		switch {
		case next == nil && old.Done, next != nil && old != nil && next.At == old.At && next.By == old.By:
		case next != nil && next.By != weak.Pointer[cow.Tx]{} && next.By != weak.Make(s.tx) && !s.tx.Replays():
			path, _ := tuple.CutBelow(c.Key)
			return fault.OfSpace(path, fmt.Errorf("%w: it was cleared in a fork: Sweep that before DB.Merge, or use Memory.Merge", cow.ErrConflict))
		case next != nil && next.At >= s.tx.Base().Version():
			s.drop(c.Key)
		default:
			s.Settled, s.spaces, s.sums = s.t.Entries.In(nil), nil, nil
			s.cleared = data.Marks{Map: now}
			return nil
		}
	}
	s.cleared = data.Marks{Map: now}
	return nil
}

// DropNow makes what is settled follow a mark that was just set, with nothing to settle
// besides: what this update has put elsewhere stays settled.
func (s *Settler) DropNow(key string, now data.Marks) {
	s.drop(key)
	for path := range s.Touched {
		if data.Covers(key, path) {
			delete(s.Touched, path)
		}
	}
	s.cleared = now
}

// store stores the spaces.
func (s *Settler) store() {
	spaces := s.t.Spaces.Edit(s.tx)
	was := s.t.Spaces.In(s.tx.Base())
	if s.spaces == nil { // all of them are new
		for path := range was.Keys() {
			if s.Touched[path] == nil {
				spaces.Delete(path)
			}
		}
	}
	for _, c := range s.Changes() {
		path, _ := tuple.Split(c.Key)
		if e := s.Touched[path]; e != nil {
			e.changed = true
		}
	}
	for path, e := range s.Touched {
		switch sp := e.Space; {
		case s.spaces != nil && !e.changed:
			var is data.Total
			if row, ok := was.Row(path); ok && s.cleared.Alive(path, row.Revision()) {
				is = row.Shared().Total()
			}
			s.add(path, is.Minus(sp.Total())) // its indexes may have another shape
		case sp.Count == 0:
			spaces.Delete(path)
		default:
			spaces.Set(path, sp)
		}
	}
	s.Touched = nil
	s.storeSums()
}

// Index returns an index of what a space has in a version.
func (t *Tables) Index(path string, entries cow.Range[string, *data.Entry, string], cleared data.Marks, how *text.Analyzer) (x *text.Index) {
	for name, row := range entries.Prefix(tuple.Name(path, "")).All() {
		if cleared.Alive(path, row.Revision()) {
			x = Indexed(&t.Texts, x, how, name, row.Shared().Searched().Value)
		}
	}
	return x
}

// Indexed returns x with a value, or without it if that does not exist.
func Indexed(t *Words, x *text.Index, how *text.Analyzer, name string, v value.Value) *text.Index {
	path, key := tuple.Split(name)
	if !v.Exists() {
		return x.Delete(key)
	}
	return x.Set(key, t.wordsOf(how, path, v))
}

// PutIndex puts an index of the same texts in place of that of a space.
func (s *Settler) PutIndex(path string, texts *text.Index) {
	sp := s.touch(path)
	sp.Texts, sp.Since = texts, s.tx.Version()
	s.Touched[path].changed = true
	s.sum()
}

// ReindexedOnly reports whether a space has the same entries in two snapshots, though its
// row is another: its index was made anew.
func (t *Tables) ReindexedOnly(path string, newer, older *cow.Snapshot) bool {
	is, ok := t.Spaces.In(newer).Get(path)
	was, had := t.Spaces.In(older).Get(path)
	if !ok || !had || is.Since == was.Since {
		return false
	}
	for c := range t.Entries.In(newer).Diff(t.Entries.In(older)) {
		if of, _ := tuple.Split(c.Key); of == path {
			return false
		}
	}
	return true
}

// followEpochs makes the indexes anew whose epoch began elsewhere since the base.
func (s *Settler) followEpochs() {
	base := s.tx.Base()
	done := make(map[string]bool)
	for c := range s.t.Epochs.During(s.tx).Diff(s.t.Epochs.In(base)) {
		path, _ := tuple.Split(c.Key)
		if c.Kind != snapshot.Added || done[path] || !s.t.Spaces.In(base).Has(path) { // of a new one it is new
			continue
		}
		done[path] = true
		how := s.t.Texts.AnalyzerFor(path)
		s.PutIndex(path, s.t.Index(path, s.t.Order.During(s.entries), s.cleared, how))
	}
}
