package page

import (
	"bytes"
	"fmt"
	"image/color"
	"image/png"
	"math"
	"regexp"
	"strings"
	"testing"

	"github.com/cowstore/cowstore/bench/result"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"pgregory.net/rapid"
)

func drawn(t require.TestingT, c Chart) string {
	var buf bytes.Buffer
	require.NoError(t, c.SVG(&buf))
	return buf.String()
}

func TestChartsOfReport(t *testing.T) {
	var got []string
	for _, c := range Charts(sample()) {
		got = append(got, c.Name)
		require.NotEmpty(t, c.Alt)
	}
	require.Equal(t, []string{
		"scaling-rate-by-goroutines", "scaling-heap-by-goroutines", "scaling-8-goroutines-rate",
		"tails-p99", "tails-latency",
	}, got)
}

func TestChartNamesAreDistinctFiles(t *testing.T) {
	r := sample()
	r.Workloads = append(r.Workloads, r.Workloads...)
	r.Workloads[0].ID = "../../etc/Passwd"
	r.Workloads[1].ID = ""
	seen := map[string]bool{}
	for _, c := range Charts(r) {
		require.Regexp(t, `^[a-z0-9]+(-[a-z0-9]+)*$`, c.Name)
		require.False(t, seen[c.Name], c.Name)
		seen[c.Name] = true
	}
}

func TestPNGShowsTheStores(t *testing.T) {
	if testing.Short() {
		t.Skip("it draws all charts")
	}
	r := sample()
	all := marks(r)
	for _, c := range Charts(r) {
		var buf bytes.Buffer
		require.NoError(t, c.PNG(&buf))
		img, err := png.Decode(&buf)
		require.NoError(t, err)
		require.Equal(t, int(pngWidth*dpi/72), img.Bounds().Dx())
		counts := map[color.RGBA]int{}
		for y := range img.Bounds().Dy() {
			for x := range img.Bounds().Dx() {
				counts[color.RGBAModel.Convert(img.At(x, y)).(color.RGBA)]++
			}
		}
		white := color.RGBA{255, 255, 255, 255}
		require.Greater(t, counts[white], img.Bounds().Dx()*img.Bounds().Dy()/2, "a light background")
		require.Positive(t, counts[all["ours"].line().(color.RGBA)], c.Name)
	}
}

func TestSVGFollowsThePage(t *testing.T) {
	raw := regexp.MustCompile(`#[0-9A-Fa-f]{6}`)
	reference := regexp.MustCompile(`var\(--[a-z0-9]+,#[0-9a-f]{6}\)`)
	for _, c := range Charts(sample()) {
		svg := drawn(t, c)
		require.Contains(t, svg, `fill="currentColor"`)
		require.Contains(t, svg, "var(--s1,"+series[0].light+")")
		require.Empty(t, raw.FindAllString(reference.ReplaceAllString(svg, ""), -1), "a colour that a dark page cannot change")
		require.NotContains(t, svg, "font-family:")
		require.NotContains(t, svg, " id=")
		require.NotContains(t, svg, "xlink")
		require.NotContains(t, svg, "<script")
	}
}

func TestSVGOfTextLikeStyle(t *testing.T) {
	r := sample()
	r.Stores[0].Name = `a style="fill:#000000"`
	require.Contains(t, drawn(t, Charts(r)[3]), `a style=&#34;fill:#000000&#34;`)
}

func TestStoresThatAreNotIsolatedAreMarked(t *testing.T) {
	r := sample()
	for _, isolated := range []bool{true, false} {
		r.Stores[1].Isolated = isolated
		charts := Charts(r)
		for _, c := range []Chart{charts[0], charts[2], charts[4]} { // a chart of each sort
			require.Equal(t, !isolated, regexp.MustCompile(`>locked map †<`).MatchString(drawn(t, c)), c.Name)
			require.Equal(t, !isolated && c.Name != charts[2].Name, regexp.MustCompile(`stroke-dasharray`).MatchString(drawn(t, c)), c.Name)
		}
		filled := "fill:" + series[marks(r)["locked"].Colour-1].reference()
		require.Equal(t, isolated, strings.Contains(drawn(t, charts[2]), filled), "a bar that is hollow otherwise")
		page := written(t, r)
		require.Equal(t, !isolated, regexp.MustCompile(`locked map&nbsp;<span class="dagger">†`).MatchString(page))
	}
}

func TestEveryShadeIsReferred(t *testing.T) {
	for _, s := range shades {
		r, g, b, _ := s.rgb().RGBA()
		require.Equal(t, s.light, fmt.Sprintf("#%02x%02x%02x", r>>8, g>>8, b>>8))
		svg, err := svg(10, 10, "", func(c draw.Canvas) { c.FillPolygon(s.rgb(), []vg.Point{{}, {X: 1}, {Y: 1}}) })
		require.NoError(t, err)
		require.Contains(t, svg, s.reference())
	}
}

