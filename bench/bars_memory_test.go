package main

import (
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/bench/result"
	"github.com/cowstore/cowstore/bench/stores"
)

// measured returns the bars that measure reports in one round.
func measured(measure func(b *bars)) map[string]result.Bar {
	all := map[string]result.Bar{}
	measure(&bars{ctx: context.Background(), rounds: 1, emit: func(r result.Bar) {
		name := r.Name
		if r.At != "" {
			name += " at " + r.At
		}
		all[name] = r
	}})
	return all
}

func TestBarsOfValues(t *testing.T) {
	all := measured(func(b *bars) { b.values(1_000) })
	require.Len(t, all, 3)
	free := all["allocations of a Get of 10 fields, two read at 1k"]
	require.True(t, free.Pass, "%v allocations", free.Ours)
}

func TestBarOfRewrites(t *testing.T) {
	all := measured(func(b *bars) { b.rewrites(1_000) })
	kept := all["heap kept by each rewrite of one of 1k values"]
	require.True(t, kept.Pass, "%v bytes", kept.Ours)
}

func TestBarsOfVectors(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	all := measured(func(b *bars) { b.nearest(2_000, 32) })
	require.Len(t, all, 4)
	for _, kind := range []string{"random", "clustered"} {
		same := all["searches where the 10 of 2k × 32 "+kind+" differ"]
		require.True(t, same.Pass, "%v of %v searches differ", same.Ours, same.Peer)
	}
	require.Len(t, measured(func(b *bars) { b.vectorWrite(100, 1_000) }), 2)
	require.Len(t, measured(func(b *bars) { b.vectorHeap(1_000) }), 3)
}

func TestBarsOfPauses(t *testing.T) {
	all := measured(func(b *bars) { b.pauses(1_000, 50*time.Millisecond) })
	require.Len(t, all, 6)
	for name, r := range all {
		require.GreaterOrEqual(t, r.Ours, 0.0, name)
		require.GreaterOrEqual(t, r.Peer, 0.0, name)
	}
}

func TestBarsOfTexts(t *testing.T) {
	if testing.Short() {
		t.Skip("reads the source a second time")
	}
	all := measured(func(b *bars) { b.texts(1_000) })
	require.Len(t, all, 4)
	agree := all["of the best 10 in 1000 symbols, those that scorch finds by BM25 too"]
	require.Greater(t, agree.Ours, 5.0, "of ten")
}

func TestBarsOfTextsWithoutSource(t *testing.T) {
	t.Setenv("GOROOT", t.TempDir())
	for _, r := range measured(func(b *bars) { b.texts(1_000) }) {
		require.False(t, r.Pass)
		require.Contains(t, r.Name, "no source")
	}
}

func TestPeersOfValuesIsolate(t *testing.T) {
	given := tenFields(7)
	s := newScopedMaps()
	s.set("session", "s-1", "k", given)
	given["text"] = "changed"
	for range 2 {
		v, ok := s.get("session", "s-1", "k")
		require.True(t, ok)
		require.Equal(t, tenFields(7), v)
		m := v.(map[string]any)
		m["text"], m["tags"].([]any)[0], m["meta"].(map[string]any)["turn"] = "", "", 0.0
	}
	for _, absent := range [][3]string{{"session", "s-1", "x"}, {"session", "s-2", "k"}, {"user", "s-1", "k"}} {
		_, ok := s.get(absent[0], absent[1], absent[2])
		require.False(t, ok)
	}

	j := &jsonMap{m: map[string][]byte{}}
	require.NoError(t, j.set("k", tenFields(7)))
	v, err := j.get("k")
	require.NoError(t, err)
	require.Equal(t, tenFields(7), v, "what JSON can hold")
}

func TestReadersOfValuesReadTheSame(t *testing.T) {
	one := twoFields(tenFields(7))
	require.Equal(t, uint64(len("the user prefers short answers")+3), one)
	j := &jsonMap{m: map[string][]byte{}}
	require.NoError(t, j.set("k", tenFields(7)))
	s := scopedReader{newScopedMaps(), "session", "s-1"}
	s.set("session", "s-1", "k", tenFields(7))
	ours := newSpaceReader()
	require.NoError(t, errOf(ours.space.Put("k", tenFields(7))))
	for _, r := range []valueReader{ours, s, j} {
		require.Equal(t, 2*one, r.reads([]string{"k", "k"}), "%T", r)
	}
}

