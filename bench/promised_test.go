package main_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/bench/memories"
	"github.com/cowstore/cowstore/bench/promises"
	"github.com/cowstore/cowstore/bench/result"
)

// Each promise is of figures that benchmarks report, and each benchmark is of a promise.
func TestBenchmarksReportWhatIsPromised(t *testing.T) {
	promised, families := map[string]bool{}, []string{}
	for _, p := range promises.All() {
		for _, name := range []string{p.Ours, p.Peer} {
			promised[name] = true
			families = append(families, strings.Split(name, "/")[0])
		}
	}
	pattern := "^Benchmark(" + strings.Join(families, "|") + ")$/^(fields|keys|rows|tables|texts|vectors)="
	self, err := os.Executable()
	require.NoError(t, err)
	out, err := exec.CommandContext(t.Context(), self, "-small", "-test.run=^$", "-test.benchtime=1x", "-test.bench="+pattern).CombinedOutput()
	require.NoError(t, err, "%s", out)
	path := filepath.Join(t.TempDir(), "out")
	require.NoError(t, os.WriteFile(path, out, 0o600))
	results, err := result.Read(path)
	require.NoError(t, err)
	for _, name := range results.Names {
		require.True(t, promised[name], name)
	}
	for _, j := range promises.Judge(promises.All(), results) {
		if runtime.GOOS != "linux" && j.Unit == "B-written/commit" {
			continue
		}
		require.NotEqual(t, promises.NotMeasured, j.Verdict, "%s: %s in %s", j.Name, j.Ours, j.Unit)
	}
}

func TestKeys(t *testing.T) {
	all := keys(5, 10_000, 1)
	for _, k := range all {
		require.True(t, 20 <= len(k) && len(k) <= 40, k)
	}
	require.Len(t, slices.Compact(slices.Sorted(slices.Values(all))), 9_995)
}

func TestPaceIsAnOpenLoop(t *testing.T) {
	var start time.Time
	var late []time.Duration
	pace(t.Context(), 10*time.Millisecond, 4, func(i int, due time.Time) {
		if i == 0 {
			start = due
			time.Sleep(25 * time.Millisecond)
		}
		require.Equal(t, time.Duration(i)*10*time.Millisecond, due.Sub(start))
		late = append(late, time.Since(due))
	})
	require.GreaterOrEqual(t, late[1], 15*time.Millisecond, "counted from when it was due")
	require.GreaterOrEqual(t, time.Since(start), 30*time.Millisecond, "none is early")
}

// stuck is a space whose Gets all take until the last is due.
type stuck struct{ until func() time.Time }

func (s stuck) Get(string) (memories.Found, bool) {
	time.Sleep(time.Until(s.until()))
	return memories.Found{Text: noteText}, true
}

func (stuck) Put(...memories.Note) {}

func (stuck) Nearest([]float32, int) []string { time.Sleep(time.Millisecond); return nil }

func TestPausesCountFromWhenAGetIsDue(t *testing.T) {
	const window = 100 * pacedGets
	s := stuck{sync.OnceValue(func() time.Time { return time.Now().Add(window) })}
	figures := pacedFigures(t, s, 1, func() []float32 { return nil }, true, window)
	require.GreaterOrEqual(t, figures["slow/s"], 500.)
	require.GreaterOrEqual(t, figures["p99-ns"], float64(window)/2)
	require.Positive(t, figures["puts/s"])
	require.Positive(t, figures["searches/s"])
}
