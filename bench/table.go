package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cowstore/cowstore/bench/result"
)

// The widths of a table. No workload has so many columns that a line has more than
// 100.
const (
	nameWidth   = 24
	figureWidth = 8
	spreadWidth = 6
)

// width returns the width of a column.
func width(c result.Column) int { return max(figureWidth, len([]rune(c.Name))+2) }

// caseTable writes a case for people: a line a store, those that are isolated first,
// and what lies beyond the figures below.
func caseTable(b *strings.Builder, w *result.Workload, c *result.Case, stores []result.Store) {
	isolated := func(r result.Row) bool {
		return slices.ContainsFunc(stores, func(s result.Store) bool { return s.ID == r.Store && s.Isolated })
	}
	rows := slices.Clone(c.Rows)
	slices.SortStableFunc(rows, func(a, b result.Row) int { return result.IsolatedFirst(isolated(a), isolated(b)) })
	title := w.Name
	if c.Name != "" {
		title += ": " + c.Name
		if w.Axis != "" {
			title += " " + w.Axis
		}
	}
	fmt.Fprintf(b, "%s\n%-*s", title, nameWidth, "")
	for i, col := range w.Columns {
		b.WriteString(left(col.Name, width(col)))
		if i == 0 {
			b.WriteString(left("±", spreadWidth))
		}
	}
	b.WriteByte('\n')
	for i, r := range rows {
		if !isolated(r) && (i == 0 || isolated(rows[i-1])) {
			b.WriteString("not isolated:\n")
		}
		fmt.Fprint(b, padded(rowName(r, stores), nameWidth))
		for i, col := range w.Columns {
			f, ok := r.Figure(col)
			if !ok {
				b.WriteString(left("-", width(col)))
				continue
			}
			b.WriteString(left(result.Amount(f.Median, col.Unit), width(col)))
			if i == 0 {
				b.WriteString(left(spread(f), spreadWidth))
			}
		}
		b.WriteByte('\n')
		if r.Torn > 0 {
			fmt.Fprintf(b, "  torn: %s of %s\n", result.Thousands(r.Torn), result.Thousands(r.Checked))
		}
	}
	for _, text := range w.Remarks(c, stores) {
		writeWrapped(b, text)
	}
	b.WriteByte('\n')
}

// rowName returns the name of the store of a row.
func rowName(r result.Row, stores []result.Store) string {
	for _, s := range stores {
		if s.ID == r.Store {
			if r.Again {
				return s.Name + " again"
			}
			return s.Marked()
		}
	}
	return r.Store
}

// spread writes how far the rounds were from the median, at most.
func spread(f result.Figure) string {
	if f.Median == 0 {
		return ""
	}
	return fmt.Sprintf("%.0f%%", 100*max(f.High-f.Median, f.Median-f.Low)/f.Median)
}

// padded and left fill text up to a width, which is of runes.
func padded(text string, width int) string {
	return text + strings.Repeat(" ", max(0, width-len([]rune(text))))
}

func left(text string, width int) string {
	return strings.Repeat(" ", max(1, width-len([]rune(text)))) + text
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
