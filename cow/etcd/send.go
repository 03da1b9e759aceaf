package etcd

import (
	"context"
	"errors"
	"fmt"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/cowstore/cowstore/cow/internal/door"
)

// send sends groups, one at a time, until the replica ends.
func (r *Replica) send() {
	for {
		g := r.next()
		if g == nil {
			return
		}
		r.commit(g)
		r.queue.mu.Lock()
		r.queue.open = nil
		r.queue.mu.Unlock()
	}
}

// next waits for proposals that follow what is published, and makes a group of the first
// of them. It returns nil if the replica ends.
func (r *Replica) next() *group {
	q := &r.queue
	q.mu.Lock()
	defer q.mu.Unlock()
	for r.ctx.Err() == nil {
		q.prune(0)
		// Proposals that do not follow it are void, or that is about to be told.
		if at := r.now(); len(q.waiting) > 0 && q.waiting[0].Version == at.version+1 {
			r.sent++
			q.open = r.group(at, r.sent)
			return q.open
		}
		q.await(r.ctx)
	}
	return nil
}

// group makes a group of as many proposals as fit into one transaction. It ends before a
// row that it has: etcd takes a key only once. The caller holds the queue's mu.
func (r *Replica) group(at position, number uint64) *group {
	g := &group{number: number, guard: at}
	g.ctx, g.done = context.WithCancel(r.ctx)
	of := receipt{group: number, version: at.version + 1}
	has := make(map[string]bool)
	ops, size := groupOps, r.groupSize()
	for _, p := range r.queue.waiting {
		ops, size = ops+len(p.Rows), size+p.bytes
		if ops > r.o.MaxOps || size > r.o.MaxBytes || r.hasAny(has, p.Rows) {
			break
		}
		g.commits = append(g.commits, p.Commit)
		c := receiptCommit{at: p.Time.UnixNano()}
		for _, row := range p.Rows {
			key := r.tables[row.Table] + string(row.Key)
			has[key] = true
			if row.Removed {
				c.removed = append(c.removed, key[len(rowsDir):])
				g.put = append(g.put, clientv3.OpDelete(r.prefix+key))
			} else {
				c.set++
				g.put = append(g.put, clientv3.OpPut(r.prefix+key, string(encodeRow(key, p.Version, row.Value))))
			}
		}
		of.commits = append(of.commits, c)
	}
	to := head{lineage: at.lineage, version: of.last(), at: g.last().Time.UnixNano(), writer: r.name, group: number}
	g.put = append(g.put,
		clientv3.OpPut(r.prefix+headKey, string(to.encode())),
		clientv3.OpPut(r.prefix+writers+r.name, string(of.encode(r.name))))
	return g
}

// hasAny reports whether a group has any of the rows.
func (r *Replica) hasAny(has map[string]bool, rows []door.Row) bool {
	for _, row := range rows {
		if has[r.tables[row.Table]+string(row.Key)] {
			return true
		}
	}
	return false
}

// commit sends the transaction of a group, and again, until its fate is known. That is
// for follow to find: an answer says only whether to send it again.
func (r *Replica) commit(g *group) {
	defer g.done()
	unknown := false // a request may happen yet
	for attempt := 0; g.ctx.Err() == nil; attempt++ {
		err := r.once(g.ctx, func(ctx context.Context) error {
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
	if errors.Is(err, rpctypes.ErrTooManyOps) || errors.Is(err, rpctypes.ErrRequestTooLarge) {
		err = fmt.Errorf("%w: Options.MaxOps or MaxBytes is more than etcd's flags say: %w", ErrTooLarge, err)
	}
	r.o.Log.Warn("etcd refuses updates", "prefix", r.prefix, "err", err)
	r.known.mu.Lock()
	r.known.refused = fmt.Errorf("etcd: %s: an update is refused: %w", r.prefix, err)
	r.known.err = r.known.refused
	r.known.mu.Unlock()
	_ = r.line.Rebase() // an error is that of Fail
}

// accepted says that etcd takes updates.
func (r *Replica) accepted() {
	r.known.mu.Lock()
	defer r.known.mu.Unlock()
	r.known.refused, r.known.err = nil, nil
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
	defer r.known.mu.Unlock()
	r.known.err = err
	r.o.Log.Debug("a request to etcd fails", "prefix", r.prefix, "err", err)
}
