package vector

import (
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/cowstore/cowstore/memory/internal/top"
)

// Search returns the K vectors nearest to query, by descending score, and by key where scores are
// equal. Scores are computed and compared in float64, and the result is exact: see the package
// comment. It is empty, and not an error, for an empty index and where nothing is near enough.
//
// The error is [ErrEmpty] or [ErrZero], or wraps [ErrNotFinite], [ErrDimension] or [ErrOptions].
//
// Search neither keeps nor modifies query. It takes time proportional to Len. Without Accept, and
// with about 4 to 64 million elements in the index, Search shares the work among goroutines, as
// many as there are cores that no other Search uses. They have ended when it returns.
func (x *Index) Search(query []float32, o Options) ([]Hit, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	if err := Check(query); err != nil {
		return nil, err
	}
	if err := x.fits(query); err != nil {
		return nil, err
	}
	norm := norm64(query)
	if norm == 0 && o.Metric == Cosine {
		return nil, ErrZero
	}
	if x == nil {
		return nil, nil
	}
	s := newScan(query, norm, o, x.Len())
	if n := x.Len() * x.Dim(); o.Accept == nil && minShared <= n && n <= maxShared {
		s.together(slices.Collect(x.segments()), x.Dim(), func() *scan { return newScan(query, norm, o, x.Len()) })
		return s.hits(), nil
	}
	var few [64]*segment
	some := few[:0]
	for g := range x.segments() {
		if some = append(some, g); len(some) == cap(some) {
			s.segments(some)
			some = some[:0]
		}
	}
	s.segments(some)
	return s.hits(), nil
}

// A scan is a Search under way. It looks at vectors in three steps, each of which takes
// longer for one of them and leaves fewer to the next: codes are compared with the coarse
// part of the query, segment by segment, then with the fine part, unless both take the time
// of one, and vectors in float64. Each step begins with those vectors that are good enough
// for certain, as many as are wanted at least: what they have rules out most others.
type scan struct {
	top.Best
	bound
	query  []float32
	coded  *codedQuery // nil if vectors have no codes
	min    float32
	accept func(string) bool
	near   []candidate // after the first step
	maybe  []candidate // after the second
	coarse top.Floor   // of the scores that vectors have at least, by the first step
	fine   top.Floor   // by the second
	room   []int8      // of coded
	dots   [maxSlots]int32

	fineDots [maxSlots]int32 // of the fine part
}

// A candidate is a vector that may be among the best, what its dot product with the query
// is about, and what its score is at least.
type candidate struct {
	*block
	slot  int
	dot   float64
	least float64
}

// maxWaiting is how many candidates wait for a step, apart from twice as many as the scan
// is asked for.
const maxWaiting = 1024

func newScan(query []float32, norm float64, o Options, n int) *scan {
	k := o.K
	if k == 0 {
		k = 10
	}
	s := scans.Get().(*scan)
	s.Reset(min(k, n))
	s.coarse.Reset(min(k, n))
	s.fine.Reset(min(k, n))
	s.bound = newBound(o.Metric, len(query), norm)
	s.query, s.coded, s.accept = query, nil, o.Accept
	s.min = float32(math.Inf(-1))
	if n := roomFor(len(query)); n > 0 {
		s.room = slices.Grow(s.room[:0], n)[:n]
		s.coded = newCodedQuery(s.room, query, norm)
	}
	if o.HasMin {
		s.min = o.MinScore
		// What rounds up to MinScore is a hit, too.
		s.atLeast(float64(math.Nextafter32(s.min, float32(math.Inf(-1)))))
	}
	return s
}

// segments looks at all live vectors of several. What it needs first of each, one load
// after the other, it has for all of them before it looks at one.
func (s *scan) segments(some []*segment) {
	touched := 0
	for _, g := range some {
		touched |= g.used | g.dim
	}
	for _, g := range some {
		if g.used > 0 && g.pairs > 0 {
			touched |= int(g.facts[0].code.sum) | int(g.codes[0][0])
		}
	}
	runtime.KeepAlive(touched)
	for _, g := range some {
		s.segment(g)
	}
	s.refine()
}

// segment looks at all live vectors of g.
func (s *scan) segment(g *segment) {
	if s.coded == nil {
		g.each(func(slot int) { s.offer(g.block, slot, s.accept) })
		return
	}
	if atOnce() {
		s.segmentAtOnce(g)
		return
	}
	c := s.coded
	facts, dots := g.facts[:g.used], s.dots[:g.used]
	c.coarse.Dots(dots, g.codes[:g.used*g.pairs])
	for slot := range facts {
		f := &facts[slot]
		dot, err := c.coarse.dot(dots[slot], &f.code), c.errOf(f, c.err)
		if s.misses(dot+err, f.norm) || !g.has(slot) {
			continue
		}
		n := candidate{g.block, slot, dot, s.least(dot-err, f.norm)}
		if s.accept == nil && s.coarse.Add(n.least) {
			s.atLeast(s.coarse.Level())
		}
		s.near = append(s.near, n)
	}
	if len(s.near) > maxWaiting+2*s.K {
		s.refine()
	}
}

