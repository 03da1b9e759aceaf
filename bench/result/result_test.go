package result

import (
	"bytes"
	"errors"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// sample is a report with all there can be in one.
func sample() *Report {
	figure := func(x float64) Figure { return Figure{x, 0.9 * x, 1.2 * x} }
	row := func(store string, again bool, ops float64) Row {
		return Row{Store: store, Again: again, Checked: 10, Figures: map[string]Figure{"ops": figure(ops), "p99": figure(1250)}}
	}
	return &Report{
		Host:    Host{Go: "go1.26.8", OS: "linux", Arch: "amd64", CPU: "a <CPU> & more", GOMAXPROCS: 2, Commit: "0123456789abcdef"},
		Command: "go run . -matrix quick", Seed: 1, Rounds: 3, RoundNS: 1e9, ClockNS: 40,
		Stores: []Store{
			{ID: "ours", Name: "ours", Ours: true, Isolated: true, Snapshots: true, Atomic: true},
			{ID: "peer", Name: "peer", Module: "example.com/peer v1"},
		},
		Workloads: []Workload{{
			ID: "w", Name: "Work", What: "What it is.", Columns: []Column{{"ops", "ops/s", "/s", true}, {"p99", "p99", "ns", false}, {"heap", "B/entry", "B", false}},
			Cases: []Case{
				{Name: "230 B", Noise: 0.012, Rows: []Row{row("ours", false, 3e6), row("peer", false, 6e6), row("ours", true, 3e6)}},
				{Name: "1 KB", Noise: 0.6, Rows: []Row{row("ours", false, 5e6), row("peer", false, 6e6), row("ours", true, 3e6)}},
			},
		}},
		Bars: []Bar{
			{"reads", "Get vs Go map", "1k", 15, 12, "ns", 1.25, 1.4, true, ""},
			{"reads", "noise", "1k", 15, 15, "ns", 1, 0, true, ""},
			{"reads", "Get vs Go map", "1M", 2500, 1000, "ns", 2.5, 1.6, false, ""},
			{"fork", "fork at 1M vs at 10k", "", 39, 38, "ns", 1.03, 3, true, ""},
		},
	}
}

func TestReportSurvivesJSON(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, sample().Write(&b))
	require.Contains(t, b.String(), "a <CPU> & more")
	r, err := Read(&b)
	require.NoError(t, err)
	require.Equal(t, sample(), r)

	_, err = Read(bytes.NewBufferString(`{"hosts":{}}`))
	require.ErrorContains(t, err, "hosts")
	_, err = Read(bytes.NewBufferString(``))
	require.Error(t, err)
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
	require.Equal(t, "1.02–1.35 µs", Range(1020, 1350, "ns"))
	require.Equal(t, "919 ns–1.06 µs", Range(919, 1060, "ns"))
	require.Empty(t, Range(math.NaN(), 1, "ns"))
	require.Equal(t, "10M", Brief(1e7, ""))
	require.Equal(t, "250k", Brief(250_000, "/s"))
	require.Equal(t, "1.5 µs", Brief(1500, "ns"))
	require.Equal(t, "1,234,567", Thousands(1_234_567))
	require.Equal(t, "-123,456", Thousands(-123_456))
}

// caseOf returns a workload and a case of it in which the stores have that figure.
func caseOf(more bool, noise float64, figures map[string]float64, order ...string) (*Workload, *Case) {
	c := &Case{Noise: noise}
	for _, id := range order {
		row := Row{Store: id, Figures: map[string]Figure{}}
		if x, ok := figures[id]; ok {
			row.Figures["it"] = Figure{Median: x}
		}
		c.Rows = append(c.Rows, row)
	}
	return &Workload{Columns: []Column{{ID: "it", Name: "it", More: more}, {ID: "other"}}}, c
}

