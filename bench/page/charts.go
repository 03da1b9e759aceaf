package page

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/cowstore/cowstore/bench/result"
	"gonum.org/v1/plot"
)

// Charts returns all charts of r, by workload. Nothing is drawn before a chart
// is written.
func Charts(r *result.Report) []Chart {
	b := chartBuilder{marks: marks(r), names: names{}}
	for _, w := range r.Workloads {
		b.workload(w)
	}
	return b.charts
}

// A chartBuilder collects charts.
type chartBuilder struct {
	marks  map[string]mark
	names  names
	charts []Chart
}

// workload adds the charts of w: its first column and its memory, and latencies
// where they are known. A workload with an axis has curves along it and the rest
// only of its last case; others have all of every case.
func (b *chartBuilder) workload(w result.Workload) {
	main := mainColumns(w)
	cases := w.Cases
	if w.Axis != "" && len(distinctX(w)) > 1 {
		for _, column := range main {
			b.curves(w, column)
		}
		cases = cases[len(cases)-1:]
		main = main[:min(1, len(main))]
	}
	for _, c := range cases {
		for _, column := range main {
			b.bars(w, c, column)
		}
		b.latency(w, c)
	}
}

// mainColumns returns the first column and those that are memory.
func mainColumns(w result.Workload) []result.Column {
	var columns []result.Column
	for i, c := range w.Columns {
		if i == 0 || c.Unit == "B" {
			columns = append(columns, c)
		}
	}
	return columns
}

func (b *chartBuilder) add(w result.Workload, suffix, subject, remark, alt string, f figure) {
	b.charts = append(b.charts, Chart{
		Name:     b.names.unique(w.ID + " " + suffix),
		Workload: w.ID,
		Title:    w.Name,
		Subject:  subject,
		Remark:   remark,
		Alt:      w.Name + ": " + alt,
		figure:   f,
	})
}

// bars adds the chart of a column in a case, if it was measured.
func (b *chartBuilder) bars(w result.Workload, c result.Case, column result.Column) {
	var all []bar
	for _, row := range ranked(c, column, b.marks) {
		f, ok := row.Figure(column)
		if !ok {
			continue
		}
		drawn := bar{mark: b.marks[row.Store], value: f.Median, low: f.Median, high: f.Median, text: format(f.Median, column.Unit)}
		if result.Finite(f.Low) && result.Finite(f.High) && f.Low <= f.Median && f.Median <= f.High {
			drawn.low, drawn.high = f.Low, f.High
		}
		all = append(all, drawn)
	}
	if len(all) == 0 {
		return
	}
	f := newBars(all, column.Unit)
	subject, remark := heading(column)+at(w, c), better(column)
	if f.daggers() && !all[0].Dagger {
		remark += "; isolated stores first"
	}
	if f.axis.log {
		remark += "; log scale"
	}
	described := make([]string, len(all))
	for i, drawn := range all {
		described[i] = drawn.label() + " " + drawn.text
	}
	b.add(w, caseName(w, c)+" "+column.ID, subject, remark,
		subject+", isolated stores first, then those with †, the best of each first: "+strings.Join(described, ", "), f)
}

// curves adds the chart of a column along the axis of w, if it was measured.
func (b *chartBuilder) curves(w result.Workload, column result.Column) {
	at := map[string]map[float64]float64{}
	var order []string
	var values []float64
	for _, c := range w.Cases {
		for _, row := range c.Rows {
			f, ok := row.Figure(column)
			if !ok || row.Again || !result.Finite(c.X) {
				continue
			}
			if at[row.Store] == nil {
				at[row.Store] = map[float64]float64{}
				order = append(order, row.Store)
			}
			at[row.Store][c.X] = f.Median
			values = append(values, f.Median)
		}
	}
	if len(values) == 0 {
		return
	}
	xs := distinctX(w)
	f := lines{x: pointsAxis(xs), y: newAxis(values, column.Unit), dots: true}
	for _, store := range order {
		l := line{mark: b.marks[store]}
		for _, x := range xs {
			if y, ok := at[store][x]; ok {
				l.points = append(l.points, point{x, y})
			}
		}
		f.lines = append(f.lines, l)
	}
	by, remark := heading(column)+" by "+w.Axis, better(column)
	switch {
	case f.x.log && f.y.log:
		remark += "; log scales"
	case f.x.log:
		remark += "; log scale of " + w.Axis
	case f.y.log:
		remark += "; log scale of " + heading(column)
	}
	b.add(w, column.ID+" by "+w.Axis, by, remark,
		fmt.Sprintf("curves of %s from %s to %s for %s. The tables have the figures.",
			by, brief(xs[0], ""), brief(xs[len(xs)-1], ""), count(len(order), "store")), f)
}

// distinctX returns where w has cases, ascending.
func distinctX(w result.Workload) []float64 {
	var xs []float64
	for _, c := range w.Cases {
		if result.Finite(c.X) {
			xs = append(xs, c.X)
		}
	}
	slices.Sort(xs)
	return slices.Compact(xs)
}

// nines is how a part of all is placed: each further nine is as far again.
func nines(quantile float64) float64 { return -math.Log10(1 - quantile) }

// latency adds the distributions of latencies in a case, if there are any.
func (b *chartBuilder) latency(w result.Workload, c result.Case) {
	f := lines{y: axis{max: nines(0.9)}, legend: true}
	low, high := math.Inf(1), 0.0
	for _, row := range c.Rows {
		if row.Again {
			continue
		}
		l := line{mark: b.marks[row.Store]}
		for _, q := range row.Latency {
			// The scale has no other.
			if q.Quantile >= 0 && q.Quantile < 1 && q.NS > 0 {
				l.points = append(l.points, point{float64(q.NS), nines(q.Quantile)})
			}
		}
		if len(l.points) == 0 {
			continue
		}
		slices.SortStableFunc(l.points, func(a, b point) int { return cmp.Compare(a.y, b.y) })
		for _, p := range l.points {
			low, high = min(low, p.x), max(high, p.x)
			f.y.max = max(f.y.max, p.y)
		}
		f.lines = append(f.lines, l)
	}
	if len(f.lines) == 0 {
		return
	}
	// The names in the order of how fast the stores are where it is rare, but those
	// that are isolated first.
	slices.SortStableFunc(f.lines, func(a, b line) int {
		return cmp.Or(result.IsolatedFirst(!a.Dagger, !b.Dagger), cmp.Compare(a.points[len(a.points)-1].x, b.points[len(b.points)-1].x))
	})
	f.x = logAxis(low, high, "ns")
	f.y.ticks = []plot.Tick{{Value: nines(0.5), Label: "50\u00a0%"}}
	label := "9"
	for n := 1.0; n <= f.y.max+0.01; n++ {
		switch n {
		case 1:
			label = "90"
		case 2:
			label = "99"
		case 3:
			label = "99.9"
		default:
			label += "9"
		}
		f.y.ticks = append(f.y.ticks, plot.Tick{Value: n, Label: label + "\u00a0%"})
	}
	b.add(w, caseName(w, c)+" latency", "latency"+at(w, c), "how many were done within a time; left is better",
		fmt.Sprintf("distributions of latency%s for %s, in the legend isolated stores first, then by the rarest, fastest first.", at(w, c), count(len(f.lines), "store")), f)
}
