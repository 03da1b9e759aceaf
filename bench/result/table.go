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

// leastMargin is by how much a figure must be ahead to be said to be, where the
// noise is smaller or not known.
const leastMargin = 0.05

// noise returns by which part the first column of a store that was measured twice
// differs; 0: it was not.
func (c *Case) noise() float64 {
	if n := len(c.Rows); n > 1 && c.Rows[n-1].Again {
		once, again := c.first(c.Rows[0]), c.first(c.Rows[n-1])
		if once.Median > 0 && again.Median > 0 {
			return max(once.Median, again.Median)/min(once.Median, again.Median) - 1
		}
	}
	return 0
}

// first returns the figure of the first column; none is 0.
func (c *Case) first(r Row) Figure { return r.Figures[c.Columns[0].Unit] }

// margin returns by which part two figures must differ to be said to.
func (c *Case) margin() float64 { return max(c.noise(), leastMargin) }

// ahead returns how many times better than ours a peer is in the first column: more than 1
// if it is.
func (c *Case) ahead(ours, peer Row) float64 {
	if c.Columns[0].More {
		return c.first(peer).Median / c.first(ours).Median
	}
	return c.first(ours).Median / c.first(peer).Median
}

// measured returns the rows that have the first column, without what was measured again.
func (c *Case) measured() (rows []Row) {
	for _, r := range c.Rows {
		if m := c.first(r).Median; m > 0 && finite(m) && !r.Again {
			rows = append(rows, r)
		}
	}
	return rows
}

// Remarks returns what must be said beside the figures of a case, a paragraph each: the
// noise, and to whom this project loses in the first column by more than that and 5 %, those
// that are isolated first.
func (c *Case) Remarks() []string {
	texts := []string{"noise: not known."}
	if noise := c.noise(); noise > 0 && finite(noise) {
		texts[0] = fmt.Sprintf("noise: the same store twice differs by %.1f %%.", 100*noise)
	}
	rows := c.measured()
	for _, r := range rows {
		if !r.Store.Ours {
			continue
		}
		var to []string
		for _, isolated := range []bool{true, false} {
			for _, peer := range rows {
				if times := c.ahead(r, peer); !peer.Store.Ours && peer.Store.Isolated == isolated && times > 1+c.margin() {
					to = append(to, fmt.Sprintf("%s (%s)", peer.Store.Marked(), Amount(times, "x")))
				}
			}
		}
		if len(to) > 0 {
			texts = append(texts, fmt.Sprintf("%s loses in %s to %s.", r.Store.Marked(), c.Columns[0].Name, strings.Join(to, ", ")))
		}
	}
	return texts
}

// Verdict says what isolation costs, what this project saves over others that are
// isolated too, and what the others are right for: a paragraph each, which says who is ahead,
// below one that says where. Stores are told apart by more than the noise, if all rounds of
// one are ahead of all of the other; if not, it says so, and why. Of this project it takes the first store that is
// isolated, of all others the best of their sort. It is empty where there are none, or what
// is measured is not speed.
func (c *Case) Verdict() []string {
	type sort struct{ ours, isolated bool }
	var own *Row
	best := map[sort]Row{} // of the other sorts
	for _, r := range c.measured() {
		of := sort{r.Store.Ours, r.Store.Isolated}
		if of == (sort{true, true}) {
			if own == nil {
				own = &r
			}
		} else if b, there := best[of]; !there || c.ahead(b, r) > 1 {
			best[of] = r
		}
	}
	if kind := c.Columns[0].Kind; kind != "/s" && kind != "ns" || own == nil || len(best) == 0 {
		return nil
	}
	all := []string{fmt.Sprintf("In short (%s; %s):", c.title(), c.Columns[0].Name)}
	// add adds what is true of own and the store of a sort, which is so and so: that it
	// is ahead, that it is behind, or that nobody can tell.
	add := func(of sort, about, so, isAhead, isBehind, isEqual string) {
		r, ok := best[of]
		if !ok {
			return
		}
		peer, f, g := r.Store.Name+", "+so, c.first(*own), c.first(r)
		times := c.ahead(*own, r)
		much, how := max(times, 1/times), isBehind
		text := fmt.Sprintf("%s is %s times as fast as %s", own.Store.Name, digits(much), peer)
		if times > 1 {
			how, text = isAhead, fmt.Sprintf("%s, is %s times as fast as %s", peer, digits(much), own.Store.Name)
		}
		switch {
		case much <= 1+c.margin():
			how, text = isEqual, text+fmt.Sprintf("; below %s times, that may be chance", digits(1+c.margin()))
		case f.Low <= g.High && g.Low <= f.High:
			how, text = isEqual, text+"; that may be chance, as their rounds overlap"
		}
		all = append(all, about+": "+fmt.Sprintf(how, text)+".")
	}
	add(sort{true, false}, "What isolation costs", "the same store without copies", "%s", "no time here. %s", "nothing that shows. %s")
	add(sort{false, true}, "What cowstore saves", "the best other store that is isolated too", "no time here. %s", "%s", "nothing that shows. %s")
	rightFor := "right where nobody writes to a value that was stored or read"
	if !best[sort{}].Store.Snapshots {
		rightFor += ", and nobody needs several keys as they were at one moment"
	}
	add(sort{}, "Where another is better", "the fastest that is not isolated", "%s. It is "+rightFor,
		"not for speed here. %s. That one is "+rightFor, "hardly for speed here. %s. One that is not isolated is "+rightFor)
	return all
}
