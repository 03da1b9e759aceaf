package memory_test

import (
	"cmp"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/memory"
	"github.com/cowstore/cowstore/memory/filter"
	"github.com/cowstore/cowstore/memory/text"
	"github.com/cowstore/cowstore/memory/vector"
)

// found returns the names of hits: "space/key".
func found(hits []memory.Hit) (names []string) {
	for _, h := range hits {
		names = append(names, strings.Join(append(h.Space(), h.Key), "/"))
	}
	return names
}

// A search of all spaces below is one of all their entries in one space, and scores are
// those of that.
func TestSearchBelow(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	m := memory.New(memory.Options{})
	flat := memory.New(memory.Options{}).Space("flat")
	words := []string{"tea", "train", "horse", "music", "the", "her", "rain", "roof", "bread", "green"}
	put := func(path []string, key string, within bool) {
		var b strings.Builder
		for range 2 + r.IntN(6) {
			b.WriteString(words[int(float64(len(words))*r.Float64()*r.Float64())] + " ")
		}
		vector := []float32{r.Float32() - 0.5, r.Float32() - 0.5, r.Float32() - 0.5}
		it := memory.Item{Value: b.String(), Vector: vector, Metadata: map[string]any{"odd": len(key) % 2}}
		_, err := m.Space(path...).PutItem(key, it)
		require.NoError(t, err)
		if within {
			_, err = flat.PutItem(strings.Join(append(path, key), "/"), it)
			require.NoError(t, err)
		}
	}
	entries, searches := 600, 60
	if testing.Short() {
		entries, searches = 200, 24
	}
	for i := range entries {
		path := []string{"user", fmt.Sprint(r.IntN(12))}
		if i%3 == 0 {
			path = append(path, "notes")
		}
		put(path, fmt.Sprint("k", i), true)
	}
	put([]string{"user"}, "self", true)
	put([]string{"users"}, "no", false)
	put(nil, "no", false)
	put([]string{"use"}, "no", false)

	for i := range searches {
		o := memory.Query{K: 1 + r.IntN(40), Below: true}
		if i%3 == 0 {
			o.Filter = filter.Meta("odd").Eq(1)
		}
		if i%4 == 0 {
			o.MinScore = r.Float64()
		}
		query := words[r.IntN(len(words))] + " " + words[r.IntN(len(words))] + " her"
		vector := []float32{r.Float32() - 0.5, r.Float32() - 0.5, r.Float32() - 0.5}
		o.Metric = []memory.Metric{memory.Cosine, memory.Dot, memory.L2}[i%3]
		in := o
		in.Below = false
		for name, both := range map[string]func(s memory.Space, o memory.Query) ([]memory.Hit, error){
			"text": func(s memory.Space, o memory.Query) ([]memory.Hit, error) {
				o.Text = query
				return s.Search(o)
			},
			"vector": func(s memory.Space, o memory.Query) ([]memory.Hit, error) {
				o.Vector = vector
				return s.Search(o)
			},
		} {
			got, err := both(m.Space("user"), o)
			require.NoError(t, err)
			want, err := both(flat, in)
			require.NoError(t, err)
			all := in
			all.K = 1000
			every, err := both(flat, all)
			require.NoError(t, err)
			scores := map[string]float64{}
			for _, h := range every {
				scores[h.Key] = h.Score
			}
			require.Len(t, got, len(want), "%s %q", name, query)
			for j, key := range found(got) {
				require.InDelta(t, want[j].Score, got[j].Score, 1e-9, "%s %q", name, query)
				require.Contains(t, scores, key)
				require.InDelta(t, scores[key], got[j].Score, 1e-9)
			}
		}
		o.Text, o.Vector = query, vector
		got, err := m.Space("user").Search(o)
		require.NoError(t, err)
		require.True(t, slices.IsSortedFunc(got, func(a, b memory.Hit) int { return cmp.Compare(b.Score, a.Score) }))
		require.Len(t, slices.Compact(slices.Sorted(slices.Values(found(got)))), len(got), "each once")
	}

	hits, err := m.Space("nobody").Search(memory.Query{Text: "tea", Below: true})
	require.NoError(t, err)
	require.Empty(t, hits)
	hits, err = m.Space().Search(memory.Query{Text: "tea", Below: true, K: 1000})
	require.NoError(t, err)
	require.NotEmpty(t, hits)

	// What is cleared is not found, what is forked is.
	before := m.Load()
	_, err = m.Space("user", "3").ClearAll()
	require.NoError(t, err)
	hits, err = m.Space("user").Search(memory.Query{Text: "tea", Below: true, K: 1000})
	require.NoError(t, err)
	for _, h := range hits {
		require.NotEqual(t, "3", cmp.Or(append(h.Space(), "", "")[1]))
	}
	old, err := before.Space("user").Search(memory.Query{Text: "tea", Below: true, K: 1000})
	require.NoError(t, err)
	require.Greater(t, len(old), len(hits))
}

