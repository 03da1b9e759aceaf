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
	"weak"

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
	Commit bool // for the history, which a feed turns on, or a sink
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

// An Erasing makes the past before a version anew, without what that has erased, once it is published.
type Erasing struct {
	remake func(p *Past) (Remade, error)

	base    *Root // set when it is published
	version uint64
	done    bool // the line's pinning guards it, and err
	err     error
}

// feeds are the iterations over Changes that there are.
type feeds struct {
	mu  sync.Mutex
	all map[*feed]struct{}
}

// A feed is one of them.
type feed struct {
	since   time.Time
	version atomic.Uint64 // of the last commit that its consumer is done with
}

// hooks are those of a line. Nobody has a lock of the line while one is called.
type hooks struct {
	all     atomic.Pointer[[]*added]    // nil: none
	tell    atomic.Pointer[updateHooks] // nil: none is told of updates
	running atomic.Int64                // calls of hooks
	number  atomic.Uint64               // of calls of hooks, once there was one; see package nested
	updates sync.Pool                   // *told

	mu      sync.Mutex
	queue   []report // what is told later, the oldest first
	telling bool     // there is a goroutine that does
}

// A report is what is told later, and the hooks that there were when it happened.
type report struct {
	all  []*added
	tell func(h any)
}

// An added is a hook, and the interfaces that count for each update.
type added struct {
	is    any
	start hook.UpdateStart // nil: it has none
	end   hook.UpdateEnd
}

// updateHooks are those that are told of updates.
type updateHooks struct {
	all  []*added
	ends bool // one is told how they end, so that it counts what they are
}

// A told is an update of which hooks are told. Nil is one of which they are not.
type told struct {
	line  *Line
	all   []*added
	timed bool // one is told how it ends: without that nobody looks at the clock
	ctx   context.Context
	is    hook.Update

	made        func(base *Root, want Want) (Draft, error) // what run runs
	older, next *Root
	mark        time.Duration // when the last part ended
	waits, runs bool          // it waits for its place; its function runs

	run func(base *Root, want Want) (Draft, error)
}

// clock returns the time since the process began: that alone takes half as long as time.Now.
func clock() time.Duration { return time.Since(began) }

// readers know which versions that are no longer current are still there, and so are held by
// somebody. A version that nobody holds is there too until garbage is collected. So it counts as
// held if it is there after a collection that began when it was no longer current. Such a
// collection takes the probe of that time, which nobody holds; and where it takes a version, it
// began after all before that had passed. The line's mu guards readers.
type readers struct {
	owner *Owner
	past  []passed      // the oldest first
	n     uint64        // of the last in past
	since time.Duration // when the current version was published

	// Of those that pass, one in stride is noted, and taken were since the last collection.
	passes, stride uint64
	taken          int

	// Those up to seen have passed before a collection that has ended. The probe is gone: it has to
	// be made anew. Its cleanup sets both, without a lock.
	seen atomic.Uint64
	gone atomic.Bool
}

// A passed is a version that is no longer current, and a table of it that its successor has no
// more. There is one for each such table, and the version is in the first; where there is but one
// table, that stands for the version, since a weak pointer takes longer to make than all else here.
type passed struct {
	n                   uint64 // which it is of the versions that were noted
	version             uint64
	published, replaced time.Duration // see clock
	root                weak.Pointer[Root]
	table               int
	content             any // of Tables.Weak
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

// Given panics unless what was asked for with a context.
func Given(ctx context.Context, what string) {
	if ctx == nil {
		panic("cow: " + what + " with a nil context: pass context.Background()")
	}
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
