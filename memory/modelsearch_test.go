package memory_test

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/memory"
	"github.com/cowstore/cowstore/memory/filter"
)

// Searches of the model, by brute force.

func score(metric memory.Metric, a, b []float32) float64 {
	var dot, aa, bb, dd float64
	for i := range a {
		x, y := float64(a[i]), float64(b[i])
		dot, aa, bb, dd = dot+x*y, aa+x*x, bb+y*y, dd+(x-y)*(x-y)
	}
	switch metric {
	case memory.Dot:
		return dot
	case memory.L2:
		return -math.Sqrt(dd)
	}
	return dot / math.Sqrt(aa*bb)
}

// A searcher is a SpaceSnapshot or an Editor.
type searcher interface {
	Search(q memory.Query) ([]memory.Hit, error)
}

// randomFilter returns a filter, and what it accepts.
func (x *modelTest) randomFilter() (filter.Filter, func(e slot) bool) {
	switch n := x.r.IntN(6); x.r.IntN(6) {
	case 0, 1:
		n = 1 + n%3
		return filter.Meta("n").Eq(n), func(e slot) bool { return e.n == n }
	case 2:
		part := []any{1.5, 40, "t", "text", "beta", "ETA"}[n]
		return filter.Val().Contains(part), func(e slot) bool { return x.contains(e.value, part) }
	}
	return filter.Filter{}, func(slot) bool { return true }
}

// contains reports whether a list has an element, a map a key, or a text a part.
func (x *modelTest) contains(v memory.Value, part any) bool {
	word, isWord := part.(string)
	if !v.Exists() {
		return false
	}
	switch v := v.Any().(type) {
	case []any:
		return slices.ContainsFunc(v, func(e any) bool { return memory.Equal(freeze(x.t, e), freeze(x.t, part)) })
	case map[string]any:
		_, ok := v[word]
		return isWord && ok
	case string:
		return isWord && strings.Contains(v, word)
	}
	return false
}

// checkRecall asks for a text whose embedding fails now and then: that is a search for both, or for
// the words alone.
func (x *modelTest) checkRecall(s memory.Space, path string, entries map[string]slot) {
	t, r := x.t, x.r
	q := memory.Query{Text: modelWords[r.IntN(len(modelWords))], Vector: x.randomVector(path), K: 1 + r.IntN(4)}
	*x.embed = embedding{vector: q.Vector}
	if r.IntN(3) == 0 {
		*x.embed, q.Vector = embedding{err: errModel}, nil
	}
	want, err := s.Load().Search(q)
	require.NoError(t, err)
	hits, err := s.Recall(t.Context(), q.Text, memory.Query{K: q.K})
	if len(want) == 0 && x.embed.err != nil {
		require.ErrorIs(t, err, errModel)
		return
	}
	require.NoError(t, err)
	require.Equal(t, hitKeys(want, nil), hitKeys(hits, nil))
	for i, h := range hits {
		require.Equal(t, want[i].Score, h.Score)
		require.Equal(t, x.embed.err, h.Unembedded)
		*entries[h.Key].used = *x.used()
	}
}

func (x *modelTest) checkSearch(v searcher, path string, all model) {
	t, r := x.t, x.r
	in := []string{path}
	query := x.randomVector(path)
	o := memory.Query{Vector: query, K: r.IntN(5), Metric: []memory.Metric{memory.Cosine, memory.Dot, memory.L2}[r.IntN(3)]}
	if r.IntN(3) == 0 {
		o.MinScore = float64(r.IntN(5)) - 2.26
	}
	var accepts func(slot) bool
	o.Filter, accepts = x.randomFilter()
	if o.Below = r.IntN(3) == 0; o.Below {
		in = below(path)
	}
	var want []float64
	for _, path := range in {
		for _, e := range all[path] {
			if e.by != nil || len(e.vector) != len(query) || !accepts(e) {
				continue
			}
			if s := score(o.Metric, query, e.vector); o.MinScore == 0 || s >= o.MinScore {
				want = append(want, s)
			}
		}
	}
	slices.SortFunc(want, func(a, b float64) int { return cmp.Compare(b, a) })
	k := o.K
	if k == 0 {
		k = 10
	}
	want = want[:min(k, len(want))]
	hits, err := v.Search(o)
	if o.Below && errors.Is(err, memory.ErrDimension) {
		require.Empty(t, want)
		return
	}
	require.NoError(t, err)
	require.Len(t, hits, len(want), "%+v", o)
	for i, h := range hits {
		require.InDelta(t, want[i], h.Score, 1e-5)
		e, ok := all[fmt.Sprintf("%q", h.Space())][h.Key]
		require.True(t, ok)
		require.InDelta(t, score(o.Metric, query, e.vector), h.Score, 1e-5)
		x.checkEntry(h.Key, e, h.Entry)
		if i > 0 && hits[i-1].Score == h.Score && o.Metric == memory.Dot {
			before := hits[i-1]
			require.Negative(t, cmp.Or(slices.Compare(before.Space(), h.Space()), cmp.Compare(before.Key, h.Key)))
		}
	}
}