// Spaces whose vectors have another dimension are passed over.
func TestSearchBelowOfDimensions(t *testing.T) {
	m := memory.New(memory.Options{})
	for i, v := range [][]float32{{1, 0}, {1, 0, 0}, {0, 1}} {
		_, err := m.Space("user", fmt.Sprint(i)).PutVector("k", v, nil)
		require.NoError(t, err)
	}
	hits, err := m.Space("user").Search(memory.Query{Vector: []float32{1, 0}, Below: true})
	require.NoError(t, err)
	require.Equal(t, []string{"user/0/k", "user/2/k"}, found(hits))
	_, err = m.Space("user").Search(memory.Query{Vector: []float32{1, 0, 0, 0}, Below: true})
	require.ErrorIs(t, err, memory.ErrDimension)
	_, err = m.Space("user").Search(memory.Query{Vector: []float32{}, Below: true})
	require.ErrorIs(t, err, vector.ErrEmpty)
}

// Of each pair of entries about one thing a vector tells the thing apart, within noise,
// and a word does: both know half, and together find more than either.
func TestSearchBothFindsMore(t *testing.T) {
	const n, dim = 400, 16
	r := rand.New(rand.NewPCG(5, 5))
	s := memory.New(memory.Options{}).Space("s")
	near := func(of []float32, noise float64) []float32 {
		v := make([]float32, dim)
		for i := range v {
			v[i] = of[i] + float32(noise*r.NormFloat64())
		}
		return v
	}
	topics := make([][]float32, 20)
	for i := range topics {
		topics[i] = near(make([]float32, dim), 1)
	}
	word := func(i int) string { return fmt.Sprintf("word%d", i) }
	vectors := make([][]float32, n)
	for i := range n { // one of 20 topics, by its vector, and one of 20 words, by its text
		vectors[i] = topics[i%20]
		_, err := s.PutItem(fmt.Sprint(i), memory.Item{Value: word(i / 20), Vector: near(topics[i%20], 0.5)})
		require.NoError(t, err)
	}
	first := map[string]float64{} // how often what is asked for is among the first three
	for range 200 {
		i := r.IntN(n)
		for lean, name := range map[float64]string{-1: "vector", 0: "both", 1: "words"} {
			hits, err := s.Search(memory.Query{Text: word(i / 20), Vector: near(vectors[i], 0.5), K: 5, Lean: lean})
			require.NoError(t, err)
			if slices.Contains(found(hits), fmt.Sprint("s/", i)) {
				first[name]++
			}
		}
	}
	require.Greater(t, first["both"], 1.5*first["vector"], first)
	require.Greater(t, first["both"], 1.5*first["words"], first)
}

func TestLean(t *testing.T) {
	s := memory.New(memory.Options{}).Space("s")
	_, err := s.PutItem("by vector", memory.Item{Value: "tea", Vector: []float32{1, 0}})
	require.NoError(t, err)
	_, err = s.PutItem("by words", memory.Item{Value: "train", Vector: []float32{0, 1}})
	require.NoError(t, err)
	for lean, want := range map[float64][]string{-1: {"s/by vector", "s/by words"}, -0.98: {"s/by vector", "s/by words"}, 0.5: {"s/by words", "s/by vector"}, 1: {"s/by words"}} {
		hits, err := s.Search(memory.Query{Text: "train", Vector: []float32{1, 0}, Lean: lean})
		require.NoError(t, err)
		require.Equal(t, want, found(hits), lean)
	}
	for _, lean := range []float64{-1.1, 2, math.NaN()} {
		_, err := s.Search(memory.Query{Text: "train", Vector: []float32{1, 0}, Lean: lean})
		require.ErrorIs(t, err, memory.ErrQuery)
	}
}

