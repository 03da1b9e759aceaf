package cow

import (
	"sync"
	"sync/atomic"
)

// A line is the line of versions of a Store or a DB: the current one, the
// mutex that writers queue on, and those who wait for the next. It is the one
// way a version comes about:
//
//	update → f derives the next version in private → publish: swap, wake
//
// The zero line has no version yet.
type line[S any] struct {
	current atomic.Pointer[S]
	writer  sync.Mutex
	id      atomic.Uintptr // of this line, once it had an update; see nested.go
	waiters atomic.Pointer[chan struct{}]
}

// update calls f with the current version and publishes what it returns,
// unless that is the same or comes with an error. All foreign code runs in f:
// an error, panic or Goexit there leaves everything as it was.
func (l *line[S]) update(f func(current *S) (*S, error)) (err error) {
	l.lock()
	defer l.writer.Unlock()
	var next *S
	current := l.current.Load()
	inUpdate([2]uintptr{l.id.Load()}, func() { next, err = f(current) })
	if err == nil && next != current {
		l.publish(next)
	}
	return err
}

// lock takes the writer's place. It panics where this goroutine has it
// already.
func (l *line[S]) lock() {
	if !l.writer.TryLock() {
		l.panicInUpdate("an update")
		l.writer.Lock()
	}
	if l.id.Load() == 0 {
		l.id.Store(lineIDs.Add(1))
	}
}

// publish makes next the current version. The caller has the writer's place.
// It cannot fail.
func (l *line[S]) publish(next *S) {
	l.current.Store(next)
	// After the swap, so that whoever is woken finds it; and whoever came too
	// late to be woken has looked at the version after this swap: see wait.
	if l.waiters.Load() != nil {
		close(*l.waiters.Swap(nil))
	}
}
