package result

import (
	"fmt"
	"go/doc/comment"
	"slices"
	"strings"
)

// title returns the name of the workload, and the size where there are several.
func (c *Case) title() string {
	if c.Size == "" || c.Size == "all" {
		return c.Name
	}
	return c.Name + ", " + c.Size
}

// Markdown returns the table of a case, and the remarks below it.
func (c *Case) Markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "| %s |", c.title())
	for _, col := range c.Columns {
		fmt.Fprintf(&b, " %s |", col.Name)
	}
	b.WriteString("\n|---|" + strings.Repeat("---:|", len(c.Columns)) + "\n")
	for _, row := range c.Rows {
		if row.Again {
			continue
		}
		name := row.Store.Marked()
		if row.Store.Ours {
			name = "**" + name + "**"
		}
		fmt.Fprintf(&b, "| %s |", name)
		for _, col := range c.Columns {
			if f, ok := row.Figures[col.Unit]; ok {
				fmt.Fprintf(&b, " %s", Amount(f.Median, col.Kind))
			}
			b.WriteString(" |")
		}
		b.WriteByte('\n')
	}
	fmt.Fprintf(&b, "\n%s\n", strings.Join(c.Remarks(), " "))
	return b.String()
}

// The widths of a table on a terminal. No workload has so many columns that a line has
// more than 100.
const (
	nameWidth   = 24
	figureWidth = 8
	spreadWidth = 6
	lineWidth   = 92
)

func (c Column) width() int { return max(figureWidth, len([]rune(c.Name))+2) }

// Text writes a case for people: a line a store, those that are isolated first, and the
// remarks.
func (c *Case) Text() string {
	var b strings.Builder
	b.WriteString(c.title() + "\n" + padded("", nameWidth))
	for i, col := range c.Columns {
		b.WriteString(left(col.Name, col.width()))
		if i == 0 {
			b.WriteString(left("±", spreadWidth))
		}
	}
	b.WriteByte('\n')
	for _, isolated := range []bool{true, false} {
		rows := slices.DeleteFunc(slices.Clone(c.Rows), func(r Row) bool { return r.Store.Isolated != isolated })
		if !isolated && len(rows) > 0 {
			b.WriteString("not isolated:\n")
		}
		for _, r := range rows {
			name := r.Store.Marked()
			if r.Again {
				name = r.Store.Name + " again"
			}
			b.WriteString(padded(name, nameWidth))
			for i, col := range c.Columns {
				figure, spread := "-", ""
				if f, ok := r.Figures[col.Unit]; ok {
					figure = Amount(f.Median, col.Kind)
					spread = fmt.Sprintf("%.0f%%", 100*max(f.High-f.Median, f.Median-f.Low)/max(f.Median, 1e-9))
				}
				b.WriteString(left(figure, col.width()))
				if i == 0 {
					b.WriteString(left(spread, spreadWidth))
				}
			}
			b.WriteByte('\n')
		}
	}
	return b.String() + Wrapped(c.Remarks()...)
}

// Promises writes what the stores of a case promise.
func (c *Case) Promises() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-*s%10s%10s%8s%9s\n", nameWidth, "what they promise", "isolated", "snapshots", "atomic", "ordered")
	mark := map[bool]string{true: "yes", false: "-"}
	for _, r := range c.Rows {
		if s := r.Store; !r.Again {
			fmt.Fprintf(&b, "%s%10s%10s%8s%9s", padded(s.Marked(), nameWidth), mark[s.Isolated], mark[s.Snapshots], mark[s.Atomic], mark[s.Ordered])
			if s.Lacks != "" {
				b.WriteString("  " + s.Lacks)
			}
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// Method says how figures were measured and what they mean, a paragraph each.
func Method() []string {
	return []string{
		"†: not isolated. It hands out what it holds: a caller that writes to what it read, or keeps writing to what it " +
			"stored, does so for all. Nothing tears here because no reader here writes.",
		"isolated: whatever a caller does to a value it stored or was given, the store does not change. " +
			"snapshots: several keys can be read as they were at one moment. " +
			"atomic: whoever iterates sees all of an update of several keys or nothing. " +
			"ordered: iterates in the order of keys.",
		"Figures are medians of the rounds; ± is how far a round was from it at most. The stores take turns within a round, so that " +
			"what the machine does meanwhile hits all alike. Everything read is checked, in every field.",
		"lookups/s: by the time spent in the store. The choice of keys, the making of values and the checks are not in it, " +
			"but where more goroutines than processors are at work. p50, p99, p99.9: of lookups, one in 32 timed by itself, the clock included. " +
			"B/get: what a lookup allocates. GC: the part of processor time that the garbage collector took. B/entry: what a store has on " +
			"the heap, keys and values included, a record; texts that all stores share are not.",
	}
}

// padded and left fill text up to a width, which is of runes.
func padded(text string, width int) string {
	return text + strings.Repeat(" ", max(0, width-len([]rune(text))))
}

func left(text string, width int) string {
	return strings.Repeat(" ", max(1, width-len([]rune(text)))) + text
}

// Wrapped returns paragraphs as a list in lines for a terminal.
func Wrapped(texts ...string) (lines string) {
	p := comment.Printer{TextPrefix: "  ", TextWidth: lineWidth}
	for _, text := range texts {
		lines += "- " + strings.TrimPrefix(string(p.Text(new(comment.Parser).Parse(text))), p.TextPrefix)
	}
	return lines
}
