package keep

import (
	"github.com/cowstore/cowstore/memory/internal/data"
	"github.com/cowstore/cowstore/memory/internal/tuple"
)

// BeginEpoch stores an epoch in place of that which a space has.
func (b *Update) BeginEpoch(path string) {
	b.endEpoch(path)
	b.p.Epochs.Edit(b.Tx).Set(tuple.Name(path, data.HeadKey(b.Now, b.tick)), &data.Epoch{})
}

// endEpoch deletes the epoch of a space.
func (b *Update) endEpoch(path string) {
	e := b.p.Epochs.Edit(b.Tx)
	if e.Len() == 0 {
		return
	}
	for key := range b.p.EpochOrder.During(e).Prefix(tuple.Name(path, "")).All() {
		e.Delete(key)
	}
}

// keepEpochs stores what epochs began in the update, and deletes those of spaces that have
// nothing any more. All is settled.
func (b *Update) keepEpochs() {
	for path, e := range b.Settler.Touched {
		switch {
		case e.Count == 0:
			b.endEpoch(path)
		case e.Texts != nil && e.Since == b.Tx.Version() && b.p.Texts.AnalyzerOf != nil:
			b.BeginEpoch(path)
		}
	}
}
