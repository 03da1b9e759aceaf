package result

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// ErrMarkers says that the markers in a text are not what Fill understands.
var ErrMarkers = errors.New("figures cannot be put in")

// The markers between which Fill puts figures: a comment that says which, and one
// that ends them.
const (
	figuresBegin = "<!-- figures: "
	figuresEnd   = "<!-- figures end -->"
)

// Fill returns a text in Markdown with the figures of r between its markers, in
// place of what is there:
//
//	<!-- figures: host -->
//	<!-- figures: verdict -->
//	<!-- figures: bars reads commits -->
//	<!-- figures: workload ycsb-b -->
//
// each up to the next <!-- figures end -->. They are where and how r was measured,
// its Verdict, a table of the bars of those groups, and the tables of a workload. A marker that
// says something else, or names what r does not have, is ErrMarkers.
func (r *Report) Fill(text string) (string, error) {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(text, figuresBegin)
		b.WriteString(before)
		if !found {
			return b.String(), nil
		}
		what, rest, ok := strings.Cut(rest, " -->\n")
		_, after, end := strings.Cut(rest, figuresEnd)
		if !ok || !end || strings.Contains(rest[:len(rest)-len(after)-len(figuresEnd)], figuresBegin) {
			return "", fmt.Errorf("%w: after %q there is no %q", ErrMarkers, figuresBegin+what, figuresEnd)
		}
		figures, err := r.markdown(strings.Fields(what))
		if err != nil {
			return "", err
		}
		b.WriteString(figuresBegin + what + " -->\n" + figures + figuresEnd)
		text = after
	}
}

// markdown returns the figures that a marker asks for.
func (r *Report) markdown(what []string) (string, error) {
	switch {
	case len(what) == 1 && what[0] == "host":
		return r.hostMarkdown(), nil
	case len(what) == 1 && what[0] == "verdict" && len(r.Verdict()) > 0:
		return strings.Join(r.Verdict(), "\n- ") + "\n", nil
	case len(what) > 1 && what[0] == "bars":
		return r.barsMarkdown(what[1:])
	case len(what) == 2 && what[0] == "workload":
		return r.workloadMarkdown(what[1])
	}
	return "", fmt.Errorf("%w: %q is none of host, verdict, bars and workload, or the report has none", ErrMarkers, strings.Join(what, " "))
}

func (r *Report) hostMarkdown() string {
	h := r.Host
	h.Commit = short(h.Commit)
	text := fmt.Sprintf("Commit %s, %s %s/%s, %s, GOMAXPROCS=%d: `%s`.\n", h.CommitText(), h.Go, h.OS, h.Arch, h.CPU, h.GOMAXPROCS, r.Command)
	// What was measured again later, by commit.
	again := map[string][]string{}
	for _, w := range r.Workloads {
		again[w.Commit] = append(again[w.Commit], w.ID)
	}
	for i, b := range r.Bars {
		if name := "bars of " + b.Group; i == 0 || b.Commit != r.Bars[0].Commit && !slices.Contains(again[b.Commit], name) {
			if i == 0 {
				name = "bars"
			}
			again[b.Commit] = append(again[b.Commit], name)
		}
	}
	delete(again, "")
	var later []string
	for _, commit := range slices.Sorted(maps.Keys(again)) {
		hash, changes, _ := strings.Cut(commit, " ")
		later = append(later, strings.Join(again[commit], ", ")+" at "+strings.TrimSpace(short(hash)+" "+changes))
	}
	if later != nil {
		text += "Measured again: " + strings.Join(later, "; ") + ".\n"
	}
	return text
}

// short returns the beginning of the hash of a commit.
func short(hash string) string { return hash[:min(7, len(hash))] }

// Same groups bars that are the same but for their size, in their order.
func Same(bars []Bar) (all [][]Bar) {
next:
	for _, b := range bars {
		for i, others := range all {
			if o := others[0]; b.At != "" && o.At != "" && o.Group == b.Group && o.Name == b.Name {
				all[i] = append(others, b)
				continue next
			}
		}
		all = append(all, []Bar{b})
	}
	return all
}

// barsMarkdown returns a table of the bars of some groups, and of those that are
// for information.
func (r *Report) barsMarkdown(groups []string) (string, error) {
	var b strings.Builder
	b.WriteString("| | cowstore | peer | ratio | bar |\n|---|---|---|---|---|\n")
	n := 0
	for _, same := range Same(r.Bars) {
		if !slices.Contains(groups, same[0].Group) {
			continue
		}
		n++
		name, limit := same[0].Name, ""
		if same[0].At != "" {
			name += " at " + joined(same, func(b Bar) string { return b.At })
		}
		switch {
		case slices.ContainsFunc(same, func(b Bar) bool { return b.Bar != same[0].Bar }):
			limit = joined(same, func(b Bar) string { return fmt.Sprintf("%.2f", b.Bar) })
		case same[0].Bar != 0:
			limit = fmt.Sprintf("%.2f", same[0].Bar)
		}
		fmt.Fprintf(&b, "| %s | %s | %s | **%s** | %s |\n", name,
			joined(same, func(b Bar) string { return Amount(b.Ours, b.Unit) }),
			joined(same, func(b Bar) string { return Amount(b.Peer, b.Unit) }),
			joined(same, func(b Bar) string {
				if !b.Pass {
					return fmt.Sprintf("%.2f missed", b.Ratio)
				}
				return fmt.Sprintf("%.2f", b.Ratio)
			}), limit)
	}
	if n == 0 {
		return "", fmt.Errorf("%w: the report has no bars of %s", ErrMarkers, strings.Join(groups, ", "))
	}
	return b.String(), nil
}

func joined(bars []Bar, text func(Bar) string) string {
	var all []string
	for _, b := range bars {
		all = append(all, text(b))
	}
	return strings.Join(all, " / ")
}

// workloadMarkdown returns the tables of a workload: a row a store, a column a
// figure.
func (r *Report) workloadMarkdown(id string) (string, error) {
	i := slices.IndexFunc(r.Workloads, func(w Workload) bool { return w.ID == id })
	if i < 0 || len(r.Workloads[i].Cases) == 0 {
		return "", fmt.Errorf("%w: the report has no workload %q", ErrMarkers, id)
	}
	w := &r.Workloads[i]
	var b strings.Builder
	for _, c := range w.Cases {
		title := w.Name
		if c.Name != "" {
			title += ", " + c.Name
		}
		fmt.Fprintf(&b, "| %s |", title)
		for _, col := range w.Columns {
			fmt.Fprintf(&b, " %s |", col.Name)
		}
		b.WriteString("\n|---|" + strings.Repeat("---:|", len(w.Columns)) + "\n")
		for _, row := range c.Rows {
			if row.Again {
				continue
			}
			s, _ := r.StoreOf(row.Store)
			name := s.Marked()
			if s.Ours {
				name = "**" + name + "**"
			}
			fmt.Fprintf(&b, "| %s |", name)
			for _, col := range w.Columns {
				f, ok := row.Figure(col)
				if !ok {
					b.WriteString(" |")
					continue
				}
				fmt.Fprintf(&b, " %s |", Amount(f.Median, col.Unit))
			}
			b.WriteByte('\n')
		}
		b.WriteByte('\n')
		fmt.Fprintf(&b, "%s\n\n", strings.Join(w.Remarks(&c, r.Stores), " "))
	}
	return strings.TrimRight(b.String(), "\n") + "\n", nil
}
