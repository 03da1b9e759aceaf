package load

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestZipf(t *testing.T) {
	const n = 10_000
	z := NewZipf(n)
	keys := z.Draw(0)
	require.Equal(t, keys, NewZipf(n).Draw(0), "the same in each run")
	require.NotEqual(t, keys, z.Draw(1), "clients differ")

	counts := make([]int, n)
	for _, k := range keys {
		require.Less(t, k, uint32(n))
		counts[k]++
	}
	for rank := range 5 {
		// The 2^rank-th most popular key, by the law.
		want := counts[z.scatter[0]] >> rank
		require.InEpsilon(t, want, counts[z.scatter[1<<rank-1]], 0.2)
	}
	slices.Sort(counts)
	slices.Reverse(counts)
	top := 0
	for _, c := range counts[:n/100] {
		top += c
	}
	require.Greater(t, top, Draws*45/100, "a hundredth of the keys gets about half")
	require.Less(t, top, Draws*65/100)
	require.NotEqual(t, []int{0, 1, 2}, z.scatter[:3], "popular keys are scattered")
	require.Zero(t, slices.Max(NewZipf(1).Draw(1)))
}

func TestInsertsAreAcknowledgedInOrder(t *testing.T) {
	x := newInserts(10)
	require.Equal(t, []int{10, 11, 12}, []int{x.next(), x.next(), x.next()})
	keys := make([]string, 10)
	for i := range keys {
		keys[i] = payloadKey(i)
	}
	x.done(12)
	x.done(11)
	require.Equal(t, keys[9], x.latest(keys, 0), "10 is not there yet")
	x.done(10)
	require.Equal(t, payloadKey(12), x.latest(keys, 0))
	require.Equal(t, keys[9], x.latest(keys, 3))
	require.Equal(t, payloadKey(12), x.latest(keys, 13), "there are no more")
}
