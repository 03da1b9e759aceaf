package main

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/go-analyze/charts"

	"github.com/cowstore/cowstore/bench/result"
	"github.com/cowstore/cowstore/bench/stores"
)

// modes are the colours of light pages and of dark ones: of this project, of others that are
// isolated, of others, and more for lines.
var modes = map[string]charts.ColorPalette{
	"light": palette(false, "#ffffff", "#1f2328", "#d1d9e0", "#0969da", "#57606a", "#b6bec7"),
	"dark":  palette(true, "#0d1117", "#f0f6fc", "#3d444d", "#4493f8", "#9aa4af", "#4b535d"),
}

func palette(dark bool, background, text, grid string, series ...string) charts.ColorPalette {
	o := charts.ThemeOption{IsDarkMode: dark, BackgroundColor: charts.ColorFromHex(background), TextColor: charts.ColorFromHex(text),
		AxisStrokeColor: charts.ColorFromHex(grid), AxisSplitLineColor: charts.ColorFromHex(grid)}
	for _, c := range append(series, "#bc4c00", "#1a7f37", "#8250df", "#bf3989", "#9a6700") {
		o.SeriesColors = append(o.SeriesColors, charts.ColorFromHex(c))
	}
	return charts.MakeTheme(o)
}

// draw draws the charts of what was measured into a folder, as SVG.
func (f *figures) draw(folder string) error {
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return err
	}
	drawn := 0
	for _, c := range []struct {
		workload, unit, title, about string
		draw                         func(p *charts.Painter, t charts.ColorPalette, cases []result.Case, c chart) error
	}{
		{"docs", "op/s", "A coding agent's memory", "lookups a second; more is better; † hands out what it holds", drawBars},
		{"stream", "p99.9-ns", "Lookups beside 500 writes a second", "p99.9; less is better; † hands out what it holds", drawBars},
		{"growth", "op/s", "Lookups a second, by number of keys", "one goroutine; † hands out what it holds", drawLines},
	} {
		cases, err := f.cases(c.workload, nil, nil)
		if err != nil {
			continue // not measured
		}
		i := slices.IndexFunc(cases[0].Columns, func(col result.Column) bool { return col.Unit == c.unit })
		for mode, theme := range modes {
			p := charts.NewPainter(charts.PainterOptions{OutputFormat: charts.ChartOutputSVG, Width: 720, Height: 480, Theme: theme})
			if err := c.draw(p, theme, cases, chart{cases[0].Columns[i], c.title, c.about}); err != nil {
				return fmt.Errorf("%s: %w", c.workload, err)
			}
			svg, err := p.Bytes()
			if err != nil {
				return fmt.Errorf("%s: %w", c.workload, err)
			}
			if err := os.WriteFile(filepath.Join(folder, c.workload+"-"+mode+".svg"), svg, 0o666); err != nil {
				return err
			}
			drawn++
		}
	}
	if drawn == 0 {
		return errors.New("nothing that there is a chart of was measured")
	}
	return nil
}

// small leaves room for those who have a wider font.
var small = charts.FontStyle{FontSize: 10}

// A chart is what is drawn: one column of cases.
type chart struct {
	result.Column
	title, about string
}

func (c chart) titled(t charts.ColorPalette) charts.TitleOption {
	return charts.TitleOption{Text: c.title, Subtext: c.about, FontStyle: charts.FontStyle{FontSize: 15, FontColor: t.GetTitleTextColor()}}
}

// measured returns the rows of a case that have the figure, the best first.
func (c chart) measured(all []result.Row) []result.Row {
	rows := slices.DeleteFunc(slices.Clone(all), func(r result.Row) bool { _, ok := r.Figures[c.Unit]; return r.Again || !ok })
	slices.SortFunc(rows, func(a, b result.Row) int {
		order := cmp.Compare(a.Figures[c.Unit].Median, b.Figures[c.Unit].Median)
		if c.More {
			return -order
		}
		return order
	})
	return rows
}

// drawBars draws a bar a store. Stacks of three, two of which are empty, give each sort of
// store its colour.
func drawBars(p *charts.Painter, t charts.ColorPalette, cases []result.Case, c chart) error {
	rows := c.measured(cases[0].Rows)
	slices.Reverse(rows) // from the bottom
	data, names := [3][]float64{}, make([]string, len(rows))
	for i, r := range rows {
		for sort := range data {
			data[sort] = append(data[sort], 0)
		}
		data[sortOf(r.Store)][i], names[i] = r.Figures[c.Unit].Median, r.Store.Marked()
	}
	o := charts.NewBarChartOptionWithData(data[:])
	o.Theme, o.Horizontal, o.StackSeries, o.Title = t, true, charts.Ptr(true), c.titled(t)
	o.CategoryAxis.Labels, o.CategoryAxis.LabelFontStyle = names, small
	o.ValueAxis = []charts.ValueAxisOption{{Show: charts.Ptr(false)}}
	o.BarSize = 0.6
	for i := range o.SeriesList {
		o.SeriesList[i].Label = charts.SeriesLabel{Show: charts.Ptr(true), FontStyle: charts.FontStyle{FontSize: small.FontSize, FontColor: t.GetTitleTextColor()},
			ValueFormatter: func(x float64) string {
				if x == 0 {
					return ""
				}
				return result.Amount(x, c.Kind)
			}}
	}
	return p.BarChart(o)
}

func sortOf(s stores.Info) int {
	switch {
	case s.Ours:
		return 0
	case s.Isolated:
		return 1
	}
	return 2
}

// drawLines draws a line for each store that was measured in all cases.
func drawLines(p *charts.Painter, t charts.ColorPalette, cases []result.Case, c chart) error {
	var data [][]float64
	var names, sizes []string
	low, high := math.Inf(1), math.Inf(-1)
	for _, r := range c.measured(cases[len(cases)-1].Rows) {
		var values []float64
		for _, one := range cases {
			for _, other := range one.Rows {
				if other.Store.ID == r.Store.ID && !other.Again {
					values = append(values, math.Log10(other.Figures[c.Unit].Median))
				}
			}
		}
		if len(values) == len(cases) {
			data, names = append(data, values), append(names, r.Store.Marked())
			low, high = min(low, slices.Min(values)), max(high, slices.Max(values))
		}
	}
	for _, one := range cases {
		sizes = append(sizes, one.Size)
	}
	o := charts.NewLineChartOptionWithData(data)
	o.Theme, o.Title = t, c.titled(t)
	o.Symbol = charts.Symbol{Shape: charts.SymbolNone}
	o.Padding = charts.Box{Top: 20, Left: 20, Right: 210, Bottom: 20, IsSet: true}
	o.XAxis.Labels, o.XAxis.BoundaryGap = sizes, charts.Ptr(false)
	low, high = math.Floor(low), math.Ceil(high)
	o.YAxis = []charts.YAxisOption{{Min: &low, Max: &high, LabelCount: int(high-low) + 1,
		ValueFormatter: func(x float64) string { return result.Amount(math.Pow(10, x), c.Kind) }}}
	o.Legend = charts.LegendOption{SeriesNames: names, FontStyle: small, Vertical: charts.Ptr(true), Offset: charts.OffsetStr{Left: "520", Top: "60"}}
	return p.LineChart(o)
}
