package keep

import (
	"time"

	"github.com/cowstore/cowstore/memory/internal/data"
	"github.com/cowstore/cowstore/memory/internal/tuple"
)

// SweepAtOnce is how many expired entries each update removes besides what it does itself,
// so that none of them takes long.
const SweepAtOnce = 32

// Expiry returns when an entry of a space expires that is put now, ttl from now, or, where
// that is 0, as the space or the Memory says.
func (b *Update) Expiry(space string, ttl time.Duration) int64 {
	if ttl == 0 {
		ttl = data.DefaultsOf(b.p.Tables.Options.During(b.Tx), space).TTL
	}
	if ttl == 0 {
		ttl = b.p.ttl
	}
	if ttl <= 0 {
		return 0
	}
	return max(0, b.Now+int64(ttl)) // below 0: some 290 years is never
}

// sweep removes at most n entries that have expired, and returns how many.
func (b *Update) sweep(n int) int {
	if first, _, ok := b.p.ByExpiry.In(b.Settler.Base).First(); !b.Due && (!ok || first > b.Now) {
		return 0 // without asking for the index as it is during the update, which has to be made
	}
	return b.p.ByExpiry.During(b.Entries).Through(b.Now).Limit(n).Delete()
}

// sweepSpace removes the entries of a space that have expired: all of them, where what
// they hold is in the way.
func (b *Update) sweepSpace(path string) {
	if b.Settler.Space(path).Expiring == 0 {
		return
	}
	var names []string
	for name, row := range b.p.Order.During(b.Entries).Prefix(tuple.Name(path, "")).All() {
		if row.Shared().Expired(b.Now) {
			names = append(names, name)
		}
	}
	for _, name := range names {
		b.Entries.Delete(name)
	}
}