func (x *modelTest) checkSearchText(v searcher, entries map[string]slot) {
	t, r := x.t, x.r
	words := []string{modelWords[r.IntN(len(modelWords))], []string{"nowhere", "eta", "beta", "omega", "zeta"}[r.IntN(5)]}
	o := memory.Query{Text: strings.Join(words, ", "), K: 100}
	var accepts func(slot) bool
	o.Filter, accepts = x.randomFilter()
	want := []string{}
	for k, e := range entries {
		if e.by == nil && (slices.Contains(e.words, words[0]) || slices.Contains(e.words, words[1])) && accepts(e) {
			want = append(want, k)
		}
	}
	hits, err := v.Search(o)
	require.NoError(t, err)
	require.ElementsMatch(t, want, hitKeys(hits, nil), "%q", words)
	require.True(t, slices.IsSortedFunc(hits, func(a, b memory.Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Key, b.Key))
	}))
	for _, h := range hits {
		x.checkEntry(h.Key, entries[h.Key], h.Entry)
	}
	o.K = 1 + r.IntN(2)
	few, err := v.Search(o)
	require.NoError(t, err)
	require.Equal(t, hitKeys(hits, nil)[:min(o.K, len(hits))], hitKeys(few, nil))
}

// checkSearchBoth joins both searches, which have been checked, by the formula.
func (x *modelTest) checkSearchBoth(v memory.SpaceSnapshot, path string) {
	t, r := x.t, x.r
	query, words := x.randomVector(path), modelWords[r.IntN(len(modelWords))]
	o := memory.Query{Text: words, Vector: query, K: 1 + r.IntN(4), Lean: float64(r.IntN(5)-2) / 2}
	o.Filter, _ = x.randomFilter()
	if r.IntN(3) == 0 {
		o.MinScore = 0.4
	}
	near, err := v.Search(memory.Query{Vector: query, K: max(40, 4*o.K), Filter: o.Filter})
	require.NoError(t, err)
	fitting, err := v.Search(memory.Query{Text: words, K: max(40, 4*o.K), Filter: o.Filter})
	require.NoError(t, err)
	scores := make(map[string]float64)
	for _, h := range near {
		if o.Lean == 1 {
			break
		}
		apart := 0.0
		if len(near) > 1 {
			apart = max(apart, near[len(near)-1].Score)
		}
		s := 0.0
		switch {
		case h.Score >= 1:
			s = 1
		case h.Score > apart:
			s = (h.Score - apart) / (1 - apart)
		}
		scores[h.Key] += s * ((1 - o.Lean - min(0, o.Lean)) / 3)
	}
	for _, h := range fitting {
		if o.Lean > -1 {
			scores[h.Key] += h.Score * (1 + min(0, o.Lean))
		}
	}
	want := append([]string{}, slices.SortedFunc(maps.Keys(scores), func(a, b string) int {
		return cmp.Or(cmp.Compare(scores[b], scores[a]), cmp.Compare(a, b))
	})...)
	want = slices.DeleteFunc(want, func(k string) bool { return scores[k] < o.MinScore })
	hits, err := v.Search(o)
	require.NoError(t, err)
	require.Equal(t, want[:min(o.K, len(want))], hitKeys(hits, nil), "%+v", o)
	for _, h := range hits {
		require.Equal(t, scores[h.Key], h.Score)
	}
}
