package result

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// A Loss is a store of this project, and who is ahead of it in the first column
// of a case.
type Loss struct {
	Store Store
	To    []Winner // none: nobody is
}

// A Winner is a store that is ahead of another.
type Winner struct {
	Store Store
	Times float64 // how many times as good; infinite if the other figure is zero
}

// leastMargin is by how much a figure must be ahead to be said to be, where the
// noise is smaller or not known.
const leastMargin = 0.05

// Losses says of each store of this project in c which others are ahead of it, by
// more than the noise and 5 %, those that are isolated first.
func (w *Workload) Losses(c *Case, stores []Store) (all []Loss) {
	if len(w.Columns) == 0 {
		return nil
	}
	first := w.Columns[0]
	byID := map[string]Store{}
	for _, s := range stores {
		byID[s.ID] = s
	}
	for _, ours := range c.Rows {
		f, ok := ours.Figure(first)
		if !ok || !byID[ours.Store].Ours || ours.Again {
			continue
		}
		l := Loss{Store: byID[ours.Store]}
		for _, r := range c.Rows {
			s, known := byID[r.Store]
			g, ok := r.Figure(first)
			if !ok || !known || s.Ours || r.Again {
				continue
			}
			if times := ahead(f.Median, g.Median, first.More); times > 1+c.margin() {
				l.To = append(l.To, Winner{s, times})
			}
		}
		slices.SortStableFunc(l.To, func(a, b Winner) int { return IsolatedFirst(a.Store.Isolated, b.Store.Isolated) })
		all = append(all, l)
	}
	return all
}

// margin returns by which part two figures must differ to be said to.
func (c *Case) margin() float64 { return max(c.Noise, leastMargin) }

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

// Figure returns the figure of a column and whether it was measured.
func (r *Row) Figure(c Column) (Figure, bool) {
	f, ok := r.Figures[c.ID]
	return f, ok && Finite(f.Median)
}

// NoiseText says how large the noise of c is.
func (c *Case) NoiseText() string {
	if c.Noise <= 0 || !Finite(c.Noise) {
		return "noise: not known"
	}
	return fmt.Sprintf("noise: the same store twice differs by %.1f %%", 100*c.Noise)
}

// Remarks returns what must be said beside the figures of a case, a paragraph
// each: the noise, and where this project loses.
func (w *Workload) Remarks(c *Case, stores []Store) []string {
	texts := []string{c.NoiseText() + "."}
	for _, l := range w.Losses(c, stores) {
		var to []string
		for _, peer := range l.To {
			by := "many times"
			if Finite(peer.Times) {
				by = Amount(peer.Times, "x")
			}
			to = append(to, fmt.Sprintf("%s (%s)", peer.Store.Marked(), by))
		}
		if len(to) > 0 {
			texts = append(texts, fmt.Sprintf("%s loses in %s to %s.", l.Store.Marked(), w.Columns[0].Name, strings.Join(to, ", ")))
		}
	}
	return texts
}

// IsolatedFirst compares two stores by whether they are isolated: those that are come
// before the others.
func IsolatedFirst(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}

// Marked returns the name of s, with a dagger if s is not isolated.
func (s Store) Marked() string {
	if s.Isolated {
		return s.Name
	}
	return s.Name + " †"
}
