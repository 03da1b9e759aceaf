package cow_test

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow"
)

// keysOf are the keys of rows in the order of a range.
func keysOf[K comparable, V, I any](r cow.Range[K, V, I]) (keys []K) {
	for _, row := range r.All() {
		keys = append(keys, row.Key())
	}
	return keys
}

func TestBoundsAreInclusiveOrExclusive(t *testing.T) {
	s, x := tens(t)
	in := x.In(s.Load())
	require.Equal(t, 60, in.Above(3).Len())
	require.Equal(t, 40, in.Through(3).Len())
	require.Equal(t, 20, in.Above(3).Through(5).Len())
	require.Equal(t, 30, in.From(3).Through(5).Len())
	require.Equal(t, 10, in.Above(3).To(5).Len())
	require.Zero(t, in.Above(3).Through(3).Len())
	require.Zero(t, in.Above(9).Len())
	require.Zero(t, in.Through(-1).Len())
	require.Equal(t, 60, in.From(3).Above(3).Len(), "the tighter one")
	require.Equal(t, 60, in.Above(3).From(3).Len(), "the tighter one")
	require.Equal(t, 30, in.Through(3).To(3).Len(), "the tighter one")
	require.Equal(t, 30, in.To(3).Through(3).Len(), "the tighter one")
	_, row, _ := in.Through(3).Reverse().First()
	require.Equal(t, "39", row.Key(), "the last of those that are not above")
}

func TestTheEntryThatNOthersAreBefore(t *testing.T) {
	s, x := tens(t)
	in := x.In(s.Load())
	for n := range 100 {
		_, row, ok := in.Skip(n).First()
		require.True(t, ok)
		require.Equal(t, fmt.Sprintf("%02d", n), row.Key())
		require.Equal(t, n, in.Before(n/10, row.Key()).Len(), "its rank")
		require.Equal(t, n/10*10, in.To(n/10).Len(), "the rank of its index key")
		_, row, ok = in.Reverse().Skip(n).First()
		require.True(t, ok)
		require.Equal(t, fmt.Sprintf("%02d", 99-n), row.Key())
	}
	require.Zero(t, in.Skip(100).Len())
	require.Zero(t, in.Skip(math.MaxInt).Len())
	require.Equal(t, 100, in.Limit(math.MaxInt).Len())
	require.Zero(t, in.Limit(0).Len())
	require.Zero(t, in.Reverse().Limit(0).Len())
	require.Zero(t, in.Reverse().Skip(100).Len())
	require.Equal(t, []string{"35", "36"}, keysOf(in.Equal(3).Skip(5).Limit(2)))
	require.Equal(t, []string{"34", "33"}, keysOf(in.Equal(3).Reverse().Skip(5).Limit(2)))
	require.Panics(t, func() { in.Skip(-1) })
	require.Panics(t, func() { in.Limit(-1) })

	none := x.In(nil)
	require.Zero(t, none.Skip(1).Len())
	require.Zero(t, none.Limit(1).Reverse().Skip(0).Len())
}

// What is counted and skipped is not looked at: a place among a million is found by a few
// comparisons, however far it is.
func TestPlacesTakeLogarithmicTime(t *testing.T) {
	n := 200_000
	if testing.Short() {
		n = 20_000
	}
	compared := 0
	s := cow.NewOne[string](cow.Options[int]{})
	x, err := cow.NewIndexFunc(s.Table, "value", func(r cow.Row[string, int], add func(int)) error { add(r.Value()); return nil },
		cow.IndexOptions[string]{}, func(a, b int) int { compared++; return cmp.Compare(a, b) })
	require.NoError(t, err)
	require.NoError(t, s.Update(func(e *cow.Editor[string, int]) error {
		for i := range n {
			e.Set(fmt.Sprint(i), i)
		}
		return nil
	}))
	in := x.In(s.Load())
	for _, at := range []int{0, 1, n / 2, n - 1} {
		compared = 0
		_, row, ok := in.Skip(at).First()
		require.True(t, ok)
		require.Equal(t, at, row.Value())
		require.Equal(t, at, in.To(at).Len())
		require.Equal(t, n-at, in.From(at).Len())
		require.Equal(t, min(10, n-at), in.Skip(at).Limit(10).Len())
		require.Less(t, compared, 500)
	}
}

