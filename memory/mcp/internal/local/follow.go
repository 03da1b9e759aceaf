package local

import (
	"context"
	"errors"
	"iter"
	"slices"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/memory"
	"github.com/cowstore/cowstore/memory/mcp/internal/store"
)

// Changes yields what was committed, as Events; see store.Store. That something got a vector
// is none.
func (s *Store) Changes(ctx context.Context, cursor string) iter.Seq2[store.Event, error] {
	return func(yield func(store.Event, error) bool) {
		if s.closed.Load() {
			yield(store.Event{}, store.ErrClosed)
			return
		}
		ctx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		defer context.AfterFunc(s.ctx, func() { cancel(store.ErrClosed) })()
		if cursor == "" {
			cursor = s.Cursor()
		}
		for commit, err := range s.m.DB().Resume(ctx, cursor) {
			if err != nil {
				for _, gone := range []error{cow.ErrCompacted, cow.ErrCursor, cow.ErrLineage, cow.ErrUnpublished} {
					if errors.Is(err, gone) {
						err = store.ErrCursor
					}
				}
				yield(store.Event{}, err)
				return
			}
			var names []string
			for c := range s.m.Rows(commit) {
				if len(c.Space) > 0 && inside(c, c.Space[0]) && !slices.Contains(names, c.Space[0]) {
					names = append(names, c.Space[0])
				}
			}
			slices.Sort(names)
			if len(names) > 0 && !yield(store.Event{Cursor: commit.Cursor(), Namespaces: names}, nil) {
				return
			}
		}
	}
}

// Cursor returns the cursor of now, from which Changes goes on.
func (s *Store) Cursor() string {
	db := s.m.DB()
	return db.Cursor(db.Load().Version())
}

// survey counts what there is, and returns the version at which it did.
func (s *Store) survey() uint64 {
	snap := s.m.Load()
	var used int64
	for space := range snap.Spaces(memory.SpacesOptions{}) {
		for e := range snap.Space(space...).List(memory.ListOptions{}) {
			used += size(e)
		}
	}
	s.used.Store(used)
	return snap.Version()
}

// follow counts what comes and goes beside requests, until the Store ends.
func (s *Store) follow(at uint64) {
	for s.ctx.Err() == nil {
		for commit, err := range s.m.DB().Changes(s.ctx, at) {
			if errors.Is(err, cow.ErrCompacted) {
				at = s.survey() // it was too slow: count again
				break
			}
			if err != nil {
				return
			}
			at = commit.Version()
			for c := range s.m.Rows(commit) {
				if c.Kind == memory.Expired || onlyVector(c) { // what requests write they count themselves
					s.used.Add(size(c.New) - size(c.Old))
				}
			}
		}
	}
}

// size returns about how many bytes an entry takes.
func size(e memory.Entry) int64 {
	if !e.Value.Exists() {
		return 0
	}
	const row = 400 // for its places in tables and indexes
	return row + e.Value.Size() + int64(4*e.Dim+2*len(e.Key))
}
