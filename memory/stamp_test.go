package memory

import (
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/cowstore/cowstore/memory/internal/data"

	"github.com/stretchr/testify/require"
)

// However readers that use one entry overtake each other, the last use counts.
func TestTheLastUseCounts(t *testing.T) {
	var s data.Stamp
	s.Used(5)
	s.Used(3) // a reader that took its tick before, and comes late
	require.EqualValues(t, 5, s.Last())
	ticks := rand.Perm(1000)
	var readers sync.WaitGroup
	for i := range 4 {
		readers.Go(func() {
			for _, tick := range ticks[i*250 : (i+1)*250] {
				s.Used(uint64(tick))
			}
		})
	}
	readers.Wait()
	require.EqualValues(t, 999, s.Last())
}
