package local_test

import (
	"bytes"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/snapshot/snapshottest/deeptest"
)

// What entities with as many relations take is printed, and bounded; and what is counted of
// it is about what it is.
func TestHeapOfManyEntities(t *testing.T) {
	if !deeptest.Apart(t) { // from what others leave
		return
	}
	entities := 10_000
	if testing.Short() {
		entities = 2_000
	}
	var before, after runtime.MemStats
	s := inMemory(t)
	runtime.GC()
	runtime.ReadMemStats(&before)
	_, err := s.Import(t.Context(), "", bytes.NewReader(file(entities)), nil)
	require.NoError(t, err)
	do(t, s, "search_nodes", `{"query":"tea"}`)
	runtime.GC()
	runtime.ReadMemStats(&after)
	took := int64(after.HeapAlloc) - int64(before.HeapAlloc)
	_, used, _, _ := s.Inspect()
	t.Logf("%d MiB on the heap, %d MiB counted", took>>20, used>>20)
	require.Less(t, took, int64(entities)*12<<10)
	require.Less(t, took, 3*used)
	require.Less(t, used, 3*took)
}
