package cow_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"runtime"
	"runtime/debug"
	"testing"
	"testing/synctest"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow"
)

// numbered fills a table with n rows.
func numbered(t *testing.T, table *cow.Table[string, int], n int) {
	t.Helper()
	require.NoError(t, table.Replace(func(yield func(string, int) bool) {
		for i := range n {
			if !yield(fmt.Sprint(i), i) {
				return
			}
		}
	}))
}

// A Clear looks at no row, whatever hangs on the table: it allocates as much for many as
// for few, and calls no function of an index.
func TestClearTakesConstantTime(t *testing.T) {
	for _, kind := range []string{"bare", "index", "unique", "retain", "watched", "all"} {
		t.Run(kind, func(t *testing.T) {
			is := func(what string) bool { return kind == what || kind == "all" }
			calls := 0
			clear := func(n int) (bytes uint64) {
				synctest.Test(t, func(t *testing.T) {
					s := cow.NewOne[string](cow.Options[int]{})
					index := func(name string, unique bool) {
						_, err := cow.NewIndex(s.Table, name, func(r cow.Row[string, int]) int { calls++; return r.Value() }, cow.IndexOptions[string]{Unique: unique})
						require.NoError(t, err)
					}
					if is("index") {
						index("i", false)
					}
					if is("unique") {
						index("u", true)
					}
					numbered(t, s.Table, n)
					if is("retain") {
						s.Retain(cow.Retention{Versions: 1000, Bytes: 1 << 40})
					}
					ctx, end := context.WithCancel(t.Context())
					defer end()
					if is("watched") {
						go func() { _, _ = s.Watch(ctx, s.Load(), s.OnKeys("other")) }()
						synctest.Wait()
					}
					calls = 0
					before := s.DB().Load()
					var from, to runtime.MemStats
					runtime.ReadMemStats(&from)
					cleared, err := s.Clear()
					runtime.ReadMemStats(&to)
					bytes = to.TotalAlloc - from.TotalAlloc
					require.NoError(t, err)
					require.Equal(t, n, cleared)
					require.Zero(t, s.Len())
					require.Zero(t, calls)
					require.Equal(t, n, s.In(before).Len())
				})
				return bytes
			}
			few, many := clear(2000), clear(inShort(30_000, 100_000))
			require.LessOrEqual(t, many, few+100_000, "bytes; whatever else runs in the process allocates some")
		})
	}
}

// A Clear looks at no row of the map, whatever hangs on the table: that has a directory which lies
// below itself, where a walk over all rows would not come to an end.
func TestClearLooksAtNoRow(t *testing.T) {
	defer debug.SetMaxStack(debug.SetMaxStack(1 << 20))
	synctest.Test(t, func(t *testing.T) {
		db := new(cow.DB)
		bare := cow.NewTable[string](db, "bare", cow.Options[int]{})
		table := cow.NewTable[string](db, "table", cow.Options[int]{})
		x := mustIndex(cow.NewMultiIndex(table, "i", itself[int], cow.IndexOptions[string]{}))
		numbered(t, bare, 300)
		numbered(t, table, 300)
		for _, of := range []*cow.Table[string, int]{bare, table} {
			root := reflect.ValueOf(of.Load()).Elem().FieldByName("root")
			slots := root.FieldByName("kid")
			last := slots.Index(slots.Len() - 1).Addr().UnsafePointer()
			*(*unsafe.Pointer)(last) = root.Addr().UnsafePointer()
		}
		clearAll := func(of *cow.Table[string, int]) {
			n, err := of.Clear()
			require.NoError(t, err)
			require.Equal(t, 300, n)
			require.Zero(t, of.Len())
		}
		clearAll(bare)
		db.Retain(cow.Retention{Versions: 10})
		woken := make(chan error)
		go func() {
			_, err := db.Watch(t.Context(), db.Load(), x.OnRange(x.In(nil).From(10)))
			woken <- err
		}()
		synctest.Wait()
		clearAll(table)
		require.NoError(t, <-woken)
	})
}

