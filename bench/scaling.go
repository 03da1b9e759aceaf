package main

import (
	"context"
	"runtime"

	"github.com/cowstore/cowstore/bench/stores"
)

// onCores runs a trial with so many processors.
func onCores(n int, t trial) trial {
	return func(ctx context.Context, k stores.Kind) sample {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(n))
		return t(ctx, k)
	}
}

// coreCounts returns 1, 2, 4 and so on, up to the number of processors there are
// and that number itself: what is not there is not extrapolated.
func coreCounts(there int) (counts []int) {
	for n := 1; n < there; n *= 2 {
		counts = append(counts, n)
	}
	return append(counts, there)
}
