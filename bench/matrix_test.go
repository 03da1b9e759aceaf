package main

import (
	"bytes"
	"context"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/bench/result"
	"github.com/cowstore/cowstore/bench/stores"
)

// measure runs one workload, shortly, with few records.
func measure(t testing.TB, ctx context.Context, id string, kinds []stores.Kind, change func(s *settings)) (result.Workload, []result.Store) {
	chosen, err := chooseWorkloads(id)
	require.NoError(t, err)
	s := &settings{workloads: chosen, kinds: kinds, duration: 20 * time.Millisecond, rounds: 1, clients: 2, n: 100, seed: 1}
	if change != nil {
		change(s)
	}
	shown := 0
	m := matrix{
		env: env{Context: ctx, settings: s, progress: newProgress(io.Discard)}, plan: newPlan(s),
		done: func(*result.Workload, *result.Case) { shown++ },
	}
	all, err := m.run()
	require.NoError(t, err)
	if len(all) == 0 {
		return result.Workload{}, nil
	}
	require.Len(t, all, 1)
	require.Len(t, all[0].Cases, shown)
	return all[0], summarised(kinds)
}

// Every store in every workload it is for: all of its columns are measured, and what
// is promised is kept.
func TestWorkloads(t *testing.T) {
	kinds := append(stores.Kinds(), stores.More()...)
	if testing.Short() {
		var err error
		kinds, err = chooseStores("cowstore,rwmutex-copy,memory-text,chromem")
		require.NoError(t, err)
	}
	for _, w := range workloads() {
		t.Run(w.id, func(t *testing.T) {
			if testing.Short() && !slices.Contains([]string{"docs", "stream", "records"}, w.id) {
				t.Skip("it takes seconds")
			}
			r, all := measure(t, context.Background(), w.id, kinds, nil)
			require.NotEmpty(t, r.Cases)
			able := 0
			for _, k := range kinds {
				if w.able(k) {
					able++
				} else {
					require.Contains(t, r.Unable, k.ID)
				}
			}
			require.Positive(t, able)
			for _, c := range r.Cases {
				require.Len(t, c.Rows, able+1, c.Name)
				require.True(t, c.Rows[able].Again)
				for _, row := range c.Rows {
					first, ok := row.Figures[r.Columns[0].ID]
					require.True(t, ok, "%s has %s", row.Store, r.Columns[0].Name)
					require.GreaterOrEqual(t, first.Low, 0.0, row.Store) // a busy machine may do nothing meanwhile
					require.False(t, math.IsNaN(first.Median) || math.IsInf(first.Median, 0), row.Store)
					require.LessOrEqual(t, first.Low, first.Median)
					require.GreaterOrEqual(t, first.High, first.Median)
					s, _ := (&result.Report{Stores: all}).StoreOf(row.Store)
					if promised(w.id, s) {
						require.Zero(t, row.Torn, row.Store)
					}
				}
				for _, col := range w.columns {
					some := slices.ContainsFunc(c.Rows, func(r result.Row) bool { _, ok := r.Figures[col.ID]; return ok })
					require.True(t, some, "%s is measured of some store", col.Name)
				}
			}
			var text strings.Builder
			for i := range r.Cases {
				caseTable(&text, &r, &r.Cases[i], all)
			}
			for line := range strings.Lines(text.String()) {
				require.LessOrEqual(t, len([]rune(line)), 101, "%s", line)
			}
			require.Contains(t, text.String(), "again")
		})
	}
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
	old.Payload = r.Payload
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
	kind := stores.Kind{ID: "halves", Name: "halves", New: func() stores.Store {
		return &halves{m: map[string]stores.Record{}}
	}}
	for _, id := range []string{"ycsb-b", "stream"} {
		var w result.Workload
		var all []result.Store
		for range 1000 { // soon, unless the machine is busy
			w, all = measure(t, context.Background(), id, []stores.Kind{kind}, func(s *settings) { s.n = 3; s.duration = 30 * time.Millisecond })
			if w.Cases[0].Rows[0].Torn > 0 {
				break
			}
		}
		require.Positive(t, w.Cases[0].Rows[0].Torn, id)
		r := &result.Report{Stores: all, Workloads: []result.Workload{w}}
		require.Empty(t, broken(r), "nothing was promised")
		r.Stores[0].Isolated = true
		require.Contains(t, broken(r), "halves broke its promise in "+id)
	}
}

