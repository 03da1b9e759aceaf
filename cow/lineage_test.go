package cow_test

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow"
)

func TestALineHasALineage(t *testing.T) {
	s := cow.NewOne[string](cow.Options[int]{})
	id := s.Lineage()
	require.Regexp(t, regexp.MustCompile(`^[A-Z2-7]{26}$`), id.ID)
	require.Equal(t, cow.Lineage{ID: id.ID}, id)
	s.Set("a", 1)
	require.Equal(t, id, s.Lineage())

	f := s.Fork(s.Load())
	require.Equal(t, cow.Lineage{ID: f.Lineage().ID, Parent: id.ID, Forked: 1}, f.Lineage())
	require.NotEqual(t, id.ID, f.Lineage().ID)
	f.Set("a", 2)
	g := f.Fork(f.Load())
	require.Equal(t, cow.Lineage{ID: g.Lineage().ID, Parent: f.Lineage().ID, Forked: 2}, g.Lineage())

	var db cow.DB
	h := db.Fork(nil)
	require.Equal(t, cow.Lineage{ID: h.Lineage().ID, Parent: db.Lineage().ID}, h.Lineage())
	require.NotEqual(t, db.Lineage(), new(cow.DB).Lineage())
}

func TestTogetherALineageIsOne(t *testing.T) {
	s := cow.NewOne[string](cow.Options[int]{})
	ids := make([]string, 8)
	together(len(ids), func(i int) { ids[i] = s.Lineage().ID })
	for _, id := range ids {
		require.Equal(t, ids[0], id)
	}
}

func TestAFeedResumesFromACursor(t *testing.T) {
	s := cow.NewOne[string](cow.Options[int]{})
	s.Retain(cow.Retention{Versions: 3})
	begin := s.Cursor(0)
	for i := range 3 {
		s.Set("a", i)
	}
	cursors := []string{begin}
	next := func(cursor string) (c *cow.Commit, err error) {
		for c, err = range s.Resume(t.Context(), cursor) {
			break
		}
		return c, err
	}
	for i := range uint64(3) {
		c, err := next(cursors[i])
		require.NoError(t, err)
		require.Equal(t, i+1, c.Version())
		require.Equal(t, s.Cursor(i+1), c.Cursor())
		require.NotContains(t, c.Cursor(), "\n")
		cursors = append(cursors, c.Cursor())
	}
	s.Set("a", 3)
	_, err := next(cursors[0])
	require.ErrorIs(t, err, cow.ErrCompacted)
	c, err := next(cursors[3])
	require.NoError(t, err)
	require.Equal(t, uint64(4), c.Version())

	f := s.Fork(s.Load())
	f.Set("a", 9)
	for _, foreign := range []string{f.Cursor(5), new(cow.DB).Cursor(1)} {
		_, err = next(foreign)
		require.ErrorIs(t, err, cow.ErrLineage)
		require.ErrorContains(t, err, s.Lineage().ID, "it says which one this is")
	}
	_, err = next(s.Cursor(5))
	require.ErrorIs(t, err, cow.ErrUnpublished, "of a past that was lost")

	for _, bad := range notCursors(s.Lineage().ID) {
		_, err = next(bad)
		require.ErrorIs(t, err, cow.ErrCursor, "%.50q", bad)
		require.Less(t, len(err.Error()), 300)
		_, err = s.ParseCursor(bad)
		require.ErrorIs(t, err, cow.ErrCursor, "%.50q", bad)
	}
}

// notCursors returns texts that are almost cursors of a lineage.
func notCursors(id string) []string {
	bad := []string{"", ".", "4", id, id + ".", ".4", strings.Repeat("x", 1<<20)}
	for _, version := range []string{"x", "-1", "04", "00", "+4", " 4", "4 ", "4\n", "4\x00", "4.4", "4.", "0x4", "4e0", "4_0", "٤", "18446744073709551616"} {
		bad = append(bad, id+"."+version)
	}
	for _, other := range []string{"x", "ü", "a\n", " " + id, id + " ", id + "\n", "\t" + id, id[1:], id + "A", id + id, strings.ToLower(id), id[1:] + "a",
		id[1:] + "0", id[1:] + "1", id[1:] + "8", id[1:] + "9", id[1:] + "=", id[1:] + "-", id[1:] + "@", id[1:] + "[", id[1:] + "\x00", id[2:] + "Ä", id[2:] + "\xff\xff"} {
		bad = append(bad, other+".4")
	}
	return bad
}

