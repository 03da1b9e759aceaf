package load

import (
	"flag"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/bench/result"
	"github.com/cowstore/cowstore/bench/stores"
)

func TestMain(m *testing.M) {
	flag.Parse()
	must(flag.Set("test.benchtime", "3x"))
	os.Exit(m.Run())
}

// symbols are some records like those of the main job.
func symbols() []stores.Record {
	var all []stores.Record
	for i := range 500 {
		all = append(all, stores.NewSymbol("net/http", Count(i)))
	}
	return all
}

// Each store does all that it is able to, and each workload reports its figures.
func TestLoads(t *testing.T) {
	kinds := append(stores.Kinds(), stores.More()...)
	if testing.Short() {
		kinds = kinds[4:6]
	}
	for _, l := range Loads(symbols, 1_000) {
		if testing.Short() && (l.Workload == "30to1" && l.Size != "4" || l.Workload != "ycsb-b" && l.Size == "1KB") {
			continue
		}
		for _, k := range kinds {
			if !l.Able(k) {
				continue
			}
			r := l.Run(k)
			require.Positive(t, r.N, "%s %s of %s", l.Workload, l.Size, k.ID)
			require.True(t, !k.Atomic || r.Extra["torn-%"] == 0, k.ID)
			for _, c := range result.WorkloadOf(l.Workload).Columns {
				require.Contains(t, r.Extra, c.Unit, l.Workload)
			}
		}
	}
}

// A store that tears what it has.
type tearing struct{ stores.Store }

func (s tearing) Get(key string) (stores.Record, bool) {
	r, ok := s.Store.Get(key)
	r.Check++
	return r, ok
}

func TestTornValuesAreFatal(t *testing.T) {
	for _, l := range Loads(symbols, 1_000) {
		if l.Workload == "scan" || l.Workload == "fork" || l.Size == "1KB" {
			continue
		}
		r := l.Run(stores.Kind{New: func() stores.Store { return tearing{stores.Kinds()[0].New()} }})
		require.Zero(t, r.N, "%s %s", l.Workload, l.Size)
	}
}

// What a scan may see, and what it may not.
func TestTornScansAreFound(t *testing.T) {
	const n = 40 // of four groups
	x := &loaded{keyspace: payloadKeys(n, 16)}
	whole := func(all []seen) bool { return x.whole(all, map[string]uint32{}) }
	var all []seen
	for _, key := range x.keys {
		all = append(all, seen{key, 7})
	}
	require.True(t, whole(all))
	group := slices.Clone(all)
	for i := 1; i < n; i += n / groupSize {
		group[i].generation = 8
	}
	require.True(t, whole(group), "all of a group was written")
	group[1].generation = 7
	require.False(t, whole(group), "but one")
	require.False(t, whole(all[1:]), "one is missing")
	twice := slices.Clone(all)
	twice[3] = twice[4]
	require.False(t, whole(twice), "one is there twice")
	twice[3].key = "user.nobody"
	require.False(t, whole(twice))
}
