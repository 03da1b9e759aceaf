package result

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/cowstore/cowstore/bench/stores"
)

// A winner is a store that is ahead of another.
type winner struct {
	stores.Info
	times float64 // how many times as good; infinite if the other figure is zero
}

// leastMargin is by how much a figure must be ahead to be said to be, where the
// noise is smaller or not known.
const leastMargin = 0.05

// losses says which others are ahead of a store in the first column, by more than the
// noise and 5 %, those that are isolated first.
func (c *Case) losses(ours Row) (to []winner) {
	first := c.Columns[0]
	f, ok := ours.figure(first)
	if !ok {
		return nil
	}
	for _, r := range c.Rows {
		g, ok := r.figure(first)
		if !ok || r.Store.Ours || r.Again {
			continue
		}
		if times := ahead(f.Median, g.Median, first.More); times > 1+c.margin() {
			to = append(to, winner{r.Store, times})
		}
	}
	slices.SortStableFunc(to, func(a, b winner) int { return isolatedFirst(a.Info, b.Info) })
	return to
}

// isolatedFirst compares stores by whether they are isolated: those that are come first.
func isolatedFirst(a, b stores.Info) int {
	rank := map[bool]int{false: 1}
	return cmp.Compare(rank[a.Isolated], rank[b.Isolated])
}

// margin returns by which part two figures must differ to be said to.
func (c *Case) margin() float64 { return max(c.noise(), leastMargin) }

// ahead returns how many times better the peer is: more than 1 if it is.
func ahead(ours, peer float64, more bool) float64 {
	if more {
		ours, peer = peer, ours
	}
	// Now ours is the larger one if the peer is better.
	switch {
	case peer > 0:
		return ours / peer
	case ours > peer:
		return math.Inf(1)
	}
	return 1
}

// figure returns the figure of a column and whether it was measured.
func (r *Row) figure(c Column) (Figure, bool) {
	f, ok := r.Figures[c.Unit]
	return f, ok && finite(f.Median)
}

// Remarks returns what must be said beside the figures of a case, a paragraph each: the
// noise, and where this project loses.
func (c *Case) Remarks() []string {
	texts := []string{"noise: not known."}
	if noise := c.noise(); noise > 0 && finite(noise) {
		texts[0] = fmt.Sprintf("noise: the same store twice differs by %.1f %%.", 100*noise)
	}
	for _, r := range c.Rows {
		if !r.Store.Ours || r.Again {
			continue
		}
		var to []string
		for _, peer := range c.losses(r) {
			by := "many times"
			if finite(peer.times) {
				by = Amount(peer.times, "x")
			}
			to = append(to, fmt.Sprintf("%s (%s)", peer.Marked(), by))
		}
		if len(to) > 0 {
			texts = append(texts, fmt.Sprintf("%s loses in %s to %s.", r.Store.Marked(), c.Columns[0].Name, strings.Join(to, ", ")))
		}
	}
	return texts
}
