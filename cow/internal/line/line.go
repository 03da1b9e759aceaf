package line

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/cowstore/cowstore/cow/internal/nested"
	"github.com/cowstore/cowstore/cow/internal/sink"
)

// The errors of updates where there is a sink.
var (
	ErrUnknownOutcome = errors.New("whether the update happened is not known yet")
	ErrClosed         = errors.New("closed")
)

// A Line is the line of versions of a DB. It is the one way a version comes about. The zero
// Line has no version yet: see Start. It must not be copied once it was used.
//
// Locks are taken in this order: pinning or outbox.replacing, writer, mu, and under that the
// one of a watch.Hub. No code of the user runs under mu.
type Line struct {
	published atomic.Pointer[Root]  // what readers see
	writer    sync.Mutex            // held while a function runs that makes the next version
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

	waiters atomic.Pointer[chan struct{}]
	waiting atomic.Int64 // calls that are blocked, for Stats
	wake    atomic.Pointer[Wake]

	pinning sync.Mutex // held while one pin is made durable, or let go of
	pins    pins
}

// A Wake wakes those who watch the tables in which two versions differ: one of them, or, if
// that is Several, any. It runs no foreign code and must not block.
type Wake func(newer, older *Root, table int)

// Several stands for more than one table.
const Several = -1

// A Draft is what an update made: a version that is not published yet.
type Draft struct {
	Next   *Root
	Table  int          // the one that differs, or Several
	Commit *Commit      // nil where nobody asked for one
	Sent   *sink.Commit // what the sink gets; nil without one
}

