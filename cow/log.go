package cow

import (
	"fmt"
	"slices"
	"sync"
	"time"
)

// A Retention says which past versions stay reachable by At, AsOf and Changes:
// those that keep every limit that is set. With no limit set there is no
// history, and it costs nothing.
type Retention struct {
	Versions int           // at most so many versions before the current one
	Age      time.Duration // those that were current at some time in so long
	Bytes    int64         // while the old rows of all hold back about so many bytes
}

// A log is what the last commits changed, the oldest first. A past version is
// the current one with the changes since undone. That is what keeps a version
// small; so that it does not make an old one slow, whole snapshots stand between
// them, far enough apart not to count.
type log[P version[P]] struct {
	mu      sync.Mutex // held over the swap, so that the log and the current version agree
	limit   Retention
	records []delta
	whole   map[uint64]P // by version, now and then, so that Rewind need not go far
	base    uint64       // the oldest version, that before records[0]
	baseAt  int64        // when it was first known to be current; ns since 1970
	rows    int          // that the records hold back
	bytes   int
	spread  int // changes since the last whole snapshot
}

// ring is what is kept for followers of a Store or DB without a history.
var ring = Retention{Versions: 256, Bytes: 1 << 20}

func newLog[P version[P]](current P) *log[P] {
	g := &log[P]{base: current.Version()}
	if g.base > 0 {
		g.baseAt = time.Now().UnixNano()
	}
	return g
}

// publish makes next the current version of l and records how.
func (g *log[P]) publish(l *line[P], next P, d delta) {
	r := d.meta()
	r.version = next.Version()
	var changes int
	changes, r.rows, r.bytes = d.weigh()
	g.mu.Lock()
	defer g.mu.Unlock()
	r.at = max(time.Now().UnixNano(), g.newestAt())
	if g.spread += changes; g.spread >= max(1024, next.Len()/8) {
		g.spread = 0
		if g.whole == nil {
			g.whole = make(map[uint64]P)
		}
		g.whole[r.version-1] = l.current.Load()
	}
	l.current.Store(next)
	g.records = append(g.records, d)
	g.rows += r.rows
	g.bytes += r.bytes
	g.trim(r.at)
}

// newestAt returns the time of the current version.
func (g *log[P]) newestAt() int64 {
	if n := len(g.records); n > 0 {
		return g.records[n-1].meta().at
	}
	return g.baseAt
}

// trim drops what exceeds the limits at that time.
func (g *log[P]) trim(now int64) {
	n := 0
	for ; n < len(g.records); n++ {
		r := g.records[n].meta()
		over := g.limit.Versions > 0 && len(g.records)-n > g.limit.Versions ||
			g.limit.Age > 0 && r.at < now-int64(g.limit.Age) ||
			// The last commit stays, however large, for those who follow.
			g.limit.Bytes > 0 && int64(g.bytes) > g.limit.Bytes && n < len(g.records)-1
		if !over {
			break
		}
		g.rows -= r.rows
		g.bytes -= r.bytes
		delete(g.whole, g.base)
		g.base, g.baseAt = r.version, r.at
	}
	if n == 0 {
		return
	}
	clear(g.records[:n])
	g.records = g.records[n:]
}

// since returns the records of all versions above version, and false if that
// is no longer kept. The caller holds mu.
func (g *log[P]) since(version uint64) ([]delta, bool) {
	if version < g.base {
		return nil, false
	}
	return g.records[min(version-g.base, uint64(len(g.records))):], true
}

// at returns the snapshot at version, which must be below the current one's.
func (g *log[P]) at(l *line[P], version uint64) (P, error) {
	g.mu.Lock()
	g.trim(time.Now().UnixNano())
	newest := l.current.Load()
	records, ok := g.since(version)
	// Retain may have replaced g by now, and updates gone on without it.
	if !ok || newest.Version() != g.base+uint64(len(g.records)) {
		g.mu.Unlock()
		return *new(P), compacted(version)
	}
	// The nearest whole snapshot from there on is the one to begin with.
	n := len(records)
	for at, s := range g.whole {
		if at >= version && at-version < uint64(n) {
			newest, n = s, int(at-version)
		}
	}
	deltas := slices.Clone(records[:n])
	g.mu.Unlock() // deltas are immutable; the rest takes a while
	slices.Reverse(deltas)
	if n == 0 {
		return newest, nil
	}
	older, _ := deltas[0].rewind(newest, version, deltas).(P)
	return older, nil
}

// asOf returns the version that was current at a time.
func (g *log[P]) asOf(at int64) (version uint64, ok bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.trim(time.Now().UnixNano())
	if g.base > 0 && at < g.baseAt {
		return 0, false
	}
	i, _ := slices.BinarySearchFunc(g.records, at, func(d delta, at int64) int {
		if d.meta().at <= at {
			return -1
		}
		return 1 // never 0: of versions of one time, the last was current
	})
	return g.base + uint64(i), true
}

func compacted(version uint64) error { return fmt.Errorf("cow: version %d: %w", version, ErrCompacted) }
