package memory

import (
	"errors"
	"time"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/memory/text"
	"github.com/cowstore/cowstore/snapshot"
)

// behindAtMost is how many entries Reindex still indexes while others wait to write. After
// reindexTries it is any number, so that it ends however much is written. Tests change both.
var (
	behindAtMost = 64
	reindexTries = 8
)

// errBehind says that more than that was written since Reindex looked.
var errBehind = errors.New("memory: the index is behind")

// Reindex makes the text index of the space anew, with what Options.AnalyzerOf and
// Options.TextOf say by now: after the language of a user was changed, say. It returns the
// version that has the new index, or 0 if there is no text. Until that version, and in
// those before it, what is searched is the old one, by its own Analyzer. No entry differs
// because of it.
//
// It takes time proportional to the text in the space. Nobody waits meanwhile: the index is
// made of a snapshot, then of what was written since, and again, until a few entries
// are left, which it indexes in the writer's place. If the space is written to so fast that
// this does not come to an end, writers do wait. An index that is larger than limits allow
// makes later writes evict.
//
// A replica makes its index anew when that version arrives, before it publishes it, with
// what AnalyzerOf and TextOf say there: let them change there first. So does what a fork is
// merged into by cow.DB.Merge; Memory.Merge is for entries only. Both follow as well where a
// space that was emptied has text again, by what AnalyzerOf says since. A DB that is opened
// has all indexes, those of the past too, made by what AnalyzerOf and TextOf say then.
func (s Space) Reindex() (rev uint64, err error) {
	s.m.made()
	if s.m.texts.none {
		return 0, nil
	}
	var r freshIndex
	for try := 1; ; try++ {
		if r, err = s.follow(r, s.m.Load(), noLimit); err != nil {
			return 0, err
		}
		limit := behindAtMost
		if try >= reindexTries {
			limit = noLimit
		}
		if rev, err = s.putIndex(r, limit); err != errBehind {
			return rev, err
		}
	}
}

// noLimit is no limit on what follow indexes.
const noLimit = -1

// A freshIndex is an index of what a space has in a version.
type freshIndex struct {
	at    *cow.Snapshot // nil: not begun
	since uint64        // of the space, when it was begun
	how   *text.Analyzer
	texts *text.Index
}

// follow brings r up to a snapshot, or returns errBehind if more entries than limit were
// written since. It begins anew where the index of the space did: what AnalyzerOf says may
// be another thing by now.
func (s Space) follow(r freshIndex, v Snapshot, limit int) (freshIndex, error) {
	since := v.space(s.path).since
	if r.at == nil || r.since != since {
		if limit != noLimit {
			return r, errBehind
		}
		how := s.m.texts.analyzerFor(s.path)
		return freshIndex{v.root, since, how, s.m.index(s.path, s.m.order.In(s.m.entries.In(v.root)), v.clearings(), how)}, nil
	}
	behind, cleared := 0, v.clearings()
	for c := range s.m.entries.In(v.root).Diff(s.m.entries.In(r.at)) {
		if path, _ := split(c.Key); path != s.path {
			continue
		}
		if behind++; limit != noLimit && behind > limit {
			return r, errBehind
		}
		value := Value{}
		if _, row := c.Rows(); row != (snapshot.Row[string, *entry]{}) && cleared.alive(s.path, row.Revision()) {
			value = row.Shared().value
		}
		r.texts = s.m.texts.indexed(r.texts, r.how, c.Key, value)
	}
	r.at = v.root
	return r, nil
}

// index returns an index of what a space has in a version.
func (t *tables) index(path string, entries cow.Range[string, *entry, string], cleared clearings, how *text.Analyzer) (x *text.Index) {
	for name, row := range entries.Prefix(nameOf(path, "")).All() {
		if cleared.alive(path, row.Revision()) {
			x = t.texts.indexed(x, how, name, row.Shared().value)
		}
	}
	return x
}

// indexed returns x with a value, or without it if that does not exist.
func (t *texts) indexed(x *text.Index, how *text.Analyzer, name string, v Value) *text.Index {
	path, key := split(name)
	if !v.Exists() {
		return x.Delete(key)
	}
	return x.Set(key, t.wordsOf(how, path, v))
}

// putIndex publishes the index, brought up to the version before, or returns errBehind.
func (s Space) putIndex(r freshIndex, limit int) (rev uint64, err error) {
	err = s.m.db.Update(func(tx *cow.Tx) error {
		rev = 0
		r, err := s.follow(r, Snapshot{s.m.tables, tx.Base(), 0}, limit) // the update may be tried again
		if err != nil {
			return err
		}
		b := s.m.begin(tx)
		if r.texts == nil && b.settler.space(s.path).texts == nil {
			s.m.settlers.Delete(tx)
			return nil
		}
		b.settler.putIndex(s.path, r.texts)
		b.setHead(&head{Began: b.now, At: max(b.now, time.Now().UnixNano())})
		b.beginEpoch(s.path)
		rev = tx.Version()
		return nil
	})
	if err != nil {
		return 0, err
	}
	return rev, nil
}

// putIndex puts an index of the same texts in place of that of a space.
func (s *settler) putIndex(path string, texts *text.Index) {
	sp := s.touch(path)
	sp.texts, sp.since = texts, s.tx.Version()
	s.touched[path].changed = true
	s.sum()
}

// reindexedOnly reports whether a space has the same entries in two snapshots, though its
// row is another: its index was made anew.
func (t *tables) reindexedOnly(path string, newer, older *cow.Snapshot) bool {
	is, ok := t.spaces.In(newer).Get(path)
	was, had := t.spaces.In(older).Get(path)
	if !ok || !had || is.since == was.since {
		return false
	}
	for c := range t.entries.In(newer).Diff(t.entries.In(older)) {
		if of, _ := split(c.Key); of == path {
			return false
		}
	}
	return true
}
