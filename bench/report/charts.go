package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/go-analyze/charts"

	"github.com/cowstore/cowstore/bench/result"
)

// modes are the colours of light pages and of dark ones: of this project, of others that are
// isolated, and of others.
var modes = map[string]charts.ColorPalette{
	"light": palette(false, "#ffffff", "#1f2328", "#d1d9e0", "#0969da", "#57606a", "#b6bec7"),
	"dark":  palette(true, "#0d1117", "#f0f6fc", "#3d444d", "#4493f8", "#9aa4af", "#4b535d"),
}

func palette(dark bool, background, text, grid string, series ...string) charts.ColorPalette {
	o := charts.ThemeOption{IsDarkMode: dark, BackgroundColor: charts.ColorFromHex(background), TextColor: charts.ColorFromHex(text),
		AxisStrokeColor: charts.ColorFromHex(grid), AxisSplitLineColor: charts.ColorFromHex(grid)}
	for _, c := range series {
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
	for _, c := range []struct{ workload, unit, title, about string }{
		{"docs", "op/s", "A coding agent's memory", "lookups a second; more is better; † hands out what it holds"},
		{"stream", "p99.9-ns", "Lookups beside 500 writes a second", "p99.9; less is better; † hands out what it holds"},
	} {
		cases, err := f.cases(c.workload, nil, []string{c.unit})
		if err != nil {
			continue // not measured
		}
		for mode, theme := range modes {
			title := charts.TitleOption{Text: c.title, Subtext: c.about, FontStyle: charts.FontStyle{FontSize: 15, FontColor: theme.GetTitleTextColor()}}
			svg, err := bars(theme, cases[0], title)
			if err == nil {
				err = os.WriteFile(filepath.Join(folder, c.workload+"-"+mode+".svg"), svg, 0o666)
			}
			if err != nil {
				return fmt.Errorf("%s: %w", c.workload, err)
			}
			drawn++
		}
	}
	if drawn == 0 {
		return errors.New("nothing that there is a chart of was measured")
	}
	return nil
}

// bars draws a bar of the first column for each store, the best above. Stacks of three, two of
// which are empty, give each sort of store its colour.
func bars(t charts.ColorPalette, c result.Case, title charts.TitleOption) ([]byte, error) {
	column := c.Columns[0]
	rows := slices.DeleteFunc(c.Rows, func(r result.Row) bool { return r.Again })
	slices.SortFunc(rows, func(a, b result.Row) int { // from the bottom
		order := cmp.Compare(a.Figures[column.Unit].Median, b.Figures[column.Unit].Median)
		if !column.More {
			return -order
		}
		return order
	})
	data, names := [3][]float64{}, make([]string, len(rows))
	for i := range data {
		data[i] = make([]float64, len(rows))
	}
	for i, r := range rows {
		sort := 2
		if r.Store.Ours {
			sort = 0
		} else if r.Store.Isolated {
			sort = 1
		}
		data[sort][i], names[i] = r.Figures[column.Unit].Median, r.Store.Marked()
	}
	o := charts.NewBarChartOptionWithData(data[:])
	o.Theme, o.Horizontal, o.StackSeries, o.Title = t, true, charts.Ptr(true), title
	o.CategoryAxis.Labels, o.CategoryAxis.LabelFontStyle = names, charts.FontStyle{FontSize: 10} // room for a wider font
	o.ValueAxis = []charts.ValueAxisOption{{Show: charts.Ptr(false)}}
	o.BarSize = 0.6
	for i := range o.SeriesList {
		o.SeriesList[i].Label = charts.SeriesLabel{Show: charts.Ptr(true), FontStyle: charts.FontStyle{FontSize: 10, FontColor: t.GetTitleTextColor()},
			ValueFormatter: func(x float64) string {
				if x == 0 {
					return ""
				}
				return result.Amount(x, column.Kind)
			}}
	}
	p := charts.NewPainter(charts.PainterOptions{OutputFormat: charts.ChartOutputSVG, Width: 720, Height: 480, Theme: t})
	if err := p.BarChart(o); err != nil {
		return nil, err
	}
	return p.Bytes()
}
