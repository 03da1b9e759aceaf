package memory

import (
	"slices"

	"github.com/cowstore/cowstore/memory/internal/top"
)

// fusionDepth is how many times K hits of each search are joined.
const fusionDepth = 4

// SearchBoth joins a search for a vector with one for text, by a weighted sum of their
// scores (S. Bruch, S. Gai and A. Ingber, An Analysis of Fusion Functions for Hybrid
// Retrieval, ACM TOIS 42(1), 2023). Of each search the first 4 K hits count, the best 1, the
// last 0, or, of a search for words that has fewer hits, one of score 0, and those between
// in proportion to their scores. The score of an entry, from 0 to 1, is what it counts in the
// search for the vector times (1 - Lean)/2, and in that for words times (1 + Lean)/2. MinScore
// is such a score. So to be far better than others by one of both counts for more than the
// rank that gives. Without a vector it returns ErrEmpty: that is a SearchText.
func (v SpaceSnapshot) SearchBoth(query []float32, words string, o SearchOptions) ([]Hit, error) {
	if err := o.check(); err != nil {
		return nil, spaceError(v.path, err)
	}
	deep := o
	deep.K, deep.MinScore = fusionDepth*min(o.K, 1<<20), 0
	spaces := v.searched(&o)
	near, err := v.nearest(spaces, query, &deep)
	if err != nil {
		return nil, err
	}
	fitting, by, err := v.fitting(spaces, words, &deep)
	if err != nil {
		return nil, err
	}
	type document struct {
		key  string
		part int
	}
	type both struct {
		top.Hit
		fits bool
	}
	at := make(map[document]int, len(near)+len(fitting))
	hits := make([]both, 0, len(near)+len(fitting))
	for i, list := range [][]top.Hit{near, fitting} {
		weight := []float64{1 - o.Lean, 1 + o.Lean}[i] / 2
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
			hits = append(hits, both{h, i == 1})
		}
	}
	slices.SortFunc(hits, func(a, b both) int { return a.Compare(b.Hit) })
	best := make([]top.Hit, 0, min(o.K, len(hits)))
	for _, h := range hits {
		if len(best) == o.K || h.Score < o.MinScore {
			break
		}
		best = append(best, h.Hit)
	}
	return entriesOf(spaces, best, func(i int) *sought {
		if hits[i].fits {
			return by
		}
		return nil
	}), nil
}
