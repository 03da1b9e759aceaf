package snapshot_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/snapshot"
)

// Pages of rows, forward and back, from any place, are what All has.
func TestRowsFromAnyPlace(t *testing.T) {
	for _, n := range []int{0, 1, 7, 40, 1000, 20000} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			m := numbered(n, func(i int) string { return fmt.Sprint("key", i) })
			requireFrom(t, m)
		})
	}
}

// numbered returns a map of n keys.
func numbered[K comparable](n int, key func(i int) K) *snapshot.Map[K, int] {
	e := snapshot.New[K](snapshot.Options[int]{}).Edit()
	for i := range n {
		e.Set(key(i), i)
	}
	return e.Seal()
}

func requireFrom[K comparable](t *testing.T, m *snapshot.Map[K, int]) {
	t.Helper()
	var b snapshot.Builder[K, int]
	var all []K
	for row := range m.Rows() {
		all = append(all, row.Key())
	}
	page := func(after *K, back bool, most int) (keys []K) {
		for row := range b.RowsFrom(m, after, back) {
			if len(keys) == most {
				break
			}
			keys = append(keys, row.Key())
		}
		return keys
	}
	require.Equal(t, all, page(nil, false, -1))
	back := page(nil, true, -1)
	slices.Reverse(back)
	require.Equal(t, all, back)
	for i := 0; i < len(all); i += 1 + len(all)/97 {
		require.Equal(t, all[i+1:min(i+11, len(all))], append([]K{}, page(&all[i], false, 10)...), i)
		require.Len(t, page(&all[i], false, -1), len(all)-i-1)
		before := page(&all[i], true, 10)
		slices.Reverse(before)
		require.Equal(t, all[max(0, i-10):i], append([]K{}, before...), i)
	}
}

// A key that is not there leads near where it would be: what comes from there on both ways is all.
func TestRowsFromAKeyThatIsNotThere(t *testing.T) {
	m := numbered(5000, func(i int) int { return i })
	var b snapshot.Builder[int, int]
	for absent := -1; absent > -50; absent-- {
		seen := make(map[int]int)
		for _, back := range []bool{false, true} {
			for row := range b.RowsFrom(m, &absent, back) {
				seen[row.Key()]++
			}
		}
		require.Len(t, seen, 5000)
		again := 0
		for _, n := range seen {
			again += n - 1
		}
		require.LessOrEqual(t, again, 35, "those of one page come again")
	}
}
