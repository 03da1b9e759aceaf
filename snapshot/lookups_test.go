package snapshot

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// RowsOf finds what Row finds, in maps of every shape.
func TestRowsOf(t *testing.T) {
	for _, n := range []int{0, 1, 7, 8, 40, 1000, 20_000} {
		e := New[string](Options[int]{}).Edit()
		keys := make([]string, 0, 2*n+1)
		for i := range n {
			e.Set(fmt.Sprint("key", i), i)
			keys = append(keys, fmt.Sprint("key", i), fmt.Sprint("none", i))
		}
		checkRowsOf(t, e.Seal(), append(keys, ""))
	}
	checkRowsOf[string, int](t, nil, []string{"a", "b"})
	checkRowsOf(t, new(Map[string, int]), []string{"a"})

	// Of keys that no string is inside the row.
	e := New[composite](Options[int]{}).Edit()
	var keys []composite
	for i := range 3000 {
		e.Set(composite{n: int32(i)}, i)
		keys = append(keys, composite{n: int32(i)}, composite{n: int32(i), half: true})
	}
	checkRowsOf(t, e.Seal(), keys)
}

// Keys of one hash end in a bag.
func TestRowsOfABag(t *testing.T) {
	m := New[string](Options[int]{})
	m.cfg.hash = func(key string) uint64 { return uint64(len(key)) }
	e := m.Edit()
	var keys []string
	for i := range 200 {
		e.Set(fmt.Sprintf("%04d", i), i)
		keys = append(keys, fmt.Sprintf("%04d", i), fmt.Sprintf("%04d", i+200))
	}
	checkRowsOf(t, e.Seal(), keys)
}

func checkRowsOf[K comparable, V any](t *testing.T, m *Map[K, V], keys []K) {
	t.Helper()
	rows := make([]Row[K, V], len(keys)+1)
	for i := range rows {
		rows[i] = m.probe(*new(K)) // what was there does not count
	}
	last := rows[len(keys)]
	Builder[K, V]{}.RowsOf(m, keys, rows)
	for i, key := range keys {
		want, _ := m.Row(key)
		require.Equal(t, want, rows[i], "%v", key)
	}
	require.Equal(t, last, rows[len(keys)])
}
