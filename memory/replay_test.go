package memory_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/cow/cowtest"
	"github.com/cowstore/cowstore/memory"
	"github.com/cowstore/cowstore/memory/filter"
)

// sameMemory requires that two snapshots have the same entries, and that all searches
// find the same in them, with the same scores.
func sameMemory(t *testing.T, a, b memory.Snapshot, words []string) {
	t.Helper()
	require.Equal(t, a.Len(), b.Len())
	paths := spaces(a, memory.SpacesOptions{})
	require.Equal(t, paths, spaces(b, memory.SpacesOptions{}))
	for _, path := range paths {
		x, y := a.Space(path...), b.Space(path...)
		require.Equal(t, x.Len(), y.Len())
		require.Equal(t, x.Options(), y.Options())
		others := slices.Collect(y.List(memory.ListOptions{}))
		i, dim := 0, 0
		for e := range x.List(memory.ListOptions{}) {
			o := others[i]
			i++
			require.Equal(t, e.Key, o.Key)
			require.Equal(t, e.Revision, o.Revision)
			require.True(t, memory.Equal(e.Value, o.Value) && memory.Equal(e.Metadata, o.Metadata))
			require.True(t, e.Created.Equal(o.Created) && e.Updated.Equal(o.Updated) && e.Expires.Equal(o.Expires))
			v, _ := x.Vector(e.Key)
			w, _ := y.Vector(e.Key)
			require.Equal(t, v, w)
			dim = max(dim, len(v))
		}
		require.Len(t, others, i)
		same := func(a []memory.Hit, err error) func(b []memory.Hit, other error) {
			return func(b []memory.Hit, other error) {
				t.Helper()
				require.Equal(t, err, other)
				require.Len(t, b, len(a))
				for i := range a {
					require.Equal(t, a[i].Key, b[i].Key)
					require.Equal(t, a[i].Score, b[i].Score)
				}
			}
		}
		query := make([]float32, max(1, dim))
		for i := range query {
			query[i] = float32(i%3) - 0.5
		}
		for _, metric := range []memory.Metric{memory.Cosine, memory.Dot, memory.L2} {
			for _, filter := range []filter.Filter{{}, filter.Meta("n").Gte(3)} {
				q := memory.Query{Vector: query, K: 20, Metric: metric, Filter: filter}
				same(x.Search(q))(y.Search(q))
				for i, word := range words {
					q.Text = word + " " + words[(i+1)%len(words)]
					for _, q.Vector = range [][]float32{nil, query} {
						same(x.Search(q))(y.Search(q))
					}
				}
			}
		}
	}
}

var replayWords = []string{"tea", "chess", "river", "mountain", "train", "Lyon", "short", "answers"}

// change does something to a Memory.
func change(t *testing.T, r *rand.Rand, m *memory.Memory, sum *cow.Table[string, int]) {
	s := m.Space("user", fmt.Sprint(r.IntN(3)))
	key := func() string { return fmt.Sprintf("key %d", r.IntN(40)) }
	words := func() string {
		text := ""
		for range r.IntN(6) {
			text += replayWords[r.IntN(len(replayWords))] + " "
		}
		return text
	}
	vector := func() []float32 { return []float32{r.Float32(), r.Float32() - 1, r.Float32()} }
	var err error
	switch r.IntN(12) {
	case 0:
		_, err = s.Delete(key())
	case 1:
		_, err = s.PutVector(key(), vector(), map[string]any{"n": r.IntN(5)})
	case 2:
		if r.IntN(4) == 0 {
			_, err = s.Clear()
		} else if r.IntN(8) == 0 {
			_, err = m.Space("user").ClearAll()
		}
	case 3:
		_, err = s.Configure(memory.SpaceOptions{MaxEntries: 20 + r.IntN(30)})
	case 4:
		err = m.Batch(func(b *memory.Batch) error { // many at once, so that a Clear is in steps
			for i := range 120 {
				if err := b.Space("user", fmt.Sprint(r.IntN(3)), "more").Put(fmt.Sprint(i), words()); err != nil {
					return err
				}
			}
			return nil
		})
	case 5:
		_, err = m.Space("user", fmt.Sprint(r.IntN(3)), "more").Clear()
	case 6:
		err = m.DB().Update(func(tx *cow.Tx) error {
			if err := sum.Of(m.DB()).Edit(tx).Upsert("puts", func(n *int, _ bool) error { *n++; return nil }); err != nil {
				return err
			}
			return m.BatchIn(tx, func(b *memory.Batch) error { return b.Space("user", "0").Put(key(), words()) })
		})
	default:
		_, err = s.PutItem(key(), memory.Item{
			Value:    map[string]any{"text": words(), "n": r.IntN(9), "f": r.Float32(), "list": []any{nil, true, words()}},
			Vector:   vector(),
			Metadata: map[string]any{"n": r.IntN(5)},
		})
	}
	require.NoError(t, err)
}

