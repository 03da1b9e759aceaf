package memory_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/memory"
)

// told returns the versions and kinds of a history, and how it ended.
func told(s memory.Space, key string) (all []string, err error) {
	for c, err := range s.History(key) {
		if err != nil {
			return all, err
		}
		all = append(all, fmt.Sprintf("%d %v %v→%v", c.Version, c.Kind, c.Old.Value, c.New.Value))
		if c.Key != key || !slices.Equal(c.Space, s.Path()) {
			return nil, fmt.Errorf("of %q, %q", c.Space, c.Key)
		}
	}
	return all, nil
}

func TestHistoryOfAnEntry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := memory.New(memory.Options{})
		m.DB().Retain(cow.Retention{Versions: 1000})
		s, other := m.Space("s"), m.Space("s", "below")
		must := func(_ any, err error) { t.Helper(); require.NoError(t, err) }
		must(s.Put("k", 1))                                           // 1
		must(s.Put("kk", 0))                                          // 2
		must(other.Put("k", 0))                                       // 3
		must(s.Put("k", 2))                                           // 4
		must(s.Delete("k"))                                           // 5
		must(s.Put("other", 0))                                       // 6
		must(s.Put("k", 3))                                           // 7
		must(m.Space().Clear())                                       // nothing
		must(s.ClearAll())                                            // 8: few entries, each of them deleted
		must(s.PutItem("k", memory.Item{Value: 4, TTL: time.Second})) // 9
		time.Sleep(2 * time.Second)
		must(m.Sweep(t.Context())) // 10
		all, err := told(s, "k")
		require.NoError(t, err)
		require.Equal(t, []string{
			"10 expired 4→absent", "9 added absent→4", "8 deleted 3→absent", "7 added absent→3", "5 deleted 2→absent", "4 changed 1→2", "1 added absent→1",
		}, all)
		all, err = told(s, "none")
		require.NoError(t, err)
		require.Empty(t, all)

		// Of many entries there is one mark, which is a change of those that there were.
		for i := range 100 {
			must(s.Put(fmt.Sprint(i), i)) // 11 to 110
		}
		must(s.Clear())     // 111
		must(s.Clear())     // 112: there is nothing to clear, but something to purge
		must(s.Put("7", 0)) // 113
		all, err = told(s, "7")
		require.NoError(t, err)
		require.Equal(t, []string{"113 added absent→0", "111 cleared 7→absent", "18 added absent→7"}, all)
		all, err = told(s, "8")
		require.NoError(t, err)
		require.Equal(t, []string{"111 cleared 8→absent", "19 added absent→8"}, all)
		all, err = told(s, "k")
		require.NoError(t, err)
		require.Len(t, all, 7, "a mark that found nothing")

		// The sweep of the DB is one of the memory too.
		must(s.PutItem("swept", memory.Item{Value: 1, TTL: time.Second}))
		time.Sleep(2 * time.Second)
		must(m.DB().Sweep(t.Context()))
		all, err = told(s, "swept")
		require.NoError(t, err)
		require.Equal(t, []string{"115 expired 1→absent", "114 added absent→1"}, all)
		for range s.History("swept") {
			break
		}

		require.NoError(t, m.DB().Compact(113))
		all, err = told(s, "7")
		require.ErrorIs(t, err, cow.ErrCompacted)
		require.Equal(t, []string(nil), all)
	})
	none := memory.New(memory.Options{}).Space("s")
	_, err := none.Put("k", 1)
	require.NoError(t, err)
	_, err = told(none, "k")
	require.ErrorIs(t, err, cow.ErrCompacted)
}

// Whatever was done, the history of a key is what Since tells of it, backwards.
func TestHistoryIsWhatWasTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(1, 2))
		m := memory.New(memory.Options{MaxEntries: 90})
		m.DB().Retain(cow.Retention{Versions: 1 << 20})
		paths := [][]string{{"a"}, {"a", "b"}, {"c"}}
		key := func() string { return fmt.Sprint(r.IntN(70)) }
		writes := 1500
		if testing.Short() {
			writes = 500
		}
		for range writes {
			s := m.Space(paths[r.IntN(3)]...)
			var err error
			switch r.IntN(16) {
			case 0:
				_, err = s.Delete(key())
			case 1:
				_, err = s.PutItem(key(), memory.Item{Value: 1, TTL: time.Duration(r.IntN(1e9))})
			case 2:
				if r.IntN(20) == 0 {
					_, err = s.ClearAll()
				}
			case 3:
				time.Sleep(time.Duration(r.IntN(1e9)))
			case 4:
				err = m.Batch(func(b *memory.Batch) error {
					e := b.Space(paths[0]...)
					if r.IntN(10) == 0 {
						e.Clear()
					}
					return e.Put(key(), 2)
				})
			default:
				_, err = s.Put(key(), r.IntN(1000))
			}
			require.NoError(t, err)
		}
		seen := 0
		for _, path := range paths {
			s := m.Space(path...)
			all := map[string][]string{}
			live := map[string]memory.Entry{}
			for c, err := range s.Since(0) {
				require.NoError(t, err)
				switch {
				case c.Kind == memory.Cleared:
					for k, e := range live {
						all[k] = append(all[k], fmt.Sprintf("%d %v %v→%v", c.Version, c.Kind, e.Value, memory.Value{}))
					}
					clear(live)
					continue
				case c.New.Revision > 0:
					live[c.Key] = c.New
				default:
					delete(live, c.Key)
				}
				all[c.Key] = append(all[c.Key], fmt.Sprintf("%d %v %v→%v", c.Version, c.Kind, c.Old.Value, c.New.Value))
			}
			for k, want := range all {
				slices.Reverse(want)
				got, err := told(s, k)
				require.NoError(t, err)
				require.Equal(t, want, got, "%q %q", path, k)
				seen += len(want)
			}
		}
		require.Greater(t, seen, writes*2/3)
	})
}

func TestContains(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := memory.New(memory.Options{})
		s := m.Space("s")
		_, err := s.PutItem("", memory.Item{Value: 1, TTL: time.Second})
		require.NoError(t, err)
		_, err = s.PutVector("v", []float32{1}, nil)
		require.NoError(t, err)
		was := s.Load()
		require.NoError(t, m.Batch(func(b *memory.Batch) error {
			e := b.Space("s")
			require.True(t, e.Contains(""))
			e.Delete("v")
			require.False(t, e.Contains("v"))
			return nil
		}))
		require.True(t, s.Contains(""))
		require.False(t, s.Contains("v"))
		time.Sleep(time.Second)
		require.False(t, s.Contains(""))
		require.True(t, was.Contains(""))
		require.True(t, was.Contains("v"))
		require.False(t, was.Contains("x"))
	})
}
