package result

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Missing stands for a figure that there is not.
const Missing = "–"

// scales are what stands behind a number of a unit, and behind one a thousand times as large.
var scales = map[string][]string{
	"":   {"", "k", "M", "G", "T"},
	"/s": {"", "k", "M", "G", "T"}, // the heading says that it is by the second
	"B":  {" B", " kB", " MB", " GB", " TB"},
	"ns": {" ns", " µs", " ms", " s"},
	"%":  {" %"},
	"x":  {"×"},
}

// Amount writes x, which is of that unit, to three digits: 4.21M, 1.25 µs.
func Amount(x float64, unit string) string {
	if !finite(x) {
		return Missing
	}
	scale, known := scales[unit]
	if !known {
		scale = []string{" " + unit}
	}
	y, at := round(x), 0 // rounded first: 999.9 ns are 1.00 µs
	for ; math.Abs(y) >= 1000 && at+1 < len(scale); at++ {
		y /= 1000
	}
	if at == 0 && x == math.Trunc(x) {
		return strconv.FormatFloat(x, 'f', 0, 64) + scale[0]
	}
	return digits(y) + scale[at]
}

// round rounds x to three digits.
func round(x float64) float64 {
	y, _ := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 3, 64), 64)
	return y
}

// digits writes x with three digits.
func digits(x float64) string { return strings.TrimSuffix(fmt.Sprintf("%#.3g", x), ".") }

// finite reports whether x is a figure that can be shown.
func finite(x float64) bool { return math.Abs(x) < 1e100 }
