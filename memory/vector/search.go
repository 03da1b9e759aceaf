package vector

import (
	"math"
	"runtime"
	"slices"
	"sync"

	"github.com/cowstore/cowstore/memory/internal/top"
)

// Search returns the vectors nearest to query, as o says: by score descending,
// and by key where scores are equal. Scores are computed, and compared, in
// float64; a Hit has them rounded, and is finite. The result is exact, see the package comment.
// It is empty, not an error, for an empty index and where nothing is near
// enough.
//
// Search neither keeps nor modifies query. It takes time proportional to Len.
// Without Accept, it has an index that is neither small nor very large looked at by
// several goroutines, as many as there are cores that no other Search uses, which
// are done when it returns.
// The errors are ErrEmpty, ErrNotFinite, ErrDimension, ErrZero and ErrOptions.
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
	var room [16]*segment
	some := room[:0]
	for g := range x.segments() {
		if some = append(some, g); len(some) == cap(some) {
			s.segments(some)
			some = some[:0]
		}
	}
	s.segments(some)
	return s.hits(), nil
}

// A scan is a Search under way. It compares codes, block by block, and keeps those
// vectors which may be among the best; only they are compared in float64, when all
// others are known to miss what is needed.
type scan struct {
	top.Best
	bound
	query   []float32
	coded   *codedQuery // nil if vectors have no codes
	min     float32
	accept  func(string) bool
	certain top.Best // the greatest scores that vectors have at least
	maybe   []candidate
	dots    [maxSlots]int32
}

// A candidate is a vector that may be among the best, what its dot product with the
// query is at most, and what its score is at least.
type candidate struct {
	*block
	slot  int
	dot   float64
	least float64
}

// maxMaybe is how many candidates a scan keeps, apart from twice as many as it is
// asked for, before it compares them in float64.
const maxMaybe = 1024

func newScan(query []float32, norm float64, o Options, n int) *scan {
	k := o.K
	if k == 0 {
		k = 10
	}
	s := scans.Get().(*scan)
	s.Reset(min(k, n))
	s.certain.Reset(min(k, n))
	s.bound = newBound(o.Metric, len(query), norm)
	s.query, s.coded, s.accept = query, nil, o.Accept
	s.min = float32(math.Inf(-1))
	if pairsFor(len(query)) > 0 {
		s.coded = newCodedQuery(query, norm)
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
}

// segment looks at all live vectors of g.
func (s *scan) segment(g *segment) {
	if s.coded == nil {
		g.each(func(slot int) { s.offer(g.block, slot, s.accept) })
		return
	}
	c := s.coded
	facts, dots := g.facts[:g.used], s.dots[:g.used]
	c.coarse.Dots(dots, g.codes[:g.used*g.pairs])
	for slot := range facts {
		f := &facts[slot]
		dot := c.coarse.dot(dots[slot], &f.code)
		err := float64(f.code.err) * c.norm
		if s.misses(dot+err+f.norm*c.err, f.norm) || !g.has(slot) {
			continue
		}
		c.fine.Dots(dots[slot:slot+1], g.code(slot))
		dot += c.fine.dot(dots[slot], &f.code)
		err += f.norm * c.fineErr
		if s.misses(dot+err, f.norm) {
			continue
		}
		if s.accept != nil && !s.accept(g.keys[slot]) {
			continue
		}
		h := top.Hit{Score: s.least(dot-err, f.norm)}
		if s.certain.Admits(h) {
			if s.certain.Push(h); s.certain.Full() {
				s.atLeast(s.certain.Worst().Score)
			}
		}
		s.maybe = append(s.maybe, candidate{g.block, slot, dot + err, h.Score})
	}
	if len(s.maybe) > maxMaybe+2*s.K {
		s.settle()
	}
}

// settle compares in float64 what may still be among the best. As many as are wanted have
// the score needed for certain: these go first, since what they have rules out most others.
func (s *scan) settle() {
	first := 0
	for i, c := range s.maybe {
		if c.least >= s.need {
			s.maybe[first], s.maybe[i] = c, s.maybe[first]
			first++
		}
	}
	s.compare(s.maybe[:first])
	s.compare(s.maybe[first:])
	s.maybe = s.maybe[:0]
}

// compare compares candidates in float64. What it needs of them is all over the heap: it
// loads all of that before it compares one. It may modify some.
func (s *scan) compare(some []candidate) {
	left := some[:0]
	for _, c := range some {
		if !s.misses(c.dot, c.facts[c.slot].norm) {
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
		if !s.misses(c.dot, c.facts[c.slot].norm) {
			s.offer(c.block, c.slot, nil)
		}
	}
}

// offer takes a vector into account, if accept, which may be nil, does too.
func (s *scan) offer(b *block, slot int, accept func(string) bool) {
	score := s.score(b.vector(slot), s.query, b.facts[slot].norm)
	if rounded(score) < s.min {
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
		hits[i] = Hit{h.Key, rounded(h.Score), h.Score}
	}
	s.release()
	return hits
}

// scans are those that no Search uses.
var scans = sync.Pool{New: func() any { return &scan{maybe: make([]candidate, 0, 128)} }}

// release gives s back, without what it would keep alive.
func (s *scan) release() {
	if cap(s.maybe) > maxMaybe {
		return
	}
	clear(s.maybe[:cap(s.maybe)])
	s.maybe = s.maybe[:0]
	s.Reset(0)
	s.certain.Reset(0)
	s.query, s.coded, s.accept = nil, nil, nil
	scans.Put(s)
}

// rounded returns a score as a Hit has it: one that no float32 has is the nearest that
// is finite.
func rounded(score float64) float32 {
	return float32(max(-math.MaxFloat32, min(score, math.MaxFloat32)))
}
