package etcd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc/codes"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/cow/hook"
	"github.com/cowstore/cowstore/cow/internal/sink"
)

// follow brings what happens in etcd to the DB, until the replica ends.
func (r *Replica) follow() {
	for attempt := 0; r.ctx.Err() == nil; attempt++ {
		before := r.now().revision
		err := r.watch(attempt)
		if r.client.Ctx().Err() != nil {
			err = errClient
		}
		if errors.Is(err, errGap) || errors.Is(err, errTorn) || code(err) == codes.OutOfRange {
			r.retries(err) // or it would be connected for as long as etcd does not answer
			r.o.Log.Info("the store is loaded again", "prefix", r.prefix, "because", err)
			err = r.reload()
		}
		if r.ctx.Err() != nil {
			return
		}
		if isFinal(err) {
			r.fail(err)
			return
		}
		if err != nil {
			r.retries(err)
		}
		if r.now().revision > before {
			attempt = 0
		}
		pause(r.ctx, attempt)
	}
}

// retries says that the watch has ended, and that another begins.
func (r *Replica) retries(err error) {
	r.disconnected(err)
	r.line.State(hook.Retrying, err)
}

// isFinal reports whether an error is one that no other watch mends.
func isFinal(err error) bool {
	for _, final := range []error{ErrDamaged, ErrFormat, ErrRestored, cow.ErrSchema, errLine, errClient, cow.ErrUnknownOutcome} {
		if errors.Is(err, final) {
			return true
		}
	}
	return false
}

// fail ends the replica, unless it has ended.
func (r *Replica) fail(err error) {
	if r.ctx.Err() != nil {
		return
	}
	err = fmt.Errorf("etcd: %s: %w", r.prefix, err)
	r.o.Log.Error("the replica has failed", "err", err)
	r.disconnected(err)
	r.telling.Lock()
	defer r.telling.Unlock()
	r.end(err)               // before looking at the queue: no group is made from now on
	if r.onItsWay() != nil { // it may have happened
		r.line.Fail(sink.Undecided{Err: err})
	} else {
		r.line.Fail(err)
	}
}

var (
	errGap  = errors.New("versions are missing")
	errLine = errors.New("the DB does not take a commit")
	errSlow = errors.New("the watch is silent")
)

// watch watches the store from where this replica is, until it cannot.
func (r *Replica) watch(attempt int) error {
	ctx, cancel := context.WithCancelCause(clientv3.WithRequireLeader(r.ctx))
	defer cancel(nil)
	// One of its own, so that a new one makes a new stream, which may be to another member.
	watcher := clientv3.NewWatcher(r.client)
	defer watcher.Close()
	slow := time.AfterFunc(r.patience(attempt), func() { cancel(errSlow) })
	defer slow.Stop()
	defer r.restartBy(nil)

	at := r.now()
	for is := range watcher.Watch(ctx, r.prefix, clientv3.WithPrefix(), clientv3.WithRev(at.revision+1), clientv3.WithCreatedNotify(), clientv3.WithFragment()) {
		if err := is.Err(); err != nil {
			return err
		}
		if is.Header.ClusterId != at.cluster {
			return fmt.Errorf("%w: cluster %x and not %x", ErrRestored, is.Header.ClusterId, at.cluster)
		}
		if is.Created {
			slow.Stop()
			r.restartBy(cancel)
			r.connected()
			r.line.State(hook.Connected, nil)
		}
		if err := r.apply(is.Events, at.cluster); err != nil {
			return err
		}
	}
	return context.Cause(ctx)
}

// apply publishes what events tell: whole revisions.
func (r *Replica) apply(events []*clientv3.Event, cluster uint64) error {
	for len(events) > 0 {
		n := slices.IndexFunc(events, func(e *clientv3.Event) bool { return e.Kv.ModRevision != events[0].Kv.ModRevision })
		if n < 0 {
			n = len(events)
		}
		is, ok, err := r.decodeRevision(events[:n], cluster)
		events = events[n:]
		at := r.now()
		switch {
		case err != nil:
			return err
		case !ok:
			continue
		case is.lineage != at.lineage || is.version <= at.version:
			return fmt.Errorf("%w: version %d of %s, after %d of %s", ErrRestored, is.version, is.lineage, at.version, at.lineage)
		case is.commits[0].Version != at.version+1:
			return fmt.Errorf("%w: %d, after %d", errGap, is.commits[0].Version, at.version)
		}
		if is.writer == r.name {
			r.holds(is.revision)
		}
		if !r.ack(is.writer, is.group) {
			if err := r.line.Rebase(is.commits...); err != nil {
				return fmt.Errorf("%w: %w", errLine, err)
			}
		}
		r.settle(is.position)
	}
	return nil
}

// ack acknowledges the group that is on its way, if it is the group of that number of that writer.
func (r *Replica) ack(writer string, number uint64) bool {
	r.telling.Lock() // or it may be refused before it is acknowledged
	defer r.telling.Unlock()
	g := r.onItsWay()
	if g == nil || writer != r.name || number != g.number || g.commits[0].Void() {
		return false
	}
	r.accepted() // before its updates return, which may ask for the Status
	r.line.Ack(g.last().Version)
	return true
}

// onItsWay returns the group that is on its way, or nil.
func (r *Replica) onItsWay() *group {
	r.queue.mu.Lock()
	defer r.queue.mu.Unlock()
	return r.queue.open
}

// settle says that at is published. That decides the group on its way: the head that it
// is guarded by does not come back.
func (r *Replica) settle(at position) {
	r.moved(at) // before the queue is told, so that next finds it
	q := &r.queue
	q.mu.Lock()
	defer q.mu.Unlock()
	q.prune(at.version)
	if q.open != nil && q.open.guard.version < at.version {
		q.open.done()
		q.open = nil
	}
	q.change()
}
