package memory

import (
	"context"
	"errors"
	"math"
	"time"
)

// sweepAtOnce is how many expired entries each update removes besides what it does itself,
// so that none of them takes long.
const sweepAtOnce = 32

// Never is the TTL of what does not expire, whatever its space or the Memory says.
const Never time.Duration = math.MinInt64

// validTTL returns an error for a TTL that makes no sense.
func validTTL(ttl time.Duration) error {
	if ttl < 0 && ttl != Never {
		return errors.New("a negative TTL: 0 is that of the space, and Never is none")
	}
	return nil
}

// expiry returns when an entry of a space expires that is put now, ttl from now, or, where
// that is 0, as the space or the Memory says.
func (b *Batch) expiry(space string, ttl time.Duration) int64 {
	if ttl == 0 {
		ttl = optionsOf(b.m.tables.options.During(b.tx), space).TTL
	}
	if ttl == 0 {
		ttl = b.m.options.TTL
	}
	if ttl <= 0 {
		return 0
	}
	return max(0, b.now+int64(ttl)) // below 0: some 290 years is never
}

// dead returns how many entries with names that begin with prefix have expired, and are
// still there.
func (s Snapshot) dead(prefix string) int {
	n := 0
	if s.instant != 0 {
		cleared := s.clearings()
		for _, row := range s.t.byExpiry.In(s.t.entries.In(s.root)).Through(s.instant).All() {
			if name := row.Key(); len(name) >= len(prefix) && name[:len(prefix)] == prefix {
				if path, _ := split(name); cleared.alive(path, row.Revision()) {
					n++
				}
			}
		}
	}
	return n
}

// sweep removes at most n entries that have expired, and returns how many.
func (b *Batch) sweep(n int) int {
	if !b.m.expires.Load() {
		return 0
	}
	var names []string
	for _, row := range b.m.byExpiry.During(b.entries).Through(b.now).All() {
		if len(names) == n {
			break
		}
		names = append(names, row.Key())
	}
	for _, name := range names {
		b.entries.Delete(name)
	}
	return len(names)
}

// Sweep removes all entries that have expired, what spaces have too much since Configure,
// and the rest of all spaces that were cleared, a few at a time so that writers need not
// wait long, and returns how many had expired. They cannot be read any more in any case,
// and every other write removes some, so that it is needed only where little is written.
func (m *Memory) Sweep() (n int, err error) {
	m.made()
	if err := m.shrink(); err != nil {
		return 0, err
	}
	for m.expires.Load() || m.clears.Load() {
		var b *Batch
		if err := m.Batch(func(is *Batch) error { b = is; return nil }); err != nil { // as each batch does
			return n, err
		}
		n += b.swept
		if b.swept < sweepAtOnce && b.cleared.left() == 0 {
			break
		}
	}
	return n, nil
}

// SweepEvery calls Sweep every d, which must be positive, until ctx ends, and
// returns its cause, or an error of Sweep. It is meant to be run in a goroutine of its
// own; the Memory starts none.
func (m *Memory) SweepEvery(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		panic("memory: SweepEvery a duration that is not positive: to sweep once, call Sweep")
	}
	t := time.NewTicker(d)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-t.C:
			if _, err := m.Sweep(); err != nil {
				return err
			}
		}
	}
}

// sweepSpace removes the entries of a space that have expired: all of them, where what
// they hold is in the way.
func (b *Batch) sweepSpace(path string) {
	if b.settler.space(path).expiring == 0 {
		return
	}
	var names []string
	for name, row := range b.m.order.During(b.entries).Prefix(nameOf(path, "")).All() {
		if row.Shared().expired(b.now) {
			names = append(names, name)
		}
	}
	for _, name := range names {
		b.entries.Delete(name)
	}
}
