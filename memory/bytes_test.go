package memory

import (
	"fmt"
	"math"
	"runtime"
	"strings"
	"testing"
	"time"

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
	if testing.Short() {
		t.Skip("fills spaces of 24 kinds")
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
		{"other keys each", 10_000, 1, func(i int) Item {
			return Item{Value: map[string]any{fmt.Sprint("key ", i): i, fmt.Sprint("other ", i): i}}
		}, true},
		{"long keys of maps", 1000, 1, func(i int) Item { return Item{Value: map[string]any{fmt.Sprint(i, strings.Repeat("x", 10_000)): i}} }, true},
		{"what expires", 20_000, 1, func(i int) Item { return Item{Value: i, TTL: time.Hour + time.Duration(i)} }, true},
		{"a tiny text a space", 3000, 3000, func(i int) Item { return Item{Value: words(i, 2)} }, false},
		{"a short text a space", 3000, 3000, func(i int) Item { return Item{Value: words(i, 8)} }, false},
		{"three short texts a space", 3000, 1000, func(i int) Item { return Item{Value: words(i, 8)} }, false},
		{"a tiny vector a space", 3000, 3000, func(i int) Item { return Item{Value: i, Vector: vector(i, 3)} }, true},
		{"tiny vectors", 20_000, 1, func(i int) Item { return Item{Vector: vector(i, 2)} }, true},
		{"a number a space", 5000, 5000, func(i int) Item { return Item{Value: i} }, true},
		{"all of it in tiny spaces", 2000, 1000, func(i int) Item {
			return Item{Value: map[string]any{"text": words(i, 5)}, Vector: vector(i, 4), Metadata: map[string]any{"n": i}}
		}, false},
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
	// A space, or a space and those below it, that has just what a limit of 64 KiB allows.
	for _, c := range []struct {
		name   string
		below  int // spaces below, for a limit on all of them; 0: on the space
		item   func(i int) Item
		noText bool
	}{
		{"64 KiB of numbers", 0, func(i int) Item { return Item{Value: i} }, true},
		{"64 KiB of what expires", 0, func(i int) Item { return Item{Value: i, TTL: time.Hour + time.Duration(i)} }, true},
		{"64 KiB of other keys each", 0, func(i int) Item { return Item{Value: map[string]any{fmt.Sprint("key ", i): i}} }, true},
		{"64 KiB of short texts", 0, func(i int) Item { return Item{Value: words(i, 5)} }, false},
		{"64 KiB of longer texts", 0, func(i int) Item { return Item{Value: words(i, 40)} }, false},
		{"64 KiB of strings", 0, func(i int) Item { return Item{Value: strings.Repeat("x", 1000+i)} }, true},
		{"64 KiB of records", 0, func(i int) Item {
			return Item{Value: map[string]any{"name": fmt.Sprint("symbol ", i), "line": i, "tags": []any{"a", "b"}}}
		}, true},
		{"64 KiB of structs", 0, func(i int) Item { return Item{Value: record{fmt.Sprint(i), i, []string{"x", "y"}, make([]byte, 100)}} }, true},
		{"64 KiB of tiny vectors", 0, func(i int) Item { return Item{Vector: vector(i, 2)} }, true},
		{"64 KiB of vectors of 384", 0, func(i int) Item { return Item{Value: i, Vector: vector(i, 384)} }, true},
		{"64 KiB of metadata", 0, func(i int) Item { return Item{Value: i, Metadata: map[string]any{"year": i}} }, true},
		{"64 KiB of all of it", 0, func(i int) Item {
			return Item{Value: map[string]any{"text": words(i, 20)}, Vector: vector(i, 16), Metadata: map[string]any{"n": i}}
		}, false},
		{"64 KiB in 10 spaces", 10, func(i int) Item { return Item{Value: words(i, 5)} }, false},
		{"64 KiB in 100 spaces", 100, func(i int) Item { return Item{Value: i} }, true},
		{"64 KiB in 40 spaces of vectors", 40, func(i int) Item { return Item{Value: i, Vector: vector(i, 16)} }, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			const limit, users = 64 << 10, 20
			o := SpaceOptions{Each: SpaceDefaults{MaxBytes: limit}}
			before := heapBytes()
			m := New(Options{NoText: c.noText})
			if c.below == 0 {
				require.NoError(t, errOf(m.Space().Configure(o)))
			}
			for user := range users {
				s := m.Space(fmt.Sprint(user))
				if c.below > 0 {
					require.NoError(t, errOf(s.Configure(SpaceOptions{All: Limits{MaxBytes: limit}})))
				}
				for i, full := 0, 0; full < 10; i++ {
					in := s
					if c.below > 0 {
						in = s.Space("below", fmt.Sprint(i%c.below))
					}
					n := m.Load().Len()
					require.NoError(t, errOf(in.PutItem(fmt.Sprintf("key %d", i), c.item(i))))
					if m.Load().Len() <= n { // something was evicted
						full++
					}
				}
				require.Greater(t, viewOf(m.Load()).Total(s.path).Bytes, int64(limit*3/4))
				require.LessOrEqual(t, viewOf(m.Load()).Total(s.path).Bytes, int64(limit))
			}
			m.w.Hands = nil
			is := (heapBytes() - before) / users
			t.Logf("%9d bytes on the heap for each limit of %d, %d entries: %+.0f %%", is, limit, m.Load().Len()/users, 100*(limit/float64(is)-1))
			runtime.KeepAlive(m)
			require.InEpsilon(t, is, limit, 0.25)
		})
	}
}
