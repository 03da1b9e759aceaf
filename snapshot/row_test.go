package snapshot

import (
	"maps"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestARowIsOneWrite(t *testing.T) {
	e := New[string](Options[[]int]{}).editAt(5)
	e.Set("a", []int{1})
	e.Set("b", []int{2})
	m := e.Seal()
	a, ok := m.Row("a")
	require.True(t, ok)
	require.Equal(t, "a", a.Key())
	require.Equal(t, uint64(5), a.Revision())
	a.Value()[0] = 9
	require.Equal(t, []int{1}, a.Value(), "isolated")
	require.Same(t, &a.Shared()[0], &m.lookup("a").value[0], "not cloned")
	_, ok = m.Row("c")
	require.False(t, ok)
	_, ok = (*Map[string, []int])(nil).Row("a")
	require.False(t, ok)

	e = m.Edit()
	e.Set("a", []int{1})
	n := e.Seal()
	again, _ := n.Row("a")
	require.False(t, a == again, "an equal value is another write")
	require.Equal(t, uint64(6), again.Revision())
	require.Equal(t, []int{1}, a.Value())
	rows := make(map[Row[string, []int]]string)
	for _, m := range []*Map[string, []int]{m, n, m.annotate(1)} {
		for row := range m.Rows() {
			rows[row] = row.Key()
		}
	}
	require.Len(t, rows, 3)
	for c := range n.Diff(m) {
		was, is := c.Rows()
		require.True(t, was == a && is == again)
	}
	for c := range n.Diff(nil) {
		was, is := c.Rows()
		require.True(t, was == Row[string, []int]{})
		require.Equal(t, c.Key, is.Key())
	}
	require.Equal(t, m.Len(), len(maps.Collect(m.All())))
	for range m.Rows() {
		break
	}
	for range (*Map[string, []int])(nil).Rows() {
		require.Fail(t, "nothing is in it")
	}
}
