package line

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"
)

// The errors of reads of the past.
var (
	ErrCompacted   = errors.New("version is not retained")
	ErrUnpublished = errors.New("version is not published yet")
)

func compacted(version uint64) error { return fmt.Errorf("cow: version %d: %w", version, ErrCompacted) }

func unpublished(version uint64) error {
	return fmt.Errorf("cow: version %d: %w", version, ErrUnpublished)
}

// A Retention says which past versions stay reachable: those that keep every limit that is
// set.
type Retention struct {
	Versions int           // at most so many versions before the current one
	Age      time.Duration // versions that were current within the last Age
	Bytes    int64         // while the old rows of all hold back about so many bytes
}

// A history is the last commits, the oldest first. A past version is the current
// one with the changes since undone. That is what keeps a version small; so that
// it does not make an old one slow, whole snapshots stand between them, far enough
// apart not to count. The line's mu guards it, so that it agrees with the
// published version.
type history struct {
	limit   Retention
	commits []*Commit
	whole   map[uint64]whole // by version
	base    moment           // of the oldest version, that before commits[0]
	spread  int              // changes since the last whole snapshot

	// What the first of the commits hold back, as far as somebody has asked, and
	// the sum of that and the whole snapshots.
	weights []weight
	sum     weight
}

// A moment is when a version was published, or first known to be current.
type moment struct {
	version     uint64
	at, elapsed int64 // see Commit
}

// A whole is a snapshot between commits, and about how many bytes it holds back
// beyond them.
type whole struct {
	root  *Root
	bytes int
}

// ring is what is kept for followers of a DB without a history.
var ring = Retention{Versions: 256, Bytes: 1 << 20}

func newHistory(current *Root, limit Retention) *history {
	h := &history{limit: limit, base: moment{version: current.Version()}}
	if h.base.version > 0 {
		now := time.Now()
		h.base.at, h.base.elapsed = now.UnixNano(), elapsed(now)
	}
	return h
}

// add adds the commit after current.
func (h *history) add(c *Commit, current *Root) {
	if h.spread += c.Len(); h.spread >= 1024 && h.spread >= rowsOf(current)/8 {
		h.spread = 0
		if h.whole == nil {
			h.whole = make(map[uint64]whole)
		}
		w := whole{root: current}
		if current != nil {
			w.bytes = current.owner.Tables.Structure(current)
		}
		h.whole[c.version-1] = w
		h.sum.add(0, w.bytes)
	}
	h.commits = append(h.commits, c)
	h.trim(c.at, h.limit.Versions/16)
}

// rowsOf returns how many rows there are in r.
func rowsOf(r *Root) int {
	if r == nil {
		return 0
	}
	return r.owner.Tables.Rows(r)
}

// newest returns the time of the current version.
func (h *history) newest() int64 {
	if n := len(h.commits); n > 0 {
		return h.commits[n-1].at
	}
	return h.base.at
}

// weigh adds up what all commits hold back.
func (h *history) weigh() {
	for _, c := range h.commits[len(h.weights):] {
		w := c.weigh()
		h.weights = append(h.weights, w)
		h.sum.add(w.rows, w.bytes)
	}
}

// trim drops what exceeds the limits at that time. Beyond the limit of versions it
// leaves up to slack of them, so that dropping one is not a look at old memory at
// each commit.
func (h *history) trim(now int64, slack int) {
	if most := h.limit.Versions; most > 0 && len(h.commits) > most+slack {
		h.drop(len(h.commits) - most)
	}
	if h.limit.Age <= 0 && h.limit.Bytes <= 0 {
		return
	}
	if h.limit.Bytes > 0 {
		h.weigh()
	}
	n, bytes := 0, int64(h.sum.bytes)
	for ; n < len(h.commits); n++ {
		c := h.commits[n]
		over := h.limit.Age > 0 && c.at < now-int64(h.limit.Age) ||
			// The last commit stays, however large, for those who follow.
			h.limit.Bytes > 0 && bytes > h.limit.Bytes && n < len(h.commits)-1
		if !over {
			break
		}
		if n < len(h.weights) {
			bytes -= int64(h.weights[n].bytes)
		}
		bytes -= int64(h.whole[c.version-1].bytes)
	}
	h.drop(n)
}

