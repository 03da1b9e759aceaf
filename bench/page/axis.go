package page

import (
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/cowstore/cowstore/bench/result"
)

// wide is how many times the least the most must be for a scale to be
// logarithmic: on a linear one from zero the least could not be seen.
const wide = 30

// An axis is a scale and what is written along it.
type axis struct {
	min, max float64
	log      bool
	ticks    []plot.Tick
}

// newAxis returns an axis for values of that unit, all finite: one from zero, so
// that lengths compare, or a logarithmic one.
func newAxis(values []float64, unit string) axis {
	a := axis{min: math.Inf(1), max: math.Inf(-1)}
	for _, v := range values {
		a.min, a.max = min(a.min, v), max(a.max, v)
	}
	if a.min > 1/result.Huge && a.max/a.min > wide {
		return logAxis(a.min, a.max, unit)
	}
	a.min, a.max = min(a.min, 0), max(a.max, 0)
	if a.max-a.min < 1/result.Huge {
		a.max = a.min + 1
	}
	step := niceStep((a.max - a.min) / 4)
	for i := math.Ceil(a.min / step); i*step <= a.max; i++ {
		a.ticks = append(a.ticks, plot.Tick{Value: i * step, Label: brief(i*step, unit)})
	}
	return a
}

// logAxis returns a logarithmic axis from low to high, which are more than zero.
func logAxis(low, high float64, unit string) axis {
	a := axis{min: low / 1.15, max: high * 1.15, log: true}
	first, last := math.Floor(math.Log10(a.min)), math.Ceil(math.Log10(a.max))
	each := math.Ceil((last - first) / 6) // decades to a tick
	factors := []float64{1}
	if last-first <= 2 {
		factors = []float64{1, 2, 5}
	}
	for e := first; e <= last; e += each {
		for _, f := range factors {
			if v := f * math.Pow(10, e); v >= a.min && v <= a.max {
				a.ticks = append(a.ticks, plot.Tick{Value: v, Label: brief(v, unit)})
			}
		}
	}
	return a
}

// pointsAxis returns an axis with a tick at each of values, which ascend.
func pointsAxis(values []float64) axis {
	a := axis{min: values[0], max: values[len(values)-1], log: values[0] > 0}
	for _, v := range values {
		a.ticks = append(a.ticks, plot.Tick{Value: v, Label: brief(v, "")})
	}
	return a
}

// niceStep returns the least of 1, 2 and 5 times a power of ten that is not less
// than x.
func niceStep(x float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(x)))
	for _, f := range []float64{1, 2, 5} {
		if f*power >= x {
			return f * power
		}
	}
	return 10 * power
}

// thin takes the labels from ticks that are closer than gap to the one before,
// or to the last, where the axis is length long.
func (a axis) thin(length, gap vg.Length) []plot.Tick {
	ticks := make([]plot.Tick, len(a.ticks))
	copy(ticks, a.ticks)
	last := len(ticks) - 1
	for i, before := 0, -gap; i <= last; i++ {
		at := vg.Length(a.scale().Normalize(a.min, a.max, ticks[i].Value)) * length
		end := vg.Length(a.scale().Normalize(a.min, a.max, ticks[last].Value)) * length
		if at-before < gap || i < last && end-at < gap {
			ticks[i].Label = ""
			continue
		}
		before = at
	}
	return ticks
}

func (a axis) scale() plot.Normalizer {
	if a.log {
		return plot.LogScale{}
	}
	return plot.LinearScale{}
}

// newPlot returns a plot of what is only data: without a background and lines
// around it.
func newPlot(x, y axis, xTicks, yTicks []plot.Tick) *plot.Plot {
	p := plot.New()
	p.BackgroundColor = nil
	for _, to := range []struct {
		*plot.Axis
		axis
		ticks []plot.Tick
	}{{&p.X, x, xTicks}, {&p.Y, y, yTicks}} {
		to.Min, to.Max, to.Scale = to.min, to.max, to.scale()
		to.Padding = 4
		to.LineStyle.Width = 0
		to.Tick.LineStyle.Width = 0
		to.Tick.Length = 0
		to.Tick.Marker = plot.ConstantTicks(to.ticks)
		align := to.Tick.Label
		to.Tick.Label = style(smallSize, muted.rgb(), false)
		to.Tick.Label.XAlign, to.Tick.Label.YAlign = align.XAlign, align.YAlign
	}
	return p
}

// A grid is faint lines at the ticks of a plot.
type grid struct{ vertical, horizontal bool }

// Plot implements plot.Plotter.
func (g grid) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	line := draw.LineStyle{Color: rule.rgb(), Width: 0.75}
	if g.vertical {
		for _, t := range p.X.Tick.Marker.Ticks(p.X.Min, p.X.Max) {
			c.StrokeLine2(line, x(t.Value), c.Min.Y, x(t.Value), c.Max.Y)
		}
	}
	if g.horizontal {
		for _, t := range p.Y.Tick.Marker.Ticks(p.Y.Min, p.Y.Max) {
			c.StrokeLine2(line, c.Min.X, y(t.Value), c.Max.X, y(t.Value))
		}
	}
}