func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	calls := 0
	kind := stores.Kinds()[0]
	made := kind.New
	kind.New = func() stores.Store {
		// The first case has been measured, and two stores of the second.
		if calls++; calls == 2*3+3 {
			cancel()
		}
		return made()
	}
	w, _ := measure(t, ctx, "ycsb-b", []stores.Kind{kind}, func(s *settings) { s.rounds = 3 })
	require.Len(t, w.Cases, 2)
	require.Len(t, w.Cases[0].Rows, 2)
	require.Len(t, w.Cases[1].Rows, 2)

	calls = 2*3 + 3
	w, _ = measure(t, ctx, "ycsb-b", []stores.Kind{kind}, func(s *settings) { s.rounds = 3 })
	require.Empty(t, w.Cases)
}

func TestInterruptedRunWritesWhatItHas(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	out := t.TempDir()
	var stdout, stderr bytes.Buffer
	require.Equal(t, exitInterrupted, run(ctx, []string{"-workloads=ycsb-b", "-out=" + out}, &stdout, &stderr))
	require.Contains(t, stdout.String(), "Interrupted")
	r, err := read(out+"/report.json", result.Read)
	require.NoError(t, err)
	require.True(t, r.Interrupted)
	require.Empty(t, r.Workloads)
}

// gone is a terminal, or who reads along, that is no more.
type gone struct{}

func (gone) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

func TestReportIsWrittenThoughNobodyReads(t *testing.T) {
	out := t.TempDir()
	args := []string{"-workloads=ycsb-b", "-stores=rwmutex", "-duration=60ms", "-n=100", "-out=" + out}
	var stderr bytes.Buffer
	require.Equal(t, exitFailed, run(context.Background(), args, gone{}, &stderr))
	r, err := read(out+"/report.json", result.Read)
	require.NoError(t, err)
	require.Len(t, r.Workloads[0].Cases, 2)
	require.Contains(t, stderr.String(), io.ErrClosedPipe.Error())
}

func TestErrorKeepsWhatWasMeasured(t *testing.T) {
	kinds, err := chooseStores("rwmutex")
	require.NoError(t, err)
	w := workload{id: "w", columns: []result.Column{colOps}, able: recordStore, cases: func(*settings) []benchCase {
		return []benchCase{
			{name: "good", make: func(env) (trial, error) {
				return func(context.Context, stores.Kind) sample { return sample{figures: figures{colOps.ID: 1}} }, nil
			}},
			{name: "bad", make: func(env) (trial, error) { return nil, io.ErrUnexpectedEOF }},
			{name: "never", make: func(env) (trial, error) { panic("after an error") }},
		}
	}}
	s := &settings{workloads: []workload{w, w}, kinds: kinds, duration: time.Millisecond, rounds: 1, n: 7}
	m := matrix{
		env: env{Context: context.Background(), settings: s, progress: newProgress(io.Discard)}, plan: newPlan(s),
		done: func(*result.Workload, *result.Case) {},
	}
	all, err := m.run()
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	require.Len(t, all, 1)
	require.Len(t, all[0].Cases, 1)
	require.Equal(t, "good", all[0].Cases[0].Name)
	require.Contains(t, all[0].What, "-n 7")
}

func TestUpdate(t *testing.T) {
	if testing.Short() {
		t.Skip("it measures three times")
	}
	out := t.TempDir()
	args := func(id string, more ...string) []string {
		return append([]string{"-workloads=" + id, "-stores=rwmutex", "-duration=60ms", "-n=100", "-out=" + out}, more...)
	}
	var stdout, stderr bytes.Buffer
	require.Equal(t, exitUsage, run(context.Background(), args("ycsb-b", "-update"), &stdout, &stderr), "there is none")
	require.Contains(t, stderr.String(), "report.json")
	require.Empty(t, stdout.String(), "nothing was measured for it")
	require.Equal(t, exitOK, run(context.Background(), args("ycsb-b"), &stdout, &stderr))
	require.Equal(t, exitOK, run(context.Background(), args("ycsb-c", "-update"), &stdout, &stderr))
	r, err := read(filepath.Join(out, reportFile), result.Read)
	require.NoError(t, err)
	require.Len(t, r.Workloads, 2)
}
