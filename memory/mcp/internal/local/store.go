// Package local keeps a memory in one file, and answers requests to it: all tools are
// here.
//
// Everything is an entry of one Memory, in spaces whose path begins with the namespace:
// see layout.go. So undo, forks, history, expiry and export work on entities, relations and
// notes alike. Beside the Memory, in the same DB and the same updates, is a table of
// receipts, by which a request that is sent again is not done again: see receipts.go.
package local

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/cow/bolt"
	"github.com/cowstore/cowstore/memory"
	"github.com/cowstore/cowstore/memory/mcp/internal/store"
)

// alone is all of Store.writing.
const alone = 1 << 32

// Options say how a Store behaves. The zero value is right for most.
type Options struct {
	Retain    cow.Retention // how much of the past is kept; zero: 10,000 versions, 30 days, 64 MiB
	MaxBytes  int64         // that entries take, about; 0: 1 GiB. What would be more is refused
	MaxResult int           // bytes of the result of a tool that can be cut; 0: 64 KiB
	Log       *slog.Logger  // nil: none

	// Embed, if not nil, returns the vectors of texts, all with the same number of
	// dimensions; see memory.Options. Recall waits for it for two seconds at most.
	Embed func(ctx context.Context, texts []string) ([][]float32, error)
}

func (o *Options) complete() {
	if o.Retain == (cow.Retention{}) {
		o.Retain = cow.Retention{Versions: 10_000, Age: 30 * 24 * time.Hour, Bytes: 64 << 20}
	}
	if o.MaxBytes == 0 {
		o.MaxBytes = 1 << 30
	}
	if o.MaxResult == 0 {
		o.MaxResult = 64 << 10
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
}

// A Store is a memory in a file. It is made by Open, must not be copied, and is safe for
// concurrent use.
type Store struct {
	o    Options
	line // the memory itself

	used    atomic.Int64 // bytes that entries take, about
	counted atomic.Int64 // when that was counted again, for a call that did not fit
	full    atomic.Bool  // a call did not fit, and it was logged

	mu    sync.Mutex
	forks map[forkName]*fork

	folded folded

	file    bool                // there is one
	writing *semaphore.Weighted // each request that writes has one of it, and one that erases all: alone

	ctx    context.Context // ends with the Store
	end    context.CancelFunc
	ending sync.WaitGroup
	closed atomic.Bool
}

var _ store.Store = (*Store)(nil)

// A line is a Memory with its receipts: that of the Store, or of a fork.
type line struct {
	m        *memory.Memory
	receipts *cow.Table[string, receipt]
	order    *cow.Index[string, receipt, uint64]
}

// newLine returns an empty line.
func newLine(o Options) (l line, err error) {
	db := new(cow.DB)
	l.m = memory.On(db, memory.Options{TextOf: textOf, Embed: bounded(o.Embed)})
	l.receipts = cow.NewTable[string](db, "receipts", cow.Options[receipt]{Codec: cow.Versioned[receipt]{}})
	db.Retain(o.Retain)
	l.order, err = cow.NewMultiIndex(l.receipts, "by age", receiptAge, cow.IndexOptions[string]{})
	return l, err
}

// Load returns the memory that the file at path has, with its past, and only reads the file, which
// is free again then. If a process has it the error wraps bolt.ErrLocked.
func Load(path string) (*memory.Memory, error) {
	var o Options
	o.complete()
	l, err := newLine(o)
	if err == nil {
		err = bolt.Load(path, l.m.DB(), bolt.Options{})
	}
	if err != nil {
		return nil, fmt.Errorf("open the memory: %w", err)
	}
	return l.m, nil
}

// Open opens the memory in the file at path, or makes one. Without a path it is in memory
// alone. If another process has the file the error wraps bolt.ErrLocked.
func Open(path string, o Options) (*Store, error) {
	o.complete()
	s := &Store{o: o, forks: make(map[forkName]*fork), file: path != "", writing: semaphore.NewWeighted(alone)}
	var err error
	if s.line, err = newLine(o); err != nil {
		return nil, fmt.Errorf("open the memory: %w", err)
	}
	if path != "" {
		if _, err := bolt.Open(path, s.m.DB(), bolt.Options{}); err != nil {
			return nil, fmt.Errorf("open the memory: %w", err)
		}
	}
	s.ctx, s.end = context.WithCancel(context.Background())
	if o.Embed != nil {
		s.ending.Go(s.embed)
	}
	at := s.survey()
	s.ending.Go(func() { s.follow(at) })
	s.ending.Go(s.sweep)
	return s, nil
}

// Memory returns the memory itself, to be read.
func (s *Store) Memory() *memory.Memory { return s.m }

// sweep removes what has expired, until the Store ends.
func (s *Store) sweep() {
	err := s.m.SweepEvery(s.ctx, time.Minute)
	if err != nil && s.ctx.Err() == nil {
		s.o.Log.Error("what has expired is not removed any more", "error", err)
	}
}

// Close ends the Store; see store.Store.
func (s *Store) Close() error {
	if s.closed.Swap(true) {
		return nil
	}
	s.end()
	s.ending.Wait()
	if err := s.m.DB().Close(); err != nil && !errors.Is(err, cow.ErrClosed) {
		return fmt.Errorf("close the memory: %w", err)
	}
	return nil
}
