package memory

import (
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// However readers that use one entry overtake each other, the last use counts.
func TestTheLastUseCounts(t *testing.T) {
	var s stamp
	s.used(5)
	s.used(3) // a reader that took its tick before, and comes late
	require.EqualValues(t, 5, s.last())
	ticks := rand.Perm(1000)
	var readers sync.WaitGroup
	for i := range 4 {
		readers.Go(func() {
			for _, tick := range ticks[i*250 : (i+1)*250] {
				s.used(uint64(tick))
			}
		})
	}
	readers.Wait()
	require.EqualValues(t, 999, s.last())
}
