package main

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// text prints the report for people: a table, what its columns mean, and where
// cowstore loses.
func (r *report) text(w io.Writer) error {
	var b strings.Builder
	s := r.settings
	rate := fmt.Sprintf("%s writes/s", thousands(s.rate))
	if s.rate == 0 {
		rate = "1 writer at full speed"
	}
	fmt.Fprintf(&b, "%s %s/%s, %s, GOMAXPROCS %d\n", r.host.Go, r.host.OS, r.host.Arch, r.host.CPU, r.host.GOMAXPROCS)
	fmt.Fprintf(&b, "%s records, %d readers, %s, %v a store in %d rounds, seed %d\n\n",
		thousands(s.n), s.readers, rate, s.duration, rounds, s.seed)

	const format = "%-20s %9s %7s %7s %7s %9s %5s %8s  %s\n"
	fmt.Fprintf(&b, format, "store", "lookups/s", "p50", "p99", "p99.9", "commits/s", "torn", "B/lookup", "promises")
	for _, c := range r.contenders {
		if len(c.rounds) == 0 {
			fmt.Fprintf(&b, format, c.title(), "-", "-", "-", "-", "-", "-", "-", promises(c))
			continue
		}
		_, torn := c.lookups()
		fmt.Fprintf(&b, format, c.title(), short(c.median(lookupsPerSecond)),
			span(c.median(p50)), span(c.median(p99)), span(c.median(p999)),
			thousands(int(c.median(commitsPerSecond)+0.5)), fmt.Sprint(torn),
			fmt.Sprintf("%.0f", c.median(bytesPerLookup)), promises(c))
	}
	b.WriteByte('\n')
	for _, n := range r.notes() {
		writeWrapped(&b, n)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func promises(c *contender) string {
	switch {
	case c.Isolated && c.Snapshots:
		return "isolated+snapshot"
	case c.Isolated:
		return "isolated"
	case c.Snapshots:
		return "snapshot"
	}
	return "-"
}

// short writes a number to three digits: 4.21M.
func short(x float64) string {
	switch {
	case x >= 1e6:
		return fmt.Sprintf("%.3gM", x/1e6)
	case x >= 1e3:
		return fmt.Sprintf("%.3gk", x/1e3)
	}
	return fmt.Sprintf("%.0f", x)
}

// span writes nanoseconds to three digits: 1.25µs.
func span(ns float64) string {
	switch d := time.Duration(ns); {
	case d >= time.Second:
		return fmt.Sprintf("%.3gs", ns/1e9)
	case d >= time.Millisecond:
		return fmt.Sprintf("%.3gms", ns/1e6)
	case d >= time.Microsecond:
		return fmt.Sprintf("%.3gµs", ns/1e3)
	}
	return fmt.Sprintf("%.0fns", ns)
}

// thousands writes 12345 as 12,345.
func thousands(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// writeWrapped writes a paragraph in lines of at most 92 columns, all but the
// first indented.
func writeWrapped(b *strings.Builder, text string) {
	column := 0
	for i, word := range strings.Fields(text) {
		n := len([]rune(word))
		switch {
		case i == 0:
		case column+1+n > 92:
			b.WriteString("\n  ")
			column = 2
		default:
			b.WriteByte(' ')
			column++
		}
		b.WriteString(word)
		column += n
	}
	b.WriteByte('\n')
}
