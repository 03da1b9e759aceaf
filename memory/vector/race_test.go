package vector

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// Goroutines that go on from one version do not get in each other's way, nor
// in that of its readers.
func TestForksDoNotMeet(t *testing.T) {
	const writers, each, dim = 4, 60, 64
	r := rand.New(rand.NewPCG(3, 3))
	for _, n := range []int{0, 1, 5, 100, 300} {
		base := fill(t, r, n, dim)
		m := map[string][]float32{}
		for i := range n {
			m[key(i)], _ = base.Get(key(i))
		}
		var wg sync.WaitGroup
		ends := make([]*Index, writers)
		for w := range writers {
			wg.Go(func() {
				x := base
				for i := range each {
					v := make([]float32, dim)
					v[0] = float32(w + 1)
					x, _ = x.Set(key(1000+i), v)
				}
				ends[w] = x
			})
		}
		wg.Go(func() {
			q := make([]float32, dim)
			q[1] = 1
			for range 20 {
				hits, err := base.Search(q, Options{K: n + 10})
				if err != nil || len(hits) != n {
					t.Error(len(hits), err)
				}
			}
		})
		wg.Wait()
		check(t, base, m)
		for w, x := range ends {
			require.Equal(t, n+each, x.Len())
			for i := range each {
				v, ok := x.Get(key(1000 + i))
				require.True(t, ok)
				require.Equal(t, float32(w+1), v[0])
			}
		}
	}
}

// Readers of what one writer publishes see whole versions: each vector of
// version i has the value that it got last.
func TestReadersWhileWriting(t *testing.T) {
	const keys, versions, dim = 40, 3000, 16
	var now atomic.Pointer[Index]
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			q := make([]float32, dim)
			q[0] = 1
			for last := float32(-1); last < versions-1; {
				x := now.Load()
				hits, err := x.Search(q, Options{K: keys, Metric: Dot})
				if err != nil || len(hits) != x.Len() {
					t.Error(len(hits), x.Len(), err)
					return
				}
				for i := 1; i < len(hits); i++ { // versions are dense
					if hits[i].Score != hits[i-1].Score-1 {
						t.Error(hits)
						return
					}
				}
				if len(hits) > 0 {
					last = hits[0].Score
				}
			}
		})
	}
	for i := range versions {
		v := make([]float32, dim)
		v[0] = float32(i)
		now.Store(set(t, now.Load(), key(i%keys), v))
	}
	wg.Wait()
}
