package text

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNil(t *testing.T) {
	var x *Index
	require.Zero(t, x.Len())
	require.Zero(t, x.Bytes())
	require.Nil(t, x.Delete("a"))
	require.Nil(t, x.Set("a", Words{}))
	hits, err := x.Search("a", Options{})
	require.NoError(t, err)
	require.Empty(t, hits)
}

func TestSame(t *testing.T) {
	x := (*Index)(nil).Set("a", tokenize("one two two"))
	require.Same(t, x, x.Set("a", tokenize("TWO two one")))
	require.Same(t, x, x.Delete("b"))
	require.Same(t, x, x.Set("b", tokenize("...")))
	require.NotSame(t, x, x.Set("a", tokenize("one two")))
	require.Nil(t, x.Delete("a"))
	require.Nil(t, x.Set("a", tokenize("...")))

	y := x.Set("", tokenize("three"))
	require.Equal(t, 2, y.Len())
	require.Equal(t, x.Bytes(), y.Delete("").Bytes())
	require.Greater(t, y.Bytes(), x.Bytes())
}

func TestOptions(t *testing.T) {
	x := (*Index)(nil).Set("a", tokenize("one"))
	for _, x := range []*Index{nil, x} {
		_, err := x.Search("one", Options{K: -1})
		require.ErrorIs(t, err, ErrOptions)
		_, err = x.Search("one", Options{MinScore: math.NaN()})
		require.ErrorIs(t, err, ErrOptions)
	}
	for _, q := range []string{"", " ", "?!", "\xff", "two"} {
		hits, err := x.Search(q, Options{})
		require.NoError(t, err)
		require.Empty(t, hits, q)
	}
	hits, err := x.Search("one", Options{K: math.MaxInt})
	require.NoError(t, err)
	require.Len(t, hits, 1)
	// A limit includes itself.
	again, err := x.Search("one", Options{MinScore: hits[0].Score})
	require.NoError(t, err)
	require.Equal(t, hits, again)
	none, err := x.Search("one", Options{MinScore: math.Nextafter(hits[0].Score, 9)})
	require.NoError(t, err)
	require.Empty(t, none)
}

// TestFormula has scores that were worked out by hand.
func TestFormula(t *testing.T) {
	x := (*Index)(nil).
		Set("a", tokenize("red red apple")).
		Set("b", tokenize("apple")).
		Set("c", tokenize("green pear tree nut oil"))
	hits, err := x.Search("red apple apple", Options{})
	require.NoError(t, err)
	// Three documents of three tokens on average: K is 2.5·28/153 for a, 2.5·26/153 for b.
	red, apple := math.Log(1+2.5/1.5), math.Log(1+1.5/2.5)
	unit := (red + 2*apple) / (1 + 70.0/153)
	require.Equal(t, "a", hits[0].Key)
	require.InDelta(t, (red*2/(2+70.0/153)+2*apple/(1+70.0/153))/unit, hits[0].Score, 1e-12)
	require.Equal(t, "b", hits[1].Key)
	require.InDelta(t, 2*apple/(1+65.0/153)/unit, hits[1].Score, 1e-12)
	require.Len(t, hits, 2)
}

// A document of average length that has each token of the query once scores 1, whatever the
// query, the other documents and how they are divided into parts. What nothing has counts as
// what a document lacks.
func TestScale(t *testing.T) {
	english := func(text string) Words { return Tokenize(slices.Values([]string{text})) }
	parts := make([]Part, 3)
	for i := range 300 {
		p := &parts[i%2] // none in the third
		p.Index = p.Index.Set(fmt.Sprint(i), english(fmt.Sprintf("the train no%d to town%d is line%d", i, i%9, i%40)))
	}
	score := func(query string) float64 {
		hits, err := SearchAll(parts, query, Options{K: 1})
		require.NoError(t, err)
		require.Len(t, hits, 1)
		reach, err := SearchAll(parts, query, Options{K: 1, MinScore: hits[0].Score})
		require.NoError(t, err)
		require.Equal(t, hits, reach)
		return hits[0].Score
	}
	for _, query := range []string{"train", "no7", "no7 no7 the train", "line3 to town3", "is it no8 to town8 that they", "no9 to town0 the line9"} {
		require.InDelta(t, 1, score(query), 1e-12, query)
	}
	require.InDelta(t, 0.5, score("no7 nowhere"), 0.1)
	require.Less(t, score("train nowhere"), 0.1, "a common word and an unknown one")
	parts[0].Index = parts[0].Index.Set("long", english("train no7 "+strings.Repeat("and more ", 10)))
	require.Less(t, score("train no7"), 1.1)
	hits, err := SearchAll(parts, "train no7", Options{MinScore: 0.5})
	require.NoError(t, err)
	require.Equal(t, []string{"7", "long"}, keys(hits))
	require.Less(t, hits[1].Score, 0.9, "it is longer")
	hits, err = SearchAll(parts[:1], "lin", Options{Prefix: true, K: 1})
	require.NoError(t, err)
	require.InDelta(t, 1, hits[0].Score, 0.1, "a word that somebody is typing counts as one")
}

