package memory_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/memory"
)

// Every iteration may stop at any point, and be begun again.
func TestIterationsMayStop(t *testing.T) {
	m := memory.New(memory.Options{})
	m.DB().Retain(cow.Retention{Versions: 10})
	fill(t, m, "s", 5)
	fill(t, m, "t", 5)
	require.NoError(t, m.DB().Pin("one", 1))
	require.NoError(t, m.DB().Pin("two", 2))
	list, all := m.Space("s").List(memory.ListOptions{}), m.Load().Spaces(memory.SpacesOptions{})
	pins, changes := m.DB().Pins(), m.Changes(t.Context(), 0)
	for range 2 {
		for e := range list {
			require.Equal(t, "0000", e.Key)
			break
		}
		for path := range all {
			require.Equal(t, []string{"s"}, path)
			path[0] = "spoiled" // it is the caller's own
			break
		}
		for name := range pins {
			require.Equal(t, "one", name)
			break
		}
		for c, err := range changes {
			require.NoError(t, err)
			require.Equal(t, "0000", c.Key)
			c.Space[0] = "spoiled"
			break
		}
	}
	require.NoError(t, errOf(m.Space("t").Put("live", 1)))
	n := 0
	for range m.Space("t").List(memory.ListOptions{}) {
		if n == 0 { // it goes on with the version that it began with
			m.Space("t").Clear()
		}
		n++
	}
	require.Equal(t, 6, n)
}

func TestInIsTheSpaceInASnapshot(t *testing.T) {
	m := memory.New(memory.Options{})
	s := m.Space("s")
	require.NoError(t, errOf(s.Put("a", 1)))
	before := m.Load()
	s.Clear()
	require.Equal(t, []string{"a"}, keys(s.In(before)))
	require.Equal(t, []string{"a"}, keys(m.Fork(before).Space("s").In(before)))
	require.Empty(t, keys(s.In(m.Load())))
	require.Equal(t, []string{"s"}, s.In(before).Path())
}

// What is had of a Memory is the caller's own, or nobody can modify it; and so is
// what was put.
func TestNothingIsShared(t *testing.T) {
	m := memory.New(memory.Options{})
	s := m.Space("s")
	value, vector, metadata := map[string]any{"a": []any{1}}, []float32{1, 2}, map[string]any{"n": []int{1}}
	require.NoError(t, errOf(s.PutItem("a", memory.Item{Value: value, Vector: vector, Metadata: metadata})))
	require.NoError(t, errOf(s.PutVector("b", vector, metadata)))
	value["a"].([]any)[0], vector[0], metadata["n"].([]int)[0] = 9, 9, 9
	path := s.Path()
	path[0] = "spoiled"
	for _, k := range []string{"a", "b"} {
		v, _ := s.Vector(k)
		require.Equal(t, []float32{1, 2}, v)
		v[0] = 9
		e, _ := s.Entry(k)
		require.Equal(t, map[string]any{"n": []int{1}}, e.Metadata.Any())
		e.Metadata.Any().(map[string]any)["n"].([]int)[0] = 9
	}
	got, _ := s.Get("a")
	require.Equal(t, map[string]any{"a": []any{1}}, got.Any())
	v, _ := s.Vector("a")
	require.Equal(t, []float32{1, 2}, v)
	e, _ := s.Entry("a")
	require.Equal(t, map[string]any{"n": []int{1}}, e.Metadata.Any())
	require.Equal(t, []string{"s"}, s.Path())
}
