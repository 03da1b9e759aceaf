package cow

import (
	"context"
	"sync"
	"sync/atomic"
)

// A line is the line of versions of a Store or a DB: the current snapshot, the
// mutex that writers queue on, those who wait for the next, and, where that is
// asked for, the log of what the commits changed. It is the one way a version
// comes about:
//
//	update → f derives the next version in private → publish: swap, log, wake
//
// S is what snapshots are made of, a snapshot.Map or a Snapshot. The zero line
// has no version yet. Store and DB embed it: its exported methods are theirs.
type line[S any] struct {
	current atomic.Pointer[S]
	writer  sync.Mutex
	id      atomic.Uintptr // of this line, once it had an update; see nested.go

	waiters atomic.Pointer[chan struct{}]
	waiting atomic.Int64                          // calls that are blocked, for Stats
	watches atomic.Pointer[func(newer, older *S)] // wakes watches; nil until there is one
	log     atomic.Pointer[log[S]]                // nil: off; set in the writer's place
	pins    pins[S]
}

// Load returns the current snapshot. It is valid forever and never changes.
func (l *line[S]) Load() *S { return l.current.Load() }

// Wait blocks until there is a version above after, and returns the snapshot
// that is current then. It returns ctx's cause, and no snapshot, if ctx ends
// first.
func (l *line[S]) Wait(ctx context.Context, after uint64) (*S, error) {
	return l.wait(ctx, func(s *S) bool { return versionOf(s) > after })
}

// update calls f with the current snapshot and publishes what it returns,
// unless that is the same or comes with an error. All foreign code runs in f:
// an error, panic or Goexit there leaves everything as it was. Where there is a
// log, f also returns what it changed.
func (l *line[S]) update(f func(current *S, logged bool) (*S, delta, error)) (err error) {
	l.lock()
	defer l.writer.Unlock()
	var next *S
	var d delta
	current := l.current.Load()
	logged := l.log.Load() != nil
	inUpdate([2]uintptr{l.id.Load()}, func() { next, d, err = f(current, logged) })
	if err == nil && next != current {
		l.publish(next, current, d)
	}
	return err
}

// amend replaces the current snapshot by an equal one, of the same version, that
// f made, unless f returns an error.
func (l *line[S]) amend(f func(current *S) (*S, error)) (err error) {
	l.lock()
	defer l.writer.Unlock()
	var next *S
	current := l.current.Load()
	inUpdate([2]uintptr{l.id.Load()}, func() { next, err = f(current) })
	if err == nil {
		l.current.Store(next)
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

// publish makes next the version after current. The caller has the writer's
// place. It cannot fail.
func (l *line[S]) publish(next, current *S, d delta) {
	if log := l.log.Load(); log != nil {
		log.publish(l, next, d)
	} else {
		l.current.Store(next)
	}
	// After the swap, so that whoever is woken finds it; and whoever came too
	// late to be woken has looked at the version after this swap: see wait.
	if l.waiters.Load() != nil {
		close(*l.waiters.Swap(nil))
	}
	if wake := l.watches.Load(); wake != nil {
		(*wake)(next, current)
	}
}

// versionOf returns the version of a snapshot.
func versionOf[S any](s *S) uint64 { return any(s).(interface{ Version() uint64 }).Version() }
