package bolt

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/cow/internal/sink"
)

// A fileSink queues the commits of a DB and writes them, in one goroutine, all that wait in
// one transaction. While that is being synced, the next wait. It is a sink.Sink.
type fileSink struct {
	line   sink.DB
	writer writer
	sync   Sync
	limit  int

	mu      sync.Mutex
	queue   []proposal // what is not on disk, the oldest first
	bytes   int        // in queue
	taken   int        // so many of queue are being written
	acked   int        // so many of queue are acknowledged: with Every
	hurry   bool       // nothing is acknowledged before it is on disk: with Every
	pins    []pinning  // that are not on disk
	wanted  int        // so many in queue are a change; 0: any
	oldest  uint64     // see Trim
	closing bool
	ended   bool          // nothing is written any more
	changed chan struct{} // closed at the next change; nil: nobody waits

	running sync.WaitGroup
	err     error // of the writing, once it has ended
}

// A proposal is a commit that is not on disk, and when it was made.
type proposal struct {
	*sink.Commit
	at    time.Time
	bytes int
}

func newSink(line sink.DB, l *loader) *fileSink {
	s := &fileSink{line: line, sync: l.o.Sync, limit: l.o.queue(), writer: newWriter(l)}
	s.running.Add(1) // a Close before start waits for it
	return s
}

// start begins to write, if the sink was attached.
func (s *fileSink) start(attached bool) {
	defer s.running.Done()
	if !attached {
		return
	}
	s.running.Go(s.write)
	if s.sync != Always {
		s.running.Go(s.acknowledge)
	}
}

// change tells those who wait that something has changed. The caller holds mu.
func (s *fileSink) change() {
	if s.changed != nil {
		close(s.changed)
		s.changed = nil
	}
}

// await waits for a change, for ctx to end, or until a time if it is not zero. The caller
// holds mu, which is not held meanwhile.
func (s *fileSink) await(ctx context.Context, until time.Time) {
	if s.changed == nil {
		s.changed = make(chan struct{})
	}
	changed := s.changed
	s.mu.Unlock()
	defer s.mu.Lock()
	var timeout <-chan time.Time
	if !until.IsZero() {
		t := time.NewTimer(time.Until(until))
		defer t.Stop()
		timeout = t.C
	}
	select {
	case <-changed:
	case <-timeout:
	case <-ctx.Done():
	}
}

func (s *fileSink) Room(ctx context.Context, _ int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		switch {
		case s.closing || s.ended:
			return fmt.Errorf("bolt: %w", cow.ErrClosed)
		case len(s.queue) < s.limit && s.bytes < queueBytes:
			return nil
		case ctx.Err() != nil:
			return context.Cause(ctx)
		}
		s.await(ctx, time.Time{})
	}
}

// fits returns an error for a row that cannot be stored.
func fits(r sink.Row) error {
	if len(r.Key) >= maxKey {
		return fmt.Errorf("bolt: a key of %d bytes, and there is room for %d", len(r.Key), maxKey-1)
	}
	if len(r.Value) > maxCommit {
		return fmt.Errorf("bolt: a value of %d bytes, and there is room for %d", len(r.Value), maxCommit)
	}
	return nil
}

func (s *fileSink) Propose(c *sink.Commit) error {
	n := 0
	for _, r := range c.Rows {
		if err := fits(r); err != nil {
			return err
		}
		if n += len(r.Key) + len(r.Value); n > maxCommit {
			return fmt.Errorf("bolt: an update of more than %d bytes: make it several", maxCommit)
		}
	}
	// On the monotonic clock, when c was made: a moment ago, unless the other clock was set.
	now := time.Now()
	at := now.Add(-min(max(now.Sub(c.Time), 0), time.Duration(s.sync)))
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue = append(s.queue, proposal{c, at, n})
	s.bytes += n
	if len(s.queue) >= s.wanted || s.bytes >= queueBytes {
		s.change()
	}
	return nil
}

func (s *fileSink) Trim(oldest uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.oldest = oldest
}

// Close writes what waits, and unlocks the file.
func (s *fileSink) Close() error {
	s.mu.Lock()
	s.closing = true
	s.change()
	s.mu.Unlock()
	s.running.Wait()
	return s.named(s.err)
}

// named is an error of the writing, with the file that it is about.
func (s *fileSink) named(err error) error {
	if err == nil || errors.Is(err, ErrChanged) { // which has it
		return err
	}
	return named(s.writer.file.path, err)
}

