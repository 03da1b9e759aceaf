package snapshot

import (
	"fmt"
	"hash/maphash"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// GetMany finds what Get finds, in maps of every shape.
func TestGetMany(t *testing.T) {
	for _, n := range []int{0, 1, 7, 8, 40, 1000, cached, cached + 1, inShort(2*cached, 20_000)} {
		e := New[string](Options[int]{}).Edit()
		keys := make([]string, 0, 3*n+1)
		for i := range n {
			e.Set(fmt.Sprint("key", i), i)
			keys = append(keys, fmt.Sprint("key", i), fmt.Sprint("none", i), fmt.Sprint("key", i/2))
		}
		requireMany(t, e.Seal(), append(keys, ""))
	}
	requireMany[string, int](t, nil, []string{"a", "b"})
	requireMany(t, new(Map[string, int]), []string{"a"})

	// Of keys that no string is inside the row.
	e := New[composite](Options[int]{}).Edit()
	var keys []composite
	for i := range 3 * cached {
		e.Set(composite{n: int32(i)}, i)
		keys = append(keys, composite{n: int32(i)}, composite{n: int32(i), half: true})
	}
	requireMany(t, e.Seal(), keys)

	// Of strings of every length.
	lengths := New[string](Options[int]{}).Edit()
	var long []string
	for i := range 3 * cached {
		key := strings.Repeat(string(rune('a'+i%7)), i%200) + fmt.Sprint(i)
		lengths.Set(key, i)
		long = append(long, key, key+"x", key[1:])
	}
	requireMany(t, lengths.Seal(), long)
}

// Keys whose hashes are alike are found too, whatever they share.
func TestGetManyOfBadHashes(t *testing.T) {
	for name, hash := range map[string]func(uint64) uint64{
		"one":               func(uint64) uint64 { return 7 },
		"few":               func(key uint64) uint64 { return key % 5 << 50 },
		"one bucket a page": func(key uint64) uint64 { return key * 0x9e3779b97f4a7c15 &^ (1<<32 - 1) },
		"one tag":           func(key uint64) uint64 { return key * 0x9e3779b97f4a7c15 &^ (0x7f << tagShift) },
		"as keys":           func(key uint64) uint64 { return key },
	} {
		m := New[uint64](Options[string]{})
		m.cfg.hash = hash
		e, n := m.Edit(), 2*cached
		if name == "one" || name == "few" || name == "as keys" && testing.Short() {
			n = 300 // they share bags, which take time
		}
		var keys []uint64
		for i := range n {
			e.Set(uint64(i), fmt.Sprint(i))
			keys = append(keys, uint64(i), uint64(i+n))
		}
		m = e.Seal()
		requireMany(t, m, keys)
		if m.Len() <= cached { // what a map of that size does not do by itself
			for some := range slices.Chunk(keys, atOnce) {
				var found [atOnce]*entry[string]
				m.lookupTogether(some, &found)
				for i, key := range some {
					require.Same(t, m.lookup(key), found[i], name)
				}
			}
		}
	}
}

// Keys that begin alike, of one hash.
func TestGetManyOfPrefixes(t *testing.T) {
	m := New[string](Options[int]{})
	m.cfg.hash = func(key string) uint64 { return maphash.String(seed, key[:8]) }
	e := m.Edit()
	var keys []string
	for i := range 2 * cached {
		key := fmt.Sprintf("%08d", i)
		e.Set(key+"longer", i)
		keys = append(keys, key, key+"long", key+"longer", key+"longer still")
	}
	requireMany(t, e.Seal(), keys)
}

// Random maps, edits and keys: the map, its past, and an edit under way.
func TestGetManyInEdits(t *testing.T) {
	for seed := range uint64(10) {
		r := rand.New(rand.NewPCG(seed, 1))
		type past struct {
			m    *Map[int, []int]
			keys []int
		}
		var all []past
		m := New[int](Options[[]int]{})
		for range 12 {
			e := m.Edit()
			for range r.IntN(3000) {
				key := r.IntN(9000)
				if r.IntN(4) == 0 {
					e.Delete(key)
				} else {
					e.Set(key, []int{key, r.Int()})
				}
			}
			keys := make([]int, r.IntN(300))
			for i := range keys {
				keys[i] = r.IntN(12_000)
			}
			var values []int
			for i, v := range e.GetMany(keys) {
				want, ok := e.Get(keys[i])
				require.True(t, ok)
				require.Equal(t, want, v)
				values = append(values, i)
			}
			require.Len(t, values, present(keys, e.Has))
			m = e.Seal()
			all = append(all, past{m, keys})
		}
		for _, p := range all {
			requireMany(t, p.m, p.keys)
		}
	}
}

func present[K any](keys []K, ok func(K) bool) (n int) {
	for _, key := range keys {
		if ok(key) {
			n++
		}
	}
	return n
}

// An edit yields what was there when the iteration began, whatever it writes meanwhile.
func TestGetManyBesideWrites(t *testing.T) {
	e := New[int](Options[int]{}).Edit()
	keys := make([]int, 100)
	for i := range keys {
		keys[i] = i
		e.Set(i, 1)
	}
	n := 0
	for i, v := range e.GetMany(keys) {
		require.Equal(t, i, n)
		require.Equal(t, 1, v)
		e.Set(99-i, 2)
		e.Delete(i + 1)
		n++
	}
	require.Equal(t, len(keys), n)
	require.Less(t, e.Len(), len(keys))
}

// What GetMany hands out is the caller's, and what Shared's does is not copied.
func TestGetManyIsolates(t *testing.T) {
	e := New[string](Options[[]int]{}).Edit()
	e.Set("a", []int{1})
	m := e.Seal()
	for _, v := range m.GetMany([]string{"a", "a"}) {
		require.Equal(t, []int{1}, v)
		v[0] = 2
	}
	for _, v := range m.Shared().GetMany([]string{"none", "a"}) {
		stored, _ := m.Shared().Get("a")
		require.Same(t, &stored[0], &v[0])
	}
}

func TestGetManyAllocatesNothing(t *testing.T) {
	if !inlined {
		t.Skip("an iteration allocates nothing where it is inlined")
	}
	for _, n := range []int{100, 3 * cached} {
		e := New[string](Options[int]{}).Edit()
		var keys []string
		for i := range n {
			keys = append(keys, fmt.Sprintf("%024d", i))
			e.Set(keys[i], i)
		}
		m, sum := e.Seal(), 0
		require.Zero(t, testing.AllocsPerRun(100, func() {
			for i, v := range m.GetMany(keys[:100]) {
				sum += i + v
			}
			for i, v := range m.Shared().GetMany(keys[:100]) {
				if sum += i + v; i == 40 {
					break
				}
			}
		}))
	}
}

func requireMany[K comparable, V any](t *testing.T, m *Map[K, V], keys []K) {
	t.Helper()
	var want []int
	for i, key := range keys {
		if m.Has(key) {
			want = append(want, i)
		}
	}
	var places, shared, rows []int
	for i, v := range m.GetMany(keys) {
		places = append(places, i)
		get, _ := m.Get(keys[i])
		require.Equal(t, get, v)
	}
	for i, v := range m.Shared().GetMany(keys) {
		shared = append(shared, i)
		get, _ := m.Get(keys[i])
		require.Equal(t, get, v)
	}
	for i, row := range (Builder[K, V]{}).RowsOf(m, keys) {
		rows = append(rows, i)
		get, _ := m.Row(keys[i])
		require.True(t, get == row, "%v", keys[i])
	}
	require.Equal(t, want, places)
	require.Equal(t, want, shared)
	require.Equal(t, want, rows)
	for i := range m.GetMany(keys) {
		require.Equal(t, want[0], i)
		break
	}
}
