package memory

import (
	"context"
	"time"
)

// Sweep removes all entries that have expired, a few at a time so that writers
// need not wait long, and returns how many there were. They cannot be read any
// more in any case, and every other write removes some, so that it is needed only
// where little is written.
func (m *Memory) Sweep() (n int, err error) {
	for m.expires.Load() {
		var s *settler
		err := m.Batch(func(b *Batch) error { s = &b.settler; return nil }) // as each batch does
		if err != nil {
			return n, err
		}
		n += s.swept
		if s.swept < sweepAtOnce {
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
