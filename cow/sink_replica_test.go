package cow_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/cow/internal/sink"
)

// This is a toy of a store on many machines, to show that the door serves optimistic
// commits: the lines of two DBs are replicas of one log, which takes a group of
// commits if they follow its head. Who loses learns it from the log, and its updates
// run again.

// A toyLog is the log. Its answers may get lost.
type toyLog struct {
	lineage string

	mu      sync.Mutex
	commits []*sink.Commit
	grown   chan struct{} // closed when there are more

	refused atomic.Int64 // appends that came too late; senders that have lost an answer go on
}

// append appends a group that begins at the version after the head. Its answer
// is no more than a hint, so there is none.
func (l *toyLog) append(group []*sink.Commit) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case group[0].Version != uint64(len(l.commits))+1:
		l.refused.Add(1)
		return
	case rand.IntN(20) == 0:
		return // it never arrived
	}
	l.commits = append(l.commits, group...)
	close(l.grown)
	l.grown = make(chan struct{})
}

// since returns the commits above a version, or, if there are none, a channel that
// is closed when there are some.
func (l *toyLog) since(version int) ([]*sink.Commit, <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.commits[version:]), l.grown
}

// all returns the commits of the log.
func (l *toyLog) all() []*sink.Commit {
	commits, _ := l.since(0)
	return commits
}

// A toyReplica is the sink of one DB: a sink.Sink.
type toyReplica struct {
	log  *toyLog
	line sink.DB

	mu      sync.Mutex
	pending []*sink.Commit
	moved   chan struct{} // closed at the next change of pending

	// Before its first append it waits for this.
	gate func()
}

var errContended = errors.New("too many others write the same")

func (r *toyReplica) Room(ctx context.Context, attempt int) error {
	if attempt > 10_000 {
		return errContended
	}
	for range rand.IntN(1 + min(attempt, 10)) {
		runtime.Gosched()
	}
	return nil
}

func (r *toyReplica) Propose(c *sink.Commit) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.pending = append(r.pending, c)
	r.move()
	return nil
}

func (r *toyReplica) Trim(uint64)  {}
func (r *toyReplica) Close() error { return nil }

// move wakes those who wait for a change. The caller holds mu.
func (r *toyReplica) move() {
	close(r.moved)
	r.moved = make(chan struct{})
}

// group returns proposals whose fate is open, and a channel that is closed when
// there may be others.
func (r *toyReplica) group() ([]*sink.Commit, <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.pending = slices.DeleteFunc(r.pending, (*sink.Commit).Void)
	return slices.Clone(r.pending[:min(len(r.pending), 4)]), r.moved
}

// send appends to the log, one group at a time: while the fate of a group is open,
// what was derived from it is not sent, for a commit of that version may have come
// from elsewhere. A group is sent until the log tells what became of it.
func (r *toyReplica) send(ctx context.Context) {
	for ctx.Err() == nil {
		group, moved := r.group()
		if len(group) == 0 {
			select {
			case <-moved:
			case <-ctx.Done():
			}
			continue
		}
		if r.gate != nil {
			r.gate()
			r.gate = nil
		}
		for r.open(group) && ctx.Err() == nil {
			r.log.append(group)
			runtime.Gosched()
		}
	}
}

// open reports whether the fate of a part of the group is open.
func (r *toyReplica) open(group []*sink.Commit) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	last := group[len(group)-1]
	return !last.Void() && slices.Contains(r.pending, last)
}

// follow tells the line what is in the log.
func (r *toyReplica) follow(ctx context.Context, t *testing.T) {
	for at := 0; ; {
		commits, grown := r.log.since(at)
		if len(commits) == 0 {
			select {
			case <-grown:
			case <-ctx.Done():
				return
			}
		}
		for _, c := range commits {
			at++
			if r.mine(c) {
				r.line.Ack(c.Version)
			} else if err := r.line.Rebase(c); err != nil {
				t.Errorf("a replica: %v", err)
			}
		}
	}
}

// mine reports whether c is the first of what is pending, which it then is no more.
func (r *toyReplica) mine(c *sink.Commit) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.pending = slices.DeleteFunc(r.pending, (*sink.Commit).Void)
	mine := len(r.pending) > 0 && r.pending[0] == c
	if mine {
		r.pending = r.pending[1:]
	}
	r.move()
	return mine
}

// join makes a ledger a replica, until ctx ends.
func (l *toyLog) join(ctx context.Context, t *testing.T, gate func(), running *sync.WaitGroup) *ledger {
	is := newLedger(t)
	r := &toyReplica{log: l, line: sink.For(&is.db), moved: make(chan struct{}), gate: gate}
	nothing := iter.Seq2[*sink.Commit, error](func(func(*sink.Commit, error) bool) {})
	require.NoError(t, r.line.Attach(r, sink.Contents{Lineage: l.lineage}, nothing))
	running.Go(func() { r.send(ctx) })
	running.Go(func() { r.follow(ctx, t) })
	return is
}

func TestTwoLinesAndOneLog(t *testing.T) {
	noDeadlock(t)
	log := &toyLog{lineage: restored, grown: make(chan struct{})}
	var running sync.WaitGroup
	ctx, stop := context.WithCancel(t.Context())
	defer running.Wait()
	defer stop()

	// Both have a commit of version 1 to send before either is sent: one of the two
	// must lose.
	var ready sync.WaitGroup
	ready.Add(2)
	gate := func() { ready.Done(); ready.Wait() }
	lines := []*ledger{log.join(ctx, t, gate, &running), log.join(ctx, t, gate, &running)}

	const writers, each = 4, 50
	var runs atomic.Int64
	together(2*writers, func(w int) {
		l := lines[w%2]
		for i := range each {
			op := fmt.Sprintf("%d.%d", w, i)
			mine := 0
			err := l.db.Update(func(tx *cow.Tx) error {
				mine++
				l.do(tx, op, mine, w*i)
				return l.items.Edit(tx).Upsert("count", func(v *int, _ bool) error { *v++; return nil })
			})
			runs.Add(int64(mine))
			if err != nil {
				t.Errorf("%s: %v", op, err)
			}
			s := l.db.Load()
			if run, _ := l.ops.In(s).Get(op); run != mine {
				t.Errorf("%s: its writer sees run %d and not %d", op, run, mine)
			}
			if err := l.check(s); err != nil {
				t.Error(err)
			}
		}
	})

	const total = 2 * writers * each
	require.Greater(t, runs.Load(), int64(total), "somebody must have lost")
	require.Positive(t, log.refused.Load())
	commits := log.all()
	require.Len(t, commits, total)
	want := states(t, commits)[total]
	require.Equal(t, total, want[1]["count"])
	lines = append(lines, log.join(ctx, t, nil, &running)) // one that was not there
	for _, l := range lines {
		s := l.db.Load()
		for s.Version() < total {
			var err error
			s, err = l.db.Wait(t.Context(), s.Version())
			require.NoError(t, err)
		}
		require.Equal(t, want, l.contents(s))
		require.NoError(t, l.check(s))
		for _, c := range commits {
			at, err := l.db.At(c.Version)
			require.NoError(t, err)
			require.NoError(t, l.check(at))
		}
	}
}
