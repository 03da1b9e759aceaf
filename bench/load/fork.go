package load

import (
	"testing"
	"time"

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
	var written [branches][]stores.Record
	for i := range written {
		for j := range branchWrites {
			written[i] = append(written[i], s.record((i*branchWrites+j)*7919%s.n, uint32(i+1)))
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
	kept, before := [branches]stores.Store{}, Live()
	for i := range kept {
		kept[i] = branch(i)
	}
	bytes := max(0, (Live()-before)/branches)
	torn := tornBranch(origin, kept[:], written[:])
	clear(kept[:])
	return func(b *testing.B) {
		if torn != "" {
			b.Fatalf("a branch and its origin share %q", torn)
		}
		b.ResetTimer()
		used := UsageNow()
		start := time.Now()
		for i := range b.N {
			branch(i % branches)
		}
		b.ReportMetric(float64(time.Since(start))/float64(b.N), "branch-ns")
		used.Report(b)
		b.ReportMetric(bytes, "B/branch")
	}
}

// tornBranch returns a key under which a branch has not what was written in it, or its
// origin has.
func tornBranch(origin stores.Store, kept []stores.Store, written [][]stores.Record) string {
	for i, fork := range kept {
		for j := range written[i] {
			key := written[i][j].Key()
			got, ok := fork.Get(key)
			old, _ := origin.Get(key)
			if !ok || !got.Intact(key) || got.Generation() != uint32(i+1) || old.Generation() != 0 {
				return key
			}
		}
	}
	return ""
}
