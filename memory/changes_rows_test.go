package memory_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/memory"
)

// The rows of a commit are what Changes has of it, and none of one that is of other tables.
func TestRowsOfACommitAreItsChanges(t *testing.T) {
	db := new(cow.DB)
	m := memory.On(db, memory.Options{})
	other := cow.NewTable[string](db, "other", cow.Options[int]{})
	db.Retain(cow.Retention{Versions: 100})
	_, err := m.Space("a").Put("x", 1)
	require.NoError(t, err)
	_, err = other.Set("x", 1)
	require.NoError(t, err)
	require.NoError(t, m.Batch(func(b *memory.Batch) error {
		b.Space("a").Delete("x")
		return b.Space("b").Put("y", 2)
	}))
	fill(t, m, "c", 100)
	_, err = m.Space("c").Clear()
	require.NoError(t, err)

	var want []memory.Change
	for c, err := range m.Changes(t.Context(), 0) {
		require.NoError(t, err)
		want = append(want, c)
		if c.Kind == memory.Cleared {
			break
		}
	}
	var got []memory.Change
	for c, err := range db.Changes(t.Context(), 0) {
		require.NoError(t, err)
		rows := slices.Collect(m.Rows(c))
		require.Equal(t, c.Version() == 2, len(rows) == 0)
		got = append(got, rows...)
		if c.Version() == db.Load().Version() {
			break
		}
	}
	require.GreaterOrEqual(t, len(got), len(want))
	require.Equal(t, want, got[:len(want)])
}