func TestLosses(t *testing.T) {
	stores := []Store{{ID: "ours", Name: "ours", Ours: true}, {ID: "too", Name: "too", Ours: true}, {ID: "a", Name: "a"}, {ID: "b", Name: "b", Isolated: true}, {ID: "c", Name: "c"}}
	a, b := stores[2], stores[3]
	for _, test := range []struct {
		name    string
		more    bool
		noise   float64
		figures map[string]float64
		want    []Winner
	}{
		{"more", true, 0.02, map[string]float64{"ours": 100, "too": 900, "a": 150, "b": 106, "c": 101}, []Winner{{b, 1.06}, {a, 1.5}}},
		{"less", false, 0.02, map[string]float64{"ours": 100, "too": 1, "a": 50, "b": 99, "c": 200}, []Winner{{a, 2}}},
		{"noise is not known", true, 0, map[string]float64{"ours": 100, "a": 104, "b": 107}, []Winner{{b, 1.07}}},
		{"within the noise", true, 0.3, map[string]float64{"ours": 100, "a": 125, "b": 0}, nil},
		{"against zero", false, 0.02, map[string]float64{"ours": 3, "a": 0}, []Winner{{a, math.Inf(1)}}},
		{"both zero", false, 0.02, map[string]float64{"ours": 0, "a": 0}, nil},
		{"not measured", true, 0.02, map[string]float64{"ours": 100, "a": math.NaN()}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			w, c := caseOf(test.more, test.noise, test.figures, "c", "ours", "a", "too", "b", "ours", "a")
			c.Rows[5].Again, c.Rows[6].Again = true, true
			got := w.Losses(c, stores)
			require.NotEmpty(t, got)
			require.Equal(t, "ours", got[0].Store.ID)
			require.Equal(t, test.want, got[0].To)
			for _, l := range got[1:] {
				require.Equal(t, "too", l.Store.ID)
			}
		})
	}
	w, c := caseOf(true, 0.012, map[string]float64{"ours": 100, "a": 150, "b": 110}, "ours", "a", "b")
	require.Equal(t, []string{"noise: the same store twice differs by 1.2 %.", "ours † loses in it to b (1.10×), a † (1.50×)."}, w.Remarks(c, stores))
	w, c = caseOf(true, 0, map[string]float64{"ours": 100}, "ours", "a", "b")
	require.Equal(t, []string{"noise: not known."}, w.Remarks(c, stores))
	w, c = caseOf(false, 0, map[string]float64{"ours": 1, "a": 0}, "ours", "a")
	require.Contains(t, w.Remarks(c, stores)[1], "many times")
	require.Empty(t, (&Workload{}).Losses(c, stores))
}

func TestFill(t *testing.T) {
	r := sample()
	text := "# Title\n<!-- figures: host -->\nold\n<!-- figures end -->\ntext\n\n" +
		"<!-- figures: bars reads -->\n<!-- figures end -->\n<!-- figures: workload w -->\n<!-- figures end -->\nend"
	want := "# Title\n<!-- figures: host -->\n" +
		"Commit 0123456, go1.26.8 linux/amd64, a <CPU> & more, GOMAXPROCS=2: `go run . -matrix quick`.\n" +
		"<!-- figures end -->\ntext\n\n" +
		"<!-- figures: bars reads -->\n" +
		"| | cowstore | peer | ratio | bar |\n|---|---|---|---|---|\n" +
		"| Get vs Go map at 1k / 1M | 15 ns / 2.50 µs | 12 ns / 1.00 µs | **1.25 / 2.50 missed** | 1.40 / 1.60 |\n" +
		"| noise at 1k | 15 ns | 15 ns | **1.00** |  |\n" +
		"<!-- figures end -->\n<!-- figures: workload w -->\n" +
		"| Work, 230 B | ops/s | p99 | B/entry |\n|---|---:|---:|---:|\n| **ours** | 3.00M | 1.25 µs | |\n| peer † | 6.00M | 1.25 µs | |\n\n" +
		"noise: the same store twice differs by 1.2 %. ours loses in ops/s to peer † (2×).\n\n" +
		"| Work, 1 KB | ops/s | p99 | B/entry |\n|---|---:|---:|---:|\n| **ours** | 5.00M | 1.25 µs | |\n| peer † | 6.00M | 1.25 µs | |\n\n" +
		"noise: the same store twice differs by 60.0 %.\n" +
		"<!-- figures end -->\nend"
	got, err := r.Fill(text)
	require.NoError(t, err)
	require.Equal(t, want, got)
	again, err := r.Fill(got)
	require.NoError(t, err)
	require.Equal(t, got, again, "filled once is filled")

	got, err = r.Fill("<!-- figures: verdict -->\n<!-- figures end -->")
	require.NoError(t, err)
	require.Contains(t, got, "<!-- figures: verdict -->\nIn short (Work, 230 B; ops/s):\n- Where another is better: peer")
	_, err = new(Report).Fill(got)
	require.ErrorIs(t, err, ErrMarkers)

	plain := "no markers"
	got, err = r.Fill(plain)
	require.NoError(t, err)
	require.Equal(t, plain, got)
	for _, broken := range []string{
		"<!-- figures: host -->\nno end",
		"<!-- figures: host",
		"<!-- figures: host -->\n<!-- figures: host -->\n<!-- figures end -->",
		"<!-- figures: nonsense -->\n<!-- figures end -->",
		"<!-- figures: bars -->\n<!-- figures end -->",
		"<!-- figures: bars nonsense -->\n<!-- figures end -->",
		"<!-- figures: workload nonsense -->\n<!-- figures end -->",
	} {
		_, err := r.Fill(broken)
		require.True(t, errors.Is(err, ErrMarkers), "%q: %v", broken, err)
	}
}

