package vector

import (
	"math"
	"math/bits"
	"slices"

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
	for g := range x.segments() {
		s.segment(g)
	}
	return s.hits(), nil
}

// A scan is a Search under way.
type scan struct {
	top.Best
	bound
	query  []float32
	coded  *codedQuery // nil until a block has codes
	min    float32
	accept func(string) bool
}

func newScan(query []float32, norm float64, o Options, n int) *scan {
	k := o.K
	if k == 0 {
		k = 10
	}
	s := &scan{
		Best:   top.Best{K: min(k, n)},
		bound:  newBound(o.Metric, len(query), norm),
		query:  query,
		min:    float32(math.Inf(-1)),
		accept: o.Accept,
	}
	if o.HasMin {
		s.min = o.MinScore
		// What rounds up to MinScore is a hit, too.
		s.atLeast(float64(math.Nextafter32(s.min, float32(math.Inf(-1)))))
	}
	return s
}

// segment looks at all live vectors of g.
func (s *scan) segment(g *segment) {
	if g.pairs > 0 && s.coded == nil {
		s.coded = newCodedQuery(s.query, s.norm)
	}
	for i, w := range g.live {
		for ; w != 0; w &= w - 1 {
			slot := i*64 + bits.TrailingZeros64(w)
			f := &g.facts[slot]
			if g.pairs > 0 {
				c := s.coded
				dot := c.dot(g.code(slot), &f.code)
				if s.misses(dot, float64(f.code.err)*c.norm+f.norm*c.err, f.norm) {
					continue
				}
			}
			v := g.vector(slot)
			if s.fits32(f.norm) && s.misses(float64(dot32(v, s.query)), s.err32(f.norm), f.norm) {
				continue
			}
			s.offer(g.keys[slot], s.score(v, s.query, f.norm))
		}
	}
}

// offer takes a vector into account that may be a hit.
func (s *scan) offer(key string, score float64) {
	h := top.Hit{Key: key, Score: score}
	if rounded(score) < s.min || !s.Admits(h) || s.accept != nil && !s.accept(key) {
		return
	}
	s.Push(h)
	if s.Full() {
		s.atLeast(s.Worst().Score)
	}
}

// hits returns what was found. s must not be used after.
func (s *scan) hits() []Hit {
	best := s.Sorted()
	hits := make([]Hit, len(best))
	for i, h := range best {
		hits[i] = Hit{h.Key, rounded(h.Score)}
	}
	return hits
}

// rounded returns a score as a Hit has it: one that no float32 has is the nearest that
// is finite.
func rounded(score float64) float32 {
	return float32(max(-math.MaxFloat32, min(score, math.MaxFloat32)))
}
