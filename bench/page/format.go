package page

import (
	"math"
	"strconv"
	"strings"
)

// missing stands for a figure that there is not.
const missing = "–"

// A prefix is what a number is divided by to be written shortly, and the unit it
// has then.
type prefix struct {
	by   float64
	unit string
}

var prefixes = map[string][]prefix{
	"":   {{1, ""}, {1e3, "k"}, {1e6, "M"}, {1e9, "G"}, {1e12, "T"}},
	"B":  {{1, "\u00a0B"}, {1e3, "\u00a0kB"}, {1e6, "\u00a0MB"}, {1e9, "\u00a0GB"}, {1e12, "\u00a0TB"}},
	"ns": {{1, "\u00a0ns"}, {1e3, "\u00a0µs"}, {1e6, "\u00a0ms"}, {1e9, "\u00a0s"}},
	"%":  {{1, "\u00a0%"}},
	"x":  {{1, "×"}},
}

// format writes x, which is of that unit, to three digits: 4.21M, 1.25 µs.
// That something is by the second is left to the heading.
func format(x float64, unit string) string {
	number, unit := split(x, unit)
	return number + unit
}

// brief is format without zeros that say nothing, for what is exact: 10M, 1 µs.
func brief(x float64, unit string) string {
	number, unit := split(round(x), unit)
	if strings.Contains(number, ".") && !strings.Contains(number, "e") {
		number = strings.TrimRight(strings.TrimRight(number, "0"), ".")
	}
	return number + unit
}

// split is format in two parts.
func split(x float64, unit string) (number, prefixed string) {
	if !finite(x) {
		return missing, ""
	}
	if unit == "/s" {
		unit = ""
	}
	all, known := prefixes[unit]
	if !known {
		all = []prefix{{1, "\u00a0" + unit}}
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
		return strconv.FormatFloat(x, 'f', 0, 64), p.unit
	}
	return digits(rounded / p.by), p.unit
}

// spread writes the range from low to high, with one unit where it is the same:
// 1.02–1.35 µs.
func spread(low, high float64, unit string) string {
	if !finite(low) || !finite(high) {
		return ""
	}
	a, unitA := split(low, unit)
	b, unitB := split(high, unit)
	if unitA == unitB {
		unitA = ""
	}
	return a + unitA + "–" + b + unitB
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

// percent writes a part as what it is of a hundred.
func percent(part float64) string {
	return strconv.FormatFloat(100*part, 'f', 1, 64) + "\u00a0%"
}

// thousands writes 12345 as 12,345.
func thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// count writes a number of things, of which one is called thing.
func count(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return thousands(n) + " " + thing
}

// huge is more than anything that is measured. Figures beyond it would have no
// place on an axis.
const huge = 1e100

// finite reports whether x is a figure.
func finite(x float64) bool { return math.Abs(x) < huge }

// slug makes of s what can be the name of a file and part of an address.
func slug(s string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(s) {
		switch {
		case 'a' <= r && r <= 'z' || '0' <= r && r <= '9':
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
	}
	return strings.TrimSuffix(b.String(), "-")
}

// names gives out names that differ.
type names map[string]bool

// unique returns the slug of s, with a number where it was given out before.
func (n names) unique(s string) string {
	base := slug(s)
	if base == "" {
		base = "unnamed"
	}
	name := base
	for i := 2; n[name]; i++ {
		name = base + "-" + strconv.Itoa(i)
	}
	n[name] = true
	return name
}
