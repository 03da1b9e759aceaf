package keep

import (
	"context"
	"fmt"
	"time"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/cow/hook"
	"github.com/cowstore/cowstore/memory/internal/data"
	"github.com/cowstore/cowstore/memory/internal/fault"
	"github.com/cowstore/cowstore/memory/internal/tuple"
	"github.com/cowstore/cowstore/memory/vector"
)

// End does what ends every Batch: it removes a few of what has expired or was cleared,
// and what is too much.
func (b *Update) End() error {
	if b.err != nil {
		return b.err
	}
	b.Purge(PurgeAtOnce)
	b.Swept = b.sweep(SweepAtOnce)
	if err := b.Settler.Settle(); err != nil {
		return err
	}
	before := len(b.evicted)
	if err := b.evict(); err != nil {
		return err
	}
	b.tell(len(b.evicted) - before)
	b.keepEpochs()
	if len(b.Settler.Changes()) > 0 {
		b.SetHead(&data.Head{Began: b.Now, At: max(b.Now, time.Now().UnixNano()), Evicted: b.evicted, Cleared: b.marks()})
	}
	return nil
}

// tell has hooks told that entries were evicted, once they are.
func (b *Update) tell(evicted int) {
	if evicted == 0 {
		return
	}
	if tell := cow.Hooked[hook.Evicted](b.p.Tables.Entries.DB()); tell != nil {
		b.Tx.Defer(func() {
			tell(func(h hook.Evicted) { h.OnEvicted(context.Background(), hook.Removal{Rows: evicted}) })
		})
	}
}

// Fits returns an error if v cannot be a vector of the space.
func (b *Update) Fits(space, key string, v []float32) error {
	if v == nil {
		return nil
	}
	dim := func() int {
		if d := b.Settler.Space(space).Vectors.Dim(); d > 0 {
			return d
		}
		return b.dims[space]
	}
	d := dim()
	if d != 0 && d != len(v) {
		// The vectors that had so many dimensions may be gone by now.
		b.sweepSpace(space)
		if err := b.Settler.Settle(); err != nil {
			return err
		}
		b.dims = nil
		if d = dim(); d != 0 && d != len(v) {
			return fault.Of(space, key, fmt.Errorf("%w: have %d, want %d", vector.ErrDimension, len(v), d))
		}
	}
	if d == 0 {
		if b.dims == nil {
			b.dims = make(map[string]int)
		}
		b.dims[space] = len(v)
	}
	return nil
}

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
