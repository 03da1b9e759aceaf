package durable_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/bench/durable"
)

// Opening a file of a million rows, against walking those of bbolt.
func BenchmarkLoad(b *testing.B) {
	const n = 1_000_000
	keys := make([]string, n)
	for i := range keys {
		keys[i] = fmt.Sprintf("key:%016x", uint64(i)*0x9e3779b97f4a7c15)
	}
	slices.Sort(keys)
	for _, k := range []durable.Kind{durable.Cow, durable.Update} {
		b.Run(k.ID, func(b *testing.B) {
			dir := os.Getenv("LOAD_DIR")
			if dir == "" {
				dir = b.TempDir()
			}
			path := filepath.Join(dir, k.ID)
			if _, err := os.Stat(path); err != nil {
				s, err := k.Open(path)
				require.NoError(b, err)
				require.NoError(b, s.SetAll(func(yield func(key, value string) bool) {
					for _, key := range keys {
						if !yield(key, strings.Repeat("v", 100)) {
							return
						}
					}
				}))
				require.NoError(b, s.Close())
			}
			for b.Loop() {
				s, err := k.Open(path)
				require.NoError(b, err)
				if k.ID != durable.Cow.ID {
					require.NoError(b, s.Each(func(key string, r durable.Row) { sink += len(key) + len(r.Value) }))
				}
				b.StopTimer()
				require.NoError(b, s.Close())
				s = nil
				runtime.GC()
				b.StartTimer()
			}
		})
	}
}

var sink int