// atOnce reports whether the first two steps are one. Tests change it.
var atOnce = func() bool { return instructions.Both() }

// segmentAtOnce is segment where both parts of the query are compared in the time of one: the
// first step is the second.
func (s *scan) segmentAtOnce(g *segment) {
	c := s.coded
	facts, dots, fine := g.facts[:g.used], s.dots[:g.used], s.fineDots[:g.used]
	c.coarse.DotsBoth(c.fine.Query, dots, fine, g.codes[:g.used*g.pairs])
	for slot := range facts {
		f := &facts[slot]
		dot, err := c.dot(dots[slot], fine[slot], &f.code), c.errOf(f, c.fineErr)
		if !s.misses(dot+err, f.norm) && g.has(slot) {
			s.mayBe(candidate{g.block, slot, dot, s.least(dot-err, f.norm)})
		}
	}
	if len(s.maybe) > maxWaiting+2*s.K {
		s.settle()
	}
}

// mayBe takes a candidate into account that does not miss by both parts of the query.
func (s *scan) mayBe(n candidate) {
	if s.accept != nil && !s.accept(n.keys[n.slot]) {
		return
	}
	if s.fine.Add(n.least) {
		s.atLeast(s.fine.Level())
	}
	s.maybe = append(s.maybe, n)
}

// refine compares with the fine part of the query what may still be among the best.
func (s *scan) refine() {
	s.certainFirst(s.near)
	for some := s.near; len(some) > 0; {
		const few = 8 // whose codes are loaded at a time
		n := min(few, len(some))
		s.compareFine(some[:n])
		some = some[n:]
	}
	clear(s.near)
	s.near = s.near[:0]
	if len(s.maybe) > maxWaiting+2*s.K {
		s.settle()
	}
}

// compareFine compares a few candidates with the fine part of the query. It loads the codes
// of all of them before it compares one.
func (s *scan) compareFine(some []candidate) {
	c := s.coded
	touched := uint64(0)
	for _, n := range some {
		if f := &n.facts[n.slot]; !s.misses(n.dot+c.errOf(f, c.err), f.norm) {
			for code := n.code(n.slot); len(code) >= 4; code = code[4:] { // a cache line
				touched |= code[0][0]
			}
		}
	}
	runtime.KeepAlive(touched)
	for _, n := range some {
		f := &n.facts[n.slot]
		if s.misses(n.dot+c.errOf(f, c.err), f.norm) {
			continue
		}
		c.fine.Dots(s.dots[:1], n.code(n.slot))
		n.dot += c.fine.dot(s.dots[0], &f.code)
		err := c.errOf(f, c.fineErr)
		if !s.misses(n.dot+err, f.norm) {
			n.least = s.least(n.dot-err, f.norm)
			s.mayBe(n)
		}
	}
}

// certainFirst puts those in front which have the score needed for certain, and returns
// how many they are.
func (s *scan) certainFirst(some []candidate) int {
	first := 0
	for i, c := range some {
		if c.least >= s.need {
			some[first], some[i] = c, some[first]
			first++
		}
	}
	return first
}

// settle compares in float64 what may still be among the best.
func (s *scan) settle() {
	first := s.certainFirst(s.maybe)
	s.compare(s.maybe[:first])
	s.compare(s.maybe[first:])
	clear(s.maybe)
	s.maybe = s.maybe[:0]
}

// compare compares candidates in float64. What it needs of them is all over the heap: it
// loads all of that before it compares one. It may modify some.
func (s *scan) compare(some []candidate) {
	left := some[:0]
	for _, c := range some {
		if !s.hopeless(c) {
			left = append(left, c)
		}
	}
	touched := uint32(0)
	for _, c := range left {
		touched |= uint32(len(c.keys[c.slot]))
	}
	const line = 64 / 4 // elements of a cache line
	for at := 0; at < len(s.query); at += line {
		for _, c := range left {
			touched |= math.Float32bits(c.vector(c.slot)[at])
		}
	}
	for _, c := range left {
		if key := c.keys[c.slot]; key != "" {
			touched |= uint32(key[0])
		}
	}
	runtime.KeepAlive(touched)
	for _, c := range left {
		if !s.hopeless(c) {
			s.offer(c.block, c.slot, nil)
		}
	}
}

// hopeless reports whether a candidate is certainly not among the best, after the second
// step.
func (s *scan) hopeless(c candidate) bool {
	f := &c.facts[c.slot]
	return s.misses(c.dot+s.coded.errOf(f, s.coded.fineErr), f.norm)
}

