package cow_test

import (
	"maps"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/cow/cowtest"
)

// summed is a DB with a table, and a derived one with the sum of it: by what has
// changed, or from all rows.
func summed(whole bool) (db *cow.DB, of, sum *cow.Table[string, int]) {
	db = new(cow.DB)
	of = cow.NewTable[string](db, "of", cow.Options[int]{Codec: jsonCodec[int]{}})
	sum, _ = cow.NewDerived(db, "sum", cow.Options[int]{}, func(tx *cow.Tx, _ *cow.Editor[string, int]) error {
		e, delta := of.Edit(tx), 0
		for c := range e.Map().Diff(of.In(tx.Base())) {
			was, _ := c.Old()
			is, _ := c.New()
			delta += is - was
		}
		if delta == 0 {
			return nil
		}
		if whole {
			all := 0
			for _, v := range e.All() {
				all += v
			}
			sum.Edit(tx).Set("sum", all)
			return nil
		}
		return sum.Edit(tx).Upsert("sum", func(v *int, _ bool) error { *v += delta; return nil })
	})
	return db, of, sum
}

// A merge brings over what others follow from, and they follow here.
func TestDerivedTablesAreNotMerged(t *testing.T) {
	for _, whole := range []bool{false, true} {
		noDeadlock(t)
		db, of, sum := summed(whole)
		follower, _, followed := summed(whole)
		cowtest.Follow(t, follower, db)
		rev, err := of.Set("a", 1)
		require.NoError(t, err)
		require.EqualValues(t, 1, rev)
		require.EqualValues(t, 1, of.Load().Revision("a"))
		base := db.Load()
		fork := db.Fork(base)
		_, err = of.Of(fork).Set("b", 10)
		require.NoError(t, err)
		_, err = of.Set("c", 100)
		require.NoError(t, err)
		_, err = db.Merge(base, fork.Load())
		require.NoError(t, err)
		for _, table := range []*cow.Table[string, int]{sum, followed} {
			n, _ := table.Get("sum")
			require.Equal(t, 111, n)
		}
	}
}

func TestADerivedTableIsEditedByItsDeriveAlone(t *testing.T) {
	db, of, sum := summed(false)
	require.NoError(t, errOf(of.Set("a", 1)))
	const message = `cow: table "sum" is derived: only the function that NewDerived was given may edit it`
	require.Equal(t, message, panicOf(func() { sum.Set("sum", 7) }))
	require.Equal(t, message, panicOf(func() {
		_ = db.Update(func(tx *cow.Tx) error { sum.Edit(tx).Delete("sum"); return nil })
	}))
	n, _ := sum.Get("sum")
	require.Equal(t, 1, n)
	require.NoError(t, errOf(of.Set("b", 1)))
}

// A derived table that comes while an update of one table runs is brought up by that update.
// A table that is made while the first update runs is derived from what that leaves.
func TestADerivedTableThatComesDuringAnUpdate(t *testing.T) {
	var db cow.DB
	of := cow.NewTable[string](&db, "of", cow.Options[int]{})
	made := make(chan *cow.Table[string, int])
	require.NoError(t, of.Update(func(e *cow.Editor[string, int]) error {
		go func() {
			size, err := cow.NewDerived(&db, "size", cow.Options[int]{}, func(tx *cow.Tx, e *cow.Editor[string, int]) error {
				e.Set("size", of.During(tx).Len())
				return nil
			})
			assert.NoError(t, err)
			made <- size
		}()
		time.Sleep(5 * time.Millisecond) // likely enough for the table to be there
		e.Set("a", 1)
		return nil
	}))
	n, _ := (<-made).Get("size")
	require.Equal(t, 1, n)
}