// What Cursor returns is taken, and comes back the same; and nothing else is taken.
func FuzzCursor(f *testing.F) {
	var db cow.DB
	id := db.Lineage().ID
	for _, seed := range append(notCursors(id), db.Cursor(0), db.Cursor(7), db.Cursor(math.MaxUint64), restored+".5") {
		f.Add(seed, uint64(len(seed)))
	}
	f.Fuzz(func(t *testing.T, text string, version uint64) {
		is, err := db.ParseCursor(db.Cursor(version))
		require.NoError(t, err)
		require.Equal(t, version, is)

		is, err = db.ParseCursor(text)
		switch {
		case err == nil:
			require.Equal(t, text, db.Cursor(is))
		case errors.Is(err, cow.ErrLineage):
			require.Regexp(t, `^[A-Z2-7]{26}\.(0|[1-9][0-9]*)$`, text)
		default:
			require.ErrorIs(t, err, cow.ErrCursor)
		}

		var again cow.DB
		restore := again.Restore(text, time.Now(), func(*cow.Tx) error { return nil })
		if restore != nil {
			require.ErrorIs(t, restore, cow.ErrCursor)
			require.Zero(t, again.Load().Version())
			return
		}
		require.False(t, errors.Is(err, cow.ErrCursor), "Resume takes what Restore does")
		require.Equal(t, text, again.Cursor(again.Load().Version()))
	})
}

// A version to come may be one of another past: nobody waits for it.
func TestNobodyWaitsForAVersionThatMayNeverCome(t *testing.T) {
	s := cow.NewOne[string](cow.Options[int]{})
	s.Set("a", 1)
	s.Set("a", 2)
	_, err := s.Wait(t.Context(), 40)
	require.ErrorIs(t, err, cow.ErrUnpublished)
	_, err = s.At(40)
	require.ErrorIs(t, err, cow.ErrUnpublished)
	n := 0
	for c, err := range s.Changes(t.Context(), 40) {
		require.Nil(t, c)
		require.ErrorIs(t, err, cow.ErrUnpublished)
		n++
	}
	require.Equal(t, 1, n)
}

// Derived tables follow the others, in the same version.
func TestADerivedTable(t *testing.T) {
	db := new(cow.DB)
	amounts := cow.NewTable[string](db, "amounts", cow.Options[int]{})
	var sums *cow.Table[string, int]
	runs := 0
	boom := errors.New("boom")
	sums, _ = cow.NewDerived(db, "sums", cow.Options[int]{}, func(tx *cow.Tx, _ *cow.Editor[string, int]) error {
		runs++
		sum := 0
		e := amounts.Edit(tx)
		for c := range e.Map().Diff(amounts.In(tx.Base())) {
			old, _ := c.Old()
			is, _ := c.New()
			sum += is - old
		}
		if e.Has("bad") {
			return boom
		}
		if sum == 0 {
			return nil
		}
		return sums.Edit(tx).Upsert("all", func(v *int, _ bool) error { *v += sum; return nil })
	})
	set := func(k string, v int) error {
		return db.Update(func(tx *cow.Tx) error { amounts.Edit(tx).Set(k, v); return nil })
	}
	for i := range 10 {
		require.NoError(t, set(fmt.Sprint(i%3), i))
		now := db.Load()
		want := 0
		for _, v := range amounts.In(now).All() {
			want += v
		}
		got, _ := sums.In(now).Get("all")
		require.Equal(t, want, got)
	}
	require.Equal(t, 10, runs)
	v := db.Load().Version()
	require.ErrorIs(t, set("bad", 1), boom)
	require.Equal(t, v, db.Load().Version())

	f := db.Fork(db.Load())
	require.NoError(t, f.Update(func(tx *cow.Tx) error { amounts.Edit(tx).Set("new", 100); return nil }))
	is, _ := sums.In(f.Load()).Get("all")
	was, _ := sums.In(db.Load()).Get("all")
	require.Equal(t, was+100, is)
	require.Equal(t, fmt.Sprint(v+1), fmt.Sprint(f.Load().Version()))
}
