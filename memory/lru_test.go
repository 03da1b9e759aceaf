package memory_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/memory"
)

// An exactLRU has keys in the order of their last use, the last one last.
type exactLRU []string

func (l *exactLRU) use(key string) {
	l.forget(key)
	*l = append(*l, key)
}

func (l *exactLRU) forget(key string) {
	*l = slices.DeleteFunc(*l, func(k string) bool { return k == key })
}

// Up to 256 entries, what is evicted is exactly what was used least recently, read or
// written, by one or by many, whatever the limit is on.
func TestSmallLimitsEvictExactlyTheLeastRecentlyUsed(t *testing.T) {
	for name, limit := range map[string]func(n int) (memory.Options, memory.SpaceOptions){
		"memory": func(n int) (memory.Options, memory.SpaceOptions) {
			return memory.Options{NoText: true, MaxEntries: n}, memory.SpaceOptions{}
		},
		"space": func(n int) (memory.Options, memory.SpaceOptions) {
			return memory.Options{NoText: true}, memory.SpaceOptions{MaxEntries: n}
		},
		"all": func(n int) (memory.Options, memory.SpaceOptions) {
			return memory.Options{NoText: true}, memory.SpaceOptions{All: memory.Limits{MaxEntries: n}}
		},
	} {
		for _, n := range []int{1, 2, 3, 7, 8, 9, 64, 255, 256} {
			t.Run(fmt.Sprint(name, n), func(t *testing.T) {
				r := rand.New(rand.NewPCG(uint64(n), 3))
				o, so := limit(n)
				m := memory.New(o)
				top := m.Space("s")
				require.NoError(t, errOf(top.Configure(so)))
				space := func(key string) memory.Space {
					if name == "space" || key[0]%2 == 0 {
						return top
					}
					return top.Space("below")
				}
				var model exactLRU
				key := func() string { return fmt.Sprint(r.IntN(2*n + 3)) }
				put := func(keys ...string) {
					require.NoError(t, m.Batch(func(b *memory.Batch) error {
						for _, k := range keys {
							if err := b.Space(space(k).Path()...).Put(k, 1); err != nil {
								return err
							}
						}
						return nil
					}))
					for _, k := range keys {
						model.use(k)
					}
					model = model[max(0, len(model)-n):]
				}
				for i := range quicker(400) {
					switch r.IntN(6) {
					case 0, 1:
						put(key())
					case 2:
						k := key()
						keys := []string{k}
						for range r.IntN(min(n, 40)) { // each of them once
							if k := key(); !slices.Contains(keys, k) && len(keys) < n {
								keys = append(keys, k)
							}
						}
						put(keys...)
					case 3, 4:
						for range r.IntN(9) {
							k := key()
							if _, ok := space(k).Get(k); ok {
								model.use(k)
							}
						}
					default: // many readers, each key in an order that all agree on
						var mine []string
						for range 1 + r.IntN(4) {
							if k := key(); slices.Contains(model, k) && !slices.Contains(mine, k) {
								mine = append(mine, k)
							}
						}
						for _, k := range mine {
							var readers sync.WaitGroup
							for range 4 {
								readers.Go(func() { space(k).Get(k) })
							}
							readers.Wait()
							model.use(k)
						}
					}
					want := slices.AppendSeq([]string{}, slices.Values(model))
					slices.Sort(want)
					is := []string{}
					for _, path := range spaces(m.Load(), memory.SpacesOptions{}) {
						is = append(is, keys(m.Space(path...).Load())...)
					}
					slices.Sort(is)
					require.Equal(t, want, is, "step %d", i)
				}
				require.NoError(t, m.CheckDerived())
			})
		}
	}
}
