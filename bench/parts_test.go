package main

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/bench/records"
	"github.com/cowstore/cowstore/bench/stores"
)

func TestCoreCounts(t *testing.T) {
	for there, want := range map[int][]int{1: {1}, 2: {1, 2}, 3: {1, 2, 3}, 12: {1, 2, 4, 8, 12}, 16: {1, 2, 4, 8, 16}} {
		require.Equal(t, want, coreCounts(there))
	}
}

func TestInsertsAreAcknowledgedInOrder(t *testing.T) {
	var x inserts
	x.restart(10)
	require.Equal(t, 10, x.next())
	require.Equal(t, 11, x.next())
	require.Equal(t, 12, x.next())
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

func TestPayloadKeysDiffer(t *testing.T) {
	seen := map[string]bool{}
	for i := range 10_000 {
		r := payload(i, 16, 3)
		require.Equal(t, payloadKey(i), r.Key())
		require.True(t, r.Intact(r.Key()))
		require.EqualValues(t, 3, r.Generation())
		require.False(t, seen[r.Key()])
		seen[r.Key()] = true
	}
}

// What a scan may see, and what it may not.
func TestTornScansAreFound(t *testing.T) {
	const n = 40 // of four groups
	x := newScan(payloadKeys(n, 16, 1), 0, 0)
	var all []seen
	for _, key := range x.keys {
		all = append(all, seen{key, 7})
	}
	require.True(t, x.whole(all))
	group := slices.Clone(all)
	for i := 1; i < n; i += n / groupSize {
		group[i].generation = 8
	}
	require.True(t, x.whole(group), "all of a group was written")
	group[1].generation = 7
	require.False(t, x.whole(group), "but one")
	require.False(t, x.whole(all[1:]), "one is missing")
	twice := slices.Clone(all)
	twice[3] = twice[4]
	require.False(t, x.whole(twice), "one is there twice")
	twice[3].key = "user.nobody"
	require.False(t, x.whole(twice))
}

// A store whose update is not one step is seen torn, and one whose update is is not.
func TestScansTellTornStores(t *testing.T) {
	kinds, err := chooseStores("syncmap,cowstore")
	require.NoError(t, err)
	torn := 0
	for range 100 {
		w, _ := measure(t, context.Background(), "scan", kinds, func(s *settings) { s.n = 20_000; s.duration = 100 * time.Millisecond })
		require.Zero(t, w.Cases[0].Rows[0].Torn, "cowstore")
		if torn += w.Cases[0].Rows[1].Torn; torn > 0 {
			return
		}
	}
	require.Positive(t, torn, "sync.Map")
}

func TestDistribution(t *testing.T) {
	h := newHistogram()
	require.Empty(t, distribution(h))
	for i := range 10_000 {
		record(h, time.Duration(i+1)*time.Microsecond)
	}
	record(h, time.Hour)
	record(h, -1)
	points := distribution(h)
	require.Greater(t, len(points), 15)
	require.Less(t, len(points), 40)
	for i, p := range points[1:] {
		require.Greater(t, p.Quantile, points[i].Quantile)
		require.GreaterOrEqual(t, p.NS, points[i].NS)
	}
	for _, p := range points {
		require.InEpsilon(t, p.Quantile*1e7, p.NS, 0.01)
	}
}

func TestPlanCounts(t *testing.T) {
	loads, err := chooseWorkloads("ycsb-b,stream")
	require.NoError(t, err)
	s := &settings{workloads: loads, kinds: stores.Kinds(), duration: 3 * time.Second, rounds: 3, clients: 1, seed: 1}
	p := newPlan(s)
	each := 3 * (len(s.kinds) + 1)
	require.Equal(t, [][]int{{each, each}, {each}}, p.turns)
	for range each {
		p.took(time.Second)
	}
	p.at(0, 1)
	require.Equal(t, time.Duration(each)*time.Second, p.spent[0])
	for range each {
		p.took(time.Second)
	}
	p.at(1, 0)
	for range each - 1 {
		p.took(2 * time.Second)
	}
	require.Equal(t, "about 2 s to go", p.left())
}

// A replay takes a turn for what it looks up, and half of one for what it searches, in a
// store that can.
func TestReplayTakes(t *testing.T) {
	kinds, err := chooseStores("memory-text,rwmutex-copy")
	require.NoError(t, err)
	lookup, search := records.Query{Key: "k"}, records.Query{Text: "words"}
	takes := func(k stores.Kind, queries ...records.Query) time.Duration {
		x := &replay{queries: queries, turn: time.Second}
		return x.takes(k) - (&replay{turn: time.Second}).takes(k)
	}
	for _, k := range kinds {
		half := time.Duration(0)
		if k.ID == "memory-text" {
			half = time.Second / 2
		}
		require.Equal(t, time.Second, takes(k, lookup), k.ID)
		require.Equal(t, half, takes(k, search), k.ID)
		require.Equal(t, time.Second+half, takes(k, search, lookup), k.ID)
	}
}

// More goroutines than processors are measured by the clock: one of them may wait for a
// processor while nobody counts.
func TestCrowdsAreMeasuredByTheClock(t *testing.T) {
	kinds, err := chooseStores("rwmutex")
	require.NoError(t, err)
	turn := 50 * time.Millisecond
	c := clients{keyspace: payloadKeys(100, 230, 1), count: 200, turn: turn}
	s := c.prepared().trial(context.Background(), kinds[0])
	most := float64(s.checked) / turn.Seconds()
	require.LessOrEqual(t, s.figures[colOps.ID], most*1.001)
}
