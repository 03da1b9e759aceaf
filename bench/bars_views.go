package main

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/cowstore/cowstore/bench/pods"
	"github.com/cowstore/cowstore/bench/stores"
	"github.com/cowstore/cowstore/cow"
)

// barRecord is record i: strings, a slice and a map, as in the main job.
func barRecord(i int) stores.Record {
	r := stores.Record{
		Package: fmt.Sprintf("net/http/pkg%04d", i%300), Name: fmt.Sprintf("Symbol%05d", i), Kind: "func",
		Signature: "func(w ResponseWriter, r *Request) error", Doc: strings.Repeat("x", 200),
		Tags: []string{"00000001", "exported", "func"}, Meta: map[string]string{"indexed": "00000001", "file": "server.go", "since": "1.0"},
	}
	return r.Reindexed(1)
}

// viewed compares reads through views with those of the other kinds of stores, by as
// many goroutines as there are processors.
func (b *bars) viewed() {
	const n = 18_000
	keys := make([]string, n)
	pairs := make([]stores.Pair, n)
	for i := range pairs {
		r := barRecord(i)
		pairs[i] = stores.Pair{Key: r.Key(), Record: r}
		keys[i*7919%n] = r.Key()
	}
	var bytes float64
	reads := func(id string) func() float64 {
		all := append(stores.Kinds(), stores.More()...)
		k := all[slices.IndexFunc(all, func(k stores.Kind) bool { return k.ID == id })]
		s := k.New()
		s.Update(pairs)
		return func() float64 {
			const rounds = 20
			procs := runtime.GOMAXPROCS(0)
			var took float64
			got, _ := allocated(func() {
				took = float64(timed(func() {
					var wg sync.WaitGroup
					for i := range procs {
						wg.Go(func() {
							reader, found := stores.NewReader(s), stores.Lookup{}
							for round := range rounds {
								at := (i + round) * n / procs % n
								for _, part := range [...][]string{keys[at:], keys[:at]} {
									for _, key := range part {
										reader.Get(key, &found)
									}
								}
								if !found.Intact(keys[(at+n-1)%n]) {
									panic("a record is not whole")
								}
							}
						})
					}
					wg.Wait()
				}))
			})
			if id == "views" {
				bytes = got / (rounds * n * float64(procs))
			}
			return took / (rounds * n)
		}
	}
	s := interleave(b.rounds, reads("views"), reads("shared"), reads("rwmutex-copy"), reads("rwmutex"), reads("cowstore"), reads("compiled"))
	b.add("read by a view vs Shared", "ns", s[0], s[1], 1.05)
	b.add("read by a view vs RWMutex map, copies", "ns", s[0], s[2], 0.2)
	b.add("read by a view vs RWMutex map, no copies", "ns", s[0], s[3], 1)
	b.add("Get with a generated Clone vs RWMutex map, copies", "ns", s[4], s[2], 0.91)
	b.add("Get with a generated Clone vs a compiled one", "ns", s[4], s[5], 0)
	b.report("allocated by a read by a view vs one byte", bytes, 1, "B", bytes, 1, bytes < 1)
}

// listed compares a list of objects by views with one of copies.
func (b *bars) listed() {
	const n = 10_000
	s := cow.New[string](cow.Options[pods.Pod]{})
	_ = s.Update(func(e *cow.Editor[string, pods.Pod]) error {
		for i := range n {
			p := pods.New(i)
			e.Set(p.Meta.Namespace+"/"+p.Meta.Name, p)
		}
		return nil
	})
	views := cow.NewViews[pods.PodView](s)
	list := func() {
		for _, p := range views.All() {
			app, _ := p.Meta().Labels().Get("app")
			sink += uint64(len(p.Meta().Name()) + len(app) + len(p.Spec().Containers().At(0).Image()) + len(p.Status().Phase()))
		}
	}
	copies := func() {
		for _, p := range s.All() {
			sink += uint64(len(p.Meta.Name) + len(p.Meta.Labels["app"]) + len(p.Spec.Containers[0].Image) + len(p.Status.Phase))
		}
	}
	each := func(f func()) func() float64 {
		const lists = 10
		return func() float64 {
			return float64(timed(func() {
				for range lists {
					f()
				}
			})) / lists
		}
	}
	samples := interleave(b.rounds, each(list), each(copies))
	b.add("list of 10k objects by views vs by copies", "ns", samples[0], samples[1], 0.05)
	_, objects := allocated(list)
	b.report("allocations of a list of 10k objects by views vs ten", objects, 10, "", objects/10, 1, objects < 10)
}
