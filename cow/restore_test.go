package cow_test

import (
	"context"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/cow/cowtest"
)

// saved is what a backup of numbers in a table and an index would have.
type saved struct {
	cursor string
	at     time.Time
	rows   []cow.Row[string, int]
}

func TestRestoreGoesOnFromAnother(t *testing.T) {
	var db cow.DB
	numbers := cow.NewTable[string](&db, "numbers", cow.Options[int]{})
	for i := range 5 {
		require.NoError(t, db.Update(func(tx *cow.Tx) error {
			numbers.Edit(tx).Set(fmt.Sprint(i%3), i)
			return nil
		}))
	}
	s := saved{cursor: db.Cursor(5), at: time.Now().Add(time.Hour)} // by a clock that was ahead
	for row := range numbers.In(db.Load()).Rows() {
		s.rows = append(s.rows, row)
	}

	var again cow.DB
	again.Retain(cow.Retention{Versions: 10})
	copies := cow.NewTable[string](&again, "numbers", cow.Options[int]{})
	byNumber, err := cow.NewIndex(copies, "number", func(r cow.Row[string, int]) int { return r.Value() }, cow.IndexOptions[string]{})
	require.NoError(t, err)
	woken := make(chan *cow.Snapshot, 1)
	go func() {
		next, err := again.Wait(context.Background(), 0)
		require.NoError(t, err)
		woken <- next
	}()
	require.NoError(t, again.Restore(s.cursor, s.at, func(tx *cow.Tx) error {
		require.EqualValues(t, 5, tx.Version())
		for _, row := range s.rows {
			if err := copies.Restore(tx, row.Key(), row.Value(), row.Revision()); err != nil {
				return err
			}
		}
		return nil
	}))
	require.EqualValues(t, 5, (<-woken).Version())
	m := copies.In(again.Load())
	require.Equal(t, 3, m.Len())
	for _, row := range s.rows {
		is, ok := m.Row(row.Key())
		require.True(t, ok)
		require.Equal(t, row.Value(), is.Value())
		require.Equal(t, row.Revision(), is.Revision())
	}
	require.Equal(t, []string{"2", "0", "1"}, collectKeys(byNumber.In(m)))
	require.Equal(t, db.Lineage().ID, again.Lineage().ID)
	_, err = again.At(4)
	require.ErrorIs(t, err, cow.ErrCompacted)
	for _, at := range again.Versions() {
		require.True(t, at.Equal(s.at))
	}

	// A cursor of the first is one of the second.
	require.NoError(t, again.Update(func(tx *cow.Tx) error { copies.Edit(tx).Set("3", 3); return nil }))
	for c, err := range again.Resume(context.Background(), s.cursor) {
		require.NoError(t, err)
		require.EqualValues(t, 6, c.Version())
		require.False(t, c.Time().Before(s.at))
		break
	}
	for _, err := range again.Resume(context.Background(), db.Cursor(4)) {
		require.ErrorIs(t, err, cow.ErrCompacted)
	}
}

func collectKeys(r cow.Range[string, int, int]) (keys []string) {
	for _, row := range r.All() {
		keys = append(keys, row.Key())
	}
	return keys
}

// restored is a lineage as another process has made it.
const restored = "PPX4P3PXMKBNN6MVAUCR5Z6X3D"

func TestRestoreRefuses(t *testing.T) {
	newDB := func() (*cow.DB, *cow.Table[string, int]) {
		db := new(cow.DB)
		return db, cow.NewTable[string](db, "numbers", cow.Options[int]{})
	}
	nothing := func(*cow.Tx) error { return nil }

	db, numbers := newDB()
	for _, bad := range append(notCursors(restored), restored+".0", restored+".18014398509481985", restored+".18446744073709551615") {
		require.ErrorIs(t, db.Restore(bad, time.Now(), nothing), cow.ErrCursor, "%.50q", bad)
	}
	require.Same(t, errTest, db.Restore(restored+".3", time.Now(), func(tx *cow.Tx) error {
		numbers.Edit(tx).Set("a", 1)
		return errTest
	}))
	for _, revision := range []uint64{0, 4, math.MaxUint64} {
		err := db.Restore(restored+".3", time.Now(), func(tx *cow.Tx) error { return numbers.Restore(tx, "a", 1, revision) })
		require.ErrorContains(t, err, fmt.Sprintf(`table "numbers": a: revision %d of version 3`, revision))
	}
	require.Panics(t, func() { _ = db.Restore(restored+".3", time.Now(), func(*cow.Tx) error { panic("f") }) })
	require.PanicsWithValue(t, "cow: Table.Restore outside of DB.Restore: use Edit", func() {
		_ = db.Update(func(tx *cow.Tx) error { return numbers.Restore(tx, "a", 1, 1) })
	})
	require.Zero(t, db.Load().Version())
	require.NotEqual(t, restored, db.Lineage().ID)

	// Somebody else is first: before, and meanwhile.
	set := func() error {
		return db.Update(func(tx *cow.Tx) error { numbers.Edit(tx).Set("b", 2); return nil })
	}
	require.ErrorIs(t, db.Restore(restored+".3", time.Now(), func(tx *cow.Tx) error {
		require.NoError(t, set())
		return numbers.Restore(tx, "a", 1, 1)
	}), cow.ErrNotEmpty)
	require.ErrorIs(t, db.Restore(restored+".3", time.Now(), func(*cow.Tx) error { panic("not called") }), cow.ErrNotEmpty)
	require.Equal(t, map[string]int{"b": 2}, collect(numbers.In(db.Load())))

	// Nothing is a version too.
	db, numbers = newDB()
	require.NoError(t, db.Restore(restored+".3", time.Now(), nothing))
	require.EqualValues(t, 3, db.Load().Version())
	require.Equal(t, restored, db.Lineage().ID)
	require.NoError(t, set())
	require.EqualValues(t, 4, db.Load().Version())
}

// A DB with a sink is not restored, and one that was is attached as it is.
func TestRestoreAndSinks(t *testing.T) {
	c := newCounts()
	require.NoError(t, c.db.Restore(restored+".3", time.Unix(7, 0), func(tx *cow.Tx) error { return c.t.Restore(tx, "a", 1, 2) }))
	c.attach(t, cowtest.SinkOptions{})
	require.ErrorIs(t, c.db.Restore(restored+".4", time.Now(), nil), cow.ErrNotEmpty)
	_ = c.begin(t, "b", 2)
	require.EqualValues(t, 4, c.sink.Pending()[0].Version)
	require.Equal(t, restored, c.sink.Pending()[0].Lineage)
	c.sink.Ack(1)
	require.Equal(t, map[string]int{"a": 1, "b": 2}, collect(c.t.In(c.db.Load())))
	require.EqualValues(t, 2, c.t.In(c.db.Load()).Revision("a"))
}