func TestUnitVectors(t *testing.T) {
	cosine := func(a, b []float32) (sum float64) {
		for i := range a {
			sum += float64(a[i]) * float64(b[i])
		}
		return sum
	}
	for _, centers := range []int{0, 1} {
		next, again := unitVectors(1, 384, centers), unitVectors(1, 384, centers)
		vectors := take(50, next)
		require.Equal(t, vectors, take(50, again))
		for i, v := range vectors {
			require.InDelta(t, 1, cosine(v, v), 1e-6)
			want := 0.0
			if centers == 1 {
				want = 0.7
			}
			require.InDelta(t, want, cosine(v, vectors[(i+1)%50]), 0.25)
		}
	}
}

func TestTextQueries(t *testing.T) {
	records := []stores.Record{{Doc: "It is."}, {Doc: "Close closes the File, rendering it unusable."}}
	queries := textQueries(records, 20)
	require.Len(t, queries, 20)
	for i, q := range queries {
		words := strings.Fields(q)
		require.Len(t, words, 2+i%2)
		slices.Sort(words)
		require.Len(t, slices.Compact(words), 2+i%2)
		for _, w := range words {
			require.Contains(t, []string{"close", "closes", "file", "rendering", "unusable"}, w)
		}
	}
}

func TestPaceIsAnOpenLoop(t *testing.T) {
	var start time.Time
	var late []time.Duration
	pace(context.Background(), 10*time.Millisecond, 4, func(i int, due time.Time) {
		if i == 0 {
			start = due
		}
		require.Equal(t, time.Duration(i)*10*time.Millisecond, due.Sub(start))
		if i == 0 {
			time.Sleep(25 * time.Millisecond)
		}
		late = append(late, time.Since(due))
	})
	require.GreaterOrEqual(t, late[1], 15*time.Millisecond, "counted from when it was due")
	require.GreaterOrEqual(t, time.Since(start), 30*time.Millisecond, "none is early")

	ctx, cancel := context.WithCancel(context.Background())
	n := 0
	pace(ctx, time.Nanosecond, 100, func(int, time.Time) {
		if n++; n == 3 {
			cancel()
		}
	})
	require.Equal(t, 3, n)
}

// stuck is a store whose Gets all take until the last is due, and until others have
// done something twice, so that one is counted.
type stuck struct {
	takes             time.Duration
	first             sync.Once
	until             time.Time
	others            sync.WaitGroup
	written, searched atomic.Int32
}

func (s *stuck) get(context.Context, string) int {
	s.first.Do(func() { s.until = time.Now().Add(s.takes); s.others.Wait() })
	time.Sleep(time.Until(s.until))
	return 1
}

func (s *stuck) write(context.Context, string, []float32) { s.did(&s.written) }

func (s *stuck) search(ctx context.Context, _ []float32) (hits int) {
	time.Sleep(time.Millisecond)
	s.did(&s.searched)
	return 0
}

func (s *stuck) did(n *atomic.Int32) {
	if n.Add(1) == 2 {
		s.others.Done()
	}
}

func TestPausesCountFromWhenAGetIsDue(t *testing.T) {
	const n = 100
	l := &pacedLoad{ctx: context.Background(), each: n * pacedGets, keys: []string{"k"}, queries: [][]float32{nil}, vectors: [][]float32{nil}}
	s := &stuck{takes: n * pacedGets}
	s.others.Add(2)
	p := l.run(s, true, true)
	require.GreaterOrEqual(t, p.slow, 0.5*n)
	require.GreaterOrEqual(t, p.p99, 0.5*n*float64(pacedGets))
	require.Positive(t, p.writes)
	require.Positive(t, p.searches)

	p = l.run(&stuck{}, false, false)
	require.Zero(t, p.writes)
	require.Zero(t, p.searches)
}

func TestBarsOfRecall(t *testing.T) {
	if testing.Short() {
		t.Skip("reads the source a second time")
	}
	all := measured(func(b *bars) { b.recalls(150) })
	require.Len(t, all, 11)
	for _, r := range all {
		if r.Unit == "%" {
			require.LessOrEqual(t, r.Ours, r.Peer, r.Name)
		}
	}
}