func TestMethodNamesTheRun(t *testing.T) {
	r := sample()
	r.Rounds, r.ClockNS = 7, 41
	text := ""
	for _, p := range r.Method() {
		text += p
	}
	require.Contains(t, text, "medians of 7 rounds")
	require.Contains(t, text, "about 41ns")
}

func TestUpdate(t *testing.T) {
	r, newer := sample(), sample()
	newer.Host.Commit = "fedcba"
	newer.Workloads[0].What = "Newer."
	newer.Workloads = append(newer.Workloads, Workload{ID: "x"})
	newer.Stores = append(newer.Stores[1:], Store{ID: "third"})
	newer.Stores[0].Name = "renamed"
	newer.Bars = []Bar{{Group: "fork", Name: "newer"}}
	newer.Interrupted = true
	r.Workloads = append(r.Workloads, Workload{ID: "kept"})
	r.Update(newer)
	require.Equal(t, sample().Host, r.Host)
	require.Len(t, r.Workloads, 3)
	require.Equal(t, "Newer.", r.Workloads[0].What)
	require.Equal(t, "fedcba", r.Workloads[0].Commit)
	require.Equal(t, Workload{ID: "kept"}, r.Workloads[1])
	require.Equal(t, "x", r.Workloads[2].ID)
	require.Equal(t, []string{"ours", "renamed", ""}, []string{r.Stores[0].Name, r.Stores[1].Name, r.Stores[2].Name})
	require.Len(t, r.Bars, 4)
	require.Equal(t, "newer", r.Bars[3].Name)
	require.Equal(t, "fedcba", r.Bars[3].Commit)
	require.Empty(t, r.Bars[0].Commit)
	require.Contains(t, r.hostMarkdown(), "\nMeasured again: "+r.Workloads[0].ID+", x, bars of fork at fedcba.\n")
	require.True(t, r.Interrupted)

	r, newer = sample(), sample()
	newer.Host.Modified = true
	r.Update(newer)
	require.Equal(t, sample().Host.Commit+" with changes", r.Workloads[0].Commit)

	r, newer = sample(), sample()
	newer.Host.CPU = "Babbage 1"
	r.Update(newer)
	require.Equal(t, sample().Host.Commit+" on Babbage 1", r.Workloads[0].Commit)
	require.Contains(t, r.hostMarkdown(), " on Babbage 1.\n")

	r, newer = sample(), sample()
	newer.Bars = nil
	r.Update(newer)
	require.Equal(t, sample(), r, "the same commit, and no bars")
}

func TestStoreOf(t *testing.T) {
	s, ok := sample().StoreOf("peer")
	require.True(t, ok)
	require.Equal(t, "peer †", s.Marked())
	_, ok = sample().StoreOf("nobody")
	require.False(t, ok)
	require.True(t, sample().Measured("peer"))
	require.False(t, sample().Measured("nobody"))
}