func TestPagesGoOnFromText(t *testing.T) {
	for name, reverse := range map[string]bool{"forwards": false, "backwards": true} {
		t.Run(name, func(t *testing.T) {
			s, x := tens(t)
			whole := func() cow.Range[string, int, int] {
				r := x.In(s.Load())
				if reverse {
					r = r.Reverse()
				}
				return r
			}
			want := keysOf(whole())
			var got []string
			page, cursor := whole(), ""
			for {
				n := 0
				for i, row := range page.Limit(7).All() {
					got = append(got, row.Key())
					var err error
					cursor, err = page.Cursor(i, row.Key())
					require.NoError(t, err)
					n++
				}
				if n == 0 {
					break
				}
				_, err := s.Delete(got[len(got)-1]) // the row that the cursor is of
				require.NoError(t, err)
				page, err = whole().Resume(cursor)
				require.NoError(t, err)
			}
			require.Equal(t, want, got)
		})
	}
}

// cursors requires that a cursor of each row leads to after it.
func cursors[I any](t *testing.T, r cow.Range[string, int, I]) {
	t.Helper()
	n := r.Len()
	require.NotZero(t, n)
	for i, row := range r.All() {
		n--
		cursor, err := r.Cursor(i, row.Key())
		require.NoError(t, err)
		rest, err := r.Resume(cursor)
		require.NoError(t, err)
		require.Equal(t, n, rest.Len())
	}
}

func TestCursorsOfAllKindsOfKeys(t *testing.T) {
	s, x := tens(t)
	cursors(t, x.In(s.Load()))
	cursors(t, cow.NewOrder(s.Table, "order").In(s.Load()))
	code := func(r cow.Row[string, int], add func([]byte)) error { add([]byte{0xff, byte(r.Value())}); return nil }
	cursors(t, mustIndex(cow.NewIndexFunc(s.Table, "code", code, cow.IndexOptions[string]{})).In(s.Load()))

	// One that a function which compares is not ready for.
	type pointed struct{ P *int }
	point := func(r cow.Row[string, int], add func(pointed)) error { v := r.Value(); add(pointed{&v}); return nil }
	z := mustIndex(cow.NewIndexFunc(s.Table, "pointed", point, cow.IndexOptions[string]{}, func(a, b pointed) int { return cmp.Compare(*a.P, *b.P) }))
	_, row, _ := z.In(s.Load()).First()
	v := row.Value()
	cursor, err := z.In(s.Load()).Cursor(pointed{&v}, row.Key())
	require.NoError(t, err)
	raw, _ := base64.RawURLEncoding.DecodeString(cursor)
	made := append(append(raw[:4:4], 10), `{"P":null}a`...)
	_, err = z.In(s.Load()).Resume(base64.RawURLEncoding.EncodeToString(made))
	require.ErrorIs(t, err, cow.ErrCursor)

	// One that JSON does not bring back.
	type hidden struct{ n int }
	hide := func(r cow.Row[string, int], add func(*hidden)) error { add(&hidden{r.Value()}); return nil }
	y := mustIndex(cow.NewIndexFunc(s.Table, "hidden", hide, cow.IndexOptions[string]{}, func(a, b *hidden) int { return cmp.Compare(a.n, b.n) }))
	_, err = y.In(s.Load()).Cursor(&hidden{3}, "03")
	require.EqualError(t, err, `cow: a cursor of index "hidden": JSON does not bring a key of type *cow_test.hidden back`)
}

func TestTextsThatAreNoCursors(t *testing.T) {
	s, x := tens(t)
	y := cow.NewOrder(s.Table, "order")
	in := x.In(s.Load())
	good, err := in.Cursor(3, "35")
	require.NoError(t, err)
	other, err := y.In(s.Load()).Cursor("35", "35")
	require.NoError(t, err)
	raw, err := base64.RawURLEncoding.DecodeString(good)
	require.NoError(t, err)
	text := base64.RawURLEncoding.EncodeToString
	for name, cursor := range map[string]string{
		"empty": "", "no base64": "%", "of another index": other, "padded": good + "=", "with a line": good[:4] + "\n" + good[4:],
		"short": text(raw[:3]), "without keys": text(raw[:4]), "half a number": text(raw[:8]), "without a length": text(append(raw[:4:4], 0xff)),
		"a length beyond": text(append(raw[:4:4], 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1)),
	} {
		got, err := in.Resume(cursor)
		require.ErrorIs(t, err, cow.ErrCursor, name)
		require.ErrorContains(t, err, `index "tens"`, name)
		require.Zero(t, got, name)
	}
	require.Panics(t, func() { cow.Range[string, int, int]{}.Resume(good) })
}

