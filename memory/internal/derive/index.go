package derive

import (
	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/memory/internal/data"
	"github.com/cowstore/cowstore/memory/internal/tuple"
	"github.com/cowstore/cowstore/memory/text"
	"github.com/cowstore/cowstore/memory/value"
	"github.com/cowstore/cowstore/snapshot"
)

// Index returns an index of what a space has in a version.
func (t *Tables) Index(path string, entries cow.Range[string, *data.Entry, string], cleared data.Marks, how *text.Analyzer) (x *text.Index) {
	for name, row := range entries.Prefix(tuple.Name(path, "")).All() {
		if cleared.Alive(path, row.Revision()) {
			x = t.Texts.Indexed(x, how, name, row.Shared().Value)
		}
	}
	return x
}

// Indexed returns x with a value, or without it if that does not exist.
func (t *Words) Indexed(x *text.Index, how *text.Analyzer, name string, v value.Value) *text.Index {
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
