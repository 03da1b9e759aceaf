package text

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Stop words lift what other words find, and find nothing themselves.
func TestStopWords(t *testing.T) {
	var x *Index
	for key, text := range map[string]string{"hers": "the train is for her", "his": "the train is for him", "noise": "her her her and him"} {
		x = x.Set(key, Tokenize(slices.Values([]string{text})))
	}
	for query, want := range map[string][]string{
		"her train": {"hers", "his"}, "a train for HIM": {"his", "hers"}, "trains": {"hers", "his"}, "her": nil, "who is he": nil,
	} {
		hits, err := x.Search(query, Options{})
		require.NoError(t, err)
		var found []string
		for _, h := range hits {
			found = append(found, h.Key)
		}
		require.Equal(t, want, found, query)
	}
	// What becomes the same as a stop word is not one.
	x = x.Set("stem", Tokenize(slices.Values([]string{"beings"}))).Set("stop", Tokenize(slices.Values([]string{"to be"})))
	hits, err := x.Search("beings", Options{})
	require.NoError(t, err)
	require.Equal(t, []string{"stem"}, keys(hits))
}

// TestStopWordsModel has documents and queries of English, about half stop words.
func TestStopWordsModel(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	stops := []string{"the", "her", "of", "who", "you", "and"}
	random := func(n int) string {
		var b strings.Builder
		for range n {
			if r.IntN(2) == 0 {
				b.WriteString(stops[int(float64(len(stops))*r.Float64()*r.Float64())] + " ")
			} else {
				f := r.Float64()
				fmt.Fprintf(&b, "w%d ", int(f*f*200))
			}
		}
		return b.String()
	}
	docs, searches := 4000, 100
	if testing.Short() {
		docs, searches = 1000, 30
	}
	v := version{m: model{}}
	for i := range docs {
		w := Tokenize(slices.Values([]string{random(1 + r.IntN(20))}))
		v.m[fmt.Sprint(i)] = w
		v.x = v.x.Set(fmt.Sprint(i), w)
	}
	requireSound(t, v.m, v.x)
	for range searches {
		requireSearch(t, v.m, v.x, random(1+r.IntN(8)), Options{K: 1 + r.IntN(20), MinScore: float64(r.IntN(2)) * r.Float64()})
	}
}

// Common words are read with the rare one at first. Where they cannot reach MinScore by
// themselves, they are read for what the rare one finds.
func TestCommonWordsAreReadForManyCandidates(t *testing.T) {
	var x *Index
	for i := range 4 * window {
		words := "filler "
		if i%7 > 0 {
			words += strings.Repeat("common ", 1+i*97%400)
		}
		if i%3 > 0 {
			words += strings.Repeat("usual ", 1+i%4)
		}
		if i%5 == 3 && (i < 2000 || i > 2700) {
			words += strings.Repeat("rare ", 1+i%6)
		}
		x = x.Set(fmt.Sprint(i), tokenize(words))
	}
	const least = 0.5
	for _, k := range []int{10, 5000} {
		want, err := x.Search("rare common usual", Options{K: k})
		require.NoError(t, err)
		want = slices.DeleteFunc(want, func(h Hit) bool { return h.Score < least })
		hits, err := x.Search("rare common usual", Options{K: k, MinScore: least})
		require.NoError(t, err)
		require.Equal(t, want, hits)
	}
}
