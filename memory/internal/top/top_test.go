package top

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// Best keeps what sorting everything would put first.
func TestBest(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, k := range []int{0, 1, 2, 7, 100, 500} {
		for _, n := range []int{0, 1, 7, 300} {
			var all []Hit
			b := Best{K: k}
			for i := range n {
				h := Hit{fmt.Sprint(i * 7919 % n), float64(r.IntN(20)), i % 3}
				all = append(all, h)
				slices.SortFunc(all, Hit.Compare)
				kept := slices.Contains(all[:min(k, len(all))], h)
				require.Equal(t, kept, b.Admits(h))
				if kept {
					b.Push(h)
					require.Equal(t, all[min(k, len(all))-1], b.Worst())
				}
				require.Equal(t, len(all) >= k, b.Full())
			}
			require.Equal(t, append([]Hit{}, all[:min(k, n)]...), append([]Hit{}, b.Sorted()...))
		}
	}
}
