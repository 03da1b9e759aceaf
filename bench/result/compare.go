package result

import (
	"fmt"
	"strings"
)

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
