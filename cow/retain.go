package cow

import (
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"time"
)

// A Retention says which past versions stay reachable by At, AsOf and Changes:
// those that keep every limit that is set. With no limit set there is no
// history, and it costs nothing.
type Retention struct {
	Versions int           // at most so many versions before the current one
	Age      time.Duration // versions that were current within the last Age
	Bytes    int64         // while the old rows of all hold back about so many bytes
}

// The errors of reads of the past, to be tested with errors.Is.
var (
	// ErrCompacted says that a version is no longer kept, or never was.
	ErrCompacted = errors.New("version is not retained")

	// ErrUnpublished says that there is no such version yet.
	ErrUnpublished = errors.New("version is not published yet")
)

// Retain keeps past versions from now on, as r says, or, where r sets no limit,
// forgets all of them. It replaces what an earlier call said. A commit then also
// records what it changed. Limits are applied at each read of the past, and at each
// commit, when up to a sixteenth more Versions may stay until the next; of Bytes the
// latest commit is exempt. Retain waits for the function of an update that is running.
func (l *line[P]) Retain(r Retention) {
	if r.Versions < 0 || r.Age < 0 || r.Bytes < 0 {
		panic("cow: Retain with a negative limit")
	}
	// In the writer's place, so that an update which goes on without a Commit has
	// been published.
	l.lock("Retain")
	defer l.writer.Unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case r == (Retention{}):
		l.history = nil
	case l.history == nil:
		l.history = newHistory(l.published.Load(), r)
	default:
		l.history.limit = r
		l.history.trim(time.Now().UnixNano(), 0)
	}
	l.trimmed()
}

// Compact forgets the retained past before a version, as if a limit of Retain were
// exceeded: for what must not be found there any more. Reads of it, and of Changes from
// before, return ErrCompacted; pins stay. What becomes durable is forgotten there too. It
// returns ErrUnpublished for a version to come, and takes time proportional to what goes.
func (l *line[P]) Compact(version uint64) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if version > l.published.Load().Version() {
		return unpublished(version)
	}
	if h := l.history; h != nil && version > h.base.version {
		h.drop(int(version - h.base.version))
		l.trimmed()
	}
	return nil
}

// At returns the snapshot of a version: the current one, a retained one, or a
// pinned one. It returns ErrCompacted for one that is gone, and ErrUnpublished
// for one to come. It takes time proportional to the changes since, or at most to
// an eighth of all rows, and never waits for an update.
func (s *Store[K, V]) At(version uint64) (*Map[K, V], error) { return s.at(version) }

// At is [Store.At] for the tables of the DB, in one version.
func (db *DB) At(version uint64) (*Snapshot, error) { return db.at(version) }

func (l *line[P]) at(version uint64) (P, error) {
	current := l.published.Load()
	if v := current.Version(); version >= v {
		if version > v {
			return *new(P), unpublished(version)
		}
		return current, nil
	}
	if s, ok := l.pins.at(version); ok {
		return s, nil
	}
	l.mu.Lock()
	var s P
	var commits []*Commit
	known := false
	if l.history != nil {
		s, commits, known = l.history.nearest(l.published.Load(), version)
	}
	l.mu.Unlock() // commits are immutable; the rest takes a while
	if !known {
		return *new(P), compacted(version)
	}
	if len(commits) == 0 {
		return s, nil
	}
	slices.Reverse(commits)
	older, _ := commits[0].changes.rewind(s, version, commits).(P)
	return older, nil
}

// AsOf returns the snapshot that was current at t; for a time to come, the
// current one. It returns ErrCompacted for a time before the oldest retained
// version, and always where nothing is retained: there the times of versions
// are not known. A t with a reading of the monotonic clock, such as time.Now() or
// a time computed from it, finds what was current then even if the wall clock was
// set meanwhile.
func (s *Store[K, V]) AsOf(t time.Time) (*Map[K, V], error) { return s.asOf(t) }

// AsOf is [Store.AsOf] for the tables of the DB, in one version.
func (db *DB) AsOf(t time.Time) (*Snapshot, error) { return db.asOf(t) }

func (l *line[P]) asOf(t time.Time) (P, error) {
	l.mu.Lock()
	known := false
	var version uint64
	if l.history != nil {
		version, known = l.history.asOf(t)
	}
	l.mu.Unlock()
	if known {
		return l.at(version)
	}
	return *new(P), fmt.Errorf("cow: time %v: %w", t.Format(time.RFC3339Nano), ErrCompacted)
}

// nanos returns t as a number of ns since 1970, or the nearest there is.
func nanos(t time.Time) int64 {
	switch {
	case t.Before(time.Unix(0, math.MinInt64)):
		return math.MinInt64
	case t.After(time.Unix(0, math.MaxInt64)):
		return math.MaxInt64
	}
	return t.UnixNano()
}

// Versions returns an iterator over the retained versions, the oldest first and
// the current one last, and when each was published. For the oldest that may be
// the time at which it was first retained, and for version 0 it is the zero
// time. Where nothing is retained there is the current version alone, at the
// zero time.
func (l *line[P]) Versions() iter.Seq2[uint64, time.Time] {
	return func(yield func(uint64, time.Time) bool) {
		l.mu.Lock()
		base, commits := moment{version: l.published.Load().Version()}, []*Commit(nil)
		if h := l.history; h != nil {
			h.trim(time.Now().UnixNano(), 0)
			base, commits = h.base, slices.Clone(h.commits)
		}
		l.mu.Unlock()
		first := time.Time{}
		if base.at != 0 {
			first = time.Unix(0, base.at)
		}
		if !yield(base.version, first) {
			return
		}
		for _, c := range commits {
			if !yield(c.version, c.Time()) {
				return
			}
		}
	}
}

func unpublished(version uint64) error {
	return fmt.Errorf("cow: version %d: %w", version, ErrUnpublished)
}
