package memory

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/cowstore/cowstore/memory/internal/bare"

	"github.com/cowstore/cowstore/memory/text"
	"github.com/cowstore/cowstore/memory/vector"
)

// A Metric says how alike two vectors are; a higher score is always more.
type Metric = vector.Metric

// The metrics. The zero Metric is Cosine.
const (
	Cosine = vector.Cosine // of the angle, from -1 to 1
	Dot    = vector.Dot    // the dot product
	L2     = vector.L2     // minus the Euclidean distance
)

// SearchOptions say what a search is for. The zero value is right for the ten best
// by cosine.
type SearchOptions struct {
	K        int     // how many; 0: 10
	MinScore float64 // only these and better; 0: no minimum
	Filter   Filter  // only what it accepts; it is asked about few
	Metric   Metric  // of vectors
}

func (o *SearchOptions) check() error {
	if o.K < 0 {
		return fmt.Errorf("%w: K is %d", ErrOptions, o.K)
	}
	if o.K == 0 {
		o.K = 10
	}
	if o.MinScore != o.MinScore {
		return fmt.Errorf("%w: MinScore is NaN", ErrOptions)
	}
	if o.Metric > L2 {
		return fmt.Errorf("%w: %v", ErrOptions, o.Metric)
	}
	if err := o.Filter.Err(); err != nil {
		return fmt.Errorf("%w: %w", ErrOptions, bare.Wrap(err))
	}
	return nil
}

// A Hit is an entry that a search found.
type Hit struct {
	Entry
	Score float64 // the higher the better; its scale is that of the search
}

// Search returns the entries whose vectors are most like v, the best first, those
// of equal scores by key. It is exact. The errors are those of vectors, and
// ErrOptions. It takes time proportional to the number of vectors in the space.
func (v SpaceSnapshot) Search(query []float32, o SearchOptions) ([]Hit, error) {
	if err := o.check(); err != nil {
		return nil, spaceError(v.path, err)
	}
	vo := vector.Options{K: o.K, Metric: o.Metric, Accept: v.accept(&o)}
	if o.MinScore != 0 {
		vo.MinScore, vo.HasMin = float32(o.MinScore), true
		if float64(vo.MinScore) < o.MinScore {
			vo.MinScore = math.Nextafter32(vo.MinScore, float32(math.Inf(1)))
		}
	}
	found, err := v.s.space(v.path).vectors.Search(query, vo)
	if err != nil {
		return nil, spaceError(v.path, err)
	}
	hits := make([]Hit, 0, len(found))
	for _, h := range found {
		hits = v.hit(hits, h.Key, float64(h.Score))
	}
	return hits, nil
}

// SearchText returns the entries whose text fits the query best, by BM25, the best
// first, those of equal scores by key. The text of an entry is all strings in its
// value, but not the keys of maps; what its words are, and those of the query, says
// Options.Analyzer. Each word of the query that is in the text adds to the score. How
// rare a word is depends on the space alone, on entries that are expired but not swept
// too.
func (v SpaceSnapshot) SearchText(query string, o SearchOptions) ([]Hit, error) {
	if err := o.check(); err != nil {
		return nil, spaceError(v.path, err)
	}
	found, err := v.s.space(v.path).texts.Search(query, text.Options{K: o.K, MinScore: o.MinScore, Accept: v.accept(&o)})
	if err != nil {
		return nil, spaceError(v.path, err)
	}
	hits := make([]Hit, 0, len(found))
	for _, h := range found {
		hits = v.hit(hits, h.Key, h.Score)
	}
	return hits, nil
}

const (
	fusionConstant = 60 // of reciprocal rank fusion, as its authors have it
	fusionDepth    = 4  // times K hits of each search are joined
)

// SearchBoth joins a search for a vector with one for text: an entry scores the
// sum of 1/(60+rank) over the searches that find it among their first 4 K hits.
// MinScore goes for that sum. Without a vector it returns ErrEmpty: that is a
// SearchText. This is reciprocal rank fusion (Cormack, Clarke and Büttcher 2009).
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
	at := make(map[string]int, len(near)+len(fitting))
	var hits []Hit
	for _, list := range [][]Hit{near, fitting} {
		for rank, h := range list {
			score := 1 / float64(fusionConstant+rank+1)
			if i, ok := at[h.Key]; ok {
				hits[i].Score += score
				continue
			}
			at[h.Key] = len(hits)
			h.Score = score
			hits = append(hits, h)
		}
	}
	slices.SortFunc(hits, func(a, b Hit) int { return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Key, b.Key)) })
	for i, h := range hits {
		if i == o.K || h.Score < o.MinScore {
			hits = hits[:i]
			break
		}
	}
	return hits, nil
}

// accept returns what a search asks about a key, or nil if everything will do.
func (v SpaceSnapshot) accept(o *SearchOptions) func(key string) bool {
	if o.Filter == (Filter{}) && v.s.space(v.path).expiring == 0 {
		return nil
	}
	return func(key string) bool {
		e := v.lookup(key)
		return e != nil && o.Filter.match(e.value, e.metadata)
	}
}

// hit appends the entry of a key that was found.
func (v SpaceSnapshot) hit(hits []Hit, key string, score float64) []Hit {
	e, ok := v.Entry(key)
	if !ok {
		return hits
	}
	return append(hits, Hit{e, score})
}
