package etcd

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"google.golang.org/grpc/codes"

	"github.com/cowstore/cowstore/cow"
)

// send sends groups, one at a time, until the replica ends.
func (r *Replica) send() {
	t := newTurns()
	for {
		g := r.next(t)
		if g == nil {
			return
		}
		begun := time.Now()
		r.commit(g)
		at := r.now()
		t.sent(begun, at.writer == r.name && at.group == g.number)
	}
}

// next waits for proposals that follow what is published, and for this replica's turn, and
// makes a group of the first of them. It returns nil if the replica ends.
func (r *Replica) next(t *turns) *group {
	q := &r.queue
	q.mu.Lock()
	defer q.mu.Unlock()
	for r.ctx.Err() == nil {
		q.prune(0)
		at := r.now()
		// Proposals that do not follow it are void, or that is about to be told.
		if len(q.waiting) == 0 || q.waiting[0].Version != at.version+1 {
			q.await(r.ctx)
			continue
		}
		until := t.yield(at.writer == r.name)
		if len(q.waiting) < q.superseded {
			until = t.gather(q.at)
		}
		if time.Now().Before(until) && !q.closing {
			ctx, cancel := context.WithDeadline(r.ctx, until)
			q.await(ctx)
			cancel()
			continue
		}
		r.sent++
		q.open, q.superseded = r.group(at, r.sent), 0
		return q.open
	}
	return nil
}

// commit sends the transaction of a group until its fate is known. No error tells it, see
// proof.go: it is for follow to find, or, where etcd does not take the group, for calling it off.
func (r *Replica) commit(g *group) {
	defer g.done()
	sent, err := r.offer(g)
	if sent && refused(err) {
		r.failed(err)
		switch why := r.callOff(g); {
		case refused(why): // it may happen, and nobody knows when that is known
			err = fmt.Errorf("%w: %w; nor can it be called off: %w", cow.ErrUnknownOutcome, err, why)
		case why != nil:
			err = why
		}
	}
	if refused(err) && g.ctx.Err() == nil {
		r.refuse(g, err)
		return
	}
	<-g.ctx.Done()
}

// refuse makes the updates of a group return why etcd does not take it. Those that wait behind
// it run again, and find out themselves.
func (r *Replica) refuse(g *group, err error) {
	if isTooLarge(err) {
		err = fmt.Errorf("%w: Options.MaxOps or MaxBytes is more than etcd's flags, or the client's MaxCallSendMsgSize, say: %w", ErrTooLarge, err)
	}
	r.o.Log.Warn("etcd refuses updates", "prefix", r.prefix, "err", err)
	err = fmt.Errorf("etcd: %s: an update is refused: %w", r.prefix, err)
	r.known.mu.Lock()
	r.known.refused, r.known.err = err, err
	r.known.mu.Unlock()

	r.telling.Lock()
	defer r.telling.Unlock()
	if g.ctx.Err() != nil { // it is told already
		return
	}
	r.queue.mu.Lock()
	r.queue.open = nil
	r.queue.mu.Unlock()
	r.line.Refuse(g.last().Version, err)
}

// isTooLarge reports whether a transaction is refused because it has more operations or
// bytes than etcd or the client takes.
func isTooLarge(err error) bool {
	return errors.Is(err, rpctypes.ErrTooManyOps) || errors.Is(err, rpctypes.ErrRequestTooLarge) ||
		code(err) == codes.ResourceExhausted && !errors.Is(err, rpctypes.ErrNoSpace) // gRPC itself
}

// accepted says that etcd takes updates.
func (r *Replica) accepted() {
	r.known.mu.Lock()
	defer r.known.mu.Unlock()
	if r.known.refused = nil; r.known.connected {
		r.known.err = nil
	}
}

// failed says that a request did not succeed.
func (r *Replica) failed(err error) {
	r.known.mu.Lock()
	r.known.err = err
	r.known.mu.Unlock()
	r.o.Log.Debug("a request to etcd fails", "prefix", r.prefix, "err", err)
}
