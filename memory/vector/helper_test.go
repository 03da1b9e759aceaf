package vector

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/memory/internal/top"
	"github.com/cowstore/cowstore/memory/vector/internal/kernel"
)

// useAtOnce has both parts of a query compared at once, or one after the other.
func useAtOnce(t testing.TB, is bool) {
	old := atOnce
	t.Cleanup(func() { atOnce = old })
	atOnce = func() bool { return is }
}

// use has codes compared with an instruction set.
func use(t testing.TB, s *kernel.Set) {
	old := instructions
	t.Cleanup(func() { instructions = old })
	instructions = s
}

// withCode counts the live vectors of x that have a code.
func withCode(x *Index) (n int) {
	for s := range x.segments() {
		if s.pairs > 0 {
			n += s.count
		}
	}
	return n
}

func random(r *rand.Rand, dim int) []float32 {
	v := make([]float32, dim)
	for i := range v {
		v[i] = float32(r.NormFloat64())
	}
	return v
}

func key(i int) string { return fmt.Sprintf("key-%06d", i) }

// fill returns an index of n random vectors.
func fill(t testing.TB, r *rand.Rand, n, dim int) *Index {
	var x *Index
	for i := range n {
		x = set(t, x, key(i), random(r, dim))
	}
	return x
}

func set(t testing.TB, x *Index, key string, v []float32) *Index {
	x, err := x.Set(key, v)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// brute returns what Search must, found by comparing everything.
func brute(m map[string][]float32, q []float32, o Options) []Hit {
	b := newBound(o.Metric, len(q), norm64(q))
	all := []top.Hit{}
	for k, v := range m {
		s := b.score(v, q, norm64(v))
		if (!o.HasMin || top.Rounded(s) >= o.MinScore) && (o.Accept == nil || o.Accept(k)) {
			all = append(all, top.Hit{Key: k, Score: s})
		}
	}
	slices.SortFunc(all, top.Hit.Compare)
	k := o.K
	if k == 0 {
		k = 10
	}
	hits := []Hit{}
	for _, f := range all[:min(k, len(all))] {
		hits = append(hits, Hit{f.Key, top.Rounded(f.Score), f.Score})
	}
	return hits
}

// plain is the score of v by the textbook, in float64.
func plain(m Metric, v, q []float32) float64 {
	var vq, vv, qq, d float64
	for i := range v {
		a, b := float64(v[i]), float64(q[i])
		vq, vv, qq, d = vq+a*b, vv+a*a, qq+b*b, d+(a-b)*(a-b)
	}
	switch m {
	case Dot:
		return vq
	case Cosine:
		if vv == 0 {
			return 0
		}
		return vq / math.Sqrt(vv) / math.Sqrt(qq)
	}
	return -math.Sqrt(d)
}

// same requires that Search finds what brute does, with the right scores.
func same(t testing.TB, x *Index, m map[string][]float32, q []float32, o Options) {
	t.Helper()
	got, err := x.Search(q, o)
	require.NoError(t, err)
	want := brute(m, q, o)
	require.Len(t, got, len(want))
	for i, h := range got {
		require.Equal(t, want[i], h, "hit %d of %+v", i, o)
		s := plain(o.Metric, m[h.Key], q)
		if math.Abs(s) < math.MaxFloat32 {
			slack := 1e-12*norm64(q)*norm64(m[h.Key]) + math.SmallestNonzeroFloat32
			require.InDelta(t, s, float64(h.Score), 1e-6*math.Abs(s)+slack)
		}
	}
}

// check requires that x is what m is, and sound inside.
func check(t testing.TB, x *Index, m map[string][]float32) {
	t.Helper()
	require.Equal(t, len(m), x.Len())
	if len(m) == 0 {
		require.Nil(t, x)
		return
	}
	for k, v := range m {
		got, ok := x.Get(k)
		require.True(t, ok)
		require.Equal(t, v, got)
	}
	count, slots := 0, 0
	for s := range x.segments() {
		live := 0
		s.each(func(i int) {
			live++
			l, ok := x.keys.Get(s.keys[i])
			require.True(t, ok)
			require.Equal(t, locOf(s.id, i), l)
			require.Less(t, i, s.used)
		})
		require.Equal(t, s.count, live)
		require.LessOrEqual(t, s.used, s.slots())
		if s.id != x.tail.id {
			require.False(t, s.sparse())
			require.Less(t, s.id, x.tail.id)
		}
		count += live
		slots += s.slots()
	}
	require.Equal(t, len(m), count)
	require.LessOrEqual(t, slots, 2*count+max(4*slotsFor(x.dim, count), 8)+maxSlots)
}
