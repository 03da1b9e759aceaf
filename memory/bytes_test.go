package memory

import (
	"fmt"
	"math"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// heapBytes returns how many bytes are live.
func heapBytes() int64 {
	var stats runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}

// What a Memory says it takes, which its limits go by, is what it takes.
func TestBytesAreThoseOfTheHeap(t *testing.T) {
	if math.MaxInt == math.MaxInt32 {
		t.Skip("sizes are those of 64 bits")
	}
	vector := func(i, dim int) []float32 {
		v := make([]float32, dim)
		for j := range v {
			v[j] = float32((i*31+j*7)%101) - 50
		}
		return v
	}
	words := func(i, n int) string {
		var b strings.Builder
		for j := range n {
			fmt.Fprintf(&b, "word%d ", (i*j+j)%5000)
		}
		return b.String()
	}
	type record struct {
		Name   string
		Line   int
		Tags   []string
		hidden []byte
	}
	for _, c := range []struct {
		name   string
		n      int
		spaces int
		item   func(i int) Item
		noText bool
	}{
		{"numbers", 20_000, 1, func(i int) Item { return Item{Value: i} }, true},
		{"numbers in many spaces", 20_000, 5000, func(i int) Item { return Item{Value: i} }, true},
		{"short texts", 20_000, 1, func(i int) Item { return Item{Value: words(i, 5)} }, false},
		{"long texts", 1000, 1, func(i int) Item { return Item{Value: words(i, 500)} }, false},
		{"texts in many spaces", 5000, 1000, func(i int) Item { return Item{Value: words(i, 8)} }, false},
		{"strings without index", 2000, 1, func(i int) Item { return Item{Value: strings.Repeat("x", 1000+i)} }, true},
		{"records", 20_000, 1, func(i int) Item {
			return Item{Value: map[string]any{"name": fmt.Sprint("symbol ", i), "line": i, "used": true, "tags": []any{"a", "b"}}}
		}, true},
		{"structs", 5000, 1, func(i int) Item {
			return Item{Value: record{fmt.Sprint(i), i, []string{"x", "y"}, make([]byte, 100)}}
		}, true},
		{"bytes", 100, 1, func(i int) Item { return Item{Value: make([]byte, 50_000)} }, true},
		{"vectors of 8", 10_000, 1, func(i int) Item { return Item{Value: i, Vector: vector(i, 8)} }, true},
		{"vectors of 384", 3000, 1, func(i int) Item { return Item{Value: i, Vector: vector(i, 384)} }, true},
		{"one vector each", 2000, 2000, func(i int) Item { return Item{Value: i, Vector: vector(i, 64)} }, true},
		{"metadata", 10_000, 1, func(i int) Item {
			return Item{Value: i, Metadata: map[string]any{"year": i, "kind": "note"}}
		}, true},
		{"all of it", 3000, 10, func(i int) Item {
			return Item{Value: map[string]any{"text": words(i, 30)}, Vector: vector(i, 64), Metadata: map[string]any{"n": i}}
		}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := heapBytes()
			m := New(Options{NoText: c.noText})
			for i := range c.n {
				require.NoError(t, errOf(m.Space("user", fmt.Sprint(i%c.spaces)).PutItem(fmt.Sprintf("key %d", i), c.item(i))))
			}
			is, said := heapBytes()-before, m.Bytes()
			t.Logf("%9d bytes on the heap, predicted %9d: %+.0f %%", is, said, 100*(float64(said)/float64(is)-1))
			runtime.KeepAlive(m)
			require.InEpsilon(t, is, said, 0.25)
		})
	}
}
