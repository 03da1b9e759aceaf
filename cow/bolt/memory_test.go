package bolt_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/cow/bolt"
	"github.com/cowstore/cowstore/memory"
)

// A Memory beside a table of an application, both in one file.
func TestAMemoryIsInTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "agent.db")
	open := func() (*cow.DB, *memory.Memory, *cow.Table[string, int]) {
		db := new(cow.DB)
		m := memory.On(db, memory.Options{})
		turns := cow.NewTable[string](db, "turns", cow.Options[int]{Codec: cow.Versioned[int]{}})
		_, err := bolt.Open(path, db, bolt.Options{})
		require.NoError(t, err)
		return db, m, turns
	}
	search := func(m *memory.Memory) [][]memory.Hit {
		notes := m.Space("notes")
		near, err := notes.Search(memory.Query{Vector: []float32{1, 2, 3}, K: 5})
		require.NoError(t, err)
		words, err := notes.Search(memory.Query{Text: "horses", K: 5})
		require.NoError(t, err)
		return [][]memory.Hit{near, words}
	}

	db, m, turns := open()
	for i := range 50 {
		require.NoError(t, db.Update(func(tx *cow.Tx) error {
			if err := turns.Edit(tx).Upsert("ada", func(n *int, _ bool) error { *n++; return nil }); err != nil {
				return err
			}
			return m.BatchIn(tx, func(b *memory.Batch) error {
				return b.Space("notes").PutItem(fmt.Sprint(i), memory.Item{
					Value:  fmt.Sprintf("note %d of a horse", i),
					Vector: []float32{float32(i), 2, 3},
				})
			})
		}))
	}
	want, version := search(m), db.Load().Version()
	require.Len(t, want[0], 5)
	require.Len(t, want[1], 5)
	require.NoError(t, db.Close())

	db, m, turns = open()
	require.Equal(t, version, db.Load().Version())
	n, _ := turns.Get("ada")
	require.Equal(t, 50, n)
	got := search(m)
	for i := range want {
		require.Len(t, got[i], len(want[i]))
		for j, h := range want[i] {
			require.Equal(t, h.Key, got[i][j].Key)
			require.Equal(t, h.Score, got[i][j].Score)
			require.Equal(t, h.Value.String(), got[i][j].Value.String())
			require.Equal(t, h.Revision, got[i][j].Revision)
		}
	}
	require.NoError(t, db.Close())
}