// What a Clear did is found wherever changes are: here all of it comes true at once.
func TestAClearIsAChangeLikeAnyOther(t *testing.T) {
	db := new(cow.DB)
	table := cow.NewTable[string](db, "t", cow.Options[int]{})
	byValue := mustIndex(cow.NewMultiIndex(table, "value", itself[int], cow.IndexOptions[string]{Unique: true}))
	db.Retain(cow.Retention{Versions: 100})
	set := func(k string, v int) {
		_, err := table.Set(k, v)
		require.NoError(t, err)
	}
	set("a", 1)
	set("b", 2)
	set("c", 3)
	require.NoError(t, table.Update(func(e *cow.Editor[string, int]) error {
		e.Set("c", 30)
		e.Clear()
		e.Set("b", 1) // the index key that was a's
		e.Set("d", 4)
		return nil
	}))
	set("e", 5)
	_, err := table.Clear()
	require.NoError(t, err)
	set("f", 6)

	want := []map[string]int{
		{}, {"a": 1}, {"a": 1, "b": 2}, {"a": 1, "b": 2, "c": 3}, {"b": 1, "d": 4}, {"b": 1, "d": 4, "e": 5}, {}, {"f": 6},
	}
	for version := range want {
		s, err := db.At(uint64(version))
		require.NoError(t, err)
		m := table.In(s)
		require.Equal(t, want[version], maps.Collect(m.All()))
		require.Equal(t, len(want[version]), byValue.In(m).Len())
		for k, v := range want[version] {
			row, ok := byValue.In(m).Get(v)
			require.True(t, ok)
			require.Equal(t, k, row.Key())
		}
	}
	version := 0
	for c, err := range db.Commits(0) {
		require.NoError(t, err)
		version++
		rows := maps.Clone(want[version-1])
		n := 0
		for change := range table.Rows(c) {
			n++
			was, had := change.Old()
			is, has := change.New()
			old, found := rows[change.Key]
			require.Equal(t, found, had)
			require.Equal(t, old, was)
			delete(rows, change.Key)
			if has {
				rows[change.Key] = is
			}
		}
		require.Equal(t, want[version], rows)
		require.Contains(t, c.String(), fmt.Sprintf("(%d change", n))
	}
	require.Equal(t, 7, version)
	stats := db.Stats()
	require.Equal(t, 3+3, stats.HeldRows)
}

// To clear what is put back at once is no change of any key but a write of each.
func TestAClearOfWhatComesBack(t *testing.T) {
	s := cow.NewOne[string](cow.Options[int]{})
	s.Retain(cow.Retention{Versions: 10})
	require.NoError(t, s.Update(func(e *cow.Editor[string, int]) error { e.Set("a", 1); e.Clear(); return nil }))
	require.Zero(t, s.DB().Load().Version(), "nothing was there, and nothing is")
	_, err := s.Table.Set("a", 1)
	require.NoError(t, err)
	require.NoError(t, s.Update(func(e *cow.Editor[string, int]) error { e.Clear(); e.Set("a", 1); return nil }))
	for c, err := range s.Commits(1) {
		require.NoError(t, err)
		for change := range s.Rows(c) {
			require.Equal(t, cow.Changed, change.Kind)
		}
		require.Equal(t, "commit 2 (1 change)", c.String())
	}
}

// The past of a table that was cleared is weighed by a sample.
func TestAClearedMapIsWeighed(t *testing.T) {
	weigh := func(n int) cow.Stats {
		s := cow.NewOne[string](cow.Options[int]{})
		numbered(t, s.Table, n)
		s.Retain(cow.Retention{Versions: 10})
		_, err := s.Clear()
		require.NoError(t, err)
		return s.Stats()
	}
	few, many := weigh(2000), weigh(20_000)
	require.Equal(t, 2000, few.HeldRows)
	require.Equal(t, 20_000, many.HeldRows)
	require.InEpsilon(t, 10*few.HeldBytes, many.HeldBytes, 0.1)
}

