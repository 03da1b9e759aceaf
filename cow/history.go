package cow

import (
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"time"
)

// The errors of reads of the past, to be tested with errors.Is.
var (
	// ErrCompacted says that a version is no longer kept, or never was.
	ErrCompacted = errors.New("version is not retained")

	// ErrUnpublished says that there is no such version yet.
	ErrUnpublished = errors.New("version is not published yet")
)

// Retain keeps past versions from now on, as r says, or, where r sets no limit,
// forgets all of them. It replaces what an earlier call said. A commit then also
// records what it changed, which it finds in time of the changes. Limits are
// applied at each commit and each read of the past; of Bytes the latest commit
// is exempt. Retain queues like an update.
func (l *line[P]) Retain(r Retention) {
	if r.Versions < 0 || r.Age < 0 || r.Bytes < 0 {
		panic("cow: Retain with a negative limit")
	}
	l.lock()
	defer l.writer.Unlock()
	if r == (Retention{}) {
		l.log.Store(nil)
		return
	}
	g := l.log.Load()
	if g == nil {
		g = newLog(l.current.Load())
		defer l.log.Store(g)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.limit = r
	g.trim(time.Now().UnixNano())
}

// At returns the snapshot of a version: the current one, a retained one, or a
// pinned one. It returns ErrCompacted for one that is gone, and ErrUnpublished
// for one to come. It takes time of the changes since, or at most of an eighth
// of all rows, and never waits for an update.
func (l *line[P]) At(version uint64) (P, error) {
	current := l.current.Load()
	if v := current.Version(); version >= v {
		if version > v {
			return *new(P), fmt.Errorf("cow: version %d: %w", version, ErrUnpublished)
		}
		return current, nil
	}
	if s, ok := l.pins.at(version); ok {
		return s, nil
	}
	g := l.log.Load()
	if g == nil {
		return *new(P), compacted(version)
	}
	return g.at(l, version)
}

// AsOf returns the snapshot that was current at t; for a time to come, the
// current one. It returns ErrCompacted for a time before the oldest retained
// version, and always where nothing is retained: there the times of versions
// are not known.
func (l *line[P]) AsOf(t time.Time) (P, error) {
	if g := l.log.Load(); g != nil {
		if version, ok := g.asOf(nanos(t)); ok {
			return l.At(version)
		}
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
		g := l.log.Load()
		if g == nil {
			yield(l.current.Load().Version(), time.Time{})
			return
		}
		g.mu.Lock()
		g.trim(time.Now().UnixNano())
		version, at := g.base, g.baseAt
		records := slices.Clone(g.records)
		g.mu.Unlock()
		first := time.Time{}
		if version > 0 {
			first = time.Unix(0, at)
		}
		if !yield(version, first) {
			return
		}
		for _, d := range records {
			if r := d.meta(); !yield(r.version, time.Unix(0, r.at)) {
				return
			}
		}
	}
}
