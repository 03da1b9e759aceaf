package text

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/memory/internal/top"
)

// compare orders hits: the better first.
func (h Hit) compare(g Hit) int { return top.Hit(h).Compare(top.Hit(g)) }

// A model is an index as a plain map, searched by the formula.
type model map[string]Words

func (m model) search(query string, o Options) []Hit {
	var tokens uint64
	var a *Analyzer
	df := map[string]int{}
	for _, w := range m {
		a = w.analyzer
		tokens += w.tokens
		for _, t := range w.terms {
			df[t.term]++
		}
	}
	avg := float64(tokens) / float64(len(m))
	idf := func(term string) float64 {
		n, N := float64(df[term]), float64(len(m))
		return math.Log(1 + (N-n+0.5)/(n+0.5))
	}
	part := func(tf, length float64) float64 { return tf / (tf + 2.5*(length+25)/(avg+150)) }
	asked := a.Tokenize(slices.Values([]string{query})).terms
	unit := 0.0
	for _, q := range asked {
		w := float64(q.count) * idf(q.term)
		if q.stop {
			w *= 0.35
		}
		if !q.stop || df[q.term] > 0 {
			unit += w * part(1, avg)
		}
	}
	var hits []Hit
	for key, w := range m {
		if o.Accept != nil && !o.Accept(key) {
			continue
		}
		score := 0.0
		found := false
		for _, q := range asked {
			for _, t := range w.terms {
				if t.term == q.term {
					s := float64(q.count) * idf(t.term) * part(float64(t.count), float64(w.tokens)) / unit
					if q.stop {
						s *= 0.35
					} else {
						found = true
					}
					score += s
				}
			}
		}
		if found && score >= o.MinScore {
			hits = append(hits, Hit{Key: key, Score: score})
		}
	}
	slices.SortFunc(hits, Hit.compare)
	return hits
}

// requireSearch fails unless x returns what m does. Scores may differ by
// rounding, and hits of nearly equal scores in order.
func requireSearch(t testing.TB, m model, x *Index, query string, o Options) {
	t.Helper()
	got, err := x.Search(query, o)
	require.NoError(t, err)
	all := m.search(query, o)
	want := all[:min(cmp.Or(o.K, 10), len(all))]
	require.Len(t, got, len(want), "%q: %v", query, want)
	scores := map[string]float64{}
	for _, h := range all {
		scores[h.Key] = h.Score
	}
	for i, h := range got {
		require.InDelta(t, want[i].Score, h.Score, 1e-9, "%q, hit %d", query, i)
		score, ok := scores[h.Key]
		require.True(t, ok, h.Key)
		require.InDelta(t, score, h.Score, 1e-9, "%q, hit %d", query, i)
		if i > 0 {
			require.Negative(t, got[i-1].compare(h))
		}
	}
}

// requireSound fails unless all parts of x agree with m and one another.
func requireSound(t testing.TB, m model, x *Index) {
	t.Helper()
	require.Equal(t, len(m), x.Len())
	if len(m) == 0 {
		require.Nil(t, x)
		return
	}
	require.Equal(t, len(m), x.keys.Len())
	require.EqualValues(t, len(m), requireArray(t, x.docs.root, x.docs.height))
	require.EqualValues(t, x.dict.Len(), requireArray(t, x.terms.root, x.terms.height))
	var tokens uint64
	df := map[string]int{}
	for key, w := range m {
		n, ok := x.keys.Get(key)
		require.True(t, ok)
		d := x.docs.at(n)
		require.Equal(t, key, builder{}.KeyOf(d.key))
		require.Equal(t, w.tokens, d.tokens)
		tokens += w.tokens
		uses := map[uint32]uint32{}
		for _, u := range decode(d.terms) {
			uses[u.term] = u.count
		}
		require.Len(t, uses, len(w.terms))
		for _, c := range w.terms {
			df[c.term]++
			id, ok := x.dict.Get(c.term)
			if !ok || uses[id] != c.count {
				t.Fatalf("%q is %d times in %q, not %d", c.term, uses[id], key, c.count)
			}
			var l list
			l.open(x.terms.at(id), newRanker(1, 1))
			if p, want := l.find(n), (posting{n, newWeight(c.count, w.tokens)}); p != want {
				t.Fatalf("%q in %q: %v, not %v", c.term, key, p, want)
			}
		}
	}
	require.Equal(t, tokens, x.tokens)
	require.Equal(t, len(df), x.dict.Len())
	for name := range df {
		id, _ := x.dict.Get(name)
		require.Equal(t, name, builder{}.KeyOf(x.terms.at(id).name))
		requireTerm(t, x.terms.at(id), df[name])
	}
}

