package page

import (
	"strings"
	"testing"

	"github.com/cowstore/cowstore/bench/result"
	"github.com/stretchr/testify/require"
)

func TestFormat(t *testing.T) {
	require.Equal(t, nbsp("1.25 µs"), format(1250, "ns"))
	require.Equal(t, nbsp("1.02–1.35 µs"), spread(1020, 1350, "ns"))
	require.Equal(t, nbsp("1.5 µs"), brief(1500, "ns"))
	require.Equal(t, "1 store", count(1, "store"))
	require.Equal(t, "2,000 stores", count(2000, "store"))
}

// nbsp makes of s what does not break.
func nbsp(s string) string {
	var out []rune
	for _, r := range s {
		if r == ' ' {
			r = '\u00a0'
		}
		out = append(out, r)
	}
	return string(out)
}

// caseOf returns a case in which the stores have that figure.
func caseOf(noise float64, figures map[string]float64, order ...string) result.Case {
	c := result.Case{Noise: noise}
	for _, id := range order {
		row := result.Row{Store: id, Figures: map[string]result.Figure{}}
		if x, ok := figures[id]; ok {
			row.Figures["it"] = figure1(x)
		}
		c.Rows = append(c.Rows, row)
	}
	return c
}

func TestTableIsRanked(t *testing.T) {
	for _, more := range []bool{true, false} {
		w := result.Workload{Columns: []result.Column{{ID: "it", More: more}}}
		c := caseOf(0, map[string]float64{"a": 1, "b": 3, "c": 2}, "a", "none", "b", "c")
		var got []string
		for _, row := range newTable(w, c, nil, map[string]mark{"a": {Name: "a"}, "b": {Name: "b"}, "c": {Name: "c"}}).Groups[0].Rows {
			got = append(got, row.Name)
			require.Equal(t, row.Name == map[bool]string{true: "b", false: "a"}[more], row.Cells[0].Best)
		}
		want := []string{"a", "c", "b", ""}
		if more {
			want = []string{"b", "c", "a", ""}
		}
		require.Equal(t, want, got)
	}
}

func TestNoBestWhereAllAreEqual(t *testing.T) {
	column := result.Column{ID: "it", Unit: "/s", More: true}
	require.Equal(t, "1.01k", bestText(caseOf(0, map[string]float64{"a": 1000, "b": 1010}, "a", "b"), column, nil, false))
	require.Empty(t, bestText(caseOf(0, map[string]float64{"a": 1000, "b": 1001}, "a", "b"), column, nil, false), "written alike")
	require.Empty(t, bestText(caseOf(0, map[string]float64{"a": 1000}, "a", "b"), column, nil, false), "alone")
}

// However fast the others are, stores that are isolated are compared with each other
// first.
func TestIsolatedStoresAreFirst(t *testing.T) {
	w := result.Workload{ID: "w", Columns: []result.Column{{ID: "it", More: true}}}
	c := caseOf(0, map[string]float64{"fast": 9, "slow": 1, "fair": 2, "faster": 10}, "fast", "slow", "fair", "faster")
	for i := range c.Rows {
		c.Rows[i].Latency = []result.Quantile{{Quantile: 0.5, NS: int64(100 / c.Rows[i].Figures["it"].Median)}}
	}
	w.Cases = []result.Case{c}
	r := &result.Report{Workloads: []result.Workload{w}, Stores: []result.Store{
		{ID: "fast"}, {ID: "slow", Isolated: true}, {ID: "fair", Isolated: true}, {ID: "faster"}}}
	want := []string{"fair", "slow", "faster †", "fast †"}

	var rows, best []string
	for i, g := range newTable(w, c, r.Stores, marks(r)).Groups {
		require.Equal(t, i == 1, g.Dagger)
		for _, row := range g.Rows {
			rows = append(rows, row.label())
			if row.Cells[0].Best {
				best = append(best, row.label())
			}
		}
	}
	require.Equal(t, want, rows)
	require.Equal(t, []string{"fair", "faster †"}, best, "one of each")

	charts := Charts(r)
	require.Len(t, charts, 2)
	var names, curves []string
	for _, b := range charts[0].figure.(bars).bars {
		names = append(names, b.label())
	}
	for _, l := range charts[1].figure.(lines).lines {
		curves = append(curves, l.label())
	}
	require.Equal(t, want, names)
	require.Equal(t, want, curves)
	require.Contains(t, charts[0].Remark, "isolated stores first")
	text := named(parsed(t, written(t, r)), "table")[1].text
	isolated, others, found := strings.Cut(text, "not isolated\u00a0†")
	require.True(t, found)
	require.Contains(t, isolated, "isolated\n")
	require.Contains(t, isolated, "slow")
	require.Contains(t, others, "faster")
}

func TestLosses(t *testing.T) {
	stores := []result.Store{{ID: "ours", Name: "ours", Ours: true}, {ID: "a", Name: "a"}, {ID: "b", Name: "b"}}
	all := marks(&result.Report{Stores: stores})
	w := result.Workload{Columns: []result.Column{{ID: "it", More: false, Name: "time"}}}
	got := losses(w, caseOf(0, map[string]float64{"ours": 100, "a": 50, "b": 0}, "ours", "a", "b"), stores, all)
	require.Equal(t, []loss{{mark: all["ours"], In: "time", To: []winner{{all["a"], "2×"}, {all["b"], "many times"}}}}, got)
}

func TestPromisesAreMerged(t *testing.T) {
	bars := sample().Bars
	groups := promises(append(bars, result.Bar{Group: "writes", Name: "set", Unit: "B", Ours: 10, Peer: 20, Ratio: 0.5, Bar: 0.75, Pass: true}))
	require.Len(t, groups, 2)
	require.Equal(t, promise{
		Name: "get", At: "1k / 1M", Ours: nbsp("12 ns") + " / " + nbsp("36 ns"), Peer: nbsp("10 ns") + " / " + nbsp("20 ns"),
		Ratio: "1.20× / 1.80×", Most: "1.40× / 1.60×", Verdicts: []verdict{{"pass", false}, {"MISSED", true}},
	}, groups[0].Rows[0])
	require.Equal(t, []verdict{{result.Missing, false}}, groups[0].Rows[1].Verdicts, "for information")
	require.Equal(t, "1 promise of 2 MISSED.", kept(bars))
	require.Equal(t, "1 promise, all kept.", kept(bars[:1]))
}
