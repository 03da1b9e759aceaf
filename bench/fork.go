package main

import (
	"context"
	"runtime"
	"time"

	"github.com/cowstore/cowstore/bench/stores"
)

// The branches of a turn, and what is written in each.
const (
	branches     = 10
	branchWrites = 100
)

// forkable reports whether a store of that kind can be forked.
func forkable(k stores.Kind) bool {
	if k.New == nil {
		return false
	}
	s := k.New()
	defer release(s)
	_, ok := s.(stores.Forker)
	return ok
}

// forkTrial makes branches and writes in each.
func forkTrial(keys *keyspace) trial {
	return func(ctx context.Context, k stores.Kind) sample {
		s := k.New().(stores.Forker)
		f := figures{colHeap.ID: keys.load(ctx, s)}
		m := sample{figures: f, latency: newHistogram()}
		var kept [branches]stores.Store
		var written [branches][]stores.Record
		for b := range kept {
			for i := range branchWrites {
				written[b] = append(written[b], keys.record((b*branchWrites+i)*7919%keys.n, uint32(b+1)))
			}
		}
		before, used := live(), usageNow()
		for b := range kept {
			if ctx.Err() != nil {
				return sample{}
			}
			start := time.Now()
			fork := s.Fork()
			for i := range written[b] {
				r := &written[b][i]
				fork.Set(r.Key(), *r)
			}
			record(m.latency, time.Since(start))
			kept[b] = fork
		}
		used.until(f)
		f["branch"] = m.latency.Mean()
		f["kept"] = max(0, (live()-before)/branches)
		for b, fork := range kept {
			for i := range written[b] {
				key := written[b][i].Key()
				got, ok := fork.Get(key)
				origin, _ := s.Get(key)
				m.checked++
				if !ok || !got.Intact(key) || got.Generation() != uint32(b+1) || origin.Generation() != 0 {
					m.torn++
				}
			}
		}
		runtime.KeepAlive(written)
		return m
	}
}
