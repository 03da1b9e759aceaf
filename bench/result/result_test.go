package result

import (
	"bytes"
	"errors"
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
			{"reads", "Get vs Go map", "1k", 15, 12, "ns", 1.25, 1.4, true},
			{"reads", "noise", "1k", 15, 15, "ns", 1, 0, true},
			{"reads", "Get vs Go map", "1M", 2500, 1000, "ns", 2.5, 1.6, false},
			{"fork", "fork at 1M vs at 10k", "", 39, 38, "ns", 1.03, 3, true},
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

func TestAmounts(t *testing.T) {
	for _, c := range []struct {
		x          float64
		unit, want string
	}{
		{0, "ns", "0ns"}, {999.4, "ns", "999ns"}, {999.6, "ns", "1µs"}, {1250, "ns", "1.25µs"}, {2.5e6, "ns", "2.5ms"}, {1.5e9, "ns", "1.5s"},
		{4213456, "/s", "4.21M"}, {1234, "/s", "1.23k"}, {12, "/s", "12"}, {999.9e3, "/s", "1M"}, {1.2e9, "B", "1.2G"},
		{12.345, "%", "12.3%"}, {1.5, "x", "1.5x"},
	} {
		require.Equal(t, c.want, Column{Unit: c.unit}.Amount(c.x))
	}
	require.Equal(t, "12.9 ns", Bar{Unit: "ns"}.Amount(12.9))
	require.Equal(t, "1.25 µs", Bar{Unit: "ns"}.Amount(1250))
	require.Equal(t, "2.50 ms", Bar{Unit: "ns"}.Amount(2.5e6))
	require.Equal(t, "1938 B", Bar{Unit: "B"}.Amount(1938))
	require.Equal(t, "22.4", Bar{}.Amount(22.4))
}

func TestRemarks(t *testing.T) {
	r := sample()
	w := &r.Workloads[0]
	w.Cases[0].Rows = append(w.Cases[0].Rows, Row{Store: "peer", Again: true, Figures: w.Cases[0].Rows[1].Figures})
	require.Equal(t, []string{"noise: the same store twice differs by 1.2%.", "ours loses in ops/s to peer † (2.0x)."}, w.Remarks(&w.Cases[0], r.Stores))
	require.Equal(t, []string{"noise: the same store twice differs by 60.0%."}, w.Remarks(&w.Cases[1], r.Stores), "1.2 times is within the noise")

	// Where less is better, the smaller one is ahead.
	w.Columns = w.Columns[1:]
	w.Cases[0].Rows[1].Figures["p99"] = Figure{Median: 500}
	require.Contains(t, w.Remarks(&w.Cases[0], r.Stores), "ours loses in p99 to peer † (2.5x).")

	// What was not measured wins and loses nothing.
	delete(w.Cases[0].Rows[1].Figures, "p99")
	w.Cases[0].Noise = 0
	require.Empty(t, w.Remarks(&w.Cases[0], r.Stores))
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
		"| Get vs Go map at 1k / 1M | 15.0 ns / 2.50 µs | 12.0 ns / 1.00 µs | **1.25 / 2.50** | 1.40 / 1.60 **missed** |\n" +
		"| noise at 1k | 15.0 ns | 15.0 ns | **1.00** |  |\n" +
		"<!-- figures end -->\n<!-- figures: workload w -->\n" +
		"| Work, 230 B | ops/s | p99 | B/entry |\n|---|---:|---:|---:|\n| **ours** | 3M | 1.25µs | |\n| peer † | 6M | 1.25µs | |\n\n" +
		"noise: the same store twice differs by 1.2%. ours loses in ops/s to peer † (2.0x).\n\n" +
		"| Work, 1 KB | ops/s | p99 | B/entry |\n|---|---:|---:|---:|\n| **ours** | 5M | 1.25µs | |\n| peer † | 6M | 1.25µs | |\n\n" +
		"noise: the same store twice differs by 60.0%.\n" +
		"<!-- figures end -->\nend"
	got, err := r.Fill(text)
	require.NoError(t, err)
	require.Equal(t, want, got)
	again, err := r.Fill(got)
	require.NoError(t, err)
	require.Equal(t, got, again, "filled once is filled")

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

func TestStoreOf(t *testing.T) {
	s, ok := sample().StoreOf("peer")
	require.True(t, ok)
	require.Equal(t, "peer †", s.Marked())
	_, ok = sample().StoreOf("nobody")
	require.False(t, ok)
	require.True(t, sample().Measured("peer"))
	require.False(t, sample().Measured("nobody"))
}
