package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/bench/stores"
)

// quick are options for a short run of those kinds.
func quick(kinds []stores.Kind) options {
	return options{settings: settings{duration: 200 * time.Millisecond, readers: 2, rate: 0, n: 500, seed: 1, kinds: kinds}}
}

func TestNothingTears(t *testing.T) {
	var out bytes.Buffer
	o := quick(stores.Kinds())
	if !testing.Short() {
		o.kinds = append(o.kinds, stores.More()...)
	}
	o.asJSON = true
	code := compareWith(context.Background(), o, corpus(t), newProgress(io.Discard), &out)
	require.Equal(t, exitOK, code)

	var r jsonReport
	require.NoError(t, json.Unmarshal(out.Bytes(), &r))
	require.Len(t, r.Stores, len(o.kinds)+1)
	require.Equal(t, 500, r.Records)
	require.Equal(t, len(corpus(t)), r.Symbols)
	require.NotEmpty(t, r.Host.Go)
	require.NotEmpty(t, r.Host.CPU)
	require.Positive(t, r.Host.GOMAXPROCS)
	require.False(t, r.Interrupted)
	require.NotNil(t, r.Noise)
	for _, s := range r.Stores {
		require.Zero(t, s.Torn, s.Name) // here also where nothing is promised
		require.Equal(t, rounds, s.Rounds, s.Name)
		require.Positive(t, s.Lookups, s.Name)
		require.Positive(t, s.PerSecond, s.Name)
		require.Positive(t, s.Commits, s.Name)
		require.Positive(t, s.P50, s.Name)
		require.LessOrEqual(t, s.P50, s.P99, s.Name)
		require.LessOrEqual(t, s.P99, s.P999, s.Name)
		if s.Isolated {
			require.Greater(t, s.LookupSize, 100.0, s.Name)
		}
	}
	require.Equal(t, "cowstore Get again", r.Stores[len(r.Stores)-1].Name)
	require.Less(t, r.Stores[1].LookupSize, 1.0, "Shared does not allocate")
}

func TestText(t *testing.T) {
	var out, progress bytes.Buffer
	o := quick(stores.Kinds()[:3])
	o.rate = 1000
	require.Equal(t, exitOK, compareWith(context.Background(), o, corpus(t), newProgress(&progress), &out))
	for _, want := range []string{"cowstore Get ", "cowstore Get again", "RWMutex map, copies", "isolated+snapshot", "noise: "} {
		require.Contains(t, out.String(), want)
	}
	for line := range bytes.Lines(out.Bytes()) {
		require.LessOrEqual(t, len([]rune(string(line))), 100, "%s", line)
	}
	require.Equal(t, "round 1 of 3\nround 2 of 3\nround 3 of 3\n", progress.String())
}

// halves promises isolation, locks properly, clones, and applies a record in
// two halves: what a check must find.
type halves struct {
	mu sync.Mutex
	m  map[string]stores.Record
	stores.Store
}

func (s *halves) Get(key string) (stores.Record, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, ok := s.m[key]
	return r, ok
}

func (s *halves) Set(key string, r stores.Record) {
	s.mu.Lock()
	old := s.m[key]
	old.Tags = r.Tags
	s.m[key] = old
	s.mu.Unlock()
	time.Sleep(time.Microsecond)
	s.mu.Lock()
	s.m[key] = r
	s.mu.Unlock()
}

func (s *halves) Update(pairs []stores.Pair) {
	for _, p := range pairs {
		s.m[p.Key] = p.Record
	}
}

func TestTornRecordsAreFound(t *testing.T) {
	kind := stores.Kind{ID: "halves", Name: "halves", Isolated: true, New: func() stores.Store {
		return &halves{m: map[string]stores.Record{}}
	}}
	o := quick([]stores.Kind{kind})
	o.n = 3
	var out bytes.Buffer
	require.Equal(t, exitFailed, compareWith(context.Background(), o, corpus(t), newProgress(io.Discard), &out))

	kind.Isolated = false
	o.kinds = []stores.Kind{kind}
	o.asJSON = true
	out.Reset()
	require.Equal(t, exitOK, compareWith(context.Background(), o, corpus(t), newProgress(io.Discard), &out))
	var r jsonReport
	require.NoError(t, json.Unmarshal(out.Bytes(), &r))
	require.Positive(t, r.Stores[0].Torn)
}

func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	var out bytes.Buffer
	o := quick(stores.Kinds())
	o.duration = time.Hour
	start := time.Now()
	require.Equal(t, exitInterrupted, compareWith(ctx, o, corpus(t), newProgress(io.Discard), &out))
	require.Less(t, time.Since(start), 20*time.Second)
	require.Contains(t, out.String(), "Interrupted")
	require.Contains(t, out.String(), "sync.Map")
}
