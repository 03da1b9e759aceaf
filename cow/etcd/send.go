package etcd

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc/codes"
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

// commit sends the transaction of a group, and again, until its fate is known. That is
// for follow to find: an answer says only whether to send it again.
func (r *Replica) commit(g *group) {
	defer g.done()
	unknown := false // a request may happen yet
	for attempt := 0; g.ctx.Err() == nil; attempt++ {
		err := r.once(g.ctx, attempt, func(ctx context.Context) error {
			_, err := r.client.Txn(ctx).If(clientv3.Compare(clientv3.Value(r.prefix+headKey), "=", g.guard.raw)).Then(g.put...).Commit()
			return err
		})
		switch {
		case err == nil: // it happened, now or before, or never will
			r.accepted()
			<-g.ctx.Done()
		case g.ctx.Err() != nil:
		case refused(err) && !unknown:
			r.refuse(err)
			return
		default:
			unknown = true
			r.failed(err)
			pause(g.ctx, attempt)
		}
	}
}

// refuse makes the updates of a group, and those that wait behind it, fail: they run
// again, and find why etcd did not take them.
func (r *Replica) refuse(err error) {
	if isTooLarge(err) {
		err = fmt.Errorf("%w: Options.MaxOps or MaxBytes is more than etcd's flags, or the client's MaxCallSendMsgSize, say: %w", ErrTooLarge, err)
	}
	r.o.Log.Warn("etcd refuses updates", "prefix", r.prefix, "err", err)
	r.known.mu.Lock()
	r.known.refused = fmt.Errorf("etcd: %s: an update is refused: %w", r.prefix, err)
	r.known.err = r.known.refused
	r.known.mu.Unlock()
	r.queue.mu.Lock()
	r.queue.open = nil
	r.queue.mu.Unlock()
	_ = r.line.Rebase() // an error is that of Fail
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

// refusal returns why etcd did not take the last group, if so.
func (r *Replica) refusal() error {
	r.known.mu.Lock()
	defer r.known.mu.Unlock()
	return r.known.refused
}

// failed says that a request did not succeed.
func (r *Replica) failed(err error) {
	r.known.mu.Lock()
	r.known.err = err
	r.known.mu.Unlock()
	r.o.Log.Debug("a request to etcd fails", "prefix", r.prefix, "err", err)
}