// offer takes a vector into account, if accept, which may be nil, does too.
func (s *scan) offer(b *block, slot int, accept func(string) bool) {
	score := s.score(b.vector(slot), s.query, b.facts[slot].norm)
	if top.Rounded(score) < s.min {
		return
	}
	h := top.Hit{Key: b.keys[slot], Score: score}
	if !s.Admits(h) || accept != nil && !accept(h.Key) {
		return
	}
	s.Push(h)
	if s.Full() {
		s.atLeast(s.Worst().Score)
	}
}

// hits returns what was found. s must not be used after.
func (s *scan) hits() []Hit {
	s.settle()
	best := s.Sorted()
	hits := make([]Hit, len(best))
	for i, h := range best {
		hits[i] = Hit{h.Key, top.Rounded(h.Score), h.Score}
	}
	s.release()
	return hits
}

// scans are those that no Search uses.
var scans = sync.Pool{New: func() any { return &scan{near: make([]candidate, 0, 512), maybe: make([]candidate, 0, 128)} }}

// release gives s back, without what it would keep alive.
func (s *scan) release() {
	if cap(s.maybe) > 4*maxWaiting || cap(s.near) > 4*maxWaiting {
		return
	}
	clear(s.maybe) // which were left to another
	s.maybe = s.maybe[:0]
	s.Reset(0)
	s.coarse.Reset(0)
	s.fine.Reset(0)
	s.query, s.coded, s.accept = nil, nil, nil
	scans.Put(s)
}

const (
	// minShared and maxShared are how many elements an index must have, and may, for
	// a search to take other cores. Below, it is not worth waking them. Above, the
	// search is long, and leaves them to those who want to be quick.
	minShared = 1 << 22
	maxShared = 1 << 26

	// turnElements is how many elements a helper looks at before it ends. What
	// waits for a core, or for the network, whose poller runs only where a core has
	// nothing else to do, so waits for a fraction of a millisecond at most.
	turnElements = 1 << 21
)

// searching is how many goroutines of the process look at large indexes.
var searching atomic.Int64

// A team is the goroutines of one search. They take segment after segment; each
// has the best of those it looked at, and tells the others what they need not look
// at any more.
type team struct {
	segments []*segment
	next     atomic.Int64  // the first segment that nobody has taken
	need     atomic.Uint64 // the greatest need of any of them; see orderedBits
	running  sync.WaitGroup
}

// A helper is a member of a team besides the one who searches.
type helper struct {
	*scan
	busy atomic.Bool
}

// take looks at up to n segments, and reports whether there may be more.
func (t *team) take(s *scan, n int) bool {
	for ; n > 0; n-- {
		i := t.next.Add(1) - 1
		if i >= int64(len(t.segments)) {
			return false
		}
		s.atLeast(t.share(s.need))
		s.segments(t.segments[i : i+1])
		t.share(s.need)
	}
	return true
}

// share tells the team what a hit needs, and returns what it needs at least.
func (t *team) share(need float64) float64 {
	for mine := orderedBits(need); ; {
		is := t.need.Load()
		if mine <= is {
			return fromOrderedBits(is)
		}
		if t.need.CompareAndSwap(is, mine) {
			return need
		}
	}
}

// orderedBits returns a number that is ordered as f is, which is not NaN.
func orderedBits(f float64) uint64 {
	b := math.Float64bits(f)
	if b>>63 != 0 {
		return ^b
	}
	return b | 1<<63
}

func fromOrderedBits(b uint64) float64 {
	if b>>63 != 0 {
		return math.Float64frombits(b &^ (1 << 63))
	}
	return math.Float64frombits(^b)
}

// together looks at all segments, with the help of cores that no other search
// uses. It returns when all of it is done; no goroutine is left. Foreign code
// must not run in s.
func (s *scan) together(segments []*segment, dim int, another func() *scan) {
	t := &team{segments: segments}
	t.need.Store(orderedBits(s.need))
	cores := int64(runtime.GOMAXPROCS(0))
	searching.Add(1)
	defer searching.Add(-1)
	turn := max(1, turnElements/min(maxSlots*dim, max(dim, blockBytes/4)))
	helpers := make([]helper, min(int(cores)-1, len(segments)/2))
	for t.take(s, 1) {
		for i := range helpers {
			h := &helpers[i]
			if h.busy.Load() || int(t.next.Load())+1 >= len(segments) {
				continue
			}
			if searching.Add(1) > cores {
				searching.Add(-1)
				break
			}
			if h.scan == nil {
				h.scan = another()
			}
			h.busy.Store(true)
			t.running.Go(func() {
				t.take(h.scan, turn)
				searching.Add(-1)
				h.busy.Store(false) // then the next turn may begin
			})
		}
	}
	t.running.Wait()
	s.atLeast(t.share(s.need))
	for i := range helpers {
		if h := &helpers[i]; h.scan != nil {
			s.maybe = append(s.maybe, h.maybe...)
			for _, f := range h.Sorted() {
				if s.Admits(f) {
					s.Push(f)
				}
			}
			h.release()
		}
	}
}
