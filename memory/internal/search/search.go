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

// depth is how many times K hits of each search both joins.
const depth = 4

// both joins both searches, by a weighted sum of their scores.
func both(parts []Part, q *Query) (best []top.Hit, fits []bool, err error) {
	deep := *q
	deep.K, deep.MinScore = depth*min(q.K, 1<<20), 0
	near, err := nearest(parts, &deep)
	if err != nil {
		return nil, nil, err
	}
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
		weight := []float64{1 - q.Lean, 1 + q.Lean}[i] / 2
		if weight == 0 || len(list) == 0 {
			continue
		}
		most, least := list[0].Score, list[len(list)-1].Score
		if i == 1 && len(list) < deep.K {
			least = 0 // of all others
		}
		for _, h := range list {
			score := weight
			if most > least {
				score *= (h.Score - least) / (most - least)
			}
			d := document{h.Key, h.Part}
			if i, ok := at[d]; ok {
				hits[i].Score += score
				hits[i].fits = true
				continue
			}
			at[d] = len(hits)
			h.Score = score
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
