package vector

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

// However often vectors are replaced and deleted, an index holds no more than a
// small multiple of what is in it.
func TestMemoryIsBounded(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	const dim = 16
	for _, n := range []int{1, 10, 300, 3000} {
		x := fill(t, r, n, dim)
		for range 5 * n {
			x = set(t, x, key(r.IntN(n)), random(r, dim))
		}
		slots := func() (n int) {
			for s := range x.segments() {
				n += s.slots()
			}
			return n
		}
		require.LessOrEqual(t, slots(), 2*n+max(4, min(2*n, maxSlots)))
		for i := range n - 1 {
			x = x.Delete(key(i))
		}
		require.LessOrEqual(t, slots(), 24)
		require.Less(t, x.Bytes(), int64(8192))
	}
}

// heap returns the bytes in use.
func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func TestBytesPerVector(t *testing.T) {
	if testing.Short() {
		t.Skip("fills 100,000 vectors")
	}
	withCodes(t, true)
	const n, dim = 100_000, 384
	before := heap()
	v := random(rand.New(rand.NewPCG(1, 1)), dim)
	var x *Index
	for i := range n {
		v[i%dim] = float32(i)
		x = set(t, x, key(i), v)
	}
	each := float64(heap()-before) / n
	t.Logf("%.0f bytes a vector, Bytes says %.0f", each, float64(x.Bytes())/n)
	require.Less(t, each, 1.35*4*dim)
	require.InEpsilon(t, each, float64(x.Bytes())/n, 0.05)
	runtime.KeepAlive(x)
}

// A write at 100,000 vectors allocates at most three times what one at 1,000
// does. How long it takes, BenchmarkSet says.
func TestWriteCost(t *testing.T) {
	if testing.Short() {
		t.Skip("fills 100,000 vectors")
	}
	const dim = 64
	cost := func(n int) (replace, add float64) {
		r := rand.New(rand.NewPCG(9, 9))
		x := fill(t, r, n, dim)
		v := random(r, dim)
		bytes := func(f func(i int)) float64 {
			const rounds = 2000
			var a, b runtime.MemStats
			runtime.ReadMemStats(&a)
			for i := range rounds {
				f(i)
			}
			runtime.ReadMemStats(&b)
			return float64(b.TotalAlloc-a.TotalAlloc) / rounds
		}
		replace = bytes(func(int) { x = set(t, x, key(r.IntN(n)), v) })
		add = bytes(func(i int) { x = set(t, x, fmt.Sprintf("new-%06d", i), v) })
		return replace, add
	}
	r1, a1 := cost(1000)
	r2, a2 := cost(100_000)
	t.Logf("bytes of a write at 1,000 and 100,000: replacing %.0f and %.0f, adding %.0f and %.0f", r1, r2, a1, a2)
	require.Less(t, r2, 3*r1)
	require.Less(t, a2, 3*a1)
}