// Nor is a row forgotten where an update is past deriving when the table comes: it stands in a
// function of an index.
func TestADerivedTableThatComesWhileAnUpdateIsIndexed(t *testing.T) {
	for name, set := range map[string]func(db *cow.DB, of *cow.Table[string, int]) error{
		"Set": func(_ *cow.DB, of *cow.Table[string, int]) error { _, err := of.Set("c", 3); return err },
		"Update": func(db *cow.DB, of *cow.Table[string, int]) error {
			return db.Update(func(tx *cow.Tx) error { of.Edit(tx).Set("c", 3); return nil })
		},
	} {
		t.Run(name, func(t *testing.T) {
			var db cow.DB
			of := cow.NewTable[string](&db, "of", cow.Options[int]{})
			copies := func(tx *cow.Tx, e *cow.Editor[string, int]) error {
				for c := range of.Changes(tx) {
					v, _ := c.New()
					e.Set(c.Key, v)
				}
				return nil
			}
			_, err := cow.NewDerived(&db, "first", cow.Options[int]{}, copies)
			require.NoError(t, err)
			var stop atomic.Bool
			stopped, goOn := make(chan struct{}), make(chan struct{})
			_, err = cow.NewIndex(of, "x", func(r cow.Row[string, int]) int {
				if stop.CompareAndSwap(true, false) {
					close(stopped)
					<-goOn
				}
				return r.Value()
			}, cow.IndexOptions[string]{})
			require.NoError(t, err)
			of.Set("a", 1)
			of.Set("b", 2)
			stop.Store(true)
			go func() { assert.NoError(t, set(&db, of)) }()
			<-stopped
			made := make(chan *cow.Table[string, int])
			go func() {
				second, err := cow.NewDerived(&db, "second", cow.Options[int]{}, copies)
				assert.NoError(t, err)
				made <- second
			}()
			time.Sleep(5 * time.Millisecond) // likely enough for the table to be there
			close(goOn)
			second := <-made
			require.Equal(t, maps.Collect(of.All()), maps.Collect(second.All()))
			of.Set("d", 4)
			require.Equal(t, maps.Collect(of.All()), maps.Collect(second.All()))
		})
	}
}

// A fork from a version from before a table was derived derives it from all there is.
func TestForkFromBeforeATableWasDerived(t *testing.T) {
	x := newErasing(t)
	x.db.Retain(cow.Retention{Versions: 10})
	for _, key := range []string{"a", "b", "c"} {
		_, err := x.notes.Set(key, []string{key})
		require.NoError(t, err)
	}
	x.derive(t)
	_, err := x.notes.Set("d", nil)
	require.NoError(t, err)
	at := mustIndex(x.db.At(2))
	require.Zero(t, x.late.In(at).Len())
	fork := x.db.Fork(at)
	_, err = x.notes.Of(fork).Set("e", []string{"e"})
	require.NoError(t, err)
	require.Equal(t, maps.Collect(x.notes.Of(fork).All()), maps.Collect(x.late.Of(fork).All()))
}

// A merge of a fork into a DB with a sink brings the index and the derived table along, when it
// is published, and in a DB that is opened from what was stored.
func TestAMergeBringsAnIndexAndADerivedTable(t *testing.T) {
	noDeadlock(t)
	type tables struct {
		db      *cow.DB
		of, sum *cow.Table[string, int]
		byDigit *cow.Index[string, int, int]
	}
	newTables := func() (s tables) {
		var err error
		s.db, s.of, s.sum = summed(false)
		s.byDigit, err = cow.NewIndex(s.of, "digit", func(r cow.Row[string, int]) int { return r.Value() % 10 }, cow.IndexOptions[string]{})
		require.NoError(t, err)
		return s
	}
	has := func(s tables, of *cow.Table[string, int], sum *cow.Table[string, int], now *cow.Snapshot, want map[string]int) {
		t.Helper()
		require.Equal(t, want, collect(of.In(now)))
		total := 0
		for key, n := range want {
			total += n
			var keys []string
			for _, row := range s.byDigit.In(of.In(now)).Equal(n % 10).All() {
				keys = append(keys, row.Key())
			}
			require.Contains(t, keys, key)
		}
		require.Equal(t, len(want), s.byDigit.In(of.In(now)).Len())
		n, _ := sum.In(now).Get("sum")
		require.Equal(t, total, n)
	}
	s := newTables()
	sink := cowtest.Attach(t, s.db, cowtest.SinkOptions{})
	stored := func(f func() error) {
		t.Helper()
		before, done := s.db.Load(), outcome(f)
		_, err := sink.Await(t.Context(), 1)
		require.NoError(t, err)
		require.Same(t, before, s.db.Load(), "not published before it is acknowledged")
		sink.Ack(1)
		require.NoError(t, <-done)
	}
	stored(func() error {
		return s.of.Update(func(e *cow.Editor[string, int]) error { e.Set("a", 1); e.Set("gone", 2); return nil })
	})
	base := s.db.Load()
	fork := s.db.Fork(base)
	forked := s.of.Of(fork)
	require.NoError(t, errOf(forked.Set("b", 13)))
	require.NoError(t, errOf(forked.Set("a", 25)))
	require.NoError(t, errOf(forked.Delete("gone")))
	has(s, forked, s.sum.Of(fork), fork.Load(), map[string]int{"a": 25, "b": 13})
	stored(func() error { return errOf(s.of.Set("c", 107)) })
	stored(func() error { _, err := s.db.Merge(base, fork.Load()); return err })
	want := map[string]int{"a": 25, "b": 13, "c": 107}
	has(s, s.of, s.sum, s.db.Load(), want)

	opened := newTables()
	cowtest.Attach(t, opened.db, cowtest.SinkOptions{Of: sink})
	has(opened, opened.of, opened.sum, opened.db.Load(), want)
}
