// Package search finds the best in several indexes together: by vectors, by text, by both.
// It knows indexes and keys, and nothing of entries, versions or filters.
package search

import (
	"errors"
	"iter"
	"math"
	"slices"

	"github.com/cowstore/cowstore/memory/internal/top"
	"github.com/cowstore/cowstore/memory/text"
	"github.com/cowstore/cowstore/memory/vector"
)

// A Part is one space to be searched.
type Part struct {
	Vectors *vector.Index
	Texts   *text.Index
	Accept  func(key string) bool // nil: everything will do
	Live    func() bool           // whether what Accept accepts without a filter has a vector; nil: if Vectors has
	Words   func(key string) iter.Seq[string]
}

// A Query says what a search is for: words, what is like a vector, or both.
type Query struct {
	Words    string
	Vector   []float32
	K        int
	MinScore float64
	Metric   vector.Metric
	Prefix   bool
	Lean     float64
}

// Text returns the options of package text for it.
func (q *Query) Text() text.Options {
	return text.Options{K: q.K, MinScore: q.MinScore, Prefix: q.Prefix}
}

// Best returns what fits a query best, the best first; the Part of a hit is the number of
// its part. fits says of each hit whether its text does.
func Best(parts []Part, q *Query) (best []top.Hit, fits []bool, err error) {
	switch {
	case q.Words == "":
		best, err = nearest(parts, q)
		return best, make([]bool, len(best)), err
	case q.Vector == nil:
		best, err = fitting(parts, q)
		return best, slices.Repeat([]bool{true}, len(best)), err
	}
	return both(parts, q)
}

// nearest returns the best by their vectors.
func nearest(parts []Part, q *Query) ([]top.Hit, error) {
	vo := vector.Options{K: q.K, Metric: q.Metric}
	if q.MinScore != 0 {
		vo.MinScore, vo.HasMin = float32(q.MinScore), true
		if float64(vo.MinScore) < q.MinScore {
			vo.MinScore = math.Nextafter32(vo.MinScore, float32(math.Inf(1)))
		}
	}
	var best []top.Hit
	fits, failed := false, error(nil)
	for i := range parts {
		p := &parts[i]
		vo.Accept = p.Accept
		found, err := p.Vectors.Search(q.Vector, vo)
		if errors.Is(err, vector.ErrDimension) {
			if failed == nil && !fits && p.hasVector() {
				failed = err
			}
			continue
		}
		if err != nil {
			return nil, err
		}
		fits = fits || len(found) > 0 || p.hasVector()
		best = slices.Grow(best, len(found))
		for _, h := range found {
			best = append(best, top.Hit{Key: h.Key, Score: h.Exact, Part: i})
		}
		if len(parts) == 1 {
			break
		}
		slices.SortFunc(best, top.Hit.Compare)
		if len(best) >= q.K { // what the next parts have to reach
			best = best[:q.K]
			vo.MinScore, vo.HasMin = top.Rounded(best[q.K-1].Score), true
		}
	}
	if failed != nil && !fits {
		return nil, failed
	}
	for i := range best {
		best[i].Score = float64(top.Rounded(best[i].Score))
	}
	return best, nil
}

func (p *Part) hasVector() bool {
	if p.Live == nil || p.Vectors.Len() == 0 {
		return p.Vectors.Len() > 0
	}
	return p.Live()
}

// fitting returns the best by their texts.
func fitting(parts []Part, q *Query) ([]top.Hit, error) {
	of := make([]text.Part, len(parts))
	for i, p := range parts {
		of[i] = text.Part{Index: p.Texts, Accept: p.Accept, Texts: p.Words}
	}
	hits, err := text.SearchAll(of, q.Words, q.Text())
	if err != nil {
		return nil, err
	}
	best := make([]top.Hit, len(hits))
	for i, h := range hits {
		best[i] = top.Hit(h)
	}
	return best, nil
}

// Of each search both joins as many hits as are asked for times depth, and atLeast.
const (
	depth   = 4
	atLeast = 40
)

// both joins both searches, by a weighted sum of their scores.
func both(parts []Part, q *Query) (best []top.Hit, fits []bool, err error) {
	deep := *q
	deep.K, deep.MinScore = max(atLeast, depth*min(q.K, 1<<20)), 0
	near, err := nearest(parts, &deep)
	if err != nil {
		return nil, nil, err
	}
	stretch(near, q)
	fit, err := fitting(parts, &deep)
	if err != nil {
		return nil, nil, err
	}
	type document struct {
		key  string
		part int
	}
	type joined struct {
		top.Hit
		fits bool
	}
	at := make(map[document]int, len(near)+len(fit))
	hits := make([]joined, 0, len(near)+len(fit))
	for i, list := range [][]top.Hit{near, fit} {
		weight := q.weights()[i]
		if weight == 0 {
			continue
		}
		for _, h := range list {
			h.Score *= weight
			d := document{h.Key, h.Part}
			if i, ok := at[d]; ok {
				hits[i].Score += h.Score
				hits[i].fits = true
				continue
			}
			at[d] = len(hits)
			hits = append(hits, joined{h, i == 1})
		}
	}
	slices.SortFunc(hits, func(a, b joined) int { return a.Compare(b.Hit) })
	for _, h := range hits {
		if len(best) == q.K || h.Score < q.MinScore {
			break
		}
		best, fits = append(best, h.Hit), append(fits, h.fits)
	}
	return best, fits, nil
}

// weights returns what the scores of both sides are multiplied by, that of the vector first.
func (q *Query) weights() [2]float64 {
	if q.Lean < 0 {
		return [2]float64{(1 - 2*q.Lean) / 3, 1 + q.Lean}
	}
	return [2]float64{(1 - q.Lean) / 3, 1}
}

// stretch makes the scores of hits, the best first, those of package text: 1 where a vector is
// that of the query, and 0 where it is no nearer than the last hit, as near as vectors come by
// chance, or has nothing in common with the query. By dot products the best may be 1.
func stretch(hits []top.Hit, q *Query) {
	if len(hits) == 0 {
		return
	}
	square := 0.0
	for _, x := range q.Vector {
		square += float64(x) * float64(x)
	}
	same, apart := 1.0, 0.0
	switch q.Metric {
	case vector.Dot:
		same = max(square, hits[0].Score)
	case vector.L2: // the length of a diagonal: as long a vector, at a right angle
		same, apart = 0, -math.Sqrt(2*square)
	}
	if len(hits) > 1 {
		apart = max(apart, hits[len(hits)-1].Score)
	}
	for i := range hits {
		h := &hits[i]
		switch {
		case h.Score >= same:
			h.Score = 1
		case h.Score <= apart:
			h.Score = 0
		default:
			h.Score = (h.Score - apart) / (same - apart)
		}
	}
}
