package cow

import (
	"context"
	"sync"
	"sync/atomic"
	"unsafe"
)

// A line is the line of versions of a Store or a DB: the current snapshot, the
// mutex that writers queue on, those who wait for the next, and, where that is
// asked for, the log of what the commits changed. It is the one way a version
// comes about:
//
//	update → f derives the next version in private → publish: swap, log, wake
//
// P is the pointer by which a snapshot is held, a *snapshot.Map or *Snapshot: as
// all pointers look the same, the compiler makes this code once, and not for
// every type of map. The zero line has no version yet. Store and DB embed it: its
// exported methods are theirs.
type line[P version[P]] struct {
	current pointer[P]
	writer  sync.Mutex
	id      atomic.Uintptr // of this line, once it had an update; see nested.go

	waiters atomic.Pointer[chan struct{}]
	waiting atomic.Int64                         // calls that are blocked, for Stats
	watches atomic.Pointer[func(newer, older P)] // wakes watches; nil until there is one
	log     atomic.Pointer[log[P]]               // nil: off; set in the writer's place
	pins    pins[P]
}

// Load returns the current snapshot. It is valid forever and never changes.
func (l *line[P]) Load() P { return l.current.Load() }

// Wait blocks until there is a version above after, and returns the snapshot
// that is current then. It returns ctx's cause, and no snapshot, if ctx ends
// first.
func (l *line[P]) Wait(ctx context.Context, after uint64) (P, error) {
	return l.wait(ctx, func(s P) bool { return s.Version() > after })
}

// update calls f with the current snapshot and publishes what it returns,
// unless that is the same or comes with an error. All foreign code runs in f:
// an error, panic or Goexit there leaves everything as it was. Where there is a
// log, f also returns what it changed.
func (l *line[P]) update(f func(current P, logged bool) (P, delta, error)) (err error) {
	l.lock()
	defer l.writer.Unlock()
	var next P
	var d delta
	current := l.current.Load()
	logged := l.log.Load() != nil
	inUpdate([2]uintptr{l.id.Load()}, func() { next, d, err = f(current, logged) })
	if err == nil && any(next) != any(current) {
		l.publish(next, current, d)
	}
	return err
}

// amend replaces the current snapshot by an equal one, of the same version, that
// f made, unless f returns an error.
func (l *line[P]) amend(f func(current P) (P, error)) (err error) {
	l.lock()
	defer l.writer.Unlock()
	var next P
	current := l.current.Load()
	inUpdate([2]uintptr{l.id.Load()}, func() { next, err = f(current) })
	if err == nil {
		l.current.Store(next)
	}
	return err
}

// lock takes the writer's place. It panics where this goroutine has it
// already.
func (l *line[P]) lock() {
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
func (l *line[P]) publish(next, current P, d delta) {
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

// A version is a snapshot, held by a pointer. With comparable in it, pointers
// would no longer look the same to the compiler.
type version[P any] interface {
	Version() uint64
	Len() int
	Exclusive(other P) (rows, bytes int)
}

// A pointer is an atomic.Pointer for a P that is a pointer itself.
type pointer[P any] struct{ p unsafe.Pointer }

func (a *pointer[P]) Load() P {
	p := atomic.LoadPointer(&a.p)
	return *(*P)(unsafe.Pointer(&p))
}

func (a *pointer[P]) Store(p P) { atomic.StorePointer(&a.p, *(*unsafe.Pointer)(unsafe.Pointer(&p))) }
