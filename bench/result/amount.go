package result

import (
	"math"
	"strconv"
)

// Missing stands for a figure that there is not.
const Missing = "–"

// A prefix is what a number is divided by to be written shortly, and the unit it
// has then.
type prefix struct {
	by   float64
	unit string
}

var prefixes = map[string][]prefix{
	"":   {{1, ""}, {1e3, "k"}, {1e6, "M"}, {1e9, "G"}, {1e12, "T"}},
	"B":  {{1, " B"}, {1e3, " kB"}, {1e6, " MB"}, {1e9, " GB"}, {1e12, " TB"}},
	"ns": {{1, " ns"}, {1e3, " µs"}, {1e6, " ms"}, {1e9, " s"}},
	"%":  {{1, " %"}},
	"x":  {{1, "×"}},
}

// Amount writes x, which is of that unit, to three digits: 4.21M, 1.25 µs.
// That something is by the second is left to the heading.
func Amount(x float64, unit string) string {
	if !finite(x) {
		return Missing
	}
	if unit == "/s" {
		unit = ""
	}
	all, known := prefixes[unit]
	if !known {
		all = []prefix{{1, " " + unit}}
	}
	// Rounded first: 999.9 ns are 1.00 µs.
	rounded := round(x)
	p := all[0]
	for _, next := range all[1:] {
		if math.Abs(rounded) >= next.by {
			p = next
		}
	}
	if p.by == 1 && x == math.Trunc(x) && math.Abs(x) < 1e6 {
		return strconv.FormatFloat(x, 'f', 0, 64) + p.unit
	}
	return digits(rounded/p.by) + p.unit
}

// round rounds x to three digits.
func round(x float64) float64 {
	y, err := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 3, 64), 64)
	if err != nil { // beyond the largest number
		return x
	}
	return y
}

// digits writes x, which is rounded to three digits, with all of them.
func digits(x float64) string {
	switch a := math.Abs(x); {
	case a >= 1e5 || a > 0 && a < 0.1:
		return strconv.FormatFloat(x, 'g', 3, 64)
	case a >= 100:
		return strconv.FormatFloat(x, 'f', 0, 64)
	case a >= 10:
		return strconv.FormatFloat(x, 'f', 1, 64)
	}
	return strconv.FormatFloat(x, 'f', 2, 64)
}

// finite reports whether x is a figure that can be shown.
func finite(x float64) bool { return math.Abs(x) < 1e100 }
