package keep

import (
	"sync/atomic"
	"time"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/memory/internal/data"
	"github.com/cowstore/cowstore/memory/internal/derive"
	"github.com/cowstore/cowstore/snapshot"
)

// A Policy is what holds for all spaces of a Memory and its forks.
type Policy struct {
	*derive.Tables
	Limits data.Limits   // of all spaces
	ttl    time.Duration // of entries without one, nor their space

	stamps atomic.Bool // something is limited: reads are stamped
	exact  atomic.Bool // and something small: each of them is
	ticks  atomic.Uint64
}

// NewPolicy returns the Policy of a Memory, whose tables it makes in db.
func NewPolicy(db *cow.DB, name string, how derive.Words, limits data.Limits, ttl time.Duration) *Policy {
	p := &Policy{Limits: limits, ttl: ttl}
	p.Tables = derive.New(db, name, how, func(t *derive.Tables, tx *cow.Tx) {
		p.noteOptions(t.Options.During(tx), t.Options.In(tx.Base()))
	})
	p.note(limits)
	return p
}

// Stamp says that an entry was used, where that matters.
func (p *Policy) Stamp(e *data.Entry) {
	switch {
	case !p.stamps.Load():
	case p.exact.Load():
		e.Used.Used(p.ticks.Add(1))
	default:
		e.Used.Read(p.ticks.Load())
	}
}

// exactLimit is up to how many entries of what is limited the one that was used least
// recently is known exactly. It is the entry that is evicted. Of more, only some
// are compared.
const exactLimit = 256

// note sees to it that reads are stamped as limits need it.
func (p *Policy) note(all ...data.Limits) {
	for _, l := range all {
		if l != (data.Limits{}) {
			p.stamps.Store(true)
		}
		if 0 < l.MaxEntries && l.MaxEntries <= exactLimit || 0 < l.MaxBytes && l.MaxBytes <= exactLimit<<10 {
			p.exact.Store(true)
		}
	}
}

// noteOptions notes what spaces were configured to, by whomever.
func (p *Policy) noteOptions(now, before *snapshot.Map[string, *data.Config]) {
	for c := range now.Diff(before) {
		if o, ok := c.New(); ok {
			p.note(data.Limits{MaxEntries: o.MaxEntries, MaxBytes: o.MaxBytes}, o.All, data.Limits{MaxEntries: o.Each.MaxEntries, MaxBytes: o.Each.MaxBytes})
		}
	}
}
