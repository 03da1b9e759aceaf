package page

import (
	"image/color"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// A line is one store along an axis.
type line struct {
	mark
	points []point // there is one at least; x ascends
}

type point struct{ x, y float64 }

// lines is a figure with a line for each store, dashed if it is not isolated.
type lines struct {
	lines  []line
	x, y   axis
	dots   bool // at each point
	legend bool // below; otherwise each line has its name at its end
}

const (
	plotHeight   = 220 * vg.Length(1)
	legendPitch  = 14 * vg.Length(1)
	legendSwatch = 18 * vg.Length(1)
)

func (l lines) height(width vg.Length) vg.Length {
	if !l.legend {
		// So that there is room for all names.
		return max(plotHeight, vg.Length(len(l.lines))*(smallSize+3)+30)
	}
	return plotHeight + l.legendHeight(width)
}

func (l lines) daggers() bool {
	for _, line := range l.lines {
		if line.Dagger {
			return true
		}
	}
	return false
}

func (l lines) draw(c draw.Canvas) {
	width := c.Max.X - c.Min.X
	if l.legend {
		below := l.legendHeight(width)
		l.drawLegend(draw.Crop(c, 0, 0, 0, below-(c.Max.Y-c.Min.Y)))
		c = draw.Crop(c, 0, 0, below, 0)
	}
	plotter := linePlotter{lines: l, labels: make([]string, len(l.lines))}
	if !l.legend {
		for i, line := range l.lines {
			st := line.endStyle()
			plotter.labels[i] = clip(line.label(), st, width*0.36)
			plotter.right = max(plotter.right, st.Width(plotter.labels[i])+leader)
		}
	}
	p := newPlot(l.x, l.y, l.x.thin(width-plotter.right-40, 28), l.y.ticks)
	p.Add(grid{vertical: l.legend, horizontal: true}, plotter)
	p.Draw(c)
}

func (m mark) endStyle() draw.TextStyle { return style(smallSize, m.text(), m.Ours) }

// stroke returns how the line of the store is drawn.
func (m mark) stroke() draw.LineStyle {
	s := draw.LineStyle{Color: m.line(), Width: 1.5}
	switch {
	case m.Ours:
		s.Width = 2.25
	case m.Colour == 0:
		s.Width = 1
	}
	if m.Dagger {
		s.Dashes = []vg.Length{4, 2.5}
	}
	return s
}

// painted returns the lines in the order they are drawn: this project on top of
// all, those without a colour below.
func (l lines) painted() []line {
	rank := func(m mark) int {
		switch {
		case m.Ours:
			return 2
		case m.Colour > 0:
			return 1
		}
		return 0
	}
	all := slices.Clone(l.lines)
	slices.SortStableFunc(all, func(a, b line) int { return rank(a.mark) - rank(b.mark) })
	return all
}

// A linePlotter is lines as a plot.Plotter, with the space to the right of it
// that names take.
type linePlotter struct {
	lines
	labels []string
	right  vg.Length
}

const leader = 16 * vg.Length(1) // from the end of a line to its name

// GlyphBoxes implements plot.GlyphBoxer.
func (l linePlotter) GlyphBoxes(*plot.Plot) []plot.GlyphBox {
	const half = smallSize / 2.0 // of the text at the highest tick
	return []plot.GlyphBox{
		{X: 1, Y: 0.5, Rectangle: vg.Rectangle{Max: vg.Point{X: max(l.right, 4)}}},
		{X: 0.5, Y: 1, Rectangle: vg.Rectangle{Max: vg.Point{X: 1, Y: half + 1}}},
	}
}

// Plot implements plot.Plotter.
func (l linePlotter) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	for _, line := range l.painted() {
		places := make([]vg.Point, len(line.points))
		for i, at := range line.points {
			places[i] = vg.Point{X: x(at.x), Y: y(at.y)}
		}
		c.StrokeLines(line.stroke(), places)
		if l.dots && line.Colour > 0 || len(places) == 1 {
			for _, at := range places {
				c.DrawGlyphNoClip(draw.GlyphStyle{Color: line.line(), Radius: 2, Shape: draw.CircleGlyph{}}, at)
			}
		}
	}
	if l.legend {
		return
	}
	ends := make([]vg.Length, len(l.lines.lines))
	for i, line := range l.lines.lines {
		ends[i] = y(line.points[len(line.points)-1].y)
	}
	names := apart(ends, c.Min.Y, c.Max.Y, smallSize+2.5)
	for i, line := range l.lines.lines {
		end := vg.Point{X: x(line.points[len(line.points)-1].x) + 3, Y: ends[i]}
		name := vg.Point{X: c.Max.X + leader, Y: names[i]}
		c.StrokeLines(draw.LineStyle{Color: rule.rgb(), Width: 0.75},
			[]vg.Point{end, {X: name.X - 3, Y: name.Y}})
		c.FillText(line.endStyle(), name, l.labels[i])
	}
}