// Scores mean the same for words, for a vector and for both, by each metric, and so does
// MinScore. What a side does not find it adds nothing to.
func TestScoresOfAllKinds(t *testing.T) {
	for _, metric := range []memory.Metric{memory.Cosine, memory.Dot, memory.L2} {
		s := memory.New(memory.Options{}).Space("s")
		for key, it := range map[string]memory.Item{
			"both":  {Value: "night train", Vector: []float32{3, 4}},
			"words": {Value: "night train", Vector: []float32{-4, 3}}, // at a right angle
			"near":  {Value: "green tea", Vector: []float32{3, 4}},
			"half":  {Value: "train ticket", Vector: []float32{-3, -4}},
			"none":  {Value: "black tea", Vector: []float32{4, -3}},
			"text":  {Value: "night train"},
		} {
			_, err := s.PutItem(key, it)
			require.NoError(t, err)
		}
		q := memory.Query{Text: "night train", Vector: []float32{3, 4}, Metric: metric}
		scores := map[string]float64{}
		hits, err := s.Search(q)
		require.NoError(t, err)
		for _, h := range hits {
			scores[h.Key] = h.Score
		}
		third := 1.0 / 3
		require.InDelta(t, 1+third, scores["both"], 1e-6, metric)
		require.InDelta(t, 1, scores["words"], 1e-6, "a vector that says nothing takes nothing away")
		require.InDelta(t, 1, scores["text"], 1e-6, "nor does having none")
		require.InDelta(t, third, scores["near"], 1e-6)
		require.InDelta(t, 0, scores["none"], 1e-6)
		require.Equal(t, "both", hits[0].Key)
		require.Less(t, scores["half"], 0.5, metric)

		words, err := s.Search(memory.Query{Text: q.Text})
		require.NoError(t, err)
		for _, h := range words {
			if h.Key != "both" {
				require.InDelta(t, h.Score, scores[h.Key], 1e-6, "%v: what it has by words alone", metric)
			}
		}
		q.MinScore = 0.9
		for _, kind := range []memory.Query{q, {Text: q.Text, MinScore: 0.9}} {
			hits, err = s.Search(kind)
			require.NoError(t, err)
			require.ElementsMatch(t, []string{"s/both", "s/words", "s/text"}, found(hits), metric)
		}
		if metric == memory.Cosine {
			hits, err = s.Search(memory.Query{Vector: q.Vector, MinScore: 0.9})
			require.NoError(t, err)
			require.ElementsMatch(t, []string{"s/both", "s/near"}, found(hits))
		}
		// Of the only vector there is, its own score says how near it is.
		one := memory.New(memory.Options{}).Space("one")
		_, err = one.PutItem("k", memory.Item{Value: "tea", Vector: []float32{0, 5}})
		require.NoError(t, err)
		for _, query := range [][]float32{{0, 5}, {3, 4}} {
			hits, err = one.Search(memory.Query{Text: "coffee", Vector: query, Metric: metric})
			require.NoError(t, err)
			want := 1.0
			switch {
			case query[0] == 0:
			case metric == memory.L2:
				want = 1 - math.Sqrt(10.0/50) // of a right angle
			default:
				want = 0.8
			}
			require.InDelta(t, third*want, hits[0].Score, 1e-6, metric)
		}
		hits, err = one.Search(memory.Query{Text: "tea", Vector: []float32{5, 0}, Metric: metric})
		require.NoError(t, err)
		require.InDelta(t, 1, hits[0].Score, 1e-6, metric)
	}
}

func TestPhrasesAndPrefixes(t *testing.T) {
	s := memory.New(memory.Options{}).Space("s")
	for key, v := range map[string]any{"a": "the night train to Lyon", "b": map[string]any{"title": "train", "text": "at night"}, "c": "theatre"} {
		_, err := s.Put(key, v)
		require.NoError(t, err)
	}
	for _, c := range []struct {
		query  string
		prefix bool
		want   []string
	}{
		{`night train`, false, []string{"s/a", "s/b"}}, {`"night train"`, false, []string{"s/a"}}, {`"at night"`, false, []string{"s/b"}},
		{`"train night"`, false, nil}, {"thea", false, nil}, {"thea", true, []string{"s/c"}}, {`"night train" Ly`, true, []string{"s/a"}},
	} {
		hits, err := s.Search(memory.Query{Text: c.query, Prefix: c.prefix})
		require.NoError(t, err)
		require.ElementsMatch(t, c.want, found(hits), c.query)
	}
}