// onDB returns a Memory in the DB of an application that has a table of its own.
func onDB() (*memory.Memory, *cow.Table[string, int]) {
	db := new(cow.DB)
	sum := cow.NewTable[string](db, "sum", cow.Options[int]{Codec: intCodec{}})
	return memory.On(db, memory.Options{MaxEntries: 200}), sum
}

// intCodec stores ints.
type intCodec struct{}

func (intCodec) Append(b []byte, n int) ([]byte, error) {
	return strconv.AppendInt(b, int64(n), 10), nil
}
func (intCodec) Decode(b []byte) (int, error) { return strconv.Atoi(string(b)) }

// A replica is the same Memory: one that is told all commits, and one that begins with
// contents, in which there may be spaces that are cleared and not purged yet.
func TestAReplayedMemoryIsTheSame(t *testing.T) {
	seeds, changes := []uint64{0, 1, 2, 3, 4, 5}, 100
	if testing.Short() {
		seeds, changes = []uint64{0, 3}, 50
	}
	for _, seed := range seeds {
		r := rand.New(rand.NewPCG(seed, 1))
		m, sum := onDB()
		for range seed * 30 {
			change(t, r, m, sum)
		}
		require.NoError(t, m.CheckDerived())
		follower, followed := onDB()
		cowtest.Follow(t, follower.DB(), m.DB())
		for i := range changes {
			if i%20 == 0 {
				sameMemory(t, m.Load(), follower.Load(), replayWords)
				require.NoError(t, follower.CheckDerived())
				require.NoError(t, m.CheckDerived())
			}
			change(t, r, m, sum)
			require.Equal(t, m.Load().Version(), follower.Load().Version())
		}
		sameMemory(t, m.Load(), follower.Load(), replayWords)
		require.Equal(t, m.DB().Cursor(7), follower.DB().Cursor(7))
		n, _ := sum.Get("puts")
		is, _ := followed.Get("puts")
		require.Equal(t, n, is)
		_, err := follower.Space("x").Put("k", 1)
		require.Error(t, err)
	}
}

// What a Memory does is in one version with what its application does.
func TestAMemoryInTheDBOfAnApplication(t *testing.T) {
	m, sum := onDB()
	s := m.Space("s")
	_, err := sum.Set("n", 1)
	require.NoError(t, err)
	broken := errors.New("broken")
	for _, end := range []error{nil, broken} {
		err := m.DB().Update(func(tx *cow.Tx) error {
			sum.Edit(tx).Set("n", 2)
			if err := m.BatchIn(tx, func(b *memory.Batch) error { return b.Space("s").Put("a", "some text") }); err != nil {
				return err
			}
			if err := m.BatchIn(tx, func(b *memory.Batch) error {
				v, ok := b.Space("s").Get("a")
				require.True(t, ok)
				return b.Space("s").Put("b", v)
			}); err != nil {
				return err
			}
			return end
		})
		require.ErrorIs(t, err, end)
	}
	require.EqualValues(t, 2, m.Load().Version())
	require.Equal(t, []string{"a", "b"}, hitKeys(s.Search(memory.Query{Text: "text"})))
	root := m.DB().Load()
	n, _ := sum.In(root).Get("n")
	require.Equal(t, 2, n)
	require.Equal(t, []string{"a", "b"}, keys(m.In(root).Space("s")))

	fork := m.DB().Fork(root)
	require.NoError(t, errOf(m.Of(fork).Space("s").Delete("a")))
	require.NoError(t, errOf(sum.Of(fork).Set("n", 3)))
	require.NoError(t, errOf(s.Put("c", "other text")))
	_, err = m.DB().Merge(root, fork.Load())
	require.NoError(t, err)
	require.Equal(t, []string{"b", "c"}, hitKeys(s.Search(memory.Query{Text: "text"})))
	require.NoError(t, m.CheckDerived())

	other := memory.On(m.DB(), memory.Options{Name: "other"})
	require.NoError(t, errOf(other.Space("s").Put("a", 1)))
	require.Equal(t, 2, s.Len())
	require.Panics(t, func() { memory.On(m.DB(), memory.Options{}) })
}
