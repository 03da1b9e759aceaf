package page

import (
	"bytes"
	"encoding/xml"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/cowstore/cowstore/bench/result"
	"github.com/stretchr/testify/require"
)

const hostile = `<script>alert("µ☃")</script> & 'co'`

func figure1(median float64) result.Figure {
	return result.Figure{Median: median, Low: median * 0.9, High: median * 1.1}
}

// sample returns a report of three stores and two workloads, one with an axis
// and one with latencies, in which figures are missing, zero and not numbers.
func sample() *result.Report {
	latency := []result.Quantile{{Quantile: 0.5, NS: 120}, {Quantile: 0.9, NS: 300}, {Quantile: 0.99, NS: 2_000}, {Quantile: 0.999, NS: 31_000}, {Quantile: 1, NS: 90_000}}
	scaling := func(name string, x, rate float64) result.Case {
		return result.Case{Name: name, X: x, Noise: 0.034, Rows: []result.Row{
			{Store: "ours", Figures: map[string]result.Figure{"rate": figure1(rate), "heap": figure1(1_230_000)}},
			{Store: "ours", Again: true, Figures: map[string]result.Figure{"rate": figure1(777_000_000)}},
			{Store: "locked", Figures: map[string]result.Figure{"rate": figure1(rate / 3.7), "heap": {Median: math.NaN()}}},
			{Store: "hostile", Figures: map[string]result.Figure{"heap": figure1(4_560_000)}},
		}}
	}
	return &result.Report{
		Host:    result.Host{Go: "go1.99.3", OS: "plan9", Arch: "riscv64", CPU: "Abacus 4711", GOMAXPROCS: 12, Commit: "0123abcd", Modified: true},
		Command: "bench -seed 8675309 <all>",
		Seed:    8675309,
		Rounds:  7,
		RoundNS: 350e6,
		ClockNS: 41,
		Stores: []result.Store{
			{ID: "ours", Name: "our store", Ours: true, Isolated: true, Snapshots: true, Atomic: true},
			{ID: "locked", Name: "locked map", Module: "example.com/locked v1.2.3", Atomic: true, Lacks: "patience"},
			{ID: "hostile", Name: hostile, Isolated: true, Ordered: true},
		},
		Workloads: []result.Workload{
			{
				ID: "scaling", Name: "Scaling", What: "More and more goroutines.", Axis: "goroutines",
				Columns: []result.Column{
					{ID: "rate", Name: "lookups", Unit: "/s", More: true},
					{ID: "heap", Name: "heap", Unit: "B"},
				},
				Cases: []result.Case{scaling("1 goroutine", 1, 1_340_000), scaling("8 goroutines", 8, 8_910_000)},
			},
			{
				ID: "tails", Name: "Tails " + hostile, What: "How long <b>it</b> takes.",
				Columns: []result.Column{
					{ID: "p99", Name: "p99", Unit: "ns"},
					{ID: "allocs", Name: "allocations"},
				},
				Cases: []result.Case{{Rows: []result.Row{
					{Store: "ours", Figures: map[string]result.Figure{"p99": figure1(2_050), "allocs": {}}, Checked: 54_321, Latency: latency},
					{Store: "locked", Figures: map[string]result.Figure{"p99": figure1(1_020), "allocs": figure1(3)}, Checked: 65_432, Torn: 19, Latency: latency[:3]},
					{Store: "unheard-of", Figures: map[string]result.Figure{"p99": {Median: math.Inf(1)}}},
				}}},
				Unable: []string{"hostile"},
			},
		},
		Bars: []result.Bar{
			{Group: "reads", Name: "get", At: "1k", Ours: 12, Peer: 10, Unit: "ns", Ratio: 1.2, Bar: 1.4, Pass: true},
			{Group: "reads", Name: "get", At: "1M", Ours: 36, Peer: 20, Unit: "ns", Ratio: 1.8, Bar: 1.6},
			{Group: "reads", Name: "noise", Ours: 11, Peer: 12, Unit: "ns", Ratio: 0.92, Pass: true},
		},
	}
}

// An element is one of a parsed page.
type element struct {
	name  string
	attrs map[string]string
	text  string // in it and below
}

// parsed parses HTML and fails if elements are not closed in order.
func parsed(t *testing.T, page string) []*element {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(page))
	d.Strict = false
	d.AutoClose = xml.HTMLAutoClose
	d.Entity = xml.HTMLEntity
	var all, open []*element
	for {
		token, err := d.Token()
		if err == io.EOF {
			break
		}
		require.NoError(t, err)
		switch token := token.(type) {
		case xml.StartElement:
			e := &element{name: token.Name.Local, attrs: map[string]string{}}
			for _, a := range token.Attr {
				e.attrs[a.Name.Local] = a.Value
			}
			all, open = append(all, e), append(open, e)
		case xml.EndElement:
			require.NotEmpty(t, open)
			require.Equal(t, open[len(open)-1].name, token.Name.Local, "closed in order")
			open = open[:len(open)-1]
		case xml.CharData:
			for _, e := range open {
				e.text += string(token)
			}
		}
	}
	require.Empty(t, open)
	return all
}

// named returns the elements with that name.
func named(all []*element, name string) []*element {
	var some []*element
	for _, e := range all {
		if e.name == name {
			some = append(some, e)
		}
	}
	return some
}

func written(t *testing.T, r *result.Report) string {
	t.Helper()
	var buf bytes.Buffer
	require.NoError(t, Write(&buf, r))
	return buf.String()
}

// body returns the text that is read on the page of r.
func body(t *testing.T, r *result.Report) string {
	t.Helper()
	return named(parsed(t, written(t, r)), "body")[0].text
}
