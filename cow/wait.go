package cow

import "context"

// wait returns the current version once reached says that it is the one, or
// ctx's error. It starts no goroutine.
func (l *line[P]) wait(ctx context.Context, reached func(P) bool) (P, error) {
	for checked := false; ; {
		// Waiters share one channel, which publish takes away and closes. It
		// is loaded or made before the version is: a version published after
		// that closes it, one published before is seen. Both are sequentially
		// consistent atomics, so no publication falls in between.
		c := l.waiters.Load()
		if c == nil {
			made := make(chan struct{})
			c = &made
			if !l.waiters.CompareAndSwap(nil, c) {
				continue
			}
		}
		if s := l.current.Load(); reached(s) {
			return s, nil
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
