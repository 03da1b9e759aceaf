package cowtest

import (
	"context"
	"iter"
	"slices"
	"sync"
	"testing"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/cow/internal/sink"
)

// A Sink stands for what makes a DB durable or replicates it, in tests. It takes the commits that
// updates propose, and the test decides what becomes of them, and when. Until then the updates
// wait.
//
// A Sink is made by [Attach], must not be copied, and is safe for concurrent use. It starts no
// goroutine. Update functions must not call it.
type Sink struct {
	line sink.DB
	o    SinkOptions

	telling sync.Mutex // held while the line is told something

	mu      sync.Mutex // never held while the line is called
	pending []*sink.Commit
	changed chan struct{} // closed at the next change of pending; nil: nobody waits
	trimmed uint64
}

// SinkOptions say what a DB begins with and how its Sink answers. With the zero
// value the DB goes on from what it has, and every proposal is taken.
type SinkOptions struct {
	// Of, if not nil, is the Sink of another DB with the same tables. The DB, which
	// must be at version 0, becomes a replica of that one: it takes its lineage and
	// what is published there.
	Of *Sink

	// Contents, if they have a lineage, are what the DB begins with, in place of those of
	// Of. Past are the commits after them.
	Contents sink.Contents
	Past     []*sink.Commit

	// Room, if not nil, blocks until there is room for a proposal, or returns an error if
	// there will be none. It is called before each run of an update's function; attempt is
	// the number of earlier runs, which were superseded.
	Room func(ctx context.Context, attempt int) error

	// Propose, if not nil, is called with each proposal, and refuses it by returning an error.
	// It is called while the DB is locked, and must use neither the DB nor the Sink.
	Propose func(c *sink.Commit) error

	// Close, if not nil, is called when the DB is closed. Proposals that it does not
	// acknowledge fail.
	Close func() error
}

// Attach attaches a new Sink to db, and closes db at the end of the test. It ends the test if db
// has a sink already, if a table of db cannot be stored, or if db cannot begin with what o says.
func Attach(t testing.TB, db *cow.DB, o SinkOptions) *Sink {
	t.Helper()
	s := &Sink{line: sink.For(db), o: o}
	c := o.Contents
	switch {
	case c.Lineage != "":
	case o.Of != nil:
		c = o.Of.Contents()
	default:
		c = s.line.Contents()
	}
	if err := s.line.Attach(answers{s}, c, seq(o.Past)); err != nil {
		t.Fatalf("cowtest: the Sink cannot be attached: %v", err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return s
}

// seq returns an iterator over commits.
func seq(commits []*sink.Commit) iter.Seq2[*sink.Commit, error] {
	return func(yield func(*sink.Commit, error) bool) {
		for _, c := range commits {
			if !yield(c, nil) {
				return
			}
		}
	}
}

// Contents returns what is published, for Reset or for SinkOptions.Contents of another DB.
func (s *Sink) Contents() sink.Contents { return s.line.Contents() }

// Trimmed returns the oldest version that the DB may still ask for, or sink.NoPast if
// it keeps none but the published one.
func (s *Sink) Trimmed() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.trimmed
}

// Pending returns the proposals that are not decided yet, in the order of their versions.
func (s *Sink) Pending() []*sink.Commit {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dropVoid()
	return slices.Clone(s.pending)
}

// dropVoid removes what the DB has dropped. The caller holds mu.
func (s *Sink) dropVoid() { s.pending = slices.DeleteFunc(s.pending, (*sink.Commit).Void) }

// Await blocks until at least n proposals are pending, and returns all of them. If ctx ends first,
// it returns ctx's cause.
func (s *Sink) Await(ctx context.Context, n int) ([]*sink.Commit, error) {
	for {
		s.mu.Lock()
		if s.changed == nil {
			s.changed = make(chan struct{})
		}
		changed := s.changed
		s.mu.Unlock()
		if pending := s.Pending(); len(pending) >= n {
			return pending, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// Ack acknowledges the first n pending proposals, or all if there are fewer, and returns them: they
// are published. To test a group, acknowledge several at once; to test a delay, call Ack late.
func (s *Sink) Ack(n int) []*sink.Commit {
	s.telling.Lock()
	defer s.telling.Unlock()
	s.mu.Lock()
	s.dropVoid()
	n = min(n, len(s.pending))
	acked := slices.Clone(s.pending[:n])
	s.pending = slices.Delete(s.pending, 0, n)
	s.mu.Unlock()
	if n > 0 {
		s.line.Ack(acked[n-1].Version)
	}
	return acked
}

// Rebase publishes commits of another line, such as those that Ack of another Sink returned, and
// supersedes all pending proposals; there may be no commits. The updates that wait run again. It
// returns the error that the DB has failed with, if it has.
func (s *Sink) Rebase(foreign ...*sink.Commit) error {
	s.telling.Lock()
	defer s.telling.Unlock()
	return s.line.Rebase(foreign...)
}

// Refuse makes the updates of the first n pending proposals, or of all if there are fewer, return
// err. The updates behind them run again.
func (s *Sink) Refuse(n int, err error) {
	s.telling.Lock()
	defer s.telling.Unlock()
	if pending := s.Pending(); len(pending) > 0 && n > 0 {
		s.line.Refuse(pending[min(n, len(pending))-1].Version, err)
	}
}

// Reset replaces what is published by the contents c and the commits after them, and supersedes all
// pending proposals. It returns the error that the DB has failed with, if it has.
func (s *Sink) Reset(c sink.Contents, past ...*sink.Commit) error {
	s.telling.Lock()
	defer s.telling.Unlock()
	return s.line.Reset(c, seq(past))
}

// Fail makes pending and all later updates return an error that wraps err.
func (s *Sink) Fail(err error) {
	s.telling.Lock()
	defer s.telling.Unlock()
	s.line.Fail(err)
}

// answers is what a Sink is to its DB.
type answers struct{ s *Sink }

func (a answers) Room(ctx context.Context, attempt int) error {
	if a.s.o.Room == nil {
		return nil
	}
	return a.s.o.Room(ctx, attempt)
}

func (a answers) Propose(c *sink.Commit) error {
	s := a.s
	if s.o.Propose != nil {
		if err := s.o.Propose(c); err != nil {
			return err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pending = append(s.pending, c)
	if s.changed != nil {
		close(s.changed)
		s.changed = nil
	}
	return nil
}

// Erases is sink.Eraser: a Sink keeps no past.
func (a answers) Erases() {}

func (a answers) Trim(oldest uint64) {
	a.s.mu.Lock()
	defer a.s.mu.Unlock()
	a.s.trimmed = oldest
}

func (a answers) Close() error {
	if a.s.o.Close == nil {
		return nil
	}
	return a.s.o.Close()
}
