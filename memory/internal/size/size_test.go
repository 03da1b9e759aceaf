package size_test

import (
	"fmt"
	"math/bits"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/memory/internal/size"
	"github.com/cowstore/cowstore/snapshot"
)

// What Object says is near to what Go makes of it.
func TestObject(t *testing.T) {
	require.Zero(t, size.Object(0))
	for n := 1; n < 200_000; n += 1 + n/50 {
		is := cap(append([]byte(nil), make([]byte, n)...))
		require.InEpsilon(t, is, size.Object(n), 0.125, "%d bytes", n)
		require.GreaterOrEqual(t, size.Object(n), n)
	}
}

// What Map and Row say is near to the heap of maps of all sizes.
func TestMap(t *testing.T) {
	if bits.UintSize != 64 {
		t.Skip("pointers are smaller here")
	}
	rows, sizes := 30_000, []int{1, 6, 7, 12, 13, 30, 31, 60, 100, 500, 2000, 10_000}
	if testing.Short() {
		rows, sizes = 6_000, []int{1, 6, 7, 12, 30, 100, 2000}
	}
	empty := snapshot.New[string](snapshot.Options[uint64]{Immutable: true})
	for _, long := range []int{0, 20, 200} {
		for _, n := range sizes {
			maps := make([]*snapshot.Map[string, uint64], rows/n+1)
			before := heap()
			want := 0
			for i := range maps {
				e := empty.Edit()
				for j := range n {
					key := fmt.Sprintf("k%d%s", j, strings.Repeat("x", long))
					e.Set(key, 1)
					if i == 0 {
						want += size.Row(key)
					}
				}
				maps[i] = e.Seal()
			}
			is := (heap() - before) / len(maps)
			want += size.Map(n)
			t.Logf("%5d keys of %3d bytes and more: %d, predicted %d", n, long, is, want)
			require.InEpsilon(t, is, want, 0.1, "%d keys", n)
			runtime.KeepAlive(maps)
		}
	}
}

func heap() int {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}
