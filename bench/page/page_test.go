package page

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/cowstore/cowstore/bench/result"
	"github.com/stretchr/testify/require"
)

func TestPageSaysEverything(t *testing.T) {
	r := sample()
	text := body(t, r)
	for _, w := range r.Workloads {
		require.Contains(t, text, w.Name)
		require.Contains(t, text, w.What)
		for _, c := range w.Cases {
			require.Contains(t, text, c.Name)
			for _, row := range c.Rows {
				for _, column := range w.Columns {
					if f, ok := row.Figure(column); ok && !row.Again {
						require.Contains(t, text, format(f.Median, column.Unit))
						require.Contains(t, text, spread(f.Low, f.High, column.Unit))
					}
				}
			}
		}
	}
	for _, s := range r.Stores {
		require.Contains(t, text, s.Name)
		require.Contains(t, text, s.Module)
		require.Contains(t, text, s.Lacks)
	}
	for _, said := range []string{
		"go1.99.3 plan9/riscv64", "Abacus 4711, GOMAXPROCS 12", "0123abcd with changes",
		"7 rounds of 350ms", "seed 8675309", r.Command, "41\u00a0ns",
		unbroken("noise: the same store twice differs by 3.4 %"), unbroken("noise: not known"),
		"19of 65,432", "0of 54,321", "cannot: " + hostile,
		"unheard-of", daggerNote,
	} {
		require.Contains(t, text, said)
	}
	said, after := 0, strings.Index(text, "Abacus 4711")
	for _, paragraph := range r.Verdict() {
		at := strings.Index(text, paragraph)
		require.Greater(t, at, said)
		require.Less(t, at, after, "on top")
		said = at
	}
	require.Positive(t, said)
	require.NotContains(t, text, "777M", "a row that is the noise is not shown")
	require.NotContains(t, text, "Interrupted")
}

func TestPageIsSelfContained(t *testing.T) {
	page := written(t, sample())
	ids := map[string]bool{}
	all := parsed(t, page)
	for _, e := range all {
		require.NotContains(t, []string{"script", "link", "img", "iframe", "object", "base"}, e.name)
		for name, value := range e.attrs {
			require.False(t, strings.HasPrefix(name, "on"), name)
			require.NotContains(t, name, "src")
			if name == "href" {
				require.True(t, strings.HasPrefix(value, "#"), value)
			}
		}
		if id, ok := e.attrs["id"]; ok {
			require.False(t, ids[id], "%s is there twice", id)
			ids[id] = true
		}
	}
	for _, e := range all {
		if href, ok := e.attrs["href"]; ok {
			require.True(t, ids[href[1:]], href)
		}
		if id, ok := e.attrs["aria-labelledby"]; ok {
			require.True(t, ids[id], id)
		}
	}
	style := named(all, "style")
	require.Len(t, style, 1)
	require.NotContains(t, style[0].text, "url(")
	require.NotContains(t, style[0].text, "@import")
	require.NotContains(t, page, "<script")
	require.NotContains(t, page, "<b>it</b>")
	require.NotContains(t, page, "ZgotmplZ")
}

func TestPageIsAccessible(t *testing.T) {
	all := parsed(t, written(t, sample()))
	require.Equal(t, "en", named(all, "html")[0].attrs["lang"])
	for _, th := range named(all, "th") {
		require.Contains(t, []string{"row", "col", "rowgroup"}, th.attrs["scope"])
	}
	charts := named(all, "svg")
	require.NotEmpty(t, charts)
	for _, svg := range charts {
		require.Equal(t, "img", svg.attrs["role"])
		require.NotEmpty(t, svg.attrs["aria-label"])
	}
	for _, e := range all {
		if e.attrs["class"] == "scroll" {
			require.Equal(t, "0", e.attrs["tabindex"])
			require.NotEmpty(t, e.attrs["aria-label"])
		}
	}
}

