package line

import (
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// However many versions pass, and whoever holds them, few are known; of those that passed last
// every one is, and of older ones the fewer, the older they are.
func TestPassedVersionsAreThinnedOut(t *testing.T) {
	for name, collected := range map[string]bool{"between collections": false, "which somebody holds": true} {
		t.Run(name, func(t *testing.T) {
			const n = 20 * mostPassed
			owner := &Owner{Tables: noTables{}}
			rs := &readers{stride: 1}
			rs.gone.Store(true)
			var all []*Root
			for i := range n {
				all = append(all, Make(nil, owner, uint64(i)).Root)
				if rs.stride = 1; i > 0 { // as if they came slowly
					rs.pass(all[i-1], all[i], 0)
				}
				if collected && i%64 == 0 {
					rs.seen.Store(rs.n)
				}
				require.LessOrEqual(t, len(rs.past), mostPassed)
			}
			last := len(rs.past)
			for i, p := range rs.past[last-recentPassed:] {
				require.EqualValues(t, n-1-recentPassed+i, p.version)
			}
			for i, p := range rs.past[1:] {
				require.Greater(t, p.version, rs.past[i].version)
			}
			require.Less(t, rs.past[0].version, uint64(n/2), "some of the old are left")
			if collected {
				for i := range mostHeld {
					require.EqualValues(t, i, rs.past[i].version, "the oldest")
				}
			}
			runtime.KeepAlive(all)
		})
	}
}

// What is gone makes room before anything else does.
func TestVersionsThatAreGoneMakeRoom(t *testing.T) {
	owner := &Owner{Tables: noTables{}}
	rs := &readers{stride: 1}
	rs.gone.Store(true)
	var held []*Root
	for i := range 4 * mostPassed {
		r := Make(nil, owner, uint64(i)).Root
		rs.stride = 1
		rs.pass(r, Make(nil, owner, uint64(i+1)).Root, 0)
		if i%64 == 0 {
			held = append(held, r)
		}
		if i%512 == 0 {
			require.Eventually(t, func() bool {
				runtime.GC()
				rs.probe()
				return rs.seen.Load()+600 > rs.n
			}, time.Minute, time.Millisecond)
		}
	}
	known := make(map[uint64]bool)
	for _, p := range rs.past {
		known[p.version] = true
	}
	for _, r := range held {
		require.True(t, known[r.version], "version %d", r.version)
	}
}

// Where versions come fast, most are not even noted, but for those that were current for long.
func TestFewOfFastVersionsAreNoted(t *testing.T) {
	owner := &Owner{Tables: noTables{}}
	rs := &readers{stride: 1}
	pass := func(i int) {
		rs.pass(Make(nil, owner, uint64(i)).Root, Make(nil, owner, uint64(i+1)).Root, 0)
	}
	for i := range 100 * mostTaken {
		rs.since = clock()
		pass(i)
	}
	require.Less(t, len(rs.past), mostPassed)
	require.EqualValues(t, mostTaken-1, rs.past[mostTaken-1].version, "all at first")
	for rs.passes%rs.stride != 1 {
		rs.passes++
	}
	rs.since = clock() - 2*longCurrent
	pass(1_000_000)
	require.EqualValues(t, 1_000_000, rs.past[len(rs.past)-1].version)
	rs.gone.Store(true) // a collection has come
	pass(1_000_001)
	pass(1_000_002)
	require.EqualValues(t, 1_000_001, rs.past[len(rs.past)-2].version)
}
