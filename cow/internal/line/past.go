package line

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/cowstore/cowstore/cow/hook"
	"github.com/cowstore/cowstore/cow/internal/sink"
)

// Retain keeps past versions from now on, as r says, or forgets all of them.
func (l *Line) Retain(r Retention) {
	if r.Versions < 0 || r.Age < 0 || r.Bytes < 0 {
		panic("cow: Retain with a negative limit: 0 is none")
	}
	// In the writer's place, so that an update which goes on without a Commit has
	// been published. A transaction looks again when it ends.
	l.enter("Retain")
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

// Compact forgets the retained past before a version.
func (l *Line) Compact(version uint64) error {
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

// At returns the Root of a version that is current, retained or pinned.
func (l *Line) At(version uint64) (*Root, error) {
	current := l.published.Load()
	if v := current.Version(); version >= v {
		if version > v {
			return nil, unpublished(version)
		}
		return current, nil
	}
	if r, ok := l.pins.at(version); ok {
		return r, nil
	}
	l.mu.Lock()
	var r *Root
	var commits []*Commit
	known := false
	if l.history != nil {
		r, commits, known = l.history.nearest(l.published.Load(), version)
	}
	l.mu.Unlock() // commits are immutable; the rest takes a while
	if !known {
		return nil, compacted(version)
	}
	return rewind(r, version, commits), nil
}

// AsOf returns the Root that was current at a time.
func (l *Line) AsOf(t time.Time) (*Root, error) {
	l.mu.Lock()
	known := false
	var version uint64
	if l.history != nil {
		version, known = l.history.asOf(t)
	}
	l.mu.Unlock()
	if known {
		return l.At(version)
	}
	return nil, fmt.Errorf("cow: time %v: %w", t.Format(time.RFC3339Nano), ErrCompacted)
}

// Versions returns an iterator over the retained versions, the oldest first, and when each
// was published.
func (l *Line) Versions() iter.Seq2[uint64, time.Time] {
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

// Pin keeps the Root of a version by name, durably where the sink keeps pins.
func (l *Line) Pin(name string, version uint64) error {
	l.pinning.Lock()
	defer l.pinning.Unlock()
	r, err := l.At(version)
	if err != nil {
		return err
	}
	if err := l.tell(func(p sink.Pinner) (wait func() error, err error) {
		// At looked without mu: the version may be gone since. From here on mu is held, so
		// that the sink cannot be told to trim it.
		_, pinned := l.pins.at(version)
		if h := l.history; !pinned && version != l.published.Load().Version() && (h == nil || version < h.base.version) {
			return nil, compacted(version)
		}
		return p.Pin(name, version), nil
	}); err != nil {
		return err
	}
	l.pins.set(name, r)
	return nil
}

// Unpin lets go of the pin of that name and reports whether there was one.
func (l *Line) Unpin(name string) bool {
	l.pinning.Lock()
	defer l.pinning.Unlock()
	if !l.pins.has(name) || l.tell(func(p sink.Pinner) (wait func() error, err error) { return p.Unpin(name), nil }) != nil {
		return false
	}
	return l.pins.remove(name)
}

// tell tells a sink that keeps pins about one, by f, which is called while the line is locked,
// and waits until that is durable.
func (l *Line) tell(f func(p sink.Pinner) (wait func() error, err error)) error {
	wait, err := l.toTell(f)
	if err != nil || wait == nil {
		return err
	}
	return wait()
}

func (l *Line) toTell(f func(p sink.Pinner) (wait func() error, err error)) (wait func() error, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	o := l.outbox.Load()
	for o != nil && o.attaching {
		released := waitFor(&o.released)
		l.mu.Unlock()
		<-released
		l.mu.Lock()
		o = l.outbox.Load()
	}
	if o == nil {
		return nil, nil
	}
	p, ok := o.sink.(sink.Pinner)
	switch {
	case !ok:
		return nil, nil
	case o.failed != nil:
		return nil, o.failed
	}
	return f(p)
}

// Pins returns an iterator over the pins as they are when it begins, by name.
func (l *Line) Pins() iter.Seq2[string, *Root] {
	return func(yield func(string, *Root) bool) {
		l.pins.mu.Lock()
		byName := maps.Clone(l.pins.byName)
		l.pins.mu.Unlock()
		for _, name := range slices.Sorted(maps.Keys(byName)) {
			if !yield(name, byName[name]) {
				return
			}
		}
	}
}

// Stats are figures about a line at one moment.
type Stats struct {
	Retained  int // versions before the current one that At and AsOf reach
	Pins      int // versions kept by name
	HeldRows  int // old rows that both keep alive
	HeldBytes int // about how many bytes these rows and the records of them take

	Waiting int         // calls blocked in Wait, in a watch or in Changes
	Feeds   []hook.Feed // the iterations over Changes, the oldest first
	Sink    hook.Sink   // what makes the DB durable or replicates it

	Begun     time.Time // when the transaction of Hold began that is open; zero: none is
	BegunBy   string    // the stack at that moment
	Dropped   int       // transactions that were dropped without Commit or Abort
	DroppedBy string    // the stack where the last of them began
}

// Stats returns the figures as they are.
func (l *Line) Stats() Stats {
	current := l.published.Load()
	st := Stats{Waiting: int(l.waiting.Load()), Dropped: int(l.drops.Load()), DroppedBy: l.dropped.Load().String()}
	if h := l.held.Load(); h != nil {
		st.Begun, st.BegunBy = h.since, h.origin.String()
	}
	for _, r := range l.Pins() {
		if r != nil {
			rows, bytes := r.owner.Tables.Exclusive(r, current)
			st.HeldRows += rows
			st.HeldBytes += bytes
		}
		st.Pins++
	}
	st.Feeds = l.feeds.list(current)
	l.mu.Lock()
	defer l.mu.Unlock()
	if o := l.outbox.Load(); o != nil {
		st.Sink = o.state
	}
	if h := l.history; h != nil {
		h.trim(time.Now().UnixNano(), 0)
		h.weigh()
		st.Retained = len(h.commits)
		st.HeldRows += h.sum.rows
		st.HeldBytes += h.sum.bytes
	}
	return st
}

// HeldBy returns about how many bytes the commit of a version holds back, 0 where it is not
// retained.
func (l *Line) HeldBy(version uint64) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	h := l.history
	if h == nil || version <= h.base.version || version > h.base.version+uint64(len(h.commits)) {
		return 0
	}
	h.weigh()
	return h.weights[version-h.base.version-1].bytes
}

// ErrNotEmpty is the error of Restore.
var ErrNotEmpty = errors.New("the DB is not at version 0, or has a sink")

// Empty returns the published version if Restore may take another, and ErrNotEmpty if not.
func (l *Line) Empty() (*Root, error) {
	base := l.published.Load()
	if base.Version() > 0 || l.outbox.Load() != nil {
		return nil, fmt.Errorf("cow: %w", ErrNotEmpty)
	}
	return base, nil
}

// Restore makes r, made from base, the published version of a line that is still empty: as of
// a lineage, and published at that time.
func (l *Line) Restore(base, r *Root, lineage string, at time.Time) error {
	l.lock("Restore")
	defer l.writer.Unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.published.Load() != base || l.outbox.Load() != nil {
		return fmt.Errorf("cow: %w", ErrNotEmpty)
	}
	l.adopt(r, lineage, nanos(at))
	return nil
}

// adopt publishes a version that is not the one after the last: with its lineage, and as
// the oldest of the past. The caller holds mu.
func (l *Line) adopt(r *Root, lineage string, at int64) {
	l.take(lineage)
	if h := l.history; h != nil {
		l.history = newHistory(r, h.limit)
		l.history.base.at, l.history.base.elapsed = at, math.MinInt64
	}
	l.last = at
	l.publish(Draft{Next: r, Table: Several})
}

// take makes a lineage that of the line.
func (l *Line) take(lineage string) {
	if lineage != l.identify().id.String() {
		l.identity.Store(&identity{id: named(lineage)})
	}
}

// pinned returns the pins as a sink has them, the oldest first, and what they keep.
func (l *Line) pinned() (all []sink.Pin, roots []*Root) {
	for name, r := range l.Pins() {
		i, ok := slices.BinarySearchFunc(all, r.Version(), func(p sink.Pin, v uint64) int { return cmp.Compare(p.Version, v) })
		if !ok {
			all, roots = slices.Insert(all, i, sink.Pin{Version: r.Version()}), slices.Insert(roots, i, r)
		}
		all[i].Names = append(all[i].Names, name)
	}
	return all, roots
}