func requireTerm(t testing.TB, e *term, df int) {
	require.Equal(t, df, e.df())
	if e.tree == nil {
		require.LessOrEqual(t, df, maxPosts)
		return
	}
	require.Nil(t, e.posts)
	n, last := 0, -1
	for _, l := range e.tree.limbs {
		lb := lightest
		for _, s := range l.spans {
			sb := lightest
			require.NotEmpty(t, s.posts)
			require.LessOrEqual(t, len(s.posts), maxPosts)
			for _, p := range s.posts {
				if int(p.doc) <= last {
					t.Fatalf("document %d comes after %d", p.doc, last)
				}
				last = int(p.doc)
				sb = sb.with(p.weight)
				n++
			}
			require.EqualValues(t, last, s.last)
			require.Equal(t, sb, s.best)
			lb = lb.with(sb)
		}
		require.EqualValues(t, last, l.last)
		require.Equal(t, lb, l.best)
	}
	require.Equal(t, df, n)
}

// requireArray returns how many values n holds.
func requireArray[T any](t testing.TB, n *node[T], height int) uint32 {
	if n == nil {
		return 0
	}
	live, full := uint32(0), uint16(0)
	if height == 0 {
		for i := range leafLen {
			live += uint32(n.full >> i & 1)
		}
		full = n.full
	} else {
		for i, k := range n.kids {
			l := requireArray(t, k, height-1)
			live += l
			if uint64(l) == room(height-1) {
				full |= 1 << i
			}
		}
	}
	require.Equal(t, live, n.live)
	require.Equal(t, full, n.full)
	require.NotZero(t, live)
	return live
}

// randomText returns words of which the first of n are the most frequent.
func randomText(r *rand.Rand, n, length int) string {
	var b strings.Builder
	for range length {
		f := r.Float64()
		fmt.Fprintf(&b, "w%d ", int(f*f*f*float64(n)))
	}
	return b.String()
}

type version struct {
	m model
	x *Index
}

func (v version) set(key string, w Words) version {
	m := maps.Clone(v.m)
	m[key] = w
	if len(w.terms) == 0 {
		delete(m, key)
	}
	return version{m, v.x.Set(key, w)}
}

func (v version) delete(key string) version {
	m := maps.Clone(v.m)
	delete(m, key)
	return version{m, v.x.Delete(key)}
}

func TestModel(t *testing.T) {
	steps := 3000
	if testing.Short() {
		steps = 200
	}
	for _, keys := range []int{3, 40, 400} {
		t.Run(fmt.Sprint(keys), func(t *testing.T) {
			r := rand.New(rand.NewPCG(1, uint64(keys)))
			past := []version{{m: model{}}}
			for range steps {
				// Mostly the last, at times an old version.
				i := len(past) - 1
				if r.IntN(10) == 0 {
					i = r.IntN(len(past))
				}
				v := past[i]
				key := fmt.Sprint(r.IntN(keys))
				if r.IntN(4) == 0 {
					v = v.delete(key)
				} else {
					v = v.set(key, tokenize(randomText(r, 100, r.IntN(30))))
				}
				if len(past) < 30 {
					past = append(past, v)
				} else {
					past[r.IntN(20)] = past[29]
					past[29] = v
				}
				for _, v := range []version{v, past[r.IntN(len(past))]} {
					o := Options{K: r.IntN(12), MinScore: float64(r.IntN(2)) * r.Float64()}
					if r.IntN(2) == 0 {
						last := byte('0' + r.IntN(10))
						o.Accept = func(key string) bool { return key[len(key)-1] <= last }
					}
					requireSearch(t, v.m, v.x, randomText(r, 100, 1+r.IntN(5)), o)
				}
				if r.IntN(50) == 0 {
					for _, v := range past {
						requireSound(t, v.m, v.x)
					}
				}
			}
		})
	}
}

