package cow

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/cowstore/cowstore/cow/internal/door"
)

// The errors of a Store or DB with a sink, to be tested with errors.Is.
var (
	// ErrUnknownOutcome says that a context ended before it was known whether an
	// update happened, or that the sink cannot find out. It may still.
	ErrUnknownOutcome = errors.New("whether the update happened is not known yet")

	// ErrClosed says that a DB was closed.
	ErrClosed = errors.New("closed")
)

// An outbox is what a line knows of its sink and of the versions that the sink has
// not acknowledged yet. But for the first two fields, the line's mu guards it.
//
// The tip, from which updates derive, is the last of these versions; without any
// it is the published one. A version leaves the outbox in one of three ways: it is
// published; it is superseded, and its update runs again; or the line fails.
type outbox[P version[P]] struct {
	sink    door.Sink
	foreign sync.Mutex // held by whoever replaces the published version by others

	outstanding []*proposal[P]
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

// A proposal is a draft that was proposed to the sink.
type proposal[P version[P]] struct {
	draft[P]
	decided chan struct{} // closed when the rest is known
	again   bool          // superseded
	refused error         // what its update returns instead of running again
	err     error
}

func (p *proposal[P]) decide(again bool, err error) {
	p.again, p.err = again, err
	close(p.decided)
}

// tip returns the version to derive from, and the proposal that it is, or nil.
func (l *line[P]) tip(o *outbox[P]) (P, *proposal[P]) {
	if n := len(o.outstanding); n > 0 {
		return o.outstanding[n-1].next, o.outstanding[n-1]
	}
	return l.published.Load(), nil
}

// updateThrough is update where a sink decides.
func (l *line[P]) updateThrough(ctx context.Context, o *outbox[P], f func(base P, wanted bool) (draft[P], error)) (version uint64, err error) {
	for attempt := 0; ; {
		if o == nil || l.outbox.Load() != o {
			return l.update(ctx, f) // the sink could not be attached after all
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
		case r.of == nil:
			return 0, r.err
		}
		select {
		case <-r.of.decided:
		case <-ctx.Done():
			select {
			case <-r.of.decided: // both: what is known counts
			default:
				return 0, r.abandon(ctx)
			}
		}
		switch {
		case r.mine && r.of.refused != nil:
			return 0, r.of.refused
		case r.of.again:
			attempt++
		case r.of.err != nil:
			return 0, r.of.err
		case r.mine:
			return r.of.next.Version(), nil
		default:
			return 0, r.err
		}
	}
}

// A run is what came of an attempt to run an update's function.
type run[P version[P]] struct {
	held bool         // it was not run, and is to begin again
	of   *proposal[P] // whose fate it shares; nil: none's
	mine bool         // of is what it proposed, and not the tip it saw
	err  error        // what it returns if that is published
}

// abandon returns the error of an update that no longer waits for its fate.
func (r run[P]) abandon(ctx context.Context) error {
	if !r.mine { // so it changes nothing, whatever it saw
		return context.Cause(ctx)
	}
	return fmt.Errorf("cow: %w: %w", ErrUnknownOutcome, context.Cause(ctx))
}

// begin waits until updates may begin.
func (l *line[P]) begin(ctx context.Context, o *outbox[P]) error {
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
func (l *line[P]) failure(ctx context.Context, o *outbox[P], err error) error {
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
func (l *line[P]) propose(ctx context.Context, o *outbox[P], f func(base P, wanted bool) (draft[P], error)) (r run[P]) {
	l.lock("an update")
	defer l.writer.Unlock()

	l.mu.Lock()
	base, seen := l.tip(o)
	epoch, held := o.epoch, o.holds > 0 || o.failed != nil
	l.mu.Unlock()
	if held || l.outbox.Load() != o || context.Cause(ctx) != nil {
		return run[P]{held: true} // begin knows more
	}

	d, err := l.derive(base, true, f)

	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case o.failed != nil:
		return run[P]{err: o.failed}
	case o.epoch != epoch:
		return run[P]{of: superseded[P]()}
	case err != nil || any(d.next) == any(base):
		return run[P]{of: seen, err: err}
	case context.Cause(ctx) != nil:
		return run[P]{err: context.Cause(ctx)}
	}
	last := l.last
	l.stamp(&d)
	p := &proposal[P]{draft: d, decided: make(chan struct{})}
	p.sent.Lineage, p.sent.Version, p.sent.Time = d.commit.lineage.String(), d.commit.version, d.commit.Time()
	if err := o.sink.Propose(p.sent); err != nil {
		l.last = last
		return run[P]{err: err}
	}
	o.outstanding = append(o.outstanding, p)
	return run[P]{of: p, mine: true}
}

// superseded returns a proposal that was superseded.
func superseded[P version[P]]() *proposal[P] {
	p := &proposal[P]{decided: make(chan struct{})}
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
func (l *line[P]) ack(o *outbox[P], version uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for len(o.outstanding) > 0 && o.outstanding[0].next.Version() <= version {
		p := o.outstanding[0]
		o.outstanding[0] = nil
		o.outstanding = o.outstanding[1:]
		l.publish(p.draft)
		o.at = p.commit.at
		p.decide(false, nil)
	}
	l.trimmed()
	if len(o.outstanding) == 0 {
		finish(&o.drained)
	}
}

// drop drops what is outstanding. The caller holds mu.
func (l *line[P]) drop(o *outbox[P], again bool, err error) {
	o.epoch++
	if len(o.outstanding) > 0 {
		l.last = o.at
	}
	// The last first, so that whoever finds one void finds all void that were derived
	// from it: what is not void can then be sent, for nothing is missing before it.
	for _, p := range slices.Backward(o.outstanding) {
		p.sent.Drop()
	}
	for _, p := range o.outstanding {
		p.decide(again, err)
	}
	o.outstanding = nil
	finish(&o.drained)
}

// refuse is door.Line.Refuse.
func (l *line[P]) refuse(o *outbox[P], version uint64, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, p := range o.outstanding {
		if p.next.Version() <= version {
			p.refused = err
		}
	}
	l.drop(o, true, nil)
}

// fail is door.Line.Fail. The caller holds mu.
func (l *line[P]) fail(o *outbox[P], err error) {
	failed := fmt.Errorf("cow: writes have failed: %w", err)
	if o.failed == nil {
		o.failed = failed
	}
	if errors.As(err, new(door.Undecided)) {
		failed = fmt.Errorf("cow: %w: %w", ErrUnknownOutcome, failed)
	}
	l.drop(o, false, failed)
}

// close makes later updates fail, and closes the sink, or waits for the call that does.
func (l *line[P]) close(o *outbox[P]) error {
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
func (o *outbox[P]) hold() { o.holds++ }

func (o *outbox[P]) release() {
	if o.holds--; o.holds == 0 {
		finish(&o.released)
	}
}

// replace replaces the published version by those that derive makes of it, one
// after the other, which come from elsewhere. What is outstanding is superseded.
// Derive runs foreign code, is called again if the published version was amended
// meanwhile, and its error fails the line.
func (l *line[P]) replace(o *outbox[P], derive func(base P) ([]draft[P], error), publish func(d []draft[P])) (err error) {
	o.foreign.Lock()
	defer o.foreign.Unlock()
	l.mu.Lock()
	o.hold()
	l.drop(o, true, nil)
	l.mu.Unlock()
	err = errGoexit // unless this returns
	defer func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if err != nil && !o.attaching {
			l.fail(o, err)
		}
		o.release()
	}()
	for {
		base := l.published.Load()
		drafts, err := recovered(func() ([]draft[P], error) { return derive(base) })
		if err != nil {
			return err
		}
		l.mu.Lock()
		same := any(base) == any(l.published.Load())
		if same {
			publish(drafts)
			l.trimmed()
		}
		l.mu.Unlock()
		if same {
			return nil
		}
	}
}

var errGoexit = errors.New("cow: a function of an index, table or codec called runtime.Goexit")

// recovered calls f and returns a panic of it as an error.
func recovered[T any](f func() (T, error)) (v T, err error) {
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

// settle takes the writer's place when nothing is outstanding.
func (l *line[P]) settle(what string) {
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
func (l *line[P]) trimmed() {
	o := l.outbox.Load()
	if o == nil || o.closed {
		return
	}
	oldest := uint64(door.NoPast)
	if l.history != nil {
		oldest = l.history.base.version
	}
	o.sink.Trim(oldest)
}
