package cow

import "context"

// Wait blocks until there is a version above after, and returns the snapshot
// that is current then. It returns ctx's cause, and no snapshot, if ctx ends
// first, and ErrUnpublished at once if after itself is a version to come.
func (s *Store[K, V]) Wait(ctx context.Context, after uint64) (*Map[K, V], error) {
	return s.wait(ctx, after)
}

// Wait is [Store.Wait] for the tables of the DB, in one version.
func (db *DB) Wait(ctx context.Context, after uint64) (*Snapshot, error) { return db.wait(ctx, after) }

func (l *line[P]) wait(ctx context.Context, after uint64) (P, error) {
	for checked := false; ; {
		// Waiters share one channel, which publish takes away and closes. It
		// is loaded or made before the version is: a version published after
		// that closes it, one published before is seen. Both are sequentially
		// consistent atomics, so no publication falls in between.
		c := l.waiters.Load()
		if c == nil {
			l.own()
			made := make(chan struct{})
			c = &made
			if !l.waiters.CompareAndSwap(nil, c) {
				continue
			}
		}
		s := l.published.Load()
		if s.Version() > after {
			return s, nil
		}
		if s.Version() < after {
			return *new(P), unpublished(after)
		}
		if !checked {
			l.panicInUpdate("a Wait")
			checked = true
		}
		if err := l.block(ctx, *c); err != nil {
			return *new(P), err
		}
	}
}

// block waits for c, or returns ctx's cause.
func (l *line[P]) block(ctx context.Context, c <-chan struct{}) error {
	l.waiting.Add(1)
	defer l.waiting.Add(-1)
	select {
	case <-c:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
