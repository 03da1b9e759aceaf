package vector

import "math/bits"

// codedFrom is the size in bytes, counted in float32, from which on an index
// gives codes to its new blocks.
//
// With vector instructions, float32 out of a cache is compared faster than codes
// are, and codes win only by needing less memory bandwidth; without, they are
// two to three times as fast at any size. Measured with BenchmarkSearch and
// BenchmarkScalar, Go 1.26.8, on two shared cores of an Intel Xeon with AVX2 and
// 2 MiB of second-level cache each, in ms a search:
//
//	                 portable float32   vek float32   codes
//	1,000 × 1,536                0.80          0.30    0.43
//	10,000 × 768                 5.8           1.6     1.4
//	100,000 × 384               33            16      11
//
// With one search on each core, the last took 27 and 12; 10,000 × 768 was about
// even in some runs. Cores and caches were shared with other work.
var codedFrom = func() int {
	if simd {
		return 16 << 20
	}
	return 0
}()

// wide reports whether a word has 64 bits. Where it has 32, multiplying words of
// 64 takes too long.
const wide = bits.UintSize == 64

// coded reports whether a new block of an index of n vectors gets codes. Small
// blocks get none, so that a small index does not pay for them, and neither do
// blocks of short vectors.
func coded(dim, slots, n int) bool {
	return wide && slots*dim >= 16<<10 && n >= codedFrom/(4*dim)
}
