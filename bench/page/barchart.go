package page

import (
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// A bar is one figure of a store.
type bar struct {
	mark
	value, low, high float64 // low and high are value where there is no spread
	text             string
}

// bars is a figure with a bar for each store and a whisker for its spread. Bars
// of stores that are not isolated are hollow. Where a bar could be too short to
// be seen there are dots on a logarithmic scale instead, as bars would have no
// zero to begin at.
type bars struct {
	bars []bar
	axis axis
}

const barPitch = 16

func newBars(all []bar, unit string) bars {
	var values []float64
	for _, b := range all {
		values = append(values, b.value, b.low, b.high)
	}
	return bars{all, newAxis(values, unit)}
}

func (b bars) height(vg.Length) vg.Length {
	h := vg.Length(barPitch*len(b.bars)) + 2
	if b.axis.log {
		h += 20 // for the ticks
	}
	return h
}

func (b bars) daggers() bool {
	for _, bar := range b.bars {
		if bar.Dagger {
			return true
		}
	}
	return false
}

func (b bars) draw(c draw.Canvas) {
	rows := axis{min: -0.5, max: float64(len(b.bars)) - 0.5}
	width := c.Max.X - c.Min.X
	plotter := barPlotter{bars: b, labels: make([]string, len(b.bars))}
	for i, bar := range b.bars {
		st := bar.labelStyle()
		plotter.labels[i] = clip(bar.label(), st, width*0.42)
		plotter.left = max(plotter.left, st.Width(plotter.labels[i]))
		plotter.right = max(plotter.right, valueStyle().Width(bar.text))
	}
	var ticks []plot.Tick
	if b.axis.log {
		ticks = b.axis.thin(width-plotter.left-plotter.right, 40)
	}
	p := newPlot(b.axis, rows, ticks, nil)
	p.X.Padding, p.Y.Padding = 0, 0
	if b.axis.log {
		p.Add(grid{vertical: true})
	} else {
		p.HideX()
	}
	p.HideY()
	p.Add(plotter)
	p.Draw(c)
}

func (m mark) labelStyle() draw.TextStyle {
	c := color.Color(color.Black)
	if m.Colour == 0 {
		c = muted.rgb()
	}
	return style(labelSize, c, m.Ours)
}

func valueStyle() draw.TextStyle { return style(labelSize, muted.rgb(), false) }

// A barPlotter is bars as a plot.Plotter, with the space to the left and to the
// right of it that text takes.
type barPlotter struct {
	bars
	labels      []string
	left, right vg.Length
}

const barGap = 6 // between a bar and text

// GlyphBoxes implements plot.GlyphBoxer.
func (b barPlotter) GlyphBoxes(*plot.Plot) []plot.GlyphBox {
	return []plot.GlyphBox{
		{X: 0, Y: 0.5, Rectangle: vg.Rectangle{Min: vg.Point{X: -b.left - barGap}}},
		{X: 1, Y: 0.5, Rectangle: vg.Rectangle{Max: vg.Point{X: b.right + barGap}}},
	}
}

// Plot implements plot.Plotter.
func (b barPlotter) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	names := c.Min.X - barGap
	for i, bar := range b.bars.bars[1:] {
		if bar.Dagger != b.bars.bars[i].Dagger {
			between := y(float64(len(b.bars.bars)-1-i) - 0.5)
			c.StrokeLine2(draw.LineStyle{Color: rule.rgb(), Width: 0.75}, names-b.left, between, c.Max.X, between)
		}
	}
	for i, bar := range b.bars.bars {
		// The first is on top.
		at := y(float64(len(b.bars.bars) - 1 - i))
		name := bar.labelStyle()
		name.XAlign = draw.XRight
		c.FillText(name, vg.Point{X: names, Y: at}, b.labels[i])

		if !b.axis.log {
			bar.box(c, x(0), x(bar.value), at)
		}
		if bar.low < bar.high {
			whisker := draw.LineStyle{Color: color.Black, Width: 0.75}
			c.StrokeLine2(whisker, x(bar.low), at, x(bar.high), at)
			if !b.axis.log {
				c.StrokeLine2(whisker, x(bar.low), at-3, x(bar.low), at+3)
				c.StrokeLine2(whisker, x(bar.high), at-3, x(bar.high), at+3)
			}
		}
		if b.axis.log {
			bar.dot(c, x(bar.value), at)
		}
		beside := max(x(bar.value), x(bar.high), x(max(b.axis.min, 0))) + barGap
		c.FillText(valueStyle(), vg.Point{X: beside, Y: at}, bar.text)
	}
}

// box draws the bar from one place to another.
func (b bar) box(c draw.Canvas, from, to, y vg.Length) {
	half := vg.Length(barPitch) * 0.34
	if b.Dagger {
		half -= 0.5 // of the outline
	}
	corners := []vg.Point{{X: from, Y: y - half}, {X: to, Y: y - half}, {X: to, Y: y + half}, {X: from, Y: y + half}}
	if !b.Dagger {
		c.FillPolygon(b.line(), corners)
		return
	}
	c.StrokeLines(draw.LineStyle{Color: b.line(), Width: 1.25}, append(corners, corners[0]))
}

// dot draws the value alone, small enough for the whisker to be seen beside it.
func (b bar) dot(c draw.Canvas, x, y vg.Length) {
	const radius = 2.75
	if !b.Dagger {
		c.DrawGlyphNoClip(draw.GlyphStyle{Color: b.line(), Radius: radius, Shape: draw.CircleGlyph{}}, vg.Point{X: x, Y: y})
		return
	}
	var ring vg.Path
	ring.Move(vg.Point{X: x + radius, Y: y})
	ring.Arc(vg.Point{X: x, Y: y}, radius, 0, 2*math.Pi)
	ring.Close()
	c.SetLineStyle(draw.LineStyle{Color: b.line(), Width: 1.5})
	c.Stroke(ring)
}
