package result

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/bench/stores"
)

// printed are two rounds of four stores, the first of which was measured twice.
const printed = `go: go1.26.8
commit: 0123456789
goos: linux
goarch: amd64
cpu: A CPU
BenchmarkStore/workload=docs/size=all/store=views-2	100	0.5 ns/op	2000000 op/s	80 p50-ns	611 B/entry
BenchmarkStore/workload=docs/size=all/store=rwmutex-copy-2	100	1000000 op/s	90 p50-ns
BenchmarkStore/workload=docs/size=all/store=rwmutex-2	100	5000000 op/s	70 p50-ns
BenchmarkStore/workload=docs/size=all/store=again-2	100	2020000 op/s	80 p50-ns
PASS
BenchmarkStore/workload=docs/size=all/store=views-2	100	2200000 op/s	82 p50-ns	611 B/entry
BenchmarkStore/workload=docs/size=all/store=rwmutex-copy-2	100	1200000 op/s	92 p50-ns
BenchmarkStore/workload=docs/size=all/store=rwmutex-2	100	6000000 op/s	72 p50-ns
BenchmarkStore/workload=docs/size=all/store=again-2	100	2142000 op/s	80 p50-ns
BenchmarkStore/workload=ycsb-b/size=230B/store=views-4	100	1 op/s
`

func linesOf(t *testing.T, text string) *Lines {
	path := filepath.Join(t.TempDir(), "lines.txt")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	l, err := Read(path)
	require.NoError(t, err)
	return l
}

func TestLines(t *testing.T) {
	l := linesOf(t, printed)
	require.Equal(t, map[string]string{"go": "go1.26.8", "commit": "0123456789", "goos": "linux", "goarch": "amd64", "cpu": "A CPU", "procs": "2"}, l.Host)
	other := linesOf(t, printed+strings.NewReplacer("A CPU", "B CPU", "0123456789", "abcdef").Replace(printed)+printed)
	require.Equal(t, "A CPU and B CPU", other.Host["cpu"])
	require.Equal(t, "0123456789 and abcdef", other.Host["commit"])
	require.Equal(t, "go1.26.8", other.Host["go"])
	require.Equal(t, []float64{80, 82}, l.Values(Name("docs", "all", "views"), "p50-ns"))
	require.Equal(t, []float64{1}, l.Values(Name("ycsb-b", "230B", "views")+"-4", "op/s"), "on other processors")
	require.Empty(t, l.Values("none", "op/s"))
	l.Add(Name("docs", "all", "views"), testing.BenchmarkResult{Extra: map[string]float64{"p50-ns": 84}})
	require.Equal(t, []float64{80, 82, 84}, l.Values(Name("docs", "all", "views"), "p50-ns"))

	require.Equal(t, Figure{2.5, 1, 4}, FigureOf([]float64{4, 1, 3, 2}))
	require.Equal(t, "Memory/workload=preload/size=all/store=memory", Name("preload", "all", "memory"))

	_, err := Read(filepath.Join(t.TempDir(), "none"))
	require.ErrorIs(t, err, os.ErrNotExist)
	for _, text := range []string{"", "no benchmark\n", "BenchmarkX 1 2\n"} {
		path := filepath.Join(t.TempDir(), "lines.txt")
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		_, err := Read(path)
		require.Error(t, err, text)
	}
}