// A table that is wider than a phone scrolls by itself, beside the names of the
// stores; the page does not.
func TestTablesCanBeReadOnAPhone(t *testing.T) {
	page := written(t, sample())
	require.Contains(t, page, `<meta name="viewport" content="width=device-width, initial-scale=1">`)
	scrolling := regexp.MustCompile(`<div class="scroll"[^>]*>\s*<table`).FindAllString(page, -1)
	require.Len(t, scrolling, strings.Count(page, "<table"))
	for _, rule := range []string{`\.scroll\{[^}]*overflow-x:auto[^}]*max-width:100%`, `tr>th:first-child\{[^}]*position:sticky;left:0;background:`} {
		require.Regexp(t, rule, pageCSS)
	}
	require.NotRegexp(t, `(?:^|[^-])min-width:(?:2[4-9]|[3-9]\d)rem`, regexp.MustCompile(`\([^)]*\)`).ReplaceAllString(pageCSS, ""), "wider than 390 pixels")
}

func TestPageMarksTornValues(t *testing.T) {
	r := sample()
	bad := func() (marked []string) {
		for _, td := range named(parsed(t, written(t, r)), "td") {
			if td.attrs["class"] == "bad" {
				marked = append(marked, td.text)
			}
		}
		return marked
	}
	require.Equal(t, []string{"19of 65,432"}, bad())
	r.Workloads[1].Cases[0].Rows[1].Torn = 0
	require.Empty(t, bad())
}

func TestPageOfNothingHasNoFigures(t *testing.T) {
	r := new(result.Report)
	text := body(t, r)
	require.NotContains(t, text, "In short")
	require.Contains(t, text, "no stores")
	text = strings.Replace(text, "0 stores and 0 workloads", "", 1)
	require.NotRegexp(t, regexp.MustCompile(`\d`), text)
	require.Empty(t, Charts(r))
}

func TestPageOfInterruptedRun(t *testing.T) {
	r := sample()
	r.Interrupted = true
	r.Workloads[0].Cases = nil
	for i := range r.Workloads[1].Cases[0].Rows {
		r.Workloads[1].Cases[0].Rows[i].Figures = nil
	}
	r.Workloads = append(r.Workloads, result.Workload{ID: "scaling"}, result.Workload{ID: "no-columns", Axis: "keys", Cases: []result.Case{
		{X: 1, Rows: []result.Row{{Store: "ours"}}}, {X: 2}, {X: 1e6},
	}})
	text := body(t, r)
	require.Contains(t, text, "Interrupted.")
	require.Contains(t, text, "Nothing was measured.")
	require.Contains(t, text, "1M keys")
	require.NotContains(t, text, " loses ")
	for _, c := range Charts(r) {
		require.Equal(t, "tails-latency", c.Name, "all else was not measured")
	}
}

func TestPageOfManyIsSmall(t *testing.T) {
	r := sample()
	w := r.Workloads[1]
	r.Stores = nil
	for i := range 17 {
		r.Stores = append(r.Stores, result.Store{ID: fmt.Sprint(i), Name: fmt.Sprintf("store number %d", i), Ours: i == 0, Isolated: i%2 == 0})
	}
	var latency []result.Quantile
	for i := range 20 {
		latency = append(latency, result.Quantile{Quantile: 1 - 1/float64(i+1), NS: int64(100 * (i + 1) * (i + 1))})
	}
	w.Cases = nil
	for i := range 25 {
		c := result.Case{Name: fmt.Sprintf("case %d", i)}
		for j, s := range r.Stores {
			c.Rows = append(c.Rows, result.Row{Store: s.ID, Checked: 1000, Latency: latency, Figures: map[string]result.Figure{
				"p99": figure1(float64(1 + i + j)), "allocs": figure1(float64(i * j)),
			}})
		}
		w.Cases = append(w.Cases, c)
	}
	r.Workloads = []result.Workload{w}
	require.Less(t, len(written(t, r)), 2_000_000)
}

type brokenWriter struct{}

var errBroken = errors.New("broken")

func (brokenWriter) Write([]byte) (int, error) { return 0, errBroken }

func TestWriteReturnsErrorOfWriter(t *testing.T) {
	require.ErrorIs(t, Write(brokenWriter{}, sample()), errBroken)
	for _, c := range Charts(sample()) {
		require.ErrorIs(t, c.PNG(brokenWriter{}), errBroken)
		require.ErrorIs(t, c.SVG(brokenWriter{}), errBroken)
	}
}
