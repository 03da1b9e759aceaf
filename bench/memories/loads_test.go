package memories

import (
	"flag"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/bench/recall"
)

// Each memory does all that it is able to, and each workload reports its figures. The queries
// are in part in other words than what they are to find, so that words find some of it.
func TestLoads(t *testing.T) {
	require.NoError(t, flag.Set("test.benchtime", "3x"))
	all, queries, err := recall.Example()
	require.NoError(t, err)
	did, recall := map[string][]string{}, map[string]float64{}
	for _, l := range append(Loads(2), Replay(all, queries)) {
		for _, k := range Kinds() {
			if !l.Able(k) {
				continue
			}
			did[l.Workload+" "+l.Size] = append(did[l.Workload+" "+l.Size], k.ID)
			r := l.Run(k)
			require.Positive(t, r.N, "%s of %s", l.Workload, k.ID)
			for _, unit := range []string{"op/s", "p50-ns", "p99-ns", "B/entry"} {
				require.Contains(t, r.Extra, unit, l.Workload)
			}
			if _, searches := r.Extra["search/s"]; searches {
				recall[k.ID] = r.Extra["recall-%"]
			}
		}
	}
	whole := []string{"memory", "memory-text", "store-index", "rwmutex-copy", "rwmutex", "json", "bleve", "bleve-en"}
	vectors := []string{"memory", "memory-text", "rwmutex-copy", "rwmutex", "chromem"}
	require.Equal(t, map[string][]string{
		"agent-turn 100": vectors, "agent-turn 1k": vectors, "preload all": whole, "records all": whole,
	}, did)
	require.InDeltaMapValues(t, map[string]float64{"memory-text": 46.5, "bleve": 60.4, "bleve-en": 46.5}, recall, 3)
}

// torn is a space whose notes are of two generations.
type torn struct{ VectorSpace }

func (s torn) Get(key string) (Found, bool) {
	f, ok := s.VectorSpace.Get(key)
	f.Stamp = "00000000" + f.Stamp
	return f, ok
}

func TestTornNotesAreFatal(t *testing.T) {
	require.NoError(t, flag.Set("test.benchtime", "3x"))
	r := Loads(2)[0].Run(Kind{New: func() Memory {
		m := New("memory")
		return spaces(func(path ...string) Space { return torn{m.Space(path...).(VectorSpace)} })
	}})
	require.Zero(t, r.N)
}