// Whatever the figures are, a chart is drawn, and at places that exist.
func TestChartsOfAnyFigures(t *testing.T) {
	numbers := rapid.OneOf(
		rapid.Float64(),
		rapid.Float64Range(-10, 1000),
		rapid.SampledFrom([]float64{0, 1, -1, math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat64, -math.MaxFloat64, math.SmallestNonzeroFloat64, 1e-300, 1e300}),
	)
	impossible := regexp.MustCompile(`.{0,80}[^A-Za-z](NaN|Inf)[^a-z].{0,40}`)
	rapid.Check(t, func(t *rapid.T) {
		r := sample()
		for i := range r.Workloads {
			w := &r.Workloads[i]
			w.Axis = rapid.SampledFrom([]string{"", "keys"}).Draw(t, "axis")
			for j := range w.Columns {
				w.Columns[j].Unit = rapid.SampledFrom([]string{"", "/s", "ns", "B", "%", "x", "furlongs"}).Draw(t, "unit")
			}
			for j := range w.Cases {
				c := &w.Cases[j]
				c.X, c.Noise = numbers.Draw(t, "x"), numbers.Draw(t, "noise")
				for k := range c.Rows {
					row := &c.Rows[k]
					for id := range row.Figures {
						row.Figures[id] = result.Figure{Median: numbers.Draw(t, "median"), Low: numbers.Draw(t, "low"), High: numbers.Draw(t, "high")}
					}
					for l := range row.Latency {
						row.Latency[l] = result.Quantile{Quantile: numbers.Draw(t, "quantile"), NS: rapid.Int64().Draw(t, "ns")}
					}
				}
			}
		}
		require.NoError(t, Write(new(bytes.Buffer), r))
		for _, c := range Charts(r) {
			require.Empty(t, impossible.FindString(drawn(t, c)), c.Name)
		}
	})
}

func TestMarksDifferWithinAWorkload(t *testing.T) {
	r := new(result.Report)
	var many, few result.Case
	for i := range 12 {
		id := fmt.Sprint(i)
		r.Stores = append(r.Stores, result.Store{ID: id, Name: id, Ours: i == 11})
		many.Rows = append(many.Rows, result.Row{Store: id})
	}
	r.Stores = append(r.Stores, result.Store{ID: "elsewhere"})
	few.Rows = []result.Row{{Store: "elsewhere"}, {Store: "11"}}
	r.Workloads = []result.Workload{{Cases: []result.Case{many}}, {Cases: []result.Case{few}}}

	all := marks(r)
	require.Equal(t, 1, all["11"].Colour, "this project is first")
	require.Equal(t, 2, all["elsewhere"].Colour)
	require.Equal(t, "elsewhere", all["elsewhere"].Name, "for want of a name")
	coloured := map[int]bool{}
	for _, row := range many.Rows {
		colour := all[row.Store].Colour
		require.False(t, colour > 0 && coloured[colour], "colour %d is there twice", colour)
		coloured[colour] = true
	}
	require.Len(t, coloured, len(series)+1)
}

func TestApart(t *testing.T) {
	require.Equal(t, []vg.Length{50, 80, 10}, apart([]vg.Length{50, 80, 10}, 0, 100, 10), "nothing in the way")
	require.Equal(t, []vg.Length{55, 45}, apart([]vg.Length{50, 50}, 0, 100, 10), "the earlier one above")
	require.Equal(t, []vg.Length{100, 90}, apart([]vg.Length{100, 100}, 0, 100, 10), "not beyond the end")
	rapid.Check(t, func(t *rapid.T) {
		wanted := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) vg.Length { return vg.Length(rapid.Float64Range(0, 100).Draw(t, "y")) }), 1, 30).Draw(t, "wanted")
		got := apart(wanted, 0, 100, 10)
		gap := min(10, 100/max(1, vg.Length(len(wanted)-1)))
		for i := range got {
			require.GreaterOrEqual(t, got[i], vg.Length(-1e-6))
			require.LessOrEqual(t, got[i], vg.Length(100+1e-6))
			for j := range got {
				if i == j {
					continue
				}
				require.GreaterOrEqual(t, math.Abs(float64(got[i]-got[j])), float64(gap)-1e-6)
				if wanted[i] < wanted[j] {
					require.Less(t, got[i], got[j])
				}
			}
		}
	})
}

// Small values and large ones are in charts of their own, each with axes of its own.
func TestSizesOfValuesHaveTheirOwnAxes(t *testing.T) {
	w := result.Workload{ID: "w", Columns: []result.Column{{ID: "ops", Unit: "/s", More: true}, {ID: "heap", Unit: "B"}}}
	for i, name := range []string{"230 B", "2 KiB"} {
		times := []float64{1, 100}[i]
		c := result.Case{Name: name}
		for j, id := range []string{"a", "b"} {
			c.Rows = append(c.Rows, result.Row{Store: id, Latency: []result.Quantile{{Quantile: 0.5, NS: int64(100*times) + int64(j)}},
				Figures: map[string]result.Figure{"ops": figure1(times * float64(j+1)), "heap": figure1(times * float64(j+1))}})
		}
		w.Cases = append(w.Cases, c)
	}
	most := map[string]float64{}
	for _, c := range Charts(&result.Report{Workloads: []result.Workload{w}}) {
		switch f := c.figure.(type) {
		case bars:
			require.Len(t, f.bars, 2, c.Name)
			most[c.Name] = f.axis.max
		case lines:
			require.Len(t, f.lines, 2, c.Name)
			most[c.Name] = f.x.max
		}
	}
	require.Len(t, most, 6)
	for _, what := range []string{"ops", "heap", "latency"} {
		require.Greater(t, most["w-2-kib-"+what], 50*most["w-230-b-"+what], what)
	}
}
