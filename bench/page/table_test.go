package page

import (
	"math"
	"testing"

	"github.com/cowstore/cowstore/bench/result"
	"github.com/stretchr/testify/require"
)

func TestFormat(t *testing.T) {
	for _, c := range []struct {
		x    float64
		unit string
		want string
	}{
		{0, "ns", "0 ns"}, {7, "ns", "7 ns"}, {12.34, "ns", "12.3 ns"}, {999.4, "ns", "999 ns"}, {999.9, "ns", "1.00 µs"},
		{1250, "ns", "1.25 µs"}, {61.5e9, "ns", "61.5 s"}, {-2500, "B", "-2.50 kB"}, {240, "B", "240 B"}, {1.2e8, "B", "120 MB"},
		{4_210_000, "/s", "4.21M"}, {1.5, "x", "1.50×"}, {33, "%", "33 %"}, {0.0123, "", "0.0123"}, {2, "laps", "2 laps"},
		{math.NaN(), "ns", missing}, {math.Inf(1), "", missing},
	} {
		require.Equal(t, nbsp(c.want), format(c.x, c.unit))
	}
	require.Equal(t, nbsp("1.02–1.35 µs"), spread(1020, 1350, "ns"))
	require.Equal(t, nbsp("919 ns–1.06 µs"), spread(919, 1060, "ns"))
	require.Empty(t, spread(math.NaN(), 1, "ns"))
	require.Equal(t, "10M", brief(1e7, ""))
	require.Equal(t, "250k", brief(250_000, "/s"))
	require.Equal(t, nbsp("1.5 µs"), brief(1500, "ns"))
	require.Equal(t, "1,234,567", thousands(1_234_567))
	require.Equal(t, "-123,456", thousands(-123_456))
	require.Equal(t, "1 store", count(1, "store"))
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
		for _, row := range newTable(w, c, map[string]mark{"a": {Name: "a"}, "b": {Name: "b"}, "c": {Name: "c"}}).Rows {
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
	require.Equal(t, "1.01k", bestText(caseOf(0, map[string]float64{"a": 1000, "b": 1010}, "a", "b"), column))
	require.Empty(t, bestText(caseOf(0, map[string]float64{"a": 1000, "b": 1001}, "a", "b"), column), "written alike")
	require.Empty(t, bestText(caseOf(0, map[string]float64{"a": 1000}, "a", "b"), column), "alone")
}

func TestLosses(t *testing.T) {
	all := map[string]mark{"ours": {Name: "ours", Ours: true}, "too": {Name: "too", Ours: true}, "a": {Name: "a", Dagger: true}, "b": {Name: "b"}, "c": {Name: "c"}}
	for _, test := range []struct {
		name    string
		more    bool
		noise   float64
		figures map[string]float64
		want    []winner
	}{
		{"more", true, 0.02, map[string]float64{"ours": 100, "too": 900, "a": 150, "b": 103, "c": 101}, []winner{{all["a"], "1.50×"}, {all["b"], "1.03×"}}},
		{"less", false, 0.02, map[string]float64{"ours": 100, "too": 1, "a": 50, "b": 99, "c": 200}, []winner{{all["a"], "2×"}}},
		{"noise is not known", true, 0, map[string]float64{"ours": 100, "a": 101}, []winner{{all["a"], "1.01×"}}},
		{"none", true, 0.02, map[string]float64{"ours": 100, "a": 101, "b": 0}, nil},
		{"against zero", false, 0.02, map[string]float64{"ours": 3, "a": 0}, []winner{{all["a"], "0 against 3"}}},
		{"both zero", false, 0.02, map[string]float64{"ours": 0, "a": 0}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := result.Workload{Columns: []result.Column{{ID: "it", More: test.more}, {ID: "other"}}}
			got := losses(w, caseOf(test.noise, test.figures, "c", "ours", "a", "too", "b"), all)
			require.NotEmpty(t, got)
			for _, l := range got {
				if l.Name == "ours" {
					require.Equal(t, test.want, l.To)
				}
			}
		})
	}
}

func TestNoiseOfRowsMeasuredAgain(t *testing.T) {
	column := result.Column{ID: "it"}
	c := caseOf(0, map[string]float64{"a": 100, "b": 5}, "a", "b", "a")
	c.Rows[2].Again = true
	c.Rows[2].Figures["it"] = figure1(110)
	part, known := noise(c, column)
	require.True(t, known)
	require.InDelta(t, 0.1, part, 1e-9)
	c.Noise = 0.5
	part, _ = noise(c, column)
	require.Equal(t, 0.5, part, "the report knows better")
	_, known = noise(caseOf(0, map[string]float64{"a": 100}, "a"), column)
	require.False(t, known)
}

func TestPromisesAreMerged(t *testing.T) {
	bars := sample().Bars
	groups := promises(append(bars, result.Bar{Group: "writes", Name: "set", Unit: "B", Ours: 10, Peer: 20, Ratio: 0.5, Bar: 0.75, Pass: true}))
	require.Len(t, groups, 2)
	require.Equal(t, promise{
		Name: "get", At: "1k / 1M", Ours: nbsp("12 ns") + " / " + nbsp("36 ns"), Peer: nbsp("10 ns") + " / " + nbsp("20 ns"),
		Ratio: "1.20× / 1.80×", Most: "1.40× / 1.60×", Verdicts: []verdict{{"pass", false}, {"MISSED", true}},
	}, groups[0].Rows[0])
	require.Equal(t, []verdict{{missing, false}}, groups[0].Rows[1].Verdicts, "for information")
	require.Equal(t, "1 promise of 2 MISSED.", kept(bars))
	require.Equal(t, "1 promise, all kept.", kept(bars[:1]))
}