// apart returns places that are gap apart from each other, or less where that
// does not fit between low and high, and as near to the wanted ones as it goes.
func apart(wanted []vg.Length, low, high, gap vg.Length) []vg.Length {
	n := len(wanted)
	if n > 1 {
		gap = min(gap, (high-low)/vg.Length(n-1))
	}
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int {
		switch {
		case wanted[i] < wanted[j]:
			return -1
		case wanted[i] > wanted[j]:
			return 1
		}
		return j - i // the earlier one on top
	})
	// Neighbours that would touch become one block, which lies where its members
	// want to be on average.
	type block struct {
		sum  vg.Length // of where its members want its lowest to be
		size int
	}
	start := func(b block) vg.Length {
		most := high - vg.Length(b.size-1)*gap
		return max(low, min(most, b.sum/vg.Length(b.size)))
	}
	var blocks []block
	for _, i := range order {
		blocks = append(blocks, block{wanted[i], 1})
		for last := len(blocks) - 1; last > 0; last-- {
			below, above := blocks[last-1], blocks[last]
			if start(below)+vg.Length(below.size)*gap <= start(above) {
				break
			}
			below.sum += above.sum - vg.Length(above.size*below.size)*gap
			below.size += above.size
			blocks = append(blocks[:last-1], below)
		}
	}
	places := make([]vg.Length, n)
	next := 0
	for _, b := range blocks {
		for k := range b.size {
			places[order[next]] = start(b) + vg.Length(k)*gap
			next++
		}
	}
	return places
}

// legendEntries returns the lines with a name of their own below the figure, and
// the names of the others.
func (l lines) legendEntries() (coloured []line, others string) {
	for _, line := range l.lines {
		switch {
		case line.Colour > 0:
			coloured = append(coloured, line)
		case others == "":
			others = "grey: " + line.label()
		default:
			others += ", " + line.label()
		}
	}
	return coloured, others
}

func othersParagraph(names string) paragraph {
	return paragraph{names, style(smallSize, muted.rgb(), false)}
}

func (l lines) legendHeight(width vg.Length) vg.Length {
	coloured, others := l.legendEntries()
	rows := (len(coloured) + 1) / 2
	return 6 + vg.Length(rows)*legendPitch + othersParagraph(others).height(width)
}

// drawLegend fills one column and then the other.
func (l lines) drawLegend(c draw.Canvas) {
	coloured, others := l.legendEntries()
	width := c.Max.X - c.Min.X
	top := c.Max.Y - 6
	rows := (len(coloured) + 1) / 2
	for i, line := range coloured {
		at := vg.Point{X: c.Min.X + vg.Length(i/rows)*width/2, Y: top - (vg.Length(i%rows)+0.5)*legendPitch}
		c.StrokeLine2(line.stroke(), at.X, at.Y, at.X+legendSwatch, at.Y)
		st := style(smallSize, color.Black, line.Ours)
		at.X += legendSwatch + 5
		c.FillText(st, at, clip(line.label(), st, width/2-legendSwatch-12))
	}
	top -= vg.Length(rows) * legendPitch
	othersParagraph(others).draw(c, c.Min.X, top, width)
}
