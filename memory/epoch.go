package memory

import "github.com/cowstore/cowstore/snapshot"

// An epoch is a stored row. It says that the text index of a space began, or was made anew, to
// replicas, which derive their own index from the entries and cannot see that: if a space was
// emptied and has the same keys again, a replica that missed the versions between, or got both
// steps in one, finds entries that have changed, and would keep the Analyzer it had. Without
// Options.AnalyzerOf only Reindex begins an epoch.
//
// Its key is the name that an entry of the space would have whose key is when it began. That
// is another each time: two are no conflict where a fork is merged.
type epoch struct{}

// beginEpoch stores an epoch in place of that which a space has.
func (b *Batch) beginEpoch(path string) {
	b.endEpoch(path)
	b.m.epochs.Edit(b.tx).Set(nameOf(path, headKey(b.now, b.tick)), &epoch{})
}

// endEpoch deletes the epoch of a space.
func (b *Batch) endEpoch(path string) {
	e := b.m.epochs.Edit(b.tx)
	if e.Len() == 0 {
		return
	}
	for key := range b.m.epochOrder.During(e).Prefix(nameOf(path, "")).All() {
		e.Delete(key)
	}
}

// keepEpochs stores what epochs began in the update, and deletes those of spaces that have
// nothing any more. All is settled.
func (b *Batch) keepEpochs() {
	for path, e := range b.settler.touched {
		switch {
		case e.count == 0:
			b.endEpoch(path)
		case e.texts != nil && e.since == b.tx.Version() && b.m.texts.analyzerOf != nil:
			b.beginEpoch(path)
		}
	}
}

// followEpochs makes the indexes anew whose epoch began elsewhere since the base.
func (s *settler) followEpochs() {
	base := s.tx.Base()
	done := make(map[string]bool)
	for c := range s.t.epochs.During(s.tx).Diff(s.t.epochs.In(base)) {
		path, _ := split(c.Key)
		if c.Kind != snapshot.Added || done[path] || !s.t.spaces.In(base).Has(path) { // of a new one it is new
			continue
		}
		done[path] = true
		how := s.t.texts.analyzerFor(path)
		s.putIndex(path, s.t.index(path, s.t.order.During(s.entries), s.cleared, how))
	}
}
