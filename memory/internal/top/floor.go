package top

import "math"

// A Floor keeps the greatest numbers it is given, as many as it is asked for: what is not
// above the least of them is not among them. The zero Floor keeps none. It must not be
// copied while it is in use, and one goroutine at a time may use it.
type Floor struct {
	k    int
	heap []float64 // the least in front
}

// Reset makes f a Floor of k numbers, of which it has none yet. It uses the memory of
// those it had, where that is little.
func (f *Floor) Reset(k int) {
	f.k, f.heap = k, f.heap[:0]
	if cap(f.heap) > 4096 {
		f.heap = nil
	}
}

// Level returns the least of the k numbers: negative infinity until there are as many.
func (f *Floor) Level() float64 {
	if len(f.heap) < f.k || f.k == 0 {
		return math.Inf(-1)
	}
	return f.heap[0]
}

// Add adds n, which is not NaN, and reports whether that raised the level.
func (f *Floor) Add(n float64) bool {
	h := f.heap
	if len(h) < f.k {
		h = append(h, n)
		f.heap = h
		for i := len(h) - 1; i > 0 && h[i] < h[(i-1)/2]; i = (i - 1) / 2 {
			h[i], h[(i-1)/2] = h[(i-1)/2], h[i]
		}
		return len(h) == f.k
	}
	if f.k == 0 || n <= h[0] {
		return false
	}
	was := h[0]
	i := 0
	for {
		c := 2*i + 1
		if c+1 < len(h) && h[c+1] < h[c] {
			c++
		}
		if c >= len(h) || h[c] >= n {
			break
		}
		h[i] = h[c]
		i = c
	}
	h[i] = n
	return h[0] > was
}
