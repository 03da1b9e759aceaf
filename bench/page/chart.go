package page

import (
	"fmt"
	"image/color"
	"io"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
)

// A Chart is one picture of a report.
type Chart struct {
	Name     string // of a file, without its extension; no other chart of the report has it
	Workload string // the ID of the workload
	Title    string
	Subject  string // what is drawn
	Remark   string // how to read it
	Alt      string // the same for who cannot see it
	figure   figure
}

// A figure is what a chart shows.
type figure interface {
	height(width vg.Length) vg.Length
	draw(c draw.Canvas)
	daggers() bool // whether a store in it is not isolated
}

// Charts are as wide as a phone, so that their text is not shrunk there, or as
// the half of a README.
const (
	svgWidth = 340 * vg.Length(1)
	pngWidth = 400 * vg.Length(1)
	margin   = 14 * vg.Length(1) // around a PNG
	dpi      = 144               // a point is two pixels
)

// The sizes of text.
const (
	titleSize = 12
	labelSize = 10
	smallSize = 9
)

// SVG writes the chart alone, for a page: it has the
// colour of the text around it. Every other colour can be set by a custom property.
func (c Chart) SVG(w io.Writer) error {
	drawn, err := svg(svgWidth, c.figure.height(svgWidth), c.Alt, c.figure.draw)
	if err != nil {
		return fmt.Errorf("chart %s: %w", c.Name, err)
	}
	_, err = io.WriteString(w, drawn)
	return err
}

// PNG writes the chart with what it is about above it, on white, at two pixels to
// the point.
func (c Chart) PNG(w io.Writer) error {
	inner := pngWidth - 2*margin
	above := []paragraph{
		{c.Title, style(titleSize, color.Black, true)},
		{c.Subject + "; " + c.Remark, style(labelSize, muted.rgb(), false)},
	}
	var below []paragraph
	if c.figure.daggers() {
		below = []paragraph{{"† " + daggerNote, style(smallSize, muted.rgb(), false)}}
	}
	const gap = 8
	height := c.figure.height(inner)
	full := height + 2*margin + 2*gap
	for _, p := range append(above, below...) {
		full += p.height(inner)
	}
	canvas := vgimg.NewWith(vgimg.UseWH(pngWidth, full), vgimg.UseDPI(dpi))
	page := draw.New(canvas)
	top := page.Max.Y - margin
	for _, p := range above {
		top = p.draw(page, margin, top, inner)
	}
	top -= gap
	c.figure.draw(draw.Crop(page, margin, -margin, top-height, top-page.Max.Y))
	top -= height + gap
	for _, p := range below {
		top = p.draw(page, margin, top, inner)
	}
	_, err := vgimg.PngCanvas{Canvas: canvas}.WriteTo(w)
	return err
}

// style returns a style of text that starts at a point and is centred on its
// height.
func style(size float64, c color.Color, bold bool) text.Style {
	f := font.From(font.Font{Typeface: "Liberation", Variant: "Sans"}, vg.Length(size))
	if bold {
		f.Weight = 3 // WeightBold of golang.org/x/image/font
	}
	return text.Style{Color: c, Font: f, YAlign: draw.YCenter, Handler: plot.DefaultTextHandler}
}

// clip shortens s to width.
func clip(s string, st text.Style, width vg.Length) string {
	if st.Width(s) <= width {
		return s
	}
	runes := []rune(s)
	for len(runes) > 1 && st.Width(string(runes)+"…") > width {
		runes = runes[:len(runes)-1]
	}
	return strings.TrimSpace(string(runes)) + "…"
}

// A paragraph is text that is broken into lines.
type paragraph struct {
	text string
	text.Style
}

func (p paragraph) lines(width vg.Length) []string {
	var lines []string
	for word := range strings.FieldsSeq(p.text) {
		word = clip(word, p.Style, width)
		if n := len(lines); n > 0 && p.Width(lines[n-1]+" "+word) <= width {
			lines[n-1] += " " + word
		} else {
			lines = append(lines, word)
		}
	}
	return lines
}

func (p paragraph) leading() vg.Length { return p.Font.Size * 1.3 }

func (p paragraph) height(width vg.Length) vg.Length {
	return vg.Length(len(p.lines(width))) * p.leading()
}

// draw returns where the next paragraph begins.
func (p paragraph) draw(c draw.Canvas, left, top, width vg.Length) vg.Length {
	for _, line := range p.lines(width) {
		c.FillText(p.Style, vg.Point{X: left, Y: top - p.leading()/2}, line)
		top -= p.leading()
	}
	return top
}
