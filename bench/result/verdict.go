package result

import (
	"fmt"
	"slices"

	"github.com/cowstore/cowstore/bench/stores"
)

// Verdict says what isolation costs, what this project saves over others that are
// isolated too, and what the others are right for: a paragraph each, with one figure in it,
// below one that says where. Stores are told apart by more than the noise, if all rounds of
// one are ahead of all of the other. Of this project it takes the first store that is
// isolated, of all others the best of their sort. It is empty where there are none, or what
// is measured is not speed.
func (c *Case) Verdict() []string {
	if !slices.Contains([]string{"/s", "ns"}, c.Columns[0].Kind) {
		return nil
	}
	first := c.Columns[0]
	// The store of f, and the best of each other sort.
	var own stores.Info
	var f Figure
	type sort struct{ ours, isolated bool }
	best, figures := map[sort]stores.Info{}, map[sort]Figure{}
	for _, row := range c.Rows {
		g, ok := row.figure(first)
		if !ok || row.Again || g.Median <= 0 {
			continue
		}
		kind := sort{row.Store.Ours, row.Store.Isolated}
		if kind.ours && kind.isolated {
			if own.ID == "" {
				own, f = row.Store, g
			}
			continue
		}
		if _, there := best[kind]; !there || ahead(figures[kind].Median, g.Median, first.More) > 1 {
			best[kind], figures[kind] = row.Store, g
		}
	}
	if own.ID == "" || len(best) == 0 {
		return nil
	}
	all := []string{fmt.Sprintf("In short (%s; %s):", c.title(), first.Name)}
	// add adds what is true of own and the store of a sort, which is so and so: that it
	// is ahead, that it is behind, or that nobody can tell.
	add := func(kind sort, about, so, isAhead, isBehind, isEqual string) {
		s, ok := best[kind]
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
	if !best[others].Snapshots {
		rightFor += ", and nobody needs several keys as they were at one moment"
	}
	add(others, "Where another is better", "the fastest that is not isolated", "%s. It is "+rightFor,
		"not for speed here. %s. That one is "+rightFor, "hardly for speed here. %s. The latter is "+rightFor)
	return all
}
