package page

import (
	"math"

	"github.com/cowstore/cowstore/bench/result"
)

// A loss is a store of this project and who is ahead of it in a case.
type loss struct {
	mark
	In   string // the column
	To   []winner
	Same string // said where there is none
}

// A winner is a store that is ahead, and by how much.
type winner struct {
	mark
	By string
}

// losses says of each store of this project in c which others are ahead of it
// in the first column by more than the noise.
func losses(w result.Workload, c result.Case, marks map[string]mark) []loss {
	column := firstColumn(w)
	margin, known := noise(c, column)
	var all []loss
	for _, ours := range ranked(c, column) {
		f, ok := figureOf(ours, column)
		if !ok || !marks[ours.Store].Ours {
			continue
		}
		l := loss{mark: marks[ours.Store], In: heading(column), Same: "to none"}
		if known {
			l.Same = "to none by more than the noise"
		}
		for _, peer := range ranked(c, column) {
			g, ok := figureOf(peer, column)
			if !ok || marks[peer.Store].Ours {
				continue
			}
			if times := ahead(f.Median, g.Median, column.More); times > 1+margin {
				by := format(times, "x")
				if !finite(times) {
					by = format(g.Median, column.Unit) + " against " + format(f.Median, column.Unit)
				}
				l.To = append(l.To, winner{marks[peer.Store], by})
			}
		}
		all = append(all, l)
	}
	return all
}

// ahead returns how many times better the peer is: more than 1 if it is, and
// infinitely if one of them is zero or less.
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

// noise returns by which part the first column of one store measured twice
// differs, and whether that is known.
func noise(c result.Case, column result.Column) (float64, bool) {
	if c.Noise > 0 && finite(c.Noise) {
		return c.Noise, true
	}
	for _, again := range c.Rows {
		for _, first := range c.Rows {
			if !again.Again || first.Again || first.Store != again.Store {
				continue
			}
			f, ok := figureOf(first, column)
			g, okToo := figureOf(again, column)
			if ok && okToo && f.Median > 0 && g.Median > 0 {
				return max(f.Median, g.Median)/min(f.Median, g.Median) - 1, true
			}
		}
	}
	return 0, false
}

func noiseText(c result.Case, column result.Column) string {
	part, known := noise(c, column)
	if !known {
		return "noise: not known, so any difference counts"
	}
	return "noise: the same store twice differs by " + percent(part)
}
