package data

import (
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// A read counts soon after the entry was stored too, and a later one writes to the stamp only
// once in a while.
func TestAReadAfterAStoreIsStamped(t *testing.T) {
	var s Stamp
	s.Used(10)
	require.EqualValues(t, 10, s.Last())
	s.Read(10)
	require.EqualValues(t, 10+stampEvery, s.Last())
	s.Read(10 + stampEvery - 1)
	require.EqualValues(t, 10+stampEvery, s.Last())
	s.Read(10 + stampEvery)
	require.EqualValues(t, 10+2*stampEvery, s.Last())
	s.Used(5) // it comes late
	require.EqualValues(t, 10+2*stampEvery, s.Last())
}

// However readers that use one entry overtake each other, the last use counts.
func TestTheLastUseCounts(t *testing.T) {
	var s Stamp
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