func TestTables(t *testing.T) {
	cases := linesOf(t, printed).Cases(WorkloadOf("docs"), stores.Infos(stores.Kinds()))
	require.Len(t, cases, 1)
	c := &cases[0]
	require.Equal(t, `| A coding agent's memory | lookups/s | p50 | p99 | p99.9 | sets/s | B/get | GC | B/entry |
|---|---:|---:|---:|---:|---:|---:|---:|---:|
| **cowstore views** | 2.10M | 81 ns | | | | | | 611 B |
| RWMutex map, copies | 1.10M | 91 ns | | | | | | |
| RWMutex map † | 5.50M | 71 ns | | | | | | |

noise: the same store twice differs by 0.9 %. cowstore views loses in lookups/s to RWMutex map † (2.62×).
`, c.Markdown())
	require.Equal(t, []string{"In short (A coding agent's memory; lookups/s):",
		"What cowstore saves: cowstore views is 1.91 times as fast as RWMutex map, copies, the best other store that is isolated too.",
		"Where another is better: RWMutex map, the fastest that is not isolated, is 2.62 times as fast as cowstore views. It is " +
			"right where nobody writes to a value that was stored or read, and nobody needs several keys as they were at one moment."}, c.Verdict())

	text := c.Text()
	require.Regexp(t, `cowstore views +2.10M +5% +81 ns`, text)
	require.Regexp(t, `cowstore views again +2.08M`, text)
	require.Regexp(t, `(?s)views again.*not isolated:\nRWMutex map †  `, text)
	require.Regexp(t, `RWMutex map, copies +yes +- +yes +-  writers wait`, c.Promises())
	for _, line := range strings.Split(text, "\n") {
		require.LessOrEqual(t, len([]rune(line)), 100)
	}
	require.Equal(t, "YCSB B, 230B", linesOf(t, strings.ReplaceAll(printed, "workload=docs/size=all", "workload=ycsb-b/size=230B")).Cases(WorkloadOf("ycsb-b"), stores.Infos(stores.Kinds()))[0].title())
	require.Empty(t, linesOf(t, printed).Cases(WorkloadOf("scan"), stores.Infos(stores.Kinds())))
	for _, w := range Workloads {
		width := nameWidth + spreadWidth
		for _, c := range w.Columns {
			width += c.width()
		}
		require.LessOrEqual(t, width, 100, w.ID)
	}
}

func TestAmount(t *testing.T) {
	for _, c := range []struct {
		x    float64
		unit string
		want string
	}{
		{0, "ns", "0 ns"}, {7, "ns", "7 ns"}, {12.34, "ns", "12.3 ns"}, {999.4, "ns", "999 ns"}, {999.9, "ns", "1.00 µs"},
		{1250, "ns", "1.25 µs"}, {61.5e9, "ns", "61.5 s"}, {-2500, "B", "-2.50 kB"}, {240, "B", "240 B"}, {1.2e8, "B", "120 MB"},
		{4_210_000, "/s", "4.21M"}, {1.5, "x", "1.50×"}, {33, "%", "33 %"}, {0.0123, "", "0.0123"}, {2, "laps", "2 laps"},
		{math.NaN(), "ns", Missing}, {math.Inf(1), "", Missing},
	} {
		require.Equal(t, c.want, Amount(c.x, c.unit))
	}
}

// caseOf returns a case in which the stores have that figure, and rounds were so many
// times as much or as little at most.
func caseOf(more bool, noise, spread float64, figures map[string]float64) *Case {
	c := &Case{Workload: &Workload{Name: "Work", Columns: []Column{{"it", "rate", "/s", more}}}}
	row := func(info stores.Info, x float64) {
		c.Rows = append(c.Rows, Row{Store: info, Figures: map[string]Figure{"it": {x, x / spread, x * spread}}})
	}
	for _, info := range []stores.Info{
		{ID: "own", Name: "Own", Ours: true, Promises: stores.Promises{Isolated: true}}, {ID: "shared", Name: "Shared", Ours: true},
		{ID: "plain", Name: "Plain"}, {ID: "copies", Name: "Copies", Promises: stores.Promises{Isolated: true}}, {ID: "worse", Name: "Worse"},
	} {
		if x, ok := figures[info.ID]; ok {
			row(info, x)
		}
	}
	if noise > 0 {
		row(c.Rows[0].Store, c.Rows[0].Figures["it"].Median*(1+noise))
		c.Rows[len(c.Rows)-1].Again = true
	}
	return c
}

