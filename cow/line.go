package cow

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/cowstore/cowstore/cow/internal/door"
)

// A line is the line of versions of a Store or a DB. It is the one way a version
// comes about: doc.go tells it step by step.
//
// P is the pointer by which a snapshot is held, a *Map or *Snapshot: as
// all pointers look the same, the compiler makes this code once, and not for
// every type of map. The zero line has no version yet. Store and DB embed it: its
// exported methods are theirs.
type line[P version[P]] struct {
	published pointer[P]    // what readers see
	writer    sync.Mutex    // held while a function runs that derives the next version
	first     atomic.Bool   // there is a writer that looks for its place; see queue
	number    atomic.Uint64 // of this line, once it had an update; see nested.go
	identity  atomic.Pointer[identity]
	owner     atomic.Pointer[line[P]] // the line itself, once it was used: one that was copied has another

	// mu guards what follows, and the swap of the published version. It is held
	// for a moment only, and never while foreign code runs.
	mu      sync.Mutex
	history *history[P]               // nil: off; set in the writer's place too
	last    int64                     // the time of the last Commit, ns since 1970
	outbox  atomic.Pointer[outbox[P]] // nil: there is no sink; set in the writer's place too

	waiters atomic.Pointer[chan struct{}]
	waiting atomic.Int64                         // calls that are blocked, for Stats
	watches atomic.Pointer[func(newer, older P)] // wakes watches; nil until there is one
	pins    pins[P]
}

// A version is a snapshot, held by a pointer. With comparable in it, pointers
// would no longer look the same to the compiler.
type version[P any] interface {
	Version() uint64
	Len() int
	Exclusive(other P) (rows, bytes int)
}

// A draft is what an update derived: a version that is not published yet.
type draft[P version[P]] struct {
	next   P
	commit *Commit      // nil where nobody asked for one
	sent   *door.Commit // what the sink gets; nil without one
}

// Load returns the current snapshot. It is valid forever and never changes.
func (s *Store[K, V]) Load() *Map[K, V] { return s.published.Load() }

// Load is [Store.Load] for the tables of the DB, in one version.
func (db *DB) Load() *Snapshot { return db.published.Load() }

// update makes a version out of what f derives from the latest one, unless that is
// the same or comes with an error, and returns its number, or 0 for none. All foreign
// code runs in f: an error, panic or Goexit there leaves everything as it was. F makes
// a Commit where one is wanted.
func (l *line[P]) update(ctx context.Context, f func(base P, wanted bool) (draft[P], error)) (version uint64, err error) {
	if l.outbox.Load() == nil {
		if done, version, err := l.updateAlone(ctx, f); done {
			return version, err
		}
	}
	return l.updateThrough(ctx, l.outbox.Load(), f)
}

// updateAlone is update where no sink has a say in it. It returns false if there is
// one.
func (l *line[P]) updateAlone(ctx context.Context, f func(base P, wanted bool) (draft[P], error)) (done bool, version uint64, err error) {
	l.lock("an update")
	defer l.writer.Unlock()
	if l.outbox.Load() != nil {
		return false, 0, nil
	}
	if err := context.Cause(ctx); err != nil {
		return true, 0, err
	}
	base := l.published.Load()
	d, err := l.derive(base, l.history != nil, f)
	if err == nil {
		err = context.Cause(ctx)
	}
	if err != nil || any(d.next) == any(base) {
		return true, 0, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if d.commit != nil && l.history != nil {
		l.stamp(&d)
	}
	l.publish(d)
	return true, d.next.Version(), nil
}

// derive calls f in the writer's place.
func (l *line[P]) derive(base P, wanted bool, f func(base P, wanted bool) (draft[P], error)) (d draft[P], err error) {
	ended := false
	defer func() {
		if !ended {
			l.number.Store(numbers.Add(1)) // see nested.go
		}
	}()
	inUpdate(l.number.Load(), func() { d, err = f(base, wanted) })
	ended = true
	return d, err
}

// stamp completes the Commit of a draft. The caller holds mu.
func (l *line[P]) stamp(d *draft[P]) {
	d.commit.stamp(l.identify().id, d.next.Version(), l.last)
	l.last = d.commit.at
}

// publish makes d the published version. It is the one place that swaps the
// pointer, runs no foreign code and cannot fail. The caller holds mu.
func (l *line[P]) publish(d draft[P]) {
	older := l.published.Load()
	if l.history != nil && d.commit != nil {
		l.history.add(d.commit, older)
	}
	l.published.Store(d.next)
	// After the swap, so that whoever is woken finds it; and whoever came too
	// late to be woken has looked at the version after this swap: see wait.
	if l.waiters.Load() != nil {
		close(*l.waiters.Swap(nil))
	}
	if wake := l.watches.Load(); wake != nil {
		(*wake)(d.next, older)
	}
}

// amend replaces the current snapshot by an equal one, of the same version, that
// f made, unless f returns an error. F is called again if somebody else published
// a version meanwhile.
func (l *line[P]) amend(what string, f func(current P) (P, error)) error {
	l.settle(what)
	defer l.writer.Unlock()
	for {
		current := l.published.Load()
		d, err := l.derive(current, false, func(base P, _ bool) (d draft[P], err error) {
			d.next, err = f(base)
			return d, err
		})
		if err != nil {
			return err
		}
		l.mu.Lock()
		same := any(current) == any(l.published.Load())
		if same {
			l.publish(d)
		}
		l.mu.Unlock()
		if same {
			return nil
		}
	}
}

// own panics for a copy of a line that was used: both would have the same locks, waiters
// and history. Reads do not look.
func (l *line[P]) own() {
	if l.owner.Load() != l && !l.owner.CompareAndSwap(nil, l) && l.owner.Load() != l {
		panic("cow: a Store or DB must not be copied after its first use: pass a pointer to it")
	}
}

// lock takes the writer's place for what. It panics where this goroutine has it
// already, and for a line that is a copy.
func (l *line[P]) lock(what string) {
	l.own()
	if !l.writer.TryLock() {
		l.panicInUpdate(what)
		l.queue()
	}
	if l.number.Load() == 0 {
		l.number.Store(numbers.Add(1))
	}
}

// patience is how many times a writer who is first in the queue looks for its place before
// it sleeps: about as long as it takes to be woken, which is longer than most updates.
const patience = 400

// queue takes the writer's place when it is free. Where there is a sink it sleeps at once:
// to commit takes so long then that what matters is that nothing is in the sink's way.
func (l *line[P]) queue() {
	if l.outbox.Load() == nil && l.first.CompareAndSwap(false, true) {
		defer l.first.Store(false)
		for range patience {
			if l.writer.TryLock() {
				return
			}
			runtime.Gosched() // whoever has something to do goes first
		}
	}
	l.writer.Lock()
}

// A pointer is an atomic.Pointer for a P that is a pointer itself.
type pointer[P any] struct{ p unsafe.Pointer }

func (a *pointer[P]) Load() P {
	p := atomic.LoadPointer(&a.p)
	return *(*P)(unsafe.Pointer(&p))
}

func (a *pointer[P]) Store(p P) { atomic.StorePointer(&a.p, *(*unsafe.Pointer)(unsafe.Pointer(&p))) }