// Whether a search has the dimension of anything, what has expired does not say.
func TestAnExpiredVectorHasNoDimension(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := memory.New(memory.Options{})
		_, err := m.Space("s", "a").PutItem("k", memory.Item{Vector: []float32{1, 0}, TTL: time.Second})
		require.NoError(t, err)
		_, err = m.Space("s", "b").PutVector("k", []float32{1, 0, 0}, nil)
		require.NoError(t, err)
		search := func() ([]memory.Hit, error) {
			return m.Space("s").Search(memory.Query{Vector: []float32{1, 0}, Below: true})
		}
		require.Equal(t, []string{"k"}, hitKeys(search()))
		time.Sleep(2 * time.Second)
		_, err = search()
		require.ErrorIs(t, err, memory.ErrDimension)
	})
}

// What is text, how much of it counts, and its language are up to the space.
func TestTextOfASpace(t *testing.T) {
	french, err := text.Language("fr")
	require.NoError(t, err)
	m := memory.New(memory.Options{
		AnalyzerOf: func(space []string) *text.Analyzer {
			if space[0] == "fr" {
				return french
			}
			return nil
		},
		TextOf: func(space []string, v memory.Value) iter.Seq2[string, int] {
			return func(yield func(string, int) bool) {
				_ = yield(v.Step("title").String(), 3) && yield(v.Step("text").String(), 1) && yield(v.Step("role").String(), 0)
			}
		},
	})
	note := func(title, text string) map[string]any {
		return map[string]any{"title": title, "text": text, "role": "user"}
	}
	shared, err := memory.Freeze(note("les chevaux", "the horses mangeaient"))
	require.NoError(t, err)
	require.NoError(t, m.Batch(func(b *memory.Batch) error {
		for _, space := range []string{"fr", "en"} { // one value, other words
			if err := b.Space(space).Put("k", shared); err != nil {
				return err
			}
		}
		return nil
	}))
	for query, want := range map[string][]string{"cheval": {"fr/k"}, "manger": {"fr/k"}, "chevaux": {"fr/k", "en/k"}, "user": nil} {
		var all []string
		for _, space := range []string{"fr", "en"} {
			hits, err := m.Space(space).Search(memory.Query{Text: query})
			require.NoError(t, err)
			all = append(all, found(hits)...)
		}
		require.Equal(t, want, all, query)
		hits, err := m.Space().Search(memory.Query{Text: query, Below: true})
		require.NoError(t, err)
		require.ElementsMatch(t, want, found(hits), "each space analyzes the query its own way")
	}
	s := m.Space("en")
	for key, n := range map[string]map[string]any{"in title": note("tea", "green and black"), "in text": note("green", "tea and black")} {
		_, err := s.Put(key, n)
		require.NoError(t, err)
	}
	hits, err := s.Search(memory.Query{Text: "tea"})
	require.NoError(t, err)
	require.Equal(t, []string{"en/in title", "en/in text"}, found(hits))
	require.Equal(t, []memory.Match{{Text: "tea", From: 0, To: 3, Term: "tea"}}, hits[0].Matches())
}

func TestBelowIsExact(t *testing.T) {
	for _, c := range []struct{ worse, better, query []float32 }{
		{[]float32{1 << 24, 1, 0}, []float32{1 << 24, 1, 1}, []float32{1, 0, 1}}, // one float32
		{[]float32{1e30}, []float32{3e38}, []float32{1e30}},                      // more than any
	} {
		m := memory.New(memory.Options{})
		for name, v := range map[string][]float32{"a": c.worse, "b": c.better} {
			_, err := m.Space("s", name).PutVector(name, v, nil)
			require.NoError(t, err)
			_, err = m.Space("one").PutVector(name, v, nil)
			require.NoError(t, err)
		}
		for _, space := range []memory.Space{m.Space("one"), m.Space("s")} {
			for k := range 2 {
				hits, err := space.Search(memory.Query{Vector: c.query, K: k + 1, Below: true, Metric: memory.Dot})
				require.NoError(t, err)
				require.Len(t, hits, k+1)
				require.Equal(t, "b", hits[0].Key)
			}
		}
	}
}
