package text

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// Several indexes are searched as one that has the documents of all.
func TestSearchAll(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	docs := 3000
	if testing.Short() {
		docs = 400
	}
	for _, parts := range []int{1, 2, 7, 40} {
		all := make([]Part, parts+1) // the last is empty
		var one *Index
		for i := range docs {
			w := Tokenize(slices.Values([]string{randomText(r, 300, 1+r.IntN(15)) + []string{"the", "her", ""}[i%3]}))
			p := r.IntN(parts)
			key := fmt.Sprintf("%04d", i)
			all[p].Index = all[p].Index.Set(key, w)
			one = one.Set(fmt.Sprintf("%02d/%s", p, key), w)
		}
		for i := range 60 {
			o := Options{K: 1 + r.IntN(30), MinScore: float64(r.IntN(2)) * r.Float64()}
			query := randomText(r, 300, 1+r.IntN(4)) + "the"
			odd := func(key string) bool { return key[len(key)-1]%2 == 1 }
			for p := range all {
				all[p].Accept = nil
				if i%2 == 1 {
					all[p].Accept, o.Accept = odd, odd
				}
			}
			got, err := SearchAll(all, query, o)
			require.NoError(t, err)
			k := o.K
			o.K = one.Len()
			want, err := one.Search(query, o)
			require.NoError(t, err)
			require.Len(t, got, min(k, len(want)), query)
			scores := map[string]float64{}
			for _, h := range want {
				scores[h.Key] = h.Score
			}
			for j, h := range got {
				require.InDelta(t, want[j].Score, h.Score, 1e-9)
				require.InDelta(t, scores[fmt.Sprintf("%02d/%s", h.Part, h.Key)], h.Score, 1e-9)
			}
		}
	}
	_, err := SearchAll(nil, "x", Options{K: -1})
	require.ErrorIs(t, err, ErrOptions)
	hits, err := SearchAll([]Part{{}, {}}, "x", Options{})
	require.NoError(t, err)
	require.Empty(t, hits)
}

// Equal documents of two parts are in the order of the parts, and a K among them cuts
// there.
func TestSearchAllTies(t *testing.T) {
	x := (*Index)(nil).Set("b", tokenize("red pear")).Set("a", tokenize("red pear"))
	for k, want := range map[int]string{1: "0a ", 2: "0a 0b ", 3: "0a 0b 1a ", 9: "0a 0b 1a 1b "} {
		hits, err := SearchAll([]Part{{Index: x}, {Index: x}}, "pear", Options{K: k})
		require.NoError(t, err)
		got := ""
		for _, h := range hits {
			got += fmt.Sprint(h.Part) + h.Key + " "
		}
		require.Equal(t, want, got)
	}
}

// Parts have their own Analyzers, and each its own query.
func TestSearchAllAnalyzers(t *testing.T) {
	texts := func(string) iter.Seq[string] { return slices.Values([]string{"the running horses"}) }
	en := (*Index)(nil).Set("en", Tokenize(texts("")))
	plain := (*Index)(nil).Set("plain", Plain().Tokenize(texts("")))
	for query, want := range map[string]string{"horse": "0en 2en ", "horses": "0en 1plain 2en ", "the": "1plain ", `"running" horse`: "0en 1plain 2en "} {
		hits, err := SearchAll([]Part{{Index: en}, {Index: plain}, {Index: en, Texts: texts}}, query, Options{})
		require.NoError(t, err)
		slices.SortFunc(hits, func(g, h Hit) int { return g.Part - h.Part })
		got := ""
		for _, h := range hits {
			got += fmt.Sprint(h.Part) + h.Key + " "
		}
		require.Equal(t, want, got, query)
	}
	// Quotes mean something where there are texts, and only there.
	hits, err := SearchAll([]Part{{Index: en}, {Index: en, Texts: texts}}, `"horses running"`, Options{})
	require.NoError(t, err)
	require.Len(t, hits, 1)
	require.Zero(t, hits[0].Part)
}
