package cow_test

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow"
)

// An order keeps no row alive that was replaced, though the key is the same.
func TestAnOrderLetsGoOfWhatWasReplaced(t *testing.T) {
	const n, large = 50, 100_000
	db := new(cow.DB)
	table := cow.NewTable[string](db, "t", cow.Options[[]int]{Immutable: true})
	cow.NewOrder(table, "order")
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	fill := func() uint64 {
		for i := range n {
			_, err := table.Set(fmt.Sprint(i), make([]int, large/8))
			require.NoError(t, err)
		}
		return heap()
	}
	first := fill()
	require.Less(t, fill(), first+n*large/4)
	runtime.KeepAlive(db)
}