// drop drops the first n commits.
func (h *history) drop(n int) {
	if n == 0 {
		return
	}
	weighed := min(n, len(h.weights))
	for _, w := range h.weights[:weighed] {
		h.sum.add(-w.rows, -w.bytes)
	}
	h.weights = h.weights[weighed:]
	c := h.commits[n-1]
	if len(h.whole) > 0 {
		for version := h.base.version; version < c.version; version++ {
			h.sum.add(0, -h.whole[version].bytes)
			delete(h.whole, version)
		}
	}
	h.base = moment{c.version, c.at, c.elapsed}
	// A few are cut off, which leaves their places to the next time that append grows
	// the slice; many are moved over, so that it need not grow. Either way a dropped
	// Commit is let go of at once, and a commit costs the same on average.
	if n < len(h.commits)/32 {
		clear(h.commits[:n])
		h.commits = h.commits[n:]
		return
	}
	left := copy(h.commits, h.commits[n:])
	clear(h.commits[left:])
	h.commits = h.commits[:left]
}

// since returns the commits of all versions above version, and false if that
// is no longer kept.
func (h *history) since(version uint64) ([]*Commit, bool) {
	h.trim(time.Now().UnixNano(), 0)
	if version < h.base.version {
		return nil, false
	}
	return h.commits[min(version-h.base.version, uint64(len(h.commits))):], true
}

// nearest returns the snapshot from which to go back to version, and the commits
// on the way, the oldest first. Newest is the current one.
func (h *history) nearest(newest *Root, version uint64) (*Root, []*Commit, bool) {
	commits, ok := h.since(version)
	n := len(commits)
	for at, w := range h.whole {
		if at >= version && at-version < uint64(n) {
			newest, n = w.root, int(at-version)
		}
	}
	return newest, slices.Clone(commits[:n]), ok
}

// asOf returns the version that was current at a time.
func (h *history) asOf(t time.Time) (version uint64, ok bool) {
	h.trim(time.Now().UnixNano(), 0)
	// A time that this process read off its clock is compared on the monotonic
	// one: the other may have been set meanwhile.
	when, clock := nanos(t), func(m moment) int64 { return m.at }
	if since := elapsed(t); since >= 0 && t != t.Round(0) {
		when, clock = since, func(m moment) int64 { return m.elapsed }
	}
	if h.base.version > 0 && when < clock(h.base) {
		return 0, false
	}
	i, _ := slices.BinarySearchFunc(h.commits, when, func(c *Commit, when int64) int {
		if clock(moment{c.version, c.at, c.elapsed}) <= when {
			return -1
		}
		return 1 // never 0: of versions of one time, the last was current
	})
	return h.base.version + uint64(i), true
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

// A Past is what a line keeps of versions before one of its own, at which something was erased
// from all of them.
type Past struct {
	Commits []*Commit // up to that version, the oldest first
	Roots   []*Root   // the pins and the whole snapshots, each once

	newest *Root
	kept   *history
}

// Base returns the version before the first of the commits.
func (p *Past) Base() uint64 { return p.kept.base.version }

// At returns the Root of a version from Base on.
func (p *Past) At(version uint64) *Root {
	r, commits, _ := p.kept.nearest(p.newest, version)
	return rewind(r, version, commits)
}

// A Remade is what takes the place of a part of the past: of the last Commits, as many, and of
// Roots.
type Remade struct {
	Commits []*Commit
	Roots   map[*Root]*Root
}

// pins are the Roots that are kept by name.
type pins struct {
	mu     sync.Mutex
	byName map[string]*Root
}

func (p *pins) at(version uint64) (*Root, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, r := range p.byName {
		if r.Version() == version {
			return r, true
		}
	}
	return nil, false
}

// set keeps a Root by name.
func (p *pins) set(name string, r *Root) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.byName == nil {
		p.byName = make(map[string]*Root)
	}
	p.byName[name] = r
}

// has reports whether there is a pin of that name, and remove whether there was.
func (p *pins) has(name string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, ok := p.byName[name]
	return ok
}

func (p *pins) remove(name string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, ok := p.byName[name]
	delete(p.byName, name)
	return ok
}
