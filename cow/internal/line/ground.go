package line

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cowstore/cowstore/cow/hook"
	"github.com/cowstore/cowstore/cow/internal/sink"
)

// A Line is the line of versions of a DB. It is the one way a version comes about. The zero
// Line has no version yet: see Start. It must not be copied once it was used.
//
// Locks are taken in this order: pinning or outbox.replacing, writer, mu, and under that the
// one of a watch.Hub. No code of the user runs under mu.
type Line struct {
	published atomic.Pointer[Root] // what readers see
	writer    sync.Mutex           // held while a function runs that makes the next version
	queued    bool                 // who has the writer's place may have waited for it; guarded by writer
	held      atomic.Pointer[Held] // a transaction that has the writer's place; set with writer held
	behind    atomic.Int64         // how many wait for one to end, or for those who do
	turnstile atomic.Pointer[chan struct{}]
	dropped   atomic.Pointer[origin] // of the last transaction that nobody ended
	drops     atomic.Int64
	first     atomic.Bool           // there is a writer that looks for its place; see queue
	number    atomic.Uint64         // of this line, once it had an update; see package nested
	owner     atomic.Pointer[Owner] // nil until somebody asks
	identity  atomic.Pointer[identity]
	self      atomic.Pointer[Line] // the line itself, once it was used: one that was copied has another

	// mu guards what follows, and the swap of the published version. It is held
	// for a moment only, and never while foreign code runs.
	mu      sync.Mutex
	history *history               // nil: off; set in the writer's place too
	last    int64                  // the time of the last Commit, ns since 1970
	outbox  atomic.Pointer[outbox] // nil: there is no sink; set in the writer's place too
	alarm   *time.Timer            // for rows that expire; nil: there were none
	alarmAt int64                  // what it is set for, ns since 1970; 0: for nothing
	erasing []*Erasing             // that were published and are not done, the oldest first
	readers *readers               // nil: nobody asks who holds versions

	waiters atomic.Pointer[chan struct{}]
	waiting atomic.Int64 // calls that are blocked, for Stats
	wake    atomic.Pointer[Wake]

	pinning sync.Mutex // held while one pin is made durable, or let go of, and while the past is made anew
	pins    pins

	feeds feeds
	hooks hooks
}

// A Wake wakes those who watch the tables in which two versions differ: one of them, or, if
// that is Several, any. It runs no foreign code and must not block.
type Wake func(newer, older *Root, table int)

// A Held is the writer's place, as a transaction has it from Hold to Commit or Abort. The
// mutex of the place is free meanwhile: whoever takes it finds the Held, and waits for its
// end without the mutex, so that a context can end the wait.
type Held struct {
	turn      turn
	goroutine uint64 // which began it
	since     time.Time
	origin    *origin
	told      *told         // nil: there are no hooks
	claimed   atomic.Bool   // somebody ends it
	over      chan struct{} // closed when the place is free
}

// A Draft is what an update made: a version that is not published yet.
type Draft struct {
	Next   *Root
	Table  int          // the one that differs, or Several
	Commit *Commit      // nil where nobody asked for one
	Sent   *sink.Commit // what the sink gets; nil without one
	Then   func()       // called when the update has succeeded; nil: nothing

	Erase *Erasing // nil: the Commit has erased nothing
}

// A Want says what a Draft must have beside the next version. It is decided in the writer's
// place, and so cannot change before the Draft is made.
type Want struct {
	Commit bool // for the history, or a sink
	Sent   bool // there is a sink
	Past   bool // it is no new version, but one of the past that is made anew
}

// Load returns the published version.
func (l *Line) Load() *Root { return l.published.Load() }

// Owner returns the Owner of the line, made at the first call.
func (l *Line) Owner(make func() *Owner) *Owner {
	if o := l.owner.Load(); o != nil {
		return o
	}
	l.owner.CompareAndSwap(nil, make())
	return l.owner.Load()
}

// Start makes r the current version if there is none, and returns the current one.
func (l *Line) Start(r *Root) *Root {
	l.mu.Lock() // whoever publishes looks first at what is published
	defer l.mu.Unlock()
	if is := l.published.Load(); is != nil {
		return is
	}
	l.published.Store(r)
	return r
}

