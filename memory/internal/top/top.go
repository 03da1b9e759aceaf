// Package top keeps the best of what a search finds.
package top

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// A Hit is a key, in which of several parts it is, and how good it is.
type Hit struct {
	Key   string
	Score float64
	Part  int
}

// Compare orders the better hit first: higher scores, then parts in front, then smaller
// keys.
func (h Hit) Compare(g Hit) int {
	if c := cmp.Compare(g.Score, h.Score); c != 0 {
		return c
	}
	if h.Part != g.Part {
		return cmp.Compare(h.Part, g.Part)
	}
	return strings.Compare(h.Key, g.Key)
}

// Rounded returns a score as callers see it: where it is greater than any float32, it is
// the greatest.
func Rounded(score float64) float32 {
	return float32(max(-math.MaxFloat32, min(score, math.MaxFloat32)))
}

// A Best keeps the K best hits it is given. The zero Best keeps none. It must not
// be copied while it is in use, and one goroutine at a time may use it.
type Best struct {
	K    int
	heap []Hit // the worst in front
}

// New returns a Best of k hits that has memory for the first ones.
func New(k int) Best { return Best{K: k, heap: make([]Hit, 0, min(k, 32))} }

// Reset makes b a Best of k hits that has none yet. It uses the memory of those it had,
// where that is little.
func (b *Best) Reset(k int) {
	clear(b.heap)
	b.K, b.heap = k, b.heap[:0]
	if cap(b.heap) > 1024 {
		b.heap = nil
	}
}

// Full reports whether there are K hits.
func (b *Best) Full() bool { return len(b.heap) == b.K }

// Worst returns the worst of the hits. There must be one.
func (b *Best) Worst() Hit { return b.heap[0] }

// Admits reports whether Push would keep h.
func (b *Best) Admits(h Hit) bool {
	return !b.Full() || b.K > 0 && h.Compare(b.heap[0]) < 0
}

// Push keeps h, which b admits, and drops the worst where they are too many.
func (b *Best) Push(h Hit) {
	if b.Full() {
		b.heap[0] = h
		b.down(0)
		return
	}
	b.heap = append(b.heap, h)
	for i := len(b.heap) - 1; i > 0; {
		parent := (i - 1) / 2
		if b.heap[i].Compare(b.heap[parent]) <= 0 {
			return
		}
		b.heap[i], b.heap[parent] = b.heap[parent], b.heap[i]
		i = parent
	}
}

func (b *Best) down(i int) {
	for h := b.heap; ; {
		worst := i
		for c := 2*i + 1; c <= 2*i+2 && c < len(h); c++ {
			if h[c].Compare(h[worst]) > 0 {
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

// Sorted returns the hits, the best first. They are b's own: no other method
// may be called after it.
func (b *Best) Sorted() []Hit {
	slices.SortFunc(b.heap, Hit.Compare)
	return b.heap
}
