package vector

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// A found is a Hit before its score is rounded.
type found struct {
	key   string
	score float64
}

// compare orders the better one first: higher scores, then smaller keys.
func (a found) compare(b found) int {
	if c := cmp.Compare(b.score, a.score); c != 0 {
		return c
	}
	return strings.Compare(a.key, b.key)
}

// A top keeps the k best it is given, in a binary heap with the worst in front.
type top struct {
	k    int
	heap []found
}

func (t *top) full() bool { return len(t.heap) == t.k }

// admits reports whether push would keep f.
func (t *top) admits(f found) bool { return !t.full() || f.compare(t.heap[0]) < 0 }

// push keeps f, which t admits, and drops the worst where they are too many.
func (t *top) push(f found) {
	if !t.full() {
		t.heap = append(t.heap, f)
		t.up(len(t.heap) - 1)
		return
	}
	t.heap[0] = f
	t.down(0)
}

func (t *top) up(i int) {
	for h := t.heap; i > 0; {
		parent := (i - 1) / 2
		if h[i].compare(h[parent]) <= 0 {
			return
		}
		h[i], h[parent] = h[parent], h[i]
		i = parent
	}
}

func (t *top) down(i int) {
	for h := t.heap; ; {
		worst := i
		for c := 2*i + 1; c <= 2*i+2 && c < len(h); c++ {
			if h[c].compare(h[worst]) > 0 {
				worst = c
			}
		}
		if worst == i {
			return
		}
		h[i], h[worst] = h[worst], h[i]
		i = worst
	}
}

// hits returns what t kept, the best first. t must not be used after.
func (t *top) hits() []Hit {
	slices.SortFunc(t.heap, found.compare)
	hits := make([]Hit, len(t.heap))
	for i, f := range t.heap {
		hits[i] = Hit{f.key, rounded(f.score)}
	}
	return hits
}

// rounded returns a score as a Hit has it: one that no float32 has is the nearest that
// is finite.
func rounded(score float64) float32 {
	return float32(max(-math.MaxFloat32, min(score, math.MaxFloat32)))
}
