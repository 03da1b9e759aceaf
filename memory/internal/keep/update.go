// Package keep is one update of a Memory under way, and what it decides: what expires, what is
// cleared, and what is too much.
//
// From the ground up: policy.go, what holds for all updates; update.go, what one reads and writes;
// expiry.go, clear.go and limits.go, what it decides; end.go, in which order.
package keep

import (
	"time"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/memory/internal/data"
	"github.com/cowstore/cowstore/memory/internal/derive"
	"github.com/cowstore/cowstore/memory/internal/tuple"
	"github.com/cowstore/cowstore/snapshot"
)

// An Update is one update of a Memory under way: what it reads, stores and removes, and at
// its end decides that goes.
type Update struct {
	p       *Policy
	w       *Writer
	Tx      *cow.Tx
	Now     int64
	tick    uint64
	Entries *cow.Editor[string, *data.Entry]
	Settler *derive.Settler
	Cleared data.Marks     // so far
	dims    map[string]int // of vectors that were put and are not settled yet, by space

	err     error                 // what Configure has to say
	Wrote   bool                  // a verb changed something
	Due     bool                  // what was stored may have expired already
	limited map[string]bool       // keys of what may have too much, see data.LimitsOf
	own     map[string]data.Total // by key, once it is known; see ownOf
	Swept   int
	evicted []data.NameText
}

// A Writer is what the updates of one Memory have in common. It is for the one who has the
// writer's place.
type Writer struct {
	Hands map[string]string // by the key of a limit: the last entry evicted
}

// Begin begins a Batch.
func Begin(p *Policy, w *Writer, tx *cow.Tx) *Update {
	b := &Update{p: p, w: w, Tx: tx, Now: time.Now().UnixNano(), tick: p.ticks.Add(1), Entries: p.Entries.Edit(tx), Settler: p.Settler(tx)}
	heads := p.Heads.Edit(tx)
	for key, h := range heads.All() {
		b.Now = max(b.Now, h.At) // a clock may go back, time may not
		if heads.Revision(key) == snapshot.Pending {
			b.evicted = append(b.evicted, h.Evicted...)
		}
	}
	if p.Clears.Load() {
		b.Cleared = data.Marks{Map: p.Tables.Cleared.During(tx)}
	}
	return b
}

// Lookup returns an entry that is there and has not expired, or nil, and its
// revision.
func (b *Update) Lookup(name string) (*data.Entry, uint64) {
	e, _ := b.Entries.Get(name)
	if e == nil || e.Expired(b.Now) {
		return nil, 0
	}
	revision := b.Entries.Revision(name)
	if b.Cleared.Left() > 0 {
		if path, _ := tuple.Split(name); !b.Cleared.Alive(path, revision) {
			return nil, 0
		}
	}
	return e, revision
}

// Store stores an entry under a name.
func (b *Update) Store(name string, e *data.Entry) {
	b.Complete(e)
	b.Due = b.Due || e.Expired(b.Now)
	b.Entries.Set(name, e)
	b.Wrote = true
}

// Remove removes the entry under a name.
func (b *Update) Remove(name string) {
	if b.Entries.Delete(name) {
		b.Wrote = true
	}
}

// Erase erases the entry under a name, in an update of cow.DB.Erase.
func (b *Update) Erase(name string) {
	b.p.Tables.Entries.Erase(b.Tx, name)
	b.Wrote = true
}

// Complete fills in what is the same for all entries that a batch stores.
func (b *Update) Complete(e *data.Entry) {
	e.Measure()
	if e.Updated == data.Unset {
		e.Updated = b.Now
	}
	if e.Created == data.Unset {
		e.Created = b.Now
	}
	e.Used.Used(b.p.ticks.Add(1)) // each store by itself
}

// SetHead puts a head in place of those there are. Its key is another one each time: there
// are two heads after a merge by the DB, and no conflict.
func (b *Update) SetHead(h *data.Head) {
	heads := b.p.Heads.Edit(b.Tx)
	heads.Clear()
	heads.Set(data.HeadKey(h.At, b.tick), h)
}
