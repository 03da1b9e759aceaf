// Package size says what things take on the heap, for indexes that keep count
// of themselves. What it says is close, not exact: it knows how Go rounds the
// sizes of objects, and how a snapshot.Map grows. Where pointers have 32 bits,
// that is less than it says.
package size

import "math/bits"

// Object returns about how many bytes an object of n bytes takes: what Go
// rounds n up to. It is off by an eighth at most.
func Object(n int) int {
	switch {
	case n <= 0:
		return 0
	case n <= 32:
		return up(n, 8)
	case n <= 128:
		return up(n, 16)
	case n <= 32<<10:
		return up(n, 1<<(bits.Len(uint(n-1))-4)) // eight sizes between powers of two
	}
	return up(n, 8<<10)
}

// up returns n rounded up to a multiple of unit.
func up(n, unit int) int { return (n + unit - 1) / unit * unit }

// Map returns about how many bytes a snapshot.Map of n keys takes, without its
// rows.
func Map(n int) int {
	const (
		root    = 160 // the Map, with its first directory
		bucket  = 64  // for six rows, or for seven if it is the only one
		onePage = 30  // rows of one page, which is as large as they need
	)
	switch {
	case n <= 7:
		return root + bucket
	case n <= onePage:
		return root + bucket*((n+5)/6)
	}
	return root + n*25/2 // pages split at different times: this is the mean
}

// Row returns about how many bytes a row of a snapshot.Map takes whose key is
// key and whose value is a number of up to 64 bits.
func Row(key string) int {
	const head, inline, header = 16, 128, 16
	if n := len(key); n == 0 || n > inline {
		return head + header + Object(n)
	}
	return Object(head + up(len(key), 8))
}
