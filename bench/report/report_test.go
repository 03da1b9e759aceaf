package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/bench/promises"
	"github.com/cowstore/cowstore/bench/result"
)

// lines are of two stores in some workloads, and what the first promise needs that has a
// limit, so many times the peer's.
func lines(t *testing.T, times float64) (path string) {
	var b strings.Builder
	b.WriteString("go: go1.26.8\ncommit: 0123456789abcdef\ngoos: linux\ngoarch: amd64\ncpu: A CPU\n")
	for i, store := range []string{"views", "rwmutex-copy"} {
		for _, of := range []string{"docs/size=all", "stream/size=230B"} {
			fmt.Fprintf(&b, "BenchmarkStore/workload=%s/store=%s-2 1 %d op/s %d p50-ns 9 p99.9-ns\n", of, store, 2_000_000-i*1_000_000, 80+i)
		}
	}
	for _, p := range promises.All() {
		if p.Limited && strings.Contains(p.Peer, "/") {
			fmt.Fprintf(&b, "Benchmark%s-2 1 %v %s\nBenchmark%s-2 1 10 %s\n", p.Ours, 10*p.Limit*times, p.Unit, p.Peer, p.Unit)
			break
		}
	}
	path = filepath.Join(t.TempDir(), "lines.txt")
	require.NoError(t, os.WriteFile(path, []byte(b.String()), 0o600))
	return path
}

func ran(args ...string) (code int, stdout, stderr string) {
	var out, err bytes.Buffer
	code = run(args, &out, &err)
	return code, out.String(), err.String()
}

func TestPromisesAreJudged(t *testing.T) {
	code, out, err := ran(lines(t, 0.9))
	require.Zero(t, code, err)
	require.Regexp(t, `(?m) at 1k +\d.* 10 ns .*x \(.* to .*\) +<= \d\.\d\d held$`, out)
	require.Contains(t, out, "not measured")
	require.Equal(t, len(promises.All()), strings.Count(out, "\n"))
	code, out, err = ran(lines(t, 1.1))
	require.Equal(t, 1, code)
	require.Contains(t, out, "MISSED")
	require.Equal(t, "report: 1 promises are missed\n", err)

	code, _, err = ran()
	require.Equal(t, 2, code)
	require.Contains(t, err, "usage")
	code, _, _ = ran("-none", "x")
	require.Equal(t, 2, code)
	code, _, err = ran(filepath.Join(t.TempDir(), "none"))
	require.Equal(t, 1, code)
	require.Contains(t, err, "none")
}

func TestFill(t *testing.T) {
	readme := filepath.Join(t.TempDir(), "README.md")
	text := "# Title\n<!-- figures: host -->\nold\n<!-- figures end -->\ntext\n\n<!-- figures: promises reads -->\n<!-- figures end -->\n" +
		"<!-- figures: workload docs -->\n<!-- figures end -->\n<!-- figures: workload docs of rwmutex-copy with p50-ns -->\n<!-- figures end -->\n" +
		"<!-- figures: table docs of views with p50-ns -->\n<!-- figures end -->\n<!-- figures: verdict docs -->\n<!-- figures end -->\nend"
	require.NoError(t, os.WriteFile(readme, []byte(text), 0o600))
	for range 2 { // filled once is filled
		code, _, err := ran("-readme", readme, lines(t, 0.9))
		require.Zero(t, code, err)
		got, e := os.ReadFile(readme)
		require.NoError(t, e)
		for _, want := range []string{
			"# Title\n<!-- figures: host -->\nCommit 0123456, go1.26.8 linux/amd64, A CPU, GOMAXPROCS=2.\n<!-- figures end -->\ntext",
			"| | cowstore | peer | ratio | at most |\n", " at 1k / 100k / 1M | ", "/ not measured",
			"| **cowstore views** | 2.00M | 80 ns |", "| A coding agent's memory | p50 |\n|---|---:|\n| RWMutex map, copies | 81 ns |\n",
			"| A coding agent's memory | p50 |\n|---|---:|\n| **cowstore views** | 80 ns |\n<!-- figures end -->",
			"In short (A coding agent's memory; lookups/s):\n- What cowstore saves: ", "<!-- figures end -->\nend",
		} {
			require.Contains(t, string(got), want)
		}
		require.NotContains(t, string(got), "old")
	}
	l, err := result.Read(lines(t, 1))
	require.NoError(t, err)
	f := &figures{l, promises.Judge(promises.All(), l)}
	for _, broken := range []string{
		"no markers", "<!-- figures: host -->\nno end", "<!-- figures: host", "<!-- figures: host -->\n<!-- figures: host -->\n<!-- figures end -->",
		"<!-- figures: nonsense -->\n<!-- figures end -->", "<!-- figures: promises -->\n<!-- figures end -->",
		"<!-- figures: promises nonsense -->\n<!-- figures end -->", "<!-- figures: workload nonsense -->\n<!-- figures end -->",
		"<!-- figures: workload scan -->\n<!-- figures end -->", "<!-- figures: workload docs of nobody with op/s -->\n<!-- figures end -->",
		"<!-- figures: workload docs of views with none -->\n<!-- figures end -->", "<!-- figures:  -->\n<!-- figures end -->",
	} {
		_, err := f.filled(broken)
		require.ErrorIs(t, err, errMarkers, broken)
	}
}

func TestCharts(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "charts")
	code, _, err := ran("-charts", folder, lines(t, 1))
	require.Zero(t, code, err)
	for _, name := range []string{"docs-light", "docs-dark", "stream-light", "stream-dark"} {
		svg, err := os.ReadFile(filepath.Join(folder, name+".svg"))
		require.NoError(t, err)
		require.Contains(t, string(svg), "cowstore views")
		require.Contains(t, string(svg), "</svg>")
	}
}