// A Want says what a Draft must have beside the next version. It is decided in the writer's
// place, and so cannot change before the Draft is made.
type Want struct {
	Commit bool // for the history, or a sink
	Sent   bool // there is a sink
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

// Begin makes r the first version of a line that nobody uses yet.
func (l *Line) Begin(r *Root) {
	l.owner.Store(r.owner)
	l.published.Store(r)
}

// Fork makes r the first version of f, which nobody uses yet, as of a fork of l from one of
// its versions.
func (l *Line) Fork(f *Line, r *Root) {
	f.Begin(r)
	f.identity.Store(&identity{new(name), l.identify().id, r.version})
}

// Update makes a version out of what f makes of the latest one, unless that is
// the same or comes with an error, and returns its number, or 0 for none. All foreign
// code runs in f: an error, panic or Goexit there leaves everything as it was.
func (l *Line) Update(ctx context.Context, f func(base *Root, want Want) (Draft, error)) (version uint64, err error) {
	if l.outbox.Load() == nil {
		if done, version, err := l.updateAlone(ctx, f); done {
			return version, err
		}
	}
	return l.updateThrough(ctx, l.outbox.Load(), f)
}

// updateAlone is Update where no sink has a say in it. It returns false if there is
// one.
func (l *Line) updateAlone(ctx context.Context, f func(base *Root, want Want) (Draft, error)) (done bool, version uint64, err error) {
	l.lock("an update")
	defer l.writer.Unlock()
	if l.outbox.Load() != nil {
		return false, 0, nil
	}
	if err := context.Cause(ctx); err != nil {
		return true, 0, err
	}
	base := l.published.Load()
	d, err := l.call(base, Want{Commit: l.history != nil}, f)
	if err == nil {
		err = context.Cause(ctx)
	}
	if err != nil || d.Next == base {
		return true, 0, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if d.Commit != nil {
		l.stamp(&d)
	}
	l.publish(d)
	return true, d.Next.version, nil
}

// call calls f in the writer's place.
func (l *Line) call(base *Root, want Want, f func(base *Root, want Want) (Draft, error)) (d Draft, err error) {
	ended := false
	defer func() {
		if !ended {
			l.number.Store(nested.Number()) // see package nested
		}
	}()
	nested.Run(l.number.Load(), func() { d, err = f(base, want) })
	ended = true
	return d, err
}

// stamp completes the Commit of a Draft. The caller holds mu.
func (l *Line) stamp(d *Draft) {
	d.Commit.stamp(l.identify().id, d.Next.version, l.last)
	l.last = d.Commit.at
}

// publish makes d the published version. It is the one place that swaps the
// pointer, runs no foreign code and cannot fail. The caller holds mu.
func (l *Line) publish(d Draft) {
	older := l.published.Load()
	if l.history != nil && d.Commit != nil {
		d.Commit.owner = d.Next.owner
		l.history.add(d.Commit, older)
	}
	l.published.Store(d.Next)
	// After the swap, so that whoever is woken finds it; and whoever came too
	// late to be woken has looked at the version after this swap: see Wait.
	if l.waiters.Load() != nil {
		close(*l.waiters.Swap(nil))
	}
	if wake := l.wake.Load(); wake != nil {
		(*wake)(d.Next, older, d.Table)
	}
}

// Amend replaces the current version by an equal one, of the same number, that
// f made, unless f returns an error. F is called again if somebody else published
// a version meanwhile.
func (l *Line) Amend(what string, f func(current *Root) (*Root, error)) error {
	l.settle(what)
	defer l.writer.Unlock()
	for {
		current := l.published.Load()
		d, err := l.call(current, Want{}, func(base *Root, _ Want) (d Draft, err error) {
			d.Next, err = f(base)
			d.Table = Several
			return d, err
		})
		if err != nil {
			return err
		}
		l.mu.Lock()
		same := current == l.published.Load()
		if same {
			l.publish(d)
		}
		l.mu.Unlock()
		if same {
			return nil
		}
	}
}

// Own panics for a copy of a line that was used: both would have the same locks, waiters
// and history. Reads do not look.
func (l *Line) Own() {
	if l.self.Load() != l && !l.self.CompareAndSwap(nil, l) && l.self.Load() != l {
		panic("cow: a DB must not be copied after its first use: pass a pointer to it")
	}
}

// lock takes the writer's place for what. It panics where this goroutine has it
// already, and for a line that is a copy.
func (l *Line) lock(what string) {
	l.Own()
	if !l.writer.TryLock() {
		l.PanicInUpdate(what)
		l.queue()
	}
	if l.number.Load() == 0 {
		l.number.Store(nested.Number())
	}
}

// patience is how many times a writer who is first in the queue looks for its place before
// it sleeps: about as long as it takes to be woken, which is longer than most updates.
const patience = 400

// queue takes the writer's place when it is free. Where there is a sink it sleeps at once:
// to commit takes so long then that what matters is that nothing is in the sink's way.
func (l *Line) queue() {
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

// PanicInUpdate panics if the calling goroutine is running the function of an
// update of l, and was asked to do what.
func (l *Line) PanicInUpdate(what string) {
	if number := l.number.Load(); number != 0 && nested.Is(number) {
		panic("cow: " + what + " inside an update of the same DB would wait for itself: use the Editor or Tx of that update")
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
	closed      bool   // the sink is, and must not be called
	attaching   bool   // an error of replace is one of Attach, and no failure

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

func (p *proposal) decide(again bool, err error) {
	p.again, p.err = again, err
	close(p.decided)
}

// tip returns the version to begin from, and the proposal that it is, or nil.
func (l *Line) tip(o *outbox) (*Root, *proposal) {
	if n := len(o.outstanding); n > 0 {
		return o.outstanding[n-1].Next, o.outstanding[n-1]
	}
	return l.published.Load(), nil
}

// updateThrough is Update where a sink decides.
func (l *Line) updateThrough(ctx context.Context, o *outbox, f func(base *Root, want Want) (Draft, error)) (version uint64, err error) {
	for attempt := 0; ; {
		if o == nil || l.outbox.Load() != o {
			return l.Update(ctx, f) // the sink could not be attached after all
		}
		if err := l.begin(ctx, o); err != nil {
			return 0, err
		}
		if err := o.sink.Room(ctx, attempt); err != nil {
			return 0, l.failure(ctx, o, err)
		}
		r := l.propose(ctx, o, f)
		switch {
		case r.held:
			continue
		case r.shares == nil:
			return 0, r.err
		}
		select {
		case <-r.shares.decided:
		case <-ctx.Done():
			select {
			case <-r.shares.decided: // both: what is known counts
			default:
				return 0, r.abandon(ctx)
			}
		}
		switch {
		case r.mine && r.shares.refused != nil:
			return 0, r.shares.refused
		case r.shares.again:
			attempt++
		case r.shares.err != nil:
			return 0, r.shares.err
		case r.mine:
			return r.shares.Next.version, nil
		default:
			return 0, r.err
		}
	}
}

// A run is what came of an attempt to run an update's function.
type run struct {
	held   bool      // it was not run, and is to begin again
	shares *proposal // whose fate it shares; nil: none's
	mine   bool      // that is what it proposed, and not the tip it saw
	err    error     // what it returns if that is published
}

// abandon returns the error of an update that no longer waits for its fate.
func (r run) abandon(ctx context.Context) error {
	if !r.mine { // so it changes nothing, whatever it saw
		return context.Cause(ctx)
	}
	return fmt.Errorf("cow: %w: %w", ErrUnknownOutcome, context.Cause(ctx))
}

// begin waits until updates may begin.
func (l *Line) begin(ctx context.Context, o *outbox) error {
	for {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		l.mu.Lock()
		failed, held := o.failed, o.holds > 0
		var released <-chan struct{}
		if held {
			released = waitFor(&o.released)
		}
		l.mu.Unlock()
		if failed != nil || !held {
			return failed
		}
		select {
		case <-released:
		case <-ctx.Done():
		}
	}
}

// failure returns the error of an update that the sink has no room for: that of the
// line if it has failed, or of ctx if it has ended, or err.
func (l *Line) failure(ctx context.Context, o *outbox, err error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if o.failed != nil {
		return o.failed
	}
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}

// propose runs f on the tip and proposes what it made.
func (l *Line) propose(ctx context.Context, o *outbox, f func(base *Root, want Want) (Draft, error)) (r run) {
	l.lock("an update")
	defer l.writer.Unlock()

	l.mu.Lock()
	base, seen := l.tip(o)
	epoch, held := o.epoch, o.holds > 0 || o.failed != nil
	l.mu.Unlock()
	if held || l.outbox.Load() != o || context.Cause(ctx) != nil {
		return run{held: true} // begin knows more
	}

	d, err := l.call(base, Want{Commit: true, Sent: true}, f)

	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case o.failed != nil:
		return run{err: o.failed}
	case o.epoch != epoch:
		return run{shares: superseded()}
	case err != nil || d.Next == base:
		return run{shares: seen, err: err}
	case context.Cause(ctx) != nil:
		return run{err: context.Cause(ctx)}
	}
	last := l.last
	l.stamp(&d)
	p := &proposal{Draft: d, decided: make(chan struct{})}
	p.Sent.Lineage, p.Sent.Version, p.Sent.Time = d.Commit.lineage.String(), d.Commit.version, d.Commit.Time()
	if err := o.sink.Propose(p.Sent); err != nil {
		l.last = last
		return run{err: err}
	}
	o.outstanding = append(o.outstanding, p)
	return run{shares: p, mine: true}
}

// superseded returns a proposal that was superseded.
func superseded() *proposal {
	p := &proposal{decided: make(chan struct{})}
	p.decide(true, nil)
	return p
}

// waitFor returns the channel *c, which finish closes.
func waitFor(c *chan struct{}) <-chan struct{} {
	if *c == nil {
		*c = make(chan struct{})
	}
	return *c
}

func finish(c *chan struct{}) {
	if *c != nil {
		close(*c)
		*c = nil
	}
}

// ack publishes what is outstanding up to a version.
func (l *Line) ack(o *outbox, version uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for len(o.outstanding) > 0 && o.outstanding[0].Next.version <= version {
		p := o.outstanding[0]
		o.outstanding[0] = nil
		o.outstanding = o.outstanding[1:]
		l.publish(p.Draft)
		o.at = p.Commit.at
		p.decide(false, nil)
	}
	l.trimmed()
	if len(o.outstanding) == 0 {
		finish(&o.drained)
	}
}

// drop drops what is outstanding. The caller holds mu.
func (l *Line) drop(o *outbox, again bool, err error) {
	o.epoch++
	if len(o.outstanding) > 0 {
		l.last = o.at
	}
	// The last first, so that whoever finds one void finds all void that were made
	// from it: what is not void can then be sent, for nothing is missing before it.
	for _, p := range slices.Backward(o.outstanding) {
		p.Sent.Drop()
	}
	for _, p := range o.outstanding {
		p.decide(again, err)
	}
	o.outstanding = nil
	finish(&o.drained)
}

// refuse is sink.Line.Refuse.
func (l *Line) refuse(o *outbox, version uint64, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, p := range o.outstanding {
		if p.Next.version <= version {
			p.refused = err
		}
	}
	l.drop(o, true, nil)
}

// fail is sink.Line.Fail. The caller holds mu.
func (l *Line) fail(o *outbox, err error) {
	failed := fmt.Errorf("cow: writes have failed: %w", err)
	if o.failed == nil {
		o.failed = failed
	}
	if errors.As(err, new(sink.Undecided)) {
		failed = fmt.Errorf("cow: %w: %w", ErrUnknownOutcome, failed)
	}
	l.drop(o, false, failed)
}

// Close makes later updates fail, and closes the sink, if there is one, or waits for the call
// that does.
func (l *Line) Close() error {
	o := l.outbox.Load()
	if o == nil {
		return nil
	}
	l.mu.Lock()
	first := !o.closed
	if first {
		o.closed, o.ended, o.result = true, make(chan struct{}), errCloseEnded // unless the sink returns
		if o.failed == nil {
			o.failed = fmt.Errorf("cow: %w", ErrClosed)
		} else {
			o.failed = fmt.Errorf("cow: %w: %w", ErrClosed, o.failed)
		}
	}
	ended := o.ended
	l.mu.Unlock()
	if !first {
		<-ended
		return o.result
	}
	defer func() { // after a panic too
		l.mu.Lock()
		defer l.mu.Unlock()
		l.drop(o, false, o.failed)
		close(ended)
	}()
	o.result = o.sink.Close() // which acknowledges what is outstanding, if it can
	return o.result
}

var errCloseEnded = errors.New("cow: the sink panicked, or called runtime.Goexit, when it was closed")

// hold keeps updates from beginning until release. The caller holds mu.
func (o *outbox) hold() { o.holds++ }

func (o *outbox) release() {
	if o.holds--; o.holds == 0 {
		finish(&o.released)
	}
}

// settle takes the writer's place when nothing is outstanding.
func (l *Line) settle(what string) {
	held := false
	for {
		l.lock(what)
		o := l.outbox.Load()
		if o == nil {
			return
		}
		l.mu.Lock()
		if len(o.outstanding) == 0 {
			if held {
				o.release()
			}
			l.mu.Unlock()
			return
		}
		if !held {
			held = true
			o.hold() // or those who write would never let it come to that
		}
		drained := waitFor(&o.drained)
		l.mu.Unlock()
		l.writer.Unlock()
		<-drained
	}
}

// trimmed tells the sink which past is left. The caller holds mu.
func (l *Line) trimmed() {
	o := l.outbox.Load()
	if o == nil || o.closed {
		return
	}
	oldest := uint64(sink.NoPast)
	if l.history != nil {
		oldest = l.history.base.version
	}
	o.sink.Trim(oldest)
}
