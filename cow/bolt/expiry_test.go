package bolt_test

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/cow/bolt"
	"github.com/cowstore/cowstore/memory"
)

// What expired while nobody had the file open is due when it is opened, and gone at the first
// sweep; what a memory has marked comes back as it was.
func TestWhatExpiredMeanwhileGoesAtTheFirstSweep(t *testing.T) {
	path := filepath.Join(t.TempDir(), "leases.db")
	type lease struct{ Until time.Time }
	open := func() (*cow.DB, *cow.Table[string, *lease], *memory.Memory) {
		db := new(cow.DB)
		leases := cow.NewTable[string](db, "leases", cow.Options[*lease]{Codec: cow.Versioned[*lease]{}, Expires: func(l *lease) time.Time { return l.Until }})
		m := memory.On(db, memory.Options{})
		_, err := bolt.Open(path, db, bolt.Options{})
		require.NoError(t, err)
		return db, leases, m
	}
	db, leases, m := open()
	now := time.Now()
	require.NoError(t, db.Update(func(tx *cow.Tx) error {
		e := leases.Edit(tx)
		e.Set("forever", &lease{})
		e.Set("long", &lease{now.Add(time.Hour)})
		for i := range 1500 {
			e.Set(fmt.Sprint(i), &lease{now.Add(-time.Hour)}) // as if the file had been closed for an hour
		}
		return m.BatchIn(tx, func(b *memory.Batch) error {
			s := b.Space("s")
			require.NoError(t, s.PutItem("old", memory.Item{Value: "word", Keep: true}))
			return s.Supersede("old", "new", memory.Item{Value: "word"})
		})
	}))
	version := db.Load().Version()
	require.NoError(t, db.Close())

	db, leases, m = open()
	require.True(t, db.Load().Due())
	require.Equal(t, 1502, leases.Len(), "until it is swept")
	n, err := db.Sweep(t.Context())
	require.NoError(t, err)
	require.Equal(t, 1500, n)
	require.Equal(t, version+2, db.Load().Version())
	require.False(t, db.Load().Due())
	e, ok := m.Space("s").Entry("old")
	require.True(t, ok)
	require.Equal(t, []any{true, true, "new"}, []any{e.Kept, e.Superseded, e.SupersededBy})
	hits, err := m.Space("s").Search(memory.Query{Text: "word"})
	require.NoError(t, err)
	require.Len(t, hits, 1)
	require.NoError(t, db.Close())

	db, leases, _ = open()
	require.Equal(t, 2, leases.Len())
	require.False(t, db.Load().Due())
	require.NoError(t, db.Close())
}

// A pin knows after a reopening that rows of it have expired, whether they are there still or not.
func TestWhatHasExpiredOfAPin(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pins.db")
	open := func() (*cow.DB, *cow.Table[string, time.Time], *memory.Memory) {
		db := new(cow.DB)
		ends := cow.NewTable[string](db, "ends", cow.Options[time.Time]{Codec: cow.Versioned[time.Time]{}, Expires: func(end time.Time) time.Time { return end }})
		m := memory.On(db, memory.Options{})
		_, err := bolt.Open(path, db, bolt.Options{})
		require.NoError(t, err)
		return db, ends, m
	}
	db, ends, m := open()
	require.NoError(t, db.Pin("empty", 0))
	ends.Set("no end", time.Time{})
	require.NoError(t, db.Pin("without", 1))
	ends.Set("k", time.Now().Add(-time.Hour))
	require.NoError(t, db.Pin("with", 2))
	rev, err := m.Space("s").PutItem("k", memory.Item{Value: 1, TTL: time.Millisecond})
	require.NoError(t, err)
	require.NoError(t, db.Pin("memory", rev))
	ends.Delete("k")
	time.Sleep(2 * time.Millisecond)
	_, err = m.Sweep(t.Context())
	require.NoError(t, err)

	for opened := range 3 {
		due := map[string]bool{}
		for name, s := range db.Pins() {
			due[name] = s.Due()
			require.False(t, m.In(s).Space("s").Contains("k"))
			at, err := db.At(s.Version())
			require.NoError(t, err)
			require.Equal(t, s.Due(), at.Due())
		}
		require.Equal(t, map[string]bool{"empty": false, "without": false, "with": true, "memory": true}, due, opened)
		require.NoError(t, db.Close())
		db, ends, m = open()
		require.Equal(t, 1, ends.Len())
		require.False(t, db.Load().Due())
	}
	require.NoError(t, db.Close())
}