// TestTies cuts among documents of equal scores, whose numbers are in another
// order than their keys.
func TestTies(t *testing.T) {
	for _, n := range []int{50, 1000, 5000} {
		var x *Index
		for _, i := range rand.New(rand.NewPCG(1, 1)).Perm(n) {
			x = x.Set(fmt.Sprintf("%04d", i), tokenize(fmt.Sprintf("alpha beta alpha gamma%d", i%5)))
		}
		for _, q := range []string{"alpha", "alpha beta", "beta alpha beta", "alpha gamma3 beta", "gamma3", "gamma3 gamma4"} {
			all, err := x.Search(q, Options{K: n})
			require.NoError(t, err)
			require.True(t, slices.IsSortedFunc(all, Hit.compare))
			for _, k := range []int{1, 3, 10, n / 2} {
				hits, err := x.Search(q, Options{K: k})
				require.NoError(t, err)
				require.Equal(t, all[:min(k, len(all))], hits)
			}
		}
		hits, err := x.Search("beta gamma1", Options{K: 2})
		require.NoError(t, err)
		require.Equal(t, "0001", hits[0].Key)
		require.Equal(t, "0006", hits[1].Key)
		require.Equal(t, hits[0].Score, hits[1].Score)
	}
}

func TestAccept(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	v := version{m: model{}}
	for i := range 5000 {
		w := tokenize(randomText(r, 50, 1+r.IntN(20)))
		v.m[fmt.Sprint(i)] = w
		v.x = v.x.Set(fmt.Sprint(i), w)
	}
	calls := map[string]int{}
	o := Options{K: 5, Accept: func(key string) bool {
		calls[key]++
		// Searches within searches are fine.
		_, err := v.x.Search("w3", Options{K: 1})
		return err == nil && key[0] == '7'
	}}
	got, err := v.x.Search("w1 w9 w30", o)
	require.NoError(t, err)
	require.Less(t, len(calls), 4000)
	for key, n := range calls {
		require.Equal(t, 1, n, key)
	}
	requireSearch(t, v.m, v.x, "w1 w9 w30", o)
	require.Len(t, got, 5)

	// A panic leaves nothing behind.
	for range 3 {
		require.Panics(t, func() {
			_, _ = v.x.Search("w1 w9 w30", Options{Accept: func(string) bool { panic("no") }})
		})
		requireSearch(t, v.m, v.x, "w1 w9 w30", Options{})
	}
}

// TestHeavy has counts and lengths that do not fit into a weight.
func TestHeavy(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	v := version{m: model{}}
	for i := range 200 {
		n := []int{1, 254, 255, 256, 5000}[i%5]
		text := strings.Repeat("often ", n) + randomText(r, 30, 40) + strings.Repeat("more ", r.IntN(300))
		v = v.set(fmt.Sprint(i), tokenize(text))
	}
	long := tokenize("often a few words more w1")
	long.tokens = maxLength + 1
	v = v.set("long", long)
	check := func() {
		requireSound(t, v.m, v.x)
		for _, q := range []string{"often", "often more", "w1 often w2", "few words", "w20 w25 more"} {
			requireSearch(t, v.m, v.x, q, Options{K: 3})
			requireSearch(t, v.m, v.x, q, Options{K: 30})
		}
	}
	check()
	// Heavy before and after, with other numbers.
	long.tokens *= 2
	v = v.set("long", long)
	v = v.set("4", tokenize(strings.Repeat("often ", 9999)))
	v = v.set("3", tokenize("often"))
	v = v.delete("2")
	check()
}

func TestLongDocument(t *testing.T) {
	var b strings.Builder
	words := 20_000
	if testing.Short() {
		words = 5_000
	}
	for i := range words {
		fmt.Fprintf(&b, "w%d w%d ", i, i%100)
	}
	v := version{m: model{}}
	v = v.set("short", tokenize(fmt.Sprint("w5 w", words-1))).set("long", tokenize(b.String()))
	requireSound(t, v.m, v.x)
	requireSearch(t, v.m, v.x, fmt.Sprintf("w5 w%d w7", words-1), Options{})
	// A query may be as long.
	requireSearch(t, v.m, v.x, b.String()[:words], Options{})
	v = v.delete("long")
	requireSound(t, v.m, v.x)
	require.Equal(t, 2, v.x.dict.Len())
}

// TestReplaceForever replaces documents time and again, with words of which many
// never come back.
func TestReplaceForever(t *testing.T) {
	n := 100_000
	if testing.Short() {
		n = 2000
	}
	r := rand.New(rand.NewPCG(1, 1))
	heap := func() int {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC() // a pool keeps what it has over one
		runtime.ReadMemStats(&m)
		return int(m.HeapAlloc)
	}
	v := version{m: model{}}
	write := func(i int) {
		key := fmt.Sprint(i % 100)
		if r.IntN(3) == 0 {
			v.x = v.x.Delete(key)
		}
		w := tokenize(randomText(r, 200, 20) + fmt.Sprintf("only%d also%d", i, i/7))
		v.m[key] = w
		v.x = v.x.Set(key, w)
	}
	for i := range 1000 {
		write(i)
	}
	before, bytes := heap(), v.x.Bytes()
	for i := range n {
		write(i)
	}
	requireSound(t, v.m, v.x)
	require.Less(t, heap()-before, bytes/4+50_000)
	require.InEpsilon(t, bytes, v.x.Bytes(), 0.2)
	require.Equal(t, 1, v.x.docs.height, "numbers are used again")
	runtime.KeepAlive(v)
}
