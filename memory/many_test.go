package memory_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/memory"
)

// GetMany finds what Get finds: values, neither what has only a vector, nor what has expired or was
// cleared, in a space, a snapshot and a Batch that has written.
func TestGetManyFindsWhatGetFinds(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	m := memory.New(memory.Options{})
	s := m.Space("a", "b")
	beside := m.Space("a")
	key := func() string { return strings.Repeat("k", r.IntN(4)*50) + fmt.Sprint(r.IntN(4000)) }
	requireAll := func(get func(string) (memory.Value, bool), many func(keys []string, yield func(int, memory.Value) bool)) {
		keys := make([]string, r.IntN(200))
		for i := range keys {
			keys[i] = key()
		}
		var want, got []string
		for i, key := range keys {
			if v, ok := get(key); ok {
				want = append(want, fmt.Sprint(i, v))
			}
		}
		many(keys, func(i int, v memory.Value) bool {
			got = append(got, fmt.Sprint(i, v))
			return len(got) < 150
		})
		require.Equal(t, want[:min(len(want), 150)], got)
	}
	writes := 500
	if testing.Short() {
		writes = 150
	}
	for round := range 12 {
		if round == 6 {
			_, err := s.Clear()
			require.NoError(t, err)
		}
		require.NoError(t, m.Batch(func(b *memory.Batch) error {
			e := b.Space("a", "b")
			for range writes {
				switch k := key(); r.IntN(6) {
				case 0:
					e.Delete(k)
				case 1:
					if err := e.PutVector(k, []float32{1, 2}, nil); err != nil {
						return err
					}
				case 2:
					if err := e.PutItem(k, memory.Item{Value: "brief", TTL: time.Nanosecond}); err != nil {
						return err
					}
				default:
					if err := e.Put(k, r.Int()); err != nil {
						return err
					}
				}
				if err := b.Space("a").Put(key(), "beside"); err != nil {
					return err
				}
			}
			requireAll(e.Get, func(keys []string, yield func(int, memory.Value) bool) { e.GetMany(keys)(yield) })
			return nil
		}))
		time.Sleep(time.Microsecond)
		requireAll(s.Get, func(keys []string, yield func(int, memory.Value) bool) { s.GetMany(keys)(yield) })
		requireAll(beside.Get, func(keys []string, yield func(int, memory.Value) bool) { beside.GetMany(keys)(yield) })
		requireAll(s.Load().Get, func(keys []string, yield func(int, memory.Value) bool) { s.Load().GetMany(keys)(yield) })
	}
	empty := memory.New(memory.Options{}).Space("none")
	requireAll(empty.Get, func(keys []string, yield func(int, memory.Value) bool) { empty.GetMany(keys)(yield) })
}
