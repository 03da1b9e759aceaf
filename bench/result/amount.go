package result

import (
	"fmt"
	"strings"
)

// Amount writes a figure of c for people, to three digits: 1.25µs, 4.21M.
func (c Column) Amount(x float64) string {
	switch c.Unit {
	case "ns":
		return span(x)
	case "%":
		return fmt.Sprintf("%.3g%%", x)
	case "x":
		return fmt.Sprintf("%.3gx", x)
	}
	return short(x)
}

// short writes a number to three digits: 4.21M.
func short(x float64) string {
	switch {
	case x >= 999.5e6:
		return fmt.Sprintf("%.3gG", x/1e9)
	case x >= 999.5e3:
		return fmt.Sprintf("%.3gM", x/1e6)
	case x >= 999.5:
		return fmt.Sprintf("%.3gk", x/1e3)
	}
	return fmt.Sprintf("%.0f", x)
}

// span writes nanoseconds to three digits: 1.25µs.
func span(ns float64) string {
	switch {
	case ns >= 999.5e6:
		return fmt.Sprintf("%.3gs", ns/1e9)
	case ns >= 999.5e3:
		return fmt.Sprintf("%.3gms", ns/1e6)
	case ns >= 999.5:
		return fmt.Sprintf("%.3gµs", ns/1e3)
	}
	return fmt.Sprintf("%.0fns", ns)
}

// Amount writes a figure of b with its unit, times in what reads best.
func (b Bar) Amount(x float64) string {
	switch {
	case b.Unit == "ns" && x >= 1e6:
		return fmt.Sprintf("%.2f ms", x/1e6)
	case b.Unit == "ns" && x >= 1e3:
		return fmt.Sprintf("%.2f µs", x/1e3)
	case x >= 1000:
		return strings.TrimSpace(fmt.Sprintf("%.0f %s", x, b.Unit))
	}
	return strings.TrimSpace(fmt.Sprintf("%.1f %s", x, b.Unit))
}