func FuzzResume(f *testing.F) {
	s := cow.NewOne[string](cow.Options[int]{})
	s.Set("a", 1)
	code := func(r cow.Row[string, int], add func([]byte)) error { add([]byte{byte(r.Value())}); return nil }
	in := mustIndex(cow.NewIndexFunc(s.Table, "code", code, cow.IndexOptions[string]{})).In(s.Load())
	good, err := in.Cursor([]byte{1}, "a")
	require.NoError(f, err)
	f.Add(good)
	f.Add("")
	raw, _ := base64.RawURLEncoding.DecodeString(good)
	f.Add(base64.RawURLEncoding.EncodeToString(append(raw[:4:4], 4, 'n', 'u', 'l', 'l')))
	f.Fuzz(func(t *testing.T, cursor string) {
		r, err := in.Resume(cursor)
		if err != nil {
			require.ErrorIs(t, err, cow.ErrCursor)
			return
		}
		require.LessOrEqual(t, r.Len(), 1)
	})
}

// Prefix of an order in which it would be wrong says so, and how to do it.
func TestPrefixOfAnotherOrder(t *testing.T) {
	s := cow.NewOne[string](cow.Options[good]{})
	name := func(r cow.Row[string, good], add func(string)) error { add(r.Shared().Name); return nil }
	down := mustIndex(cow.NewIndexFunc(s.Table, "down", name, cow.IndexOptions[string]{}, func(a, b string) int { return strings.Compare(b, a) }))
	require.PanicsWithValue(t, `cow: Prefix of index "down", which does not order its keys by the text at their ends, ascending, where all else is equal: make an index that does`,
		func() { down.In(s.Load()).Prefix("a") })
	require.Panics(t, func() { down.In(s.Load()).LongestPrefix("a") })
	pair := func(r cow.Row[string, good], add func(ranked)) error { add(ranked{1, r.Shared().Name}); return nil }
	swapped := mustIndex(cow.NewIndexFunc(s.Table, "swapped", pair, cow.IndexOptions[string]{},
		func(a, b ranked) int { return strings.Compare(a.Name, b.Name) }, func(a, b ranked) int { return cmp.Compare(a.Rank, b.Rank) }))
	require.Panics(t, func() { swapped.In(s.Load()).Prefix(ranked{1, "a"}) })
	ranks := mustIndex(cow.NewIndexFunc(s.Table, "ranks", pair, cow.IndexOptions[string]{}, func(a, b ranked) int { return cmp.Compare(a.Rank, b.Rank) }))
	require.PanicsWithValue(t, `cow: Prefix of index "ranks", which does not compare the text at the ends of its keys: make an index that does`,
		func() { ranks.In(s.Load()).Prefix(ranked{1, "a"}) })
}

// What is not text in the last field counts, whoever compares it.
func TestPrefixOfAFieldThatIsMoreThanAText(t *testing.T) {
	s := cow.NewOne[string](cow.Options[int]{})
	for i, text := range []string{"ab", "ab", "ac", "ac", "ab", "ab"} {
		s.Set(fmt.Sprint(i, text), i%3)
	}
	keys := func(r cow.Row[string, int], add func(ranked)) error { add(ranked{r.Value(), r.Key()[1:]}); return nil }
	one := func(a, b ranked) int { return cmp.Or(cmp.Compare(a.Rank, b.Rank), strings.Compare(a.Name, b.Name)) }
	x := mustIndex(cow.NewIndexFunc(s.Table, "one", keys, cow.IndexOptions[string]{}, one))
	require.Equal(t, []string{"0ab", "3ac"}, keysOf(x.In(s.Load()).Prefix(ranked{0, "a"})))
	require.Equal(t, []string{"5ab"}, keysOf(x.In(s.Load()).Prefix(ranked{2, "ab"})))
	require.NoError(t, s.Update(func(e *cow.Editor[string, int]) error {
		require.Equal(t, 2, x.During(e).Prefix(ranked{0, "a"}).Delete())
		return nil
	}))
}

