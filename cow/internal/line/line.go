package line

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"

	"github.com/cowstore/cowstore/cow/hook"
	"github.com/cowstore/cowstore/cow/internal/nested"
	"github.com/cowstore/cowstore/cow/internal/sink"
)

// The errors of updates where there is a sink.
var (
	ErrUnknownOutcome = errors.New("whether the update happened is not known yet")
	ErrClosed         = errors.New("closed")
)

// Begin makes r the first version of a line that nobody uses yet.
func (l *Line) Begin(r *Root) {
	l.owner.Store(r.owner)
	l.expect(r, nil, Several)
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
	if t := l.begins(ctx, "an update", false); t != nil {
		return l.updateTold(ctx, t, f)
	}
	return l.update(ctx, nil, f)
}

// updateTold is update, of which hooks are told, by t.
func (l *Line) updateTold(ctx context.Context, t *told, f func(base *Root, want Want) (Draft, error)) (version uint64, err error) {
	t.made, t.is.Err = f, hook.ErrPanicked // unless it returns
	returned := false
	defer func() {
		t.ends()
		if returned {
			t.free()
		}
	}()
	version, err = l.update(ctx, t, t.run)
	t.is.Err, returned = err, true
	return version, err
}

func (l *Line) update(ctx context.Context, told *told, f func(base *Root, want Want) (Draft, error)) (version uint64, err error) {
	for attempt := 0; ; attempt++ {
		t, err := l.place(ctx, "an update", attempt)
		if err != nil {
			return 0, err
		}
		r := t.run(f)
		version, again, err := r.fate(ctx)
		told.decided(version, r.shares != nil, again)
		if !again {
			if version > 0 && r.erase != nil {
				err = l.erase(r.erase)
			}
			r.succeed(err)
			return version, err
		}
	}
}

// place takes the writer's place for what when updates may begin: after so many attempts
// that were superseded.
func (l *Line) place(ctx context.Context, what string, attempt int) (turn, error) {
	Given(ctx, what)
	for {
		t := turn{line: l, ctx: ctx, o: l.outbox.Load()}
		if t.o != nil {
			if err := l.begin(ctx, t.o); err != nil {
				return t, err
			}
			if err := t.o.sink.Room(ctx, attempt); err != nil {
				return t, l.failure(ctx, t.o, err)
			}
		}
		if err := l.lockContext(ctx, what); err != nil {
			return t, err
		}
		if t.look() {
			return t, l.stay(ctx)
		}
		l.writer.Unlock()
	}
}

// stay keeps the writer's place, unless ctx has ended, or panics when it is asked.
func (l *Line) stay(ctx context.Context) (err error) {
	ended := true
	defer func() {
		if ended {
			l.writer.Unlock()
		}
	}()
	err = context.Cause(ctx)
	ended = err != nil
	return err
}

