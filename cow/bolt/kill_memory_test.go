//go:build linux

package bolt_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/cow/bolt"
	"github.com/cowstore/cowstore/memory"
)

const (
	agentCount = 16
	agentLimit = 20 // entries of a space that has a limit
)

// Agents are a Memory, and beside it a table with how many turns each agent took.
type agents struct {
	db    cow.DB
	m     *memory.Memory
	turns *cow.Table[string, int]
}

func newAgents() *agents {
	a := new(agents)
	a.m = memory.On(&a.db, memory.Options{})
	a.turns = cow.NewTable[string](&a.db, "turns", cow.Options[int]{Codec: cow.Versioned[int]{}})
	return a
}

// turn is turn n of an agent: the same entries whenever it is taken.
func (a *agents) turn(agent string, n int) error {
	return a.db.Update(func(tx *cow.Tx) error {
		a.turns.Edit(tx).Set(agent, n)
		return a.m.BatchIn(tx, func(b *memory.Batch) error {
			notes, recent := b.Space("notes", agent), b.Space("recent", agent)
			if n == 1 {
				recent.Configure(memory.SpaceOptions{MaxEntries: agentLimit})
			}
			r := rand.New(rand.NewPCG(uint64(n), uint64(len(agent))))
			it := memory.Item{
				Value:    fmt.Sprintf("turn %d of %s: the %s met a %s", n, agent, noun(r), noun(r)),
				Vector:   []float32{r.Float32(), r.Float32(), r.Float32(), 1},
				Metadata: map[string]any{"n": n},
			}
			switch n % 7 {
			case 0:
				it.TTL = time.Nanosecond // nobody sees it
			case 1:
				it.TTL = time.Hour
			case 2:
				notes.Delete(fmt.Sprint(r.IntN(60)))
			}
			if err := notes.PutItem(fmt.Sprint(n%60), it); err != nil {
				return err
			}
			return recent.PutItem(fmt.Sprint(n), memory.Item{Value: it.Value, Vector: it.Vector})
		})
	})
}

func noun(r *rand.Rand) string {
	return []string{"horse", "whale", "sailor", "captain", "ship", "storm"}[r.IntN(6)]
}

func agentName(i int) string { return fmt.Sprint("agent", i) }

func agentsChild(path string) {
	a := newAgents()
	if _, err := bolt.Open(path, &a.db, bolt.Options{}); err != nil {
		fmt.Println("error", err)
		return
	}
	together(agentCount, func(i int) {
		agent := agentName(i)
		for n, _ := a.turns.Get(agent); ; {
			n++
			if err := a.turn(agent, n); err != nil {
				fmt.Println("error", err)
				return
			}
			fmt.Println("acked", agent, n)
		}
	})
}

// requireFinds requires that a finds what want does, whose entries are the same.
func (a *agents) requireFinds(t *testing.T, want *agents) {
	t.Helper()
	for _, m := range []*memory.Memory{a.m, want.m} {
		_, err := m.Sweep(t.Context())
		require.NoError(t, err)
	}
	is, was := a.m.Load(), want.m.Load()
	for i := range agentCount {
		for _, path := range [][]string{{"notes", agentName(i)}, {"recent", agentName(i)}} {
			is, was := is.Space(path...), was.Space(path...)
			require.Equal(t, was.Len(), is.Len(), path)
			for e := range was.List(memory.ListOptions{}) {
				got, ok := is.Entry(e.Key)
				require.True(t, ok, "%v: %s", path, e.Key)
				require.True(t, memory.Equal(e.Value, got.Value))
				require.True(t, memory.Equal(e.Metadata, got.Metadata))
				require.Equal(t, e.Expires.IsZero(), got.Expires.IsZero())
				v, _ := was.Vector(e.Key)
				gotV, _ := is.Vector(e.Key)
				require.Equal(t, v, gotV)
			}
		}
	}
	for i := range agentCount {
		for _, path := range [][]string{{"notes", agentName(i)}, {"recent", agentName(i)}, {"notes"}, {}} {
			is, was := is.Space(path...), was.Space(path...)
			for what, q := range map[string]memory.Query{
				"vectors": {Vector: []float32{1, 0.5, 0, 1}},
				"texts":   {Text: "a whale and horses"},
				"both":    {Text: "storm", Vector: []float32{0, 0.5, 1, 1}},
			} {
				q.K, q.Below = 1000, len(path) < 2
				expected, err := was.Search(q)
				require.NoError(t, err)
				got, err := is.Search(q)
				require.NoError(t, err)
				scores := func(hits []memory.Hit) map[string]float64 {
					all := map[string]float64{}
					for _, h := range hits {
						all[fmt.Sprint(h.Space(), h.Key)] = h.Score
					}
					return all
				}
				require.Equal(t, scores(expected), scores(got), "%s in %v", what, path)
			}
		}
	}
}

// A Memory that is killed has each Put that was acknowledged, whole with the row beside
// it, and finds what a Memory does that never was.
func TestAMemoryIsKilled(t *testing.T) {
	path := temp(t)
	want := newAgents()
	acked := 0
	for range times(5, 60) {
		lines := runChild(t, "agents "+path, time.Duration(1+rand.IntN(80))*time.Millisecond)
		a := newAgents()
		_, err := bolt.Open(path, &a.db, bolt.Options{})
		require.NoError(t, err)
		last := map[string]int{}
		for _, line := range lines {
			require.Equal(t, "acked", line[0])
			last[line[1]] = max(last[line[1]], number(t, line[2]))
		}
		for i := range agentCount {
			agent := agentName(i)
			n, _ := a.turns.Get(agent)
			if told, ok := last[agent]; ok {
				require.GreaterOrEqual(t, n, told, "an acknowledged turn is lost")
				require.LessOrEqual(t, n, told+1)
			}
			had, _ := want.turns.Get(agent)
			for had < n {
				had++
				require.NoError(t, want.turn(agent, had))
			}
		}
		a.requireFinds(t, want)
		require.NoError(t, a.db.Close())
		acked += len(lines)
	}
	require.Positive(t, acked)
	t.Logf("%d acknowledged, version %d", acked, want.db.Load().Version())
}