// A turn is the writer's place, as one update has it: taken by place, and given back by run.
type turn struct {
	line  *Line
	ctx   context.Context
	base  *Root
	o     *outbox   // nil: there is no sink
	seen  *proposal // what base is, if it is not published
	epoch uint64    // of o
}

// An outbox is what a line knows of its sink and of the versions that the sink has
// not acknowledged yet. But for the first two fields, the line's mu guards it.
//
// The tip, from which updates begin, is the last of these versions; without any
// it is the published one. A version leaves the outbox in one of three ways: it is
// published; it is superseded, and its update runs again; or the line fails.
type outbox struct {
	sink      sink.Sink
	replacing sync.Mutex // held by whoever replaces the published version by others

	outstanding []*proposal
	at          int64  // what last was at the published version
	epoch       uint64 // counts the times at which the outstanding were superseded
	failed      error  // sticky
	state       hook.Sink
	closed      bool // the sink is, and must not be called
	attaching   bool // an error of replace is one of Attach, and no failure

	ended  chan struct{} // made when closed is set; closed when the sink has let go of everything
	result error         // of Close, for whoever finds ended closed

	// While holds is above 0 no update begins.
	holds    int
	released chan struct{} // closed when holds is 0 again; nil: nobody waits
	drained  chan struct{} // closed when nothing is outstanding; nil: nobody waits
}

// A proposal is a Draft that was proposed to the sink.
type proposal struct {
	Draft
	decided chan struct{} // closed when the rest is known
	again   bool          // superseded
	refused error         // what its update returns instead of running again
	err     error
}

// Own panics for a copy of a line that was used: both would have the same locks, waiters
// and history. Reads do not look.
func (l *Line) Own() {
	if l.self.Load() != l && !l.self.CompareAndSwap(nil, l) && l.self.Load() != l {
		panic("cow: a DB must not be copied after its first use: pass a pointer to it")
	}
}

// identify returns the identity of l.
func (l *Line) identify() *identity {
	if is := l.identity.Load(); is != nil {
		return is
	}
	l.identity.CompareAndSwap(nil, &identity{id: new(name)})
	return l.identity.Load()
}

// Lineage returns what identifies the line.
func (l *Line) Lineage() Lineage {
	is := l.identify()
	return Lineage{ID: is.id.String(), Parent: is.parent.String(), Forked: is.forked}
}

// Cursor returns the cursor of a version of the line.
func (l *Line) Cursor(version uint64) string { return cursor(l.identify().id, version) }

// ParseCursor returns the version that a cursor of this line is at, published or not.
func (l *Line) ParseCursor(cursor string) (version uint64, err error) {
	id, version, err := ParseCursor(cursor)
	if err != nil {
		return 0, fmt.Errorf("cow: %.100q: %w", cursor, err)
	}
	if is := l.identify().id.String(); id != is {
		return 0, fmt.Errorf("cow: %.100q: %w: this is %s", cursor, ErrLineage, is)
	}
	return version, nil
}

// An origin is where a transaction began.
type origin [16]uintptr

// String returns a line for each function, from the one that called package cow; "" for nil.
func (o *origin) String() string {
	if o == nil {
		return ""
	}
	var b strings.Builder
	frames := runtime.CallersFrames(o[:])
	for {
		f, more := frames.Next()
		if f.PC == 0 {
			break
		}
		if b.Len() > 0 || !strings.HasPrefix(f.Function, "github.com/cowstore/cowstore/cow.") {
			fmt.Fprintf(&b, "%s %s:%d\n", f.Function, f.File, f.Line)
		}
		if !more {
			break
		}
	}
	return b.String()
}

// ErrGoexit is the error of a foreign function that did not return.
var ErrGoexit = errors.New("cow: a function of an index, table or codec called runtime.Goexit")

// Recovered calls f, which runs foreign code, and returns a panic of it as an error.
func Recovered[T any](f func() (T, error)) (v T, err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case error:
			err = fmt.Errorf("cow: a function of an index, table or codec panicked: %w", r)
		default:
			err = fmt.Errorf("cow: a function of an index, table or codec panicked: %v", r)
		}
	}()
	return f()
}