// look finds out what to begin with, and reports false if nothing may begin, or there is
// another sink by now: begin knows more.
func (t *turn) look() bool {
	l, o := t.line, t.o
	if l.outbox.Load() != o {
		return false
	}
	if o == nil {
		t.base = l.published.Load()
		return true
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	t.base, t.seen = l.tip(o)
	t.epoch = o.epoch
	return o.holds == 0 && o.failed == nil
}

// run runs f in the writer's place, and gives that back.
func (t *turn) run(f func(base *Root, want Want) (Draft, error)) run {
	defer t.line.writer.Unlock()
	return t.end(f)
}

// end makes what f returns the next version, where no sink has a say in it, or proposes it.
func (t *turn) end(f func(base *Root, want Want) (Draft, error)) run {
	l, o := t.line, t.o
	if o == nil {
		d, err := l.call(t.base, Want{Commit: l.history != nil}, f)
		if err == nil {
			err = context.Cause(t.ctx)
		}
		if err != nil || d.Next == t.base {
			return run{err: err, then: d.Then}
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		if d.Commit != nil {
			l.stamp(&d)
		}
		l.publish(d)
		return run{line: l, version: d.Next.version, then: d.Then, erase: d.Erase}
	}

	d, err := l.call(t.base, Want{Commit: true, Sent: true}, f)
	if err == nil {
		err = context.Cause(t.ctx)
	}

	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case o.failed != nil:
		return run{err: o.failed}
	case o.epoch != t.epoch:
		return run{shares: superseded()}
	case err != nil || d.Next == t.base:
		return run{shares: t.seen, err: err, then: d.Then}
	}
	if _, ok := o.sink.(sink.Eraser); d.Erase != nil && !ok {
		return run{err: errors.New("cow: what keeps the commits of this DB cannot erase anything from them")}
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
	return run{line: l, shares: p, mine: true, then: d.Then, erase: d.Erase}
}

// A run is what came of an attempt to run an update's function.
type run struct {
	line    *Line
	version uint64    // that it published; 0: none
	shares  *proposal // whose fate it shares; nil: none's
	mine    bool      // that is what it proposed, and not the tip it saw
	err     error     // what it returns if that is published
	then    func()    // of the Draft
	erase   *Erasing
}

// succeed calls what comes after success.
func (r run) succeed(err error) {
	if err == nil && r.then != nil {
		r.then()
	}
}

// fate waits until it is known what becomes of what was proposed, and returns the version
// that was published, or 0 for none; or that it was superseded, and is to run again.
func (r run) fate(ctx context.Context) (version uint64, again bool, err error) {
	if r.shares == nil {
		return r.version, false, r.err
	}
	select {
	case <-r.shares.decided:
	case <-ctx.Done():
		select {
		case <-r.shares.decided: // both: what is known counts
		default:
			return 0, false, r.abandon(ctx)
		}
	}
	switch {
	case r.mine && r.shares.refused != nil:
		return 0, false, r.shares.refused
	case r.shares.again:
		return 0, true, nil
	case r.shares.err != nil:
		return 0, false, r.shares.err
	case r.mine:
		return r.shares.Next.version, false, nil
	}
	return 0, false, r.err
}

// abandon returns the error of an update that no longer waits for its fate.
func (r run) abandon(ctx context.Context) error {
	if !r.mine { // so it changes nothing, whatever it saw
		return context.Cause(ctx)
	}
	if r.erase != nil { // it may happen yet, and then it is to happen whole
		go func() {
			if <-r.shares.decided; r.shares.err == nil && !r.shares.again {
				_ = r.line.erase(r.erase) // an error leaves the past as it is, as where the process ends here
			}
		}()
	}
	return fmt.Errorf("cow: %w: %w", ErrUnknownOutcome, context.Cause(ctx))
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
	if d.Erase != nil {
		d.Erase.base, d.Erase.version = older, d.Next.version
		l.erasing = append(l.erasing, d.Erase)
	}
	l.expect(d.Next, older, d.Table)
	l.published.Store(d.Next)
	older.pass()
	if l.readers != nil {
		l.readers.pass(older, d.Next, d.Table)
	}
	// After the swap, so that whoever is woken finds it; and whoever came too
	// late to be woken has looked at the version after this swap: see Line.Wait in follow.go.
	if l.waiters.Load() != nil && d.Next.version != older.Version() {
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

// lock takes the writer's place for what, when no transaction has it. It panics where this
// goroutine has it already, and for a line that is a copy.
func (l *Line) lock(what string) { _ = l.lockContext(context.Background(), what) }

// lockContext is lock, unless ctx ends while a transaction has the place: it does not give
// up waiting for a function that runs there. Those who wait for a transaction come in their
// order, before all who come later.
func (l *Line) lockContext(ctx context.Context, what string) error {
	if l.behind.Load() == 0 {
		l.enter(what)
		if l.held.Load() == nil {
			return nil
		}
		l.writer.Unlock()
	}
	l.PanicInUpdate(what)
	l.behind.Add(1)
	defer l.behind.Add(-1)
	turnstile := *l.turnstile.Load() // there is one, as somebody has waited, or does
	select {
	case turnstile <- struct{}{}:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	defer func() { <-turnstile }()
	for {
		l.enter(what)
		h := l.held.Load()
		if h == nil {
			l.queued = true
			return nil
		}
		l.writer.Unlock()
		select {
		case <-h.over:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// enter takes the mutex of the writer's place: no function of an update runs there then, but a
// transaction may be open.
func (l *Line) enter(what string) {
	l.Own()
	if !l.writer.TryLock() {
		l.queue(what)
		l.queued = true
	}
	if l.number.Load() == 0 {
		l.number.Store(nested.Number())
	}
}

// patience is how many times a writer who is first in the queue looks for its place before
// it sleeps: about as long as it takes to be woken, which is longer than most updates.
const patience = 400

// queue takes the writer's place when it is free. Where there is a sink it sleeps at once:
// to commit takes so long then that what matters is that nothing is in the sink's way. Only who is
// about to sleep looks whether that would be for ever: it takes as long as an update.
func (l *Line) queue(what string) {
	if l.outbox.Load() == nil && l.first.CompareAndSwap(false, true) {
		defer l.first.Store(false)
		for range patience {
			if l.writer.TryLock() {
				return
			}
			runtime.Gosched() // whoever has something to do goes first
		}
	}
	l.PanicInUpdate(what)
	l.writer.Lock()
}

// PanicInUpdate panics if the calling goroutine is running the function of an
// update of l, or has begun the transaction that is open, and was asked to do what.
func (l *Line) PanicInUpdate(what string) {
	switch {
	case l.updates():
		panic("cow: " + what + " inside an update of the same DB would wait for itself: use the Editor or Tx of that update")
	case l.holds():
		panic("cow: " + what + " in the goroutine that has a transaction of the same DB open would wait for itself: use that Tx, or end it first, by Commit or Abort")
	}
}

// PanicMade panics in the same cases, for what is made for all of a DB.
func (l *Line) PanicMade(what string) {
	if l.updates() || l.holds() {
		panic("cow: " + what + " made inside a transaction of the same DB: make it before that begins, or after it has ended")
	}
}

func (l *Line) updates() bool {
	number := l.number.Load()
	return number != 0 && nested.Is(number)
}

// holds reports whether the calling goroutine has begun the transaction that is open, unless
// that is being ended, which another goroutine may do: its place is free soon.
func (l *Line) holds() bool {
	h := l.held.Load()
	return h != nil && !h.claimed.Load() && h.goroutine != 0 && h.goroutine == nested.Goroutine()
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
		l.state(o, hook.Connected, nil)
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

// refuse is sink.DB.Refuse.
func (l *Line) refuse(o *outbox, version uint64, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, p := range o.outstanding {
		if p.Next.version <= version {
			p.refused = err
		}
	}
	l.state(o, hook.Refused, err)
	l.drop(o, true, nil)
}

// fail is sink.DB.Fail. The caller holds mu.
func (l *Line) fail(o *outbox, err error) {
	failed := fmt.Errorf("cow: writes have failed: %w", err)
	if o.failed == nil {
		o.failed = failed
		l.state(o, hook.Failed, err)
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
		l.state(o, hook.Closed, nil)
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
