package main_test

import (
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/bench/corpus"
	"github.com/cowstore/cowstore/bench/load"
	"github.com/cowstore/cowstore/bench/memories"
	"github.com/cowstore/cowstore/bench/peers"
	"github.com/cowstore/cowstore/bench/recall"
	"github.com/cowstore/cowstore/bench/result"
	"github.com/cowstore/cowstore/bench/stores"
)

// symbols are the records of the main job, read once.
var symbols = sync.OnceValue(func() []stores.Record {
	all, err := corpus.Load()
	if err != nil {
		panic(err)
	}
	return all
})

// BenchmarkStore runs every workload in every store that is able to, and in the first one
// twice: as store=again, which is the noise.
//
//	go test -bench 'Store/workload=docs'
//	go test -bench 'Store/workload=ycsb-b/size=230B/store=(views|rwmutex-copy)$' -cpu 1,2,4
func BenchmarkStore(b *testing.B) {
	for _, l := range load.Loads(symbols, 10_000_000) {
		kinds := peers.All()
		if l.Usual {
			kinds = stores.Kinds()
		}
		runLoad(b, l, kinds)
	}
}

// BenchmarkMemory runs every workload of agents in every memory that is able to.
func BenchmarkMemory(b *testing.B) {
	all, queries, err := recall.Example()
	require.NoError(b, err)
	for _, l := range append(memories.Loads(1_000), memories.Replay(all, queries)) {
		runLoad(b, l, memories.Kinds())
	}
}

func runLoad[S any](b *testing.B, l *load.Load[S], kinds []stores.KindOf[S]) {
	again := kinds[0]
	again.ID = result.Again
	for _, k := range append(kinds, again) {
		if l.Able(k) {
			bench, done := l.Bench(k)
			b.Run("workload="+l.Workload+"/size="+l.Size+"/store="+k.ID, bench)
			done()
			runtime.GC() // or the next would have to
		}
	}
}