func TestLosses(t *testing.T) {
	for _, test := range []struct {
		name    string
		more    bool
		noise   float64
		figures map[string]float64
		want    string
	}{
		{"more", true, 0.02, map[string]float64{"own": 100, "plain": 150, "copies": 106, "worse": 101}, "Own loses in rate to Copies (1.06×), Plain † (1.50×)."},
		{"less", false, 0.02, map[string]float64{"own": 100, "plain": 50, "copies": 99, "worse": 200}, "Own loses in rate to Plain † (2×)."},
		{"noise is not known", true, 0, map[string]float64{"own": 100, "plain": 104, "copies": 107}, "Own loses in rate to Copies (1.07×)."},
		{"within the noise", true, 0.3, map[string]float64{"own": 100, "plain": 125, "copies": 0}, ""},
		{"not measured", true, 0.02, map[string]float64{"own": 100, "plain": math.NaN()}, ""},
	} {
		texts := caseOf(test.more, test.noise, 1, test.figures).Remarks()
		want := "noise: not known."
		if test.noise > 0 {
			want = fmt.Sprintf("noise: the same store twice differs by %.1f %%.", 100*test.noise)
		}
		require.Equal(t, strings.TrimSpace(want+" "+test.want), strings.Join(texts, " "), test.name)
	}
}

func TestVerdict(t *testing.T) {
	verdictOf := func(more bool, noise, spread, own, shared, copies, plain float64) []string {
		return caseOf(more, noise, spread, map[string]float64{"own": own, "shared": shared, "copies": copies, "plain": plain, "worse": math.NaN()}).Verdict()
	}
	const right = "right where nobody writes to a value that was stored or read, and nobody needs several keys as they were at one moment."
	ahead := []string{"In short (Work; rate):",
		"What isolation costs: Shared, the same store without copies, is 1.50 times as fast as Own.",
		"What cowstore saves: no time here. Copies, the best other store that is isolated too, is 1.20 times as fast as Own.",
		"Where another is better: Plain, the fastest that is not isolated, is 2.00 times as fast as Own. It is " + right,
	}
	behind := []string{"In short (Work; rate):",
		"What isolation costs: no time here. Own is 1.25 times as fast as Shared, the same store without copies.",
		"What cowstore saves: Own is 2.00 times as fast as Copies, the best other store that is isolated too.",
		"Where another is better: not for speed here. Own is 4.00 times as fast as Plain, the fastest that is not isolated. That one is " + right,
	}
	equal := []string{"In short (Work; rate):",
		"What isolation costs: nothing that shows. Shared, the same store without copies, is 1.04 times as fast as Own; below 1.05 times, that may be chance.",
		"What cowstore saves: nothing that shows. Own is 1.04 times as fast as Copies, the best other store that is isolated too; below 1.05 times, that may be chance.",
		"Where another is better: hardly for speed here. Own is 1.00 times as fast as Plain, the fastest that is not isolated; below 1.05 times, that may be chance. One that is not isolated is " + right,
	}
	require.Equal(t, ahead, verdictOf(true, 0.02, 1.05, 100, 150, 120, 200))
	require.Equal(t, ahead, verdictOf(false, 0.02, 1.05, 300, 200, 250, 150))
	require.Equal(t, behind, verdictOf(true, 0.02, 1.05, 100, 80, 50, 25))
	require.Equal(t, behind, verdictOf(false, 0.02, 1.05, 100, 125, 200, 400))
	require.Equal(t, equal, verdictOf(true, 0, 1, 100, 104, 96, 100))
	loud := verdictOf(true, 0.6, 1, 100, 150, 120, 200)
	require.Contains(t, loud[1], "nothing that shows. Shared, the same store without copies, is 1.50 times as fast as Own; below 1.60 times, that may be chance.")
	require.Contains(t, loud[2], "is 1.20 times as fast as Own; below 1.60 times, that may be chance.")
	require.Equal(t, ahead[3], loud[3])
	wide := verdictOf(true, 0.02, 1.3, 100, 150, 120, 200)
	require.Contains(t, wide[1], "nothing that shows. Shared, the same store without copies, is 1.50 times as fast as Own; that may be chance, as their rounds overlap.")
	require.Contains(t, wide[2], "is 1.20 times as fast as Own; that may be chance, as their rounds overlap.")
	require.Equal(t, ahead[3], wide[3])

	c := caseOf(true, 0, 1, map[string]float64{"own": 1, "plain": 2})
	c.Columns[0].Kind = "B"
	require.Empty(t, c.Verdict(), "no speed")
	require.Empty(t, caseOf(true, 0, 1, map[string]float64{"plain": 2}).Verdict(), "none of ours")
	require.Empty(t, caseOf(true, 0, 1, map[string]float64{"own": 2}).Verdict(), "none of the others")
}
