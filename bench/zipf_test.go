package main

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestZipf(t *testing.T) {
	const n, draws = 10_000, 200_000
	z := newZipf(n, 1)
	keys := z.draw(streamClients, draws)
	require.Equal(t, keys, newZipf(n, 1).draw(streamClients, draws), "the same seed, the same keys")
	require.NotEqual(t, keys, z.draw(streamClients+1, draws), "readers differ")
	require.NotEqual(t, keys, newZipf(n, 2).draw(streamClients, draws))

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
	require.Greater(t, top, draws*45/100, "a hundredth of the keys gets about half")
	require.Less(t, top, draws*65/100)
	require.NotEqual(t, []int{0, 1, 2}, z.scatter[:3], "popular keys are scattered")
}

func TestZipfOfOneKey(t *testing.T) {
	require.Equal(t, []uint32{0, 0, 0}, newZipf(1, 1).draw(streamClients+1, 3))
}
