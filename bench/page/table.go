package page

import (
	"cmp"
	"slices"
	"strings"

	"github.com/cowstore/cowstore/bench/result"
)

// daggerNote is what † says.
const daggerNote = "hands out what it holds: a caller’s write reaches the store"

// A table is the figures of a case, those of isolated stores above the others.
type table struct {
	Name    string // of the case; empty if there is only one
	Label   string // for who cannot see where it stands
	Noise   string
	Losses  []loss
	Heads   []head
	Torn    bool // there is a column of torn values
	Groups  []group
	Daggers bool
}

// A group is the stores that are isolated or those that are not.
type group struct {
	Dagger bool
	Rows   []tableRow
}

// A head is a column's.
type head struct {
	Name   string
	Arrow  string // where the better figures are
	Better string
}

type tableRow struct {
	mark
	Cells      []cell
	Torn, Read string // values that were not whole, of those that were read
	Broken     bool   // Torn is more than none
}

type cell struct {
	Median, Spread string
	Best           bool
}

func newTable(w result.Workload, c result.Case, stores []result.Store, marks map[string]mark) table {
	t := table{
		Name:   caseName(w, c),
		Label:  w.Name + at(w, c),
		Noise:  unbroken(c.NoiseText()),
		Losses: losses(w, c, stores, marks),
	}
	best := map[bool][]string{}
	for _, column := range w.Columns {
		t.Heads = append(t.Heads, newHead(column))
		for _, dagger := range []bool{false, true} {
			best[dagger] = append(best[dagger], bestText(c, column, marks, dagger))
		}
	}
	for _, row := range ranked(c, firstColumn(w), marks) {
		out := tableRow{mark: marks[row.Store], Broken: row.Torn > 0}
		for i, column := range w.Columns {
			f, ok := row.Figure(column)
			if !ok {
				out.Cells = append(out.Cells, cell{Median: result.Missing})
				continue
			}
			median := format(f.Median, column.Unit)
			out.Cells = append(out.Cells, cell{median, spread(f.Low, f.High, column.Unit), median == best[out.Dagger][i]})
		}
		if row.Checked > 0 || row.Torn > 0 {
			t.Torn = true
			out.Torn, out.Read = result.Thousands(row.Torn), result.Thousands(row.Checked)
		}
		t.Daggers = t.Daggers || out.Dagger
		if n := len(t.Groups); n == 0 || t.Groups[n-1].Dagger != out.Dagger {
			t.Groups = append(t.Groups, group{Dagger: out.Dagger})
		}
		last := &t.Groups[len(t.Groups)-1]
		last.Rows = append(last.Rows, out)
	}
	return t
}

func newHead(c result.Column) head {
	if c.More {
		return head{heading(c), "↑", better(c)}
	}
	return head{heading(c), "↓", better(c)}
}

// firstColumn returns what w is about, a column without a name if it has none.
func firstColumn(w result.Workload) result.Column {
	if len(w.Columns) == 0 {
		return result.Column{}
	}
	return w.Columns[0]
}

// ranked returns the rows that are shown, those of isolated stores first. Of these
// and of the others the best in column is first, and those without a figure last.
func ranked(c result.Case, column result.Column, marks map[string]mark) []result.Row {
	var rows []result.Row
	for _, row := range c.Rows {
		if !row.Again {
			rows = append(rows, row)
		}
	}
	slices.SortStableFunc(rows, func(a, b result.Row) int {
		f, measured := a.Figure(column)
		g, measuredToo := b.Figure(column)
		by := result.IsolatedFirst(!marks[a.Store].Dagger, !marks[b.Store].Dagger)
		switch {
		case by != 0:
			return by
		case measured && measuredToo && column.More:
			return cmp.Compare(g.Median, f.Median)
		case measured && measuredToo:
			return cmp.Compare(f.Median, g.Median)
		case measured:
			return -1
		case measuredToo:
			return 1
		}
		return 0
	})
	return rows
}

// bestText returns the best figure of a column, of the stores that have a dagger or
// of those that have none, as it is written, and nothing where all are written alike: that one is first by less than is written would say
// more than was measured.
func bestText(c result.Case, column result.Column, marks map[string]mark, dagger bool) string {
	best, differ := "", false
	for _, row := range ranked(c, column, marks) {
		f, ok := row.Figure(column)
		if !ok || marks[row.Store].Dagger != dagger {
			continue
		}
		written := format(f.Median, column.Unit)
		if best == "" {
			best = written
		}
		differ = differ || written != best
	}
	if !differ {
		return ""
	}
	return best
}

// heading returns the name of a column with its unit, where figures do not have
// it.
func heading(c result.Column) string {
	name := c.Name
	if name == "" {
		name = c.ID
	}
	if c.Unit == "/s" && !strings.HasSuffix(name, "/s") {
		name += "/s"
	}
	return name
}

func better(c result.Column) string {
	if c.More {
		return "more is better"
	}
	return "less is better"
}

// caseName returns what tells c from the other cases of w: nothing if there are
// none.
func caseName(w result.Workload, c result.Case) string {
	switch {
	case c.Name != "":
		return c.Name
	case w.Axis != "":
		return brief(c.X, "") + " " + w.Axis
	}
	return ""
}

// at returns caseName as it continues a text.
func at(w result.Workload, c result.Case) string {
	if name := caseName(w, c); name != "" {
		return ", " + name
	}
	return ""
}
