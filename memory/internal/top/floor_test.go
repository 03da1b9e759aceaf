package top

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// The level is what sorting everything would have at the place k, after each number.
func TestFloor(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	var f Floor
	require.False(t, f.Add(1))
	require.Equal(t, math.Inf(-1), f.Level(), "the zero Floor keeps none")
	for _, k := range []int{0, 1, 2, 3, 10, 100, 2000} {
		f.Reset(k)
		var all []float64
		before := f.Level()
		for range 6 * k {
			n := float64(r.IntN(1000))
			all = append(all, n)
			raised := f.Add(n)
			level := math.Inf(-1)
			if k < 200 || len(all)%97 == 0 {
				slices.Sort(all)
				if len(all) >= k {
					level = all[len(all)-k]
				}
				require.Equal(t, level, f.Level(), "%d of %v", k, fmt.Sprint(len(all)))
			}
			require.Equal(t, f.Level() > before, raised)
			before = f.Level()
		}
	}
}
