package result

import (
	"fmt"
	"strings"
)

// leastMargin is by how much a figure must be ahead to be said to be, where the
// noise is smaller or not known.
const leastMargin = 0.05

// Remarks returns what must be said beside the figures of a case, a paragraph
// each: the noise, and where this project loses.
func (w *Workload) Remarks(c *Case, stores []Store) (texts []string) {
	if c.Noise > 0 {
		texts = append(texts, fmt.Sprintf("noise: the same store twice differs by %.1f%%.", 100*c.Noise))
	}
	return append(texts, w.losses(c, stores)...)
}

// losses says to whom each store of this project loses in the first column by more
// than the noise.
func (w *Workload) losses(c *Case, stores []Store) (texts []string) {
	margin := 1 + max(c.Noise, leastMargin)
	first := w.Columns[0]
	byID := map[string]Store{}
	for _, s := range stores {
		byID[s.ID] = s
	}
	for _, ours := range c.Rows {
		if !byID[ours.Store].Ours || ours.Again {
			continue
		}
		var ahead []string
		for _, r := range c.Rows {
			if byID[r.Store].Ours || r.Again {
				continue
			}
			a, b := ours.Figures[first.ID].Median, r.Figures[first.ID].Median
			if !first.More {
				a, b = b, a
			}
			if a > 0 && b/a > margin {
				ahead = append(ahead, fmt.Sprintf("%s (%.1fx)", byID[r.Store].Marked(), b/a))
			}
		}
		if len(ahead) > 0 {
			texts = append(texts, fmt.Sprintf("%s loses in %s to %s.", byID[ours.Store].Marked(), first.Name, strings.Join(ahead, ", ")))
		}
	}
	return texts
}

// Marked returns the name of s, with a dagger if s is not isolated.
func (s Store) Marked() string {
	if s.Isolated {
		return s.Name
	}
	return s.Name + " †"
}
