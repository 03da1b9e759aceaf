package result

import (
	"fmt"
	"slices"
)

// Verdict says what isolation costs, what this project saves over others that are
// isolated too, and what the others are right for: a paragraph each, with one
// figure in it, below one that says where. Stores are told apart by more than the
// noise, if all rounds of one are ahead of all of the other. It is of the first case
// that has all stores for that, or else the most of them, and empty if there is none.
func (r *Report) Verdict() (best []string) {
	for i := range r.Workloads {
		w := &r.Workloads[i]
		for j := range w.Cases {
			if v := r.verdict(w, &w.Cases[j]); len(v) > len(best) {
				best = v
			}
		}
	}
	return best
}

// verdict returns the Verdict of one case. Of this project it takes the first store
// that is isolated, of all others the best of their sort.
func (r *Report) verdict(w *Workload, c *Case) []string {
	if len(w.Columns) == 0 || !slices.Contains([]string{"/s", "ns"}, w.Columns[0].Unit) {
		return nil
	}
	first := w.Columns[0]
	// The store of f, and the best of each other sort.
	var own Store
	var f Figure
	type sort struct{ ours, isolated bool }
	stores, figures := map[sort]Store{}, map[sort]Figure{}
	for _, row := range c.Rows {
		s, known := r.StoreOf(row.Store)
		g, ok := row.Figure(first)
		if !known || !ok || row.Again || g.Median <= 0 {
			continue
		}
		kind := sort{s.Ours, s.Isolated}
		if kind.ours && kind.isolated {
			if own.ID == "" {
				own, f = s, g
			}
			continue
		}
		if _, there := stores[kind]; !there || ahead(figures[kind].Median, g.Median, first.More) > 1 {
			stores[kind], figures[kind] = s, g
		}
	}
	if own.ID == "" || len(stores) == 0 {
		return nil
	}
	title := w.Name
	if c.Name != "" {
		title += ", " + c.Name
	}
	all := []string{fmt.Sprintf("In short (%s; %s):", title, first.Name)}
	// add adds what is true of own and the store of a sort, which is so and so: that it
	// is ahead, that it is behind, or that nobody can tell.
	add := func(kind sort, about, so, isAhead, isBehind, isEqual string) {
		s, ok := stores[kind]
		if !ok {
			return
		}
		peer := s.Name + ", " + so
		g := figures[kind]
		times, text := ahead(f.Median, g.Median, first.More), ""
		switch much := max(times, 1/times); {
		case much <= 1+c.margin() || f.Low <= g.High && g.Low <= f.High:
			text = fmt.Sprintf(isEqual, fmt.Sprintf("%s and %s, differ by %.1f %%, which may be noise", own.Name, peer, 100*(much-1)))
		case times > 1:
			text = fmt.Sprintf(isAhead, fmt.Sprintf("%s, is %s times as fast as %s", peer, digits(round(much)), own.Name))
		default:
			text = fmt.Sprintf(isBehind, fmt.Sprintf("%s is %s times as fast as %s", own.Name, digits(round(much)), peer))
		}
		all = append(all, about+": "+text+".")
	}
	add(sort{true, false}, "What isolation costs", "the same store without copies", "%s", "no time here. %s", "nothing that shows. %s")
	add(sort{false, true}, "What cowstore saves", "the best other store that is isolated too", "no time here. %s", "%s", "nothing that shows. %s")
	others := sort{false, false}
	rightFor := "right where nobody writes to a value that was stored or read"
	if !stores[others].Snapshots {
		rightFor += ", and nobody needs several keys as they were at one moment"
	}
	add(others, "Where another is better", "the fastest that is not isolated", "%s. It is "+rightFor,
		"not for speed here. %s. That one is "+rightFor, "hardly for speed here. %s. The latter is "+rightFor)
	return all
}