// write writes groups until the sink is closed or a write fails.
func (s *fileSink) write() {
	var oldest uint64
	var last gathering
	for {
		var group []proposal
		var pins []pinning
		if group, pins, oldest = s.next(&last); len(group) == 0 && len(pins) == 0 {
			break
		}
		begun := time.Now()
		if s.err = s.writer.write(group, pins, oldest); s.err != nil {
			err := s.named(s.err)
			if errors.As(err, new(unwritten)) {
				s.line.Fail(err)
			} else {
				// What was to say that the transaction is there may be on disk all the same.
				s.line.Fail(sink.Undecided{Err: err})
				err = fmt.Errorf("bolt: %w: %w", cow.ErrUnknownOutcome, err)
			}
			for _, p := range pins {
				p.done <- err
			}
			break
		}
		for _, p := range pins {
			p.done <- p.err
		}
		if len(group) > 0 {
			s.line.Ack(group[len(group)-1].Version)
			last.wrote(len(group)+s.drop(len(group)), time.Since(begun))
		}
		if !s.late() {
			s.writer.last = nil
		}
	}
	if s.err == nil {
		s.err = s.writer.end(oldest)
	}
	if err := s.writer.file.close(); s.err == nil {
		s.err = err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	for _, p := range s.pins {
		p.done <- cmp.Or(s.named(s.err), fmt.Errorf("bolt: %w", cow.ErrClosed))
	}
	s.pins = nil
	s.change()
}

// A gathering says how long a transaction is worth waiting for those whose updates the
// last one had: if they come back at once, one transaction does instead of two.
type gathering struct {
	all  int           // of the last transaction, and who waited at its end
	took time.Duration // the last transaction
	skip int           // so many transactions do not wait
	vain int           // so many waits in a row were in vain
}

func (g *gathering) wrote(all int, took time.Duration) { g.all, g.took = all, took }

// patience returns for how long to wait, given how many wait already.
func (g *gathering) patience(waiting int) time.Duration {
	if waiting >= g.all {
		return 0
	}
	if g.skip > 0 {
		g.skip--
		return 0
	}
	return g.took / 2
}

// met says whether all came. When they do not, waits get rare.
func (g *gathering) met(all bool) {
	if g.vain++; all {
		g.vain = 0
	}
	g.skip = 1<<min(g.vain, 6) - 1
}

// next waits until it is time to write and returns what waits, or nothing if the sink
// is closed, and the oldest version that the file has to keep.
func (s *fileSink) next(last *gathering) (group []proposal, pins []pinning, oldest uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		n, now := len(s.queue), time.Time{}
		if n > 0 {
			now = s.queue[0].at.Add(time.Duration(s.sync) / 2) // the rest is for the disk
		}
		if n > 0 && s.sync == Always {
			s.gather(last)
			n = len(s.queue)
		}
		if s.closing || len(s.pins) > 0 || n > 0 && (s.sync == Always || s.hurry || n >= s.limit || s.bytes >= queueBytes || !time.Now().Before(now)) {
			pins, s.pins, s.taken = s.pins, nil, n
			return s.queue[:n:n], pins, s.oldest
		}
		s.await(context.Background(), now)
	}
}

// gather waits a moment for those of the last group. The caller holds mu.
func (s *fileSink) gather(last *gathering) {
	all := min(last.all, s.limit)
	patience := last.patience(len(s.queue))
	if patience == 0 || len(s.queue) >= all {
		return
	}
	until := time.Now().Add(patience)
	s.wanted = all
	for !s.closing && len(s.queue) < all && s.bytes < queueBytes && time.Now().Before(until) {
		s.await(context.Background(), until)
	}
	s.wanted = 0
	last.met(len(s.queue) >= all)
}

// drop drops the first n proposals, which are on disk, and returns how many are left.
func (s *fileSink) drop(n int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.queue[:n] {
		s.bytes -= p.bytes
	}
	s.queue = append([]proposal(nil), s.queue[n:]...)
	s.taken, s.acked, s.hurry = 0, max(0, s.acked-n), false
	s.change()
	return len(s.queue)
}

// acknowledge acknowledges proposals before they are on disk, unless others wait for
// that for too long, or the file is not where it was: then the next transaction finds
// out, at once.
func (s *fileSink) acknowledge() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for !s.ended {
		n := len(s.queue)
		if n == s.acked || s.hurry || time.Since(s.queue[0].at) >= time.Duration(s.sync) {
			s.await(context.Background(), time.Time{})
			continue
		}
		s.acked = n
		version := s.queue[n-1].Version
		s.mu.Unlock()
		_, err := s.writer.file.there()
		if err == nil {
			s.line.Ack(version)
		}
		s.mu.Lock()
		if err != nil {
			s.acked, s.hurry = 0, true
			s.change()
		}
	}
}