// An index key may follow from the key of a row, and from its revision, in an update as
// after it.
func TestIndexFunctionsGetTheRow(t *testing.T) {
	db := new(cow.DB)
	table := cow.NewTable[string](db, "t", cow.Options[int]{})
	db.Retain(cow.Retention{Versions: 100})
	byTime := mustIndex(cow.NewIndex(table, "revision", func(r cow.Row[string, int]) uint64 { return r.Revision() }, cow.IndexOptions[string]{}))
	byLength := mustIndex(cow.NewIndex(table, "length", func(r cow.Row[string, int]) int { return len(r.Key()) + r.Value() }, cow.IndexOptions[string]{}))
	keys := func(m *cow.Map[string, int]) (all []string) {
		for _, row := range byTime.In(m).All() {
			all = append(all, row.Key())
		}
		return all
	}
	for _, k := range []string{"aaa", "b", "cc", "aaa"} {
		require.NoError(t, table.Update(func(e *cow.Editor[string, int]) error {
			e.Set(k, 10)
			last := ""
			for i, row := range byTime.During(e).All() {
				require.LessOrEqual(t, i, e.Version())
				last = row.Key()
			}
			require.Equal(t, k, last)
			return nil
		}))
	}
	require.Equal(t, []string{"b", "cc", "aaa"}, keys(table.Load()))
	s, err := db.At(3)
	require.NoError(t, err)
	require.Equal(t, []string{"aaa", "b", "cc"}, keys(table.In(s)))
	fork := db.Fork(s)
	_, err = table.Of(fork).Set("b", 0)
	require.NoError(t, err)
	require.Equal(t, []string{"aaa", "cc", "b"}, keys(table.Of(fork).Load()))
	require.Equal(t, "1:b 12:cc 13:aaa", pairs(byLength.In(table.Of(fork).Load())))
}

var errNegative = errors.New("is negative")

// A row that an index refuses fails the update that leaves it, and no other.
func TestAnIndexRefusesARow(t *testing.T) {
	keys := func(r cow.Row[string, int], add func(int)) error {
		if r.Value() < 0 {
			return errNegative
		}
		if r.Value() != 5 {
			add(r.Value())
		}
		return nil
	}
	compare := func(a, b int) int { return a - b }
	db := new(cow.DB)
	table := cow.NewTable[string](db, "t", cow.Options[int]{})
	db.Retain(cow.Retention{Versions: 100})
	set := func(of *cow.Table[string, int], k string, v int) error {
		_, err := of.Set(k, v)
		return err
	}
	require.NoError(t, set(table, "bad", -1))
	require.NoError(t, set(table, "worse", -2))
	require.NoError(t, set(table, "a", 1))
	_, err := cow.NewIndexFunc(table, "positive", keys, cow.IndexOptions[string]{}, compare)
	require.ErrorIs(t, err, errNegative)
	var at *cow.KeyError[string]
	require.ErrorAs(t, err, &at)
	require.Negative(t, map[string]int{"bad": -1, "worse": -2}[at.Key])
	require.Equal(t, fmt.Sprintf(`cow: table "t": %s: index "positive": is negative`, at.Key), err.Error())
	past := db.Load()

	require.NoError(t, set(table, "bad", 2))
	require.NoError(t, set(table, "worse", 3))
	x, err := cow.NewIndexFunc(table, "positive", keys, cow.IndexOptions[string]{}, compare)
	require.NoError(t, err)
	require.Equal(t, "1:a 2:bad 3:worse", pairs(x.In(table.Load())))
	require.Equal(t, "1:a", pairs(x.In(table.In(past))), "what it refuses is not there")
	version := db.Load().Version()
	require.ErrorIs(t, set(table, "a", -1), errNegative)
	require.ErrorIs(t, set(table, "new", -1), errNegative)
	require.Equal(t, version, db.Load().Version())
	require.NoError(t, table.Update(func(e *cow.Editor[string, int]) error {
		e.Set("a", -1)
		require.Equal(t, "2:bad 3:worse", pairs(x.During(e)))
		e.Set("a", 5)
		return nil
	}), "it was put right")
	require.Equal(t, "2:bad 3:worse", pairs(x.In(table.Load())))
	require.NoError(t, table.Update(func(e *cow.Editor[string, int]) error { e.Clear(); e.Set("a", 7); return nil }))
	require.ErrorIs(t, table.Update(func(e *cow.Editor[string, int]) error { e.Clear(); e.Set("a", -7); return nil }), errNegative)
	require.Equal(t, "7:a", pairs(x.In(table.Load())))

	// A fork of a version that the index refuses must put it right at once.
	of := table.Of(db.Fork(past))
	require.ErrorIs(t, set(of, "a", 2), errNegative)
	require.ErrorIs(t, set(of, "bad", 2), errNegative)
	require.NoError(t, of.Update(func(e *cow.Editor[string, int]) error { e.Set("bad", 2); e.Delete("worse"); return nil }))
	require.Equal(t, "1:a 2:bad", pairs(x.In(of.Load())))
}
