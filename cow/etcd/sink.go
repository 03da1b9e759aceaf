package etcd

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/cow/internal/sink"
)

// A replicaSink is a Replica as its DB sees it: a sink.Sink.
type replicaSink struct{ *Replica }

// A queue has the proposals whose fate is open, the oldest first: those of the group on
// its way, and those behind it.
type queue struct {
	mu      sync.Mutex
	waiting []proposal
	bytes   int // in waiting
	open    *group
	closing bool

	// So many were superseded since the last group was made, and when. They run again and
	// come back.
	superseded int
	at         time.Time

	changed chan struct{} // closed at the next change; nil: nobody waits
}

// A proposal is a commit, and what it takes of a transaction.
type proposal struct {
	*sink.Commit
	bytes int
}

// change tells those who wait that something has changed. The caller holds mu.
func (q *queue) change() {
	if q.changed != nil {
		close(q.changed)
		q.changed = nil
	}
}

// await waits for a change or for ctx to end. The caller holds mu, which is not held
// meanwhile.
func (q *queue) await(ctx context.Context) {
	if q.changed == nil {
		q.changed = make(chan struct{})
	}
	changed := q.changed
	q.mu.Unlock()
	defer q.mu.Lock()
	select {
	case <-changed:
	case <-ctx.Done():
	}
}

// prune removes the proposals whose fate is known: those up to a version, and those that
// the line has dropped. The caller holds mu.
func (q *queue) prune(version uint64) {
	n := len(q.waiting)
	q.waiting = slices.DeleteFunc(q.waiting, func(p proposal) bool {
		void := p.Void()
		gone := p.Version <= version || void
		if gone {
			q.bytes -= p.bytes
		}
		if void {
			q.superseded, q.at = q.superseded+1, time.Now()
		}
		return gone
	})
	if len(q.waiting) < n {
		q.change()
	}
}

// Room waits for room in the queue.
func (r replicaSink) Room(ctx context.Context, attempt int) error {
	ctx, stop := r.joined(ctx)
	defer stop()
	switch {
	case attempt >= r.o.Attempts:
		return fmt.Errorf("etcd: %w: %d times; spread the writes over fewer replicas, or raise Options.Attempts", ErrContended, attempt)
	case attempt > 0:
		// Replicas take turns, see turns.go; whoever is very unlucky leaves it to others.
		const lucky, most = 16, 32
		if n := min(attempt-lucky, most); n > 0 && !sleep(ctx, rand.N(time.Duration(n)*time.Millisecond)) {
			return context.Cause(ctx)
		}
	case r.o.Linearizable:
		if _, err := r.Fresh(ctx); err != nil {
			return err
		}
	}
	q := &r.queue
	q.mu.Lock()
	defer q.mu.Unlock()
	for {
		switch {
		case q.closing:
			return fmt.Errorf("etcd: %w", cow.ErrClosed)
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case len(q.waiting) < r.o.Queue && q.bytes < queueBytes:
			return nil
		}
		q.await(ctx)
	}
}

// Propose queues c, if it fits into a transaction.
func (r replicaSink) Propose(c *sink.Commit) error {
	p := proposal{c, r.size(c)}
	if n := len(c.Rows) + groupOps; n > r.o.MaxOps {
		return fmt.Errorf("etcd: %w: %d operations, of %d: change fewer rows in one update, or raise --max-txn-ops of etcd and Options.MaxOps",
			ErrTooLarge, n, r.o.MaxOps)
	}
	if n := p.bytes + r.groupSize(); n > r.o.MaxBytes {
		return fmt.Errorf("etcd: %w: about %d bytes, of %d: make it several updates, or raise --max-request-bytes of etcd and Options.MaxBytes",
			ErrTooLarge, n, r.o.MaxBytes)
	}
	q := &r.queue
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting = append(q.waiting, p)
	q.bytes += p.bytes
	q.change()
	return nil
}

// Erases is sink.Eraser: there is no past in what a replica reads.
func (r replicaSink) Erases() {}

// Trim does nothing: etcd has no past of a DB.
func (r replicaSink) Trim(uint64) {}

// Close waits a while for what is on its way.
func (r replicaSink) Close() error {
	q := &r.queue
	q.mu.Lock()
	q.closing = true
	q.change()
	q.mu.Unlock()

	ctx, cancel := context.WithTimeout(r.ctx, 4*r.o.Timeout)
	defer cancel()
	q.mu.Lock()
	for q.prune(0); len(q.waiting) > 0 && ctx.Err() == nil; q.prune(0) {
		q.await(ctx)
	}
	left := len(q.waiting)
	q.mu.Unlock()

	var err error
	failed := r.ctx.Err() != nil
	r.end(fmt.Errorf("etcd: %w", cow.ErrClosed))
	r.running.Wait()
	switch {
	case left > 0 && !failed:
		// They may happen, as long as a request of theirs is on its way.
		r.line.Fail(sink.Undecided{Err: fmt.Errorf("etcd: %w", cow.ErrClosed)})
		err = fmt.Errorf("etcd: %w: %w before etcd has answered", cow.ErrUnknownOutcome, cow.ErrClosed)
	case r.sent > 0:
		ctx, cancel := context.WithTimeout(context.Background(), min(r.o.Timeout, forgetTimeout))
		defer cancel()
		_, _ = r.client.Delete(ctx, r.receiptKey()) // or another replica does, later
	}
	if cause := context.Cause(r.ctx); failed && !errors.Is(cause, cow.ErrClosed) {
		err = cause
	}
	return err
}