// A row that shares half a rune is no reason to find nothing.
func TestLongestPrefixOfAFoldedOrder(t *testing.T) {
	s := cow.NewOne[string](cow.Options[int]{})
	x := cow.NewOrder(s.Table, "folded", func(a, b string) int { return strings.Compare(strings.ToLower(a), strings.ToLower(b)) })
	for _, key := range []string{"/caf", "/caf\u00e8", "/CAF\u00c8/x"} {
		s.Set(key, 1)
	}
	for of, want := range map[string]string{"/caf\u00e9/menu": "/caf", "/caf\u00c8/menu": "/caf\u00e8", "/caf\u00e8/X/y": "/CAF\u00c8/x", "/ca": ""} {
		got, _, _ := x.In(s.Load()).LongestPrefix(of)
		require.Equal(t, want, got, of)
	}
}

func TestIndexesOfNilFunctionsPanic(t *testing.T) {
	s := cow.NewOne[string](cow.Options[int]{})
	for _, make := range []func(){
		func() { _, _ = cow.NewIndex[string, int, int](s.Table, "x", nil, cow.IndexOptions[string]{}) },
		func() { _, _ = cow.NewMultiIndex[string, int, int](s.Table, "x", nil, cow.IndexOptions[string]{}) },
		func() { _, _ = cow.NewIndexFunc[string, int, int](s.Table, "x", nil, cow.IndexOptions[string]{}) },
		func() { cow.NewOrder(s.Table, "x", nil) },
	} {
		require.PanicsWithValue(t, `cow: index "x" made with a nil function: give it one`, make)
	}
}

// A watch of a prefix wakes for what begins with it in the order of the index, and for
// nothing else.
func TestPrefixesAreWatched(t *testing.T) {
	s := cow.NewOne[string](cow.Options[string]{})
	x := mustIndex(cow.NewIndexFunc(s.Table, "folded", func(r cow.Row[string, string], add func(string)) error { add(r.Value()); return nil },
		cow.IndexOptions[string]{}, func(a, b string) int { return strings.Compare(strings.ToLower(a), strings.ToLower(b)) }))
	for _, step := range []struct {
		text  string
		wakes bool
	}{{"al", true}, {"ak", false}, {"Alice", true}, {"am", false}, {"ALZ", true}, {"zz", false}, {"", false}, {"a", false}} {
		seen := s.DB().Load()
		changed, end := s.DB().Notify(seen, x.OnRange(x.In(s.Load()).Prefix("aL")))
		_, err := s.Set("k", step.text)
		require.NoError(t, err)
		select {
		case <-changed:
			require.True(t, step.wakes, step.text)
		default:
			was, _ := s.In(seen).Get("k")
			require.False(t, step.wakes || strings.HasPrefix(strings.ToLower(was), "al"), step.text)
		}
		_, err = s.Delete("k")
		require.NoError(t, err)
		end()
	}
}

// Keys that an order of one's own finds equal are two rows all the same.
func TestKeysThatAnOrderFindsEqual(t *testing.T) {
	s := cow.NewOne[string](cow.Options[int]{})
	folded := cow.NewOrder(s.Table, "folded", func(a, b string) int { return strings.Compare(strings.ToLower(a), strings.ToLower(b)) })
	for _, w := range []string{"b", "A", "a", "B"} {
		s.Set(w, 1)
	}
	require.Equal(t, []string{"A", "a", "B", "b"}, keysOf(folded.In(s.Load())))
}

// A CompareKeys that does not tell two keys apart would lose a row.
func TestKeysThatCompareAsEqual(t *testing.T) {
	s := cow.NewOne[string](cow.Options[int]{})
	_, err := cow.NewIndex(s.Table, "one", func(cow.Row[string, int]) int { return 1 }, cow.IndexOptions[string]{CompareKeys: func(a, b string) int { return 0 }})
	require.NoError(t, err)
	s.Set("a", 1)
	s.Set("a", 2)
	require.PanicsWithValue(t, `cow: index "one" has two rows under one index key whose own keys differ but compare as equal: give a comparison of keys that tells them apart`,
		func() { s.Set("b", 1) })
	_, found := s.Get("b")
	require.False(t, found)
}

