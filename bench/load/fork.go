package load

import (
	"testing"

	"github.com/cowstore/cowstore/bench/stores"
)

// The branches that are kept to weigh them, and what is written in each.
const (
	branches     = 10
	branchWrites = 100
)

// startFork makes branches of a store and writes in each.
func startFork(s *loaded) func(b *testing.B) {
	origin := s.Store.(stores.Forker)
	var written [branches][branchWrites]stores.Record
	for i := range written {
		for j := range written[i] {
			written[i][j] = s.record((i*branchWrites+j)*7919%s.n, uint32(i+1))
		}
	}
	branch := func(i int) stores.Store {
		fork := origin.Fork()
		for j := range written[i] {
			r := &written[i][j]
			fork.Set(r.Key(), *r)
		}
		return fork
	}
	var kept [branches]stores.Store
	bytes, torn := max(0, Held(branches, func() any {
		for i := range kept {
			kept[i] = branch(i)
		}
		return &kept
	})), ""
	for i, fork := range kept {
		for _, r := range written[i] {
			key := r.Key()
			got, ok := fork.Get(key)
			old, _ := origin.Get(key)
			if !ok || !got.Intact(key) || got.Generation() != uint32(i+1) || old.Generation() != 0 {
				torn = key
			}
		}
	}
	clear(kept[:])
	return func(b *testing.B) {
		if torn != "" {
			b.Fatalf("a branch and its origin share %q", torn)
		}
		took := measure(b, nil, func() {
			for i := range b.N {
				branch(i % branches)
			}
		})
		b.ReportMetric(float64(took)/float64(b.N), "branch-ns")
		b.ReportMetric(bytes, "B/branch")
	}
}
