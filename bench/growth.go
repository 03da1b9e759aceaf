package main

import (
	"context"
	"math/rand/v2"
	"runtime"
	"time"

	"github.com/cowstore/cowstore/bench/stores"
)

// growthTrial measures one goroutine alone in a store of some size: what a lookup
// of any of its keys, a commit and an entry cost there.
func growthTrial(keys *keyspace, turn time.Duration) trial {
	random := rand.New(rand.NewPCG(keys.seed, streamClients))
	chosen := make([]uint32, 1<<20) // not only popular ones, which stay in the caches
	for i := range chosen {
		chosen[i] = uint32(random.IntN(keys.n))
	}
	one := &clients{keyspace: keys, count: 1, turn: turn / 2, choices: map[int][]uint32{0: chosen}}
	return func(ctx context.Context, k stores.Kind) sample {
		s := k.New()
		defer release(s)
		f := figures{colHeap.ID: keys.load(ctx, s)}
		if ctx.Err() != nil {
			return sample{}
		}
		runtime.GC()
		m := one.use(ctx, s, f)
		if ops := f[colOps.ID]; ops > 0 {
			f["read"] = 1e9 / ops
		}
		var w writer
		ctx, stop := context.WithTimeout(ctx, turn/2)
		defer stop()
		w.run(ctx, s, keys, chosen, 0)
		f["set"] = w.latency.Mean()
		return m
	}
}