func TestRangesAreDeleted(t *testing.T) {
	s, x := tens(t)
	require.NoError(t, s.Update(func(e *cow.Editor[string, int]) error {
		threes := x.During(e).Equal(3)
		require.Equal(t, 10, threes.Delete())
		require.Zero(t, threes.Delete(), "they are gone by now")
		require.Equal(t, 10, threes.Len(), "it is what it was")
		e.Set("new", 35)
		require.Equal(t, 1, threes.Delete(), "what has come since counts")
		_, row, ok := x.During(e).From(4).TakeFirst()
		require.True(t, ok)
		require.Equal(t, "40", row.Key())
		require.Equal(t, 40, row.Value(), "a row that is out can be read")
		_, row, _ = x.During(e).Reverse().TakeFirst()
		require.Equal(t, "99", row.Key())
		queue := x.During(e).Equal(5)
		for i := range 10 {
			_, row, ok := queue.TakeFirst()
			require.True(t, ok)
			require.Equal(t, 50+i, row.Value())
		}
		_, _, ok = queue.TakeFirst()
		require.False(t, ok)
		return nil
	}))
	require.Equal(t, 78, s.Len())
	require.Equal(t, 78, x.In(s.Load()).Len())
	require.Zero(t, x.In(s.Load()).Equal(3).Len())

	// Each row counts once, whatever number of index keys it has.
	y := mustIndex(cow.NewMultiIndex(s.Table, "digits", func(r cow.Row[string, int], add func(int)) { add(r.Value() / 10); add(r.Value() % 10) }, cow.IndexOptions[string]{}))
	require.NoError(t, s.Update(func(e *cow.Editor[string, int]) error {
		require.Equal(t, 78, y.During(e).Delete())
		return nil
	}))
	require.Zero(t, s.Len())
}

func TestRangesThatCannotBeDeleted(t *testing.T) {
	s, x := tens(t)
	require.PanicsWithValue(t, `cow: Delete of a range of index "tens" in a snapshot: make it by During, in an update`, func() { x.In(s.Load()).Delete() })
	require.PanicsWithValue(t, `cow: TakeFirst of a range of index "tens" in a snapshot: make it by During, in an update`, func() { x.In(s.Load()).From(1).TakeFirst() })
	var kept cow.Range[string, int, int]
	require.NoError(t, s.Update(func(e *cow.Editor[string, int]) error { kept = x.During(e); return nil }))
	require.Panics(t, func() { kept.Delete() }, "the update has ended")
	require.Panics(t, func() { kept.TakeFirst() }, "the update has ended")
	require.Equal(t, 100, kept.Len(), "but it can be read")
	require.Panics(t, func() { cow.Range[string, int, int]{}.Delete() })
	require.Equal(t, 100, s.Len())

	// With the update, all of it goes.
	failed := errors.New("no")
	require.ErrorIs(t, s.Update(func(e *cow.Editor[string, int]) error { x.During(e).Delete(); return failed }), failed)
	require.Equal(t, 100, s.Len())
}

// Keys with bytes that are no UTF-8 have prefixes too.
func TestLongestPrefixGoesByBytes(t *testing.T) {
	all := []string{"", "a", "a\xc3", "a\xc3\xa9", "a\xff", "b", "\xff\xff"}
	byBytes := func(a, b string) int { return bytes.Compare([]byte(a), []byte(b)) }
	for name, compare := range map[string][]func(a, b string) int{"its own": nil, "a function's": {byBytes}} {
		t.Run(name, func(t *testing.T) {
			s := cow.NewOne[string](cow.Options[int]{})
			x := cow.NewOrder(s.Table, "order", compare...)
			for i := range 1 << len(all) {
				require.NoError(t, s.Replace(func(yield func(string, int) bool) {
					for j, key := range all {
						if i>>j&1 == 1 && !yield(key, 0) {
							return
						}
					}
				}))
				for _, of := range []string{"", "a", "ab", "a\xc3", "a\xc3\xa9", "a\xc3\xa9x", "a\xc3\xa8", "a\xff\xff", "\xff", "\xff\xff\xff", "c"} {
					want, found := "", false
					for j, key := range all {
						if i>>j&1 == 1 && strings.HasPrefix(of, key) && (!found || len(key) > len(want)) {
							want, found = key, true
						}
					}
					got, row, ok := x.In(s.Load()).LongestPrefix(of)
					require.Equal(t, found, ok)
					require.Equal(t, want, got)
					if ok {
						require.Equal(t, want, row.Key())
					}
				}
			}
		})
	}
}

func TestChangesOfAPrefix(t *testing.T) {
	s := cow.NewOne[string](cow.Options[int]{})
	x := cow.NewOrder(s.Table, "order")
	was := s.Load()
	for _, key := range []string{"a", "ab", "abc", "ac", "b"} {
		s.Set(key, 1)
	}
	var got []string
	for c := range x.In(nil).Prefix("ab").Changes(s.Load().Diff(was)) {
		got = append(got, c.Key)
	}
	require.ElementsMatch(t, []string{"ab", "abc"}, got)
}
