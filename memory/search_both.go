package memory

import (
	"cmp"
	"slices"
)

const (
	fusionConstant = 60 // of reciprocal rank fusion, as its authors have it
	fusionDepth    = 4  // times K hits of each search are joined
)

// SearchBoth joins a search for a vector with one for text, by reciprocal rank fusion
// (G. Cormack, C. Clarke and S. Büttcher, Reciprocal Rank Fusion outperforms Condorcet
// and individual Rank Learning Methods, SIGIR 2009): an entry scores the sum of
// w/(60+rank) over the searches that find it among their first 4 K hits. The weight w is
// 1 - Lean for the vector and 1 + Lean for the words. Ranks are joined, not scores, since
// those of the two have nothing in common: what is good by both goes before what is
// best by one. MinScore goes for that sum. Without a vector it returns ErrEmpty: that is
// a SearchText.
func (v SpaceSnapshot) SearchBoth(query []float32, words string, o SearchOptions) ([]Hit, error) {
	if err := o.check(); err != nil {
		return nil, spaceError(v.path, err)
	}
	deep := o
	deep.K, deep.MinScore = fusionDepth*min(o.K, 1<<20), 0
	near, err := v.Search(query, deep)
	if err != nil {
		return nil, err
	}
	fitting, err := v.SearchText(words, deep)
	if err != nil {
		return nil, err
	}
	type name struct{ space, key string }
	at := make(map[name]int, len(near)+len(fitting))
	var hits []Hit
	for i, list := range [][]Hit{near, fitting} {
		weight := []float64{1 - o.Lean, 1 + o.Lean}[i]
		if weight == 0 {
			continue
		}
		for rank, h := range list {
			score := weight / float64(fusionConstant+rank+1)
			if i, ok := at[name{h.space, h.Key}]; ok {
				hits[i].Score += score
				hits[i].found = h.found
				continue
			}
			at[name{h.space, h.Key}] = len(hits)
			h.Score = score
			hits = append(hits, h)
		}
	}
	slices.SortFunc(hits, func(a, b Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.space, b.space), cmp.Compare(a.Key, b.Key))
	})
	for i, h := range hits {
		if i == o.K || h.Score < o.MinScore {
			hits = hits[:i]
			break
		}
	}
	return hits, nil
}