// TestTrees has terms of thousands of documents, in trees of several limbs.
func TestTrees(t *testing.T) {
	n := 6000
	if testing.Short() {
		n = 900
	}
	r := rand.New(rand.NewPCG(2, 2))
	v := version{m: model{}}
	write := func(key int) {
		// Some runs of documents are longer, so that whole spans are hopeless.
		w := tokenize(randomText(r, 300, 1+r.IntN(10)*(1+4*(key/700%2))) + " the")
		v.m[fmt.Sprint(key)] = w
		v.x = v.x.Set(fmt.Sprint(key), w)
	}
	for i := range n {
		write(i)
	}
	check := func() {
		requireSound(t, v.m, v.x)
		for range 20 {
			requireSearch(t, v.m, v.x, randomText(r, 300, 1+r.IntN(4))+"the", Options{K: 1 + r.IntN(20)})
		}
		requireSearch(t, v.m, v.x, "the", Options{K: 5})
	}
	check()
	old := version{maps.Clone(v.m), v.x}
	for range n / 2 {
		write(r.IntN(n))
	}
	check()
	for i, key := range r.Perm(n) {
		v.x = v.x.Delete(fmt.Sprint(key))
		delete(v.m, fmt.Sprint(key))
		if i%(n/6) == 0 || len(v.m) < 5 {
			requireSound(t, v.m, v.x)
		}
		if i == n/2 {
			check()
			for i := range n / 4 {
				write(i)
			}
			check()
		}
	}
	v = old
	check()
}

// TestForks derives versions from one base in several goroutines, each of which
// must find its own documents and those of the base, and nothing else.
func TestForks(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	base := version{m: model{}}
	for i := range 300 {
		base = base.set(fmt.Sprint(i), tokenize(randomText(r, 50, 20)))
	}
	var wg sync.WaitGroup
	ends := make([]version, 4)
	for g := range ends {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(4, uint64(g)))
			v := version{maps.Clone(base.m), base.x}
			for range 200 {
				key := fmt.Sprint(r.IntN(400))
				if r.IntN(3) == 0 {
					v = v.delete(key)
				} else {
					v = v.set(key, tokenize(randomText(r, 60, 20)))
				}
				_, _ = base.x.Search("w0 w1 w7", Options{})
			}
			ends[g] = v
		})
	}
	wg.Wait()
	for _, v := range append(ends, base) {
		requireSound(t, v.m, v.x)
		for range 20 {
			requireSearch(t, v.m, v.x, randomText(r, 60, 3), Options{})
		}
	}
}

func FuzzSearch(f *testing.F) {
	f.Add("the quick\nbrown fox\nThe LAZY dog", "the fox", uint8(0))
	f.Add("e\u0301 é\n世界 カタカナ\n👩‍👩‍👧 1️⃣\n\xff\xfea\xc3", "世 é a", uint8(3))
	f.Add("a.b can't 3.14 x_y\n\"' '\n\x00", "CAN'T 3.14", uint8(1))
	f.Fuzz(func(t *testing.T, docs, query string, k uint8) {
		v := version{m: model{}}
		for i, d := range strings.Split(docs, "\n") {
			if i == 50 {
				break
			}
			v = v.set(fmt.Sprint(i%20), Plain().Tokenize(slices.Values([]string{d, query[:len(query)/2]})))
			if i%7 == 6 {
				v = v.delete(fmt.Sprint(i % 5))
			}
		}
		requireSound(t, v.m, v.x)
		requireSearch(t, v.m, v.x, query, Options{K: int(k)})
	})
}
