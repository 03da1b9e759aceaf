package cow_test

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow"
)

// tens is a table of rows 00 to 99 under their tens.
func tens(t *testing.T) (cow.One[string, int], *cow.Index[string, int, int]) {
	s := cow.NewOne[string](cow.Options[int]{})
	x, err := cow.NewMultiIndex(s.Table, "tens", func(r cow.Row[string, int], add func(int)) { add(r.Value() / 10) }, cow.IndexOptions[string]{})
	require.NoError(t, err)
	require.NoError(t, s.Update(func(e *cow.Editor[string, int]) error {
		for i := range 100 {
			e.Set(fmt.Sprintf("%02d", i), i)
		}
		return nil
	}))
	return s, x
}

func TestPagesGoOnWhereTheLastOneEnded(t *testing.T) {
	for name, reverse := range map[string]bool{"forwards": false, "backwards": true} {
		for where, onOne := range map[string]bool{"on one snapshot": true, "across snapshots": false} {
			t.Run(name+" "+where, func(t *testing.T) {
				s, x := tens(t)
				m := s.Load()
				var got, want []string
				for i := range 100 {
					want = append(want, fmt.Sprintf("%02d", i))
				}
				if reverse {
					slices.Reverse(want)
				}
				page, n := x.In(m), 0
				if reverse {
					page = page.Reverse()
				}
				for first := true; ; first = false {
					var at int
					var last string
					n = 0
					for i, row := range page.All() {
						got = append(got, row.Key())
						at, last = i, row.Key()
						if n++; n == 7 {
							break
						}
					}
					if n == 0 {
						break
					}
					// The last row of the page goes, and the first one; on a
					// snapshot taken before they are still there.
					s.Delete(last)
					if first {
						s.Delete(got[0])
					}
					s.Set("00", 0) // comes back where the iteration has been
					if reverse {
						s.Set("99", 99)
					}
					if !onOne {
						m = s.Load()
					}
					if reverse {
						page = x.In(m).Before(at, last).Reverse()
					} else {
						page = x.In(m).After(at, last)
					}
				}
				require.Equal(t, want, got, "each once")
			})
		}
	}
}

func TestBoundsOfOneIndexKey(t *testing.T) {
	s, x := tens(t)
	in := x.In(s.Load())
	require.Equal(t, 10, in.Equal(3).Len())
	require.Equal(t, 30, in.To(3).Len())
	require.Equal(t, 70, in.From(3).Len())
	require.Equal(t, 20, in.From(3).To(5).Len())
	require.Zero(t, in.From(5).To(3).Len())
	require.Zero(t, in.From(5).To(5).Len())
	require.Zero(t, in.Equal(3).Equal(4).Len())
	require.Equal(t, 4, in.After(3, "35").Equal(3).Len())
	require.Equal(t, 5, in.Before(3, "35").Equal(3).Len())
	require.Equal(t, 10, in.After(3, "").Equal(3).Len())
	require.Zero(t, in.After(3, "9").Equal(3).Len())
	require.Zero(t, in.After(9, "99").Len())
	require.Zero(t, in.After(99, "").Len())
	require.Zero(t, in.Before(0, "00").Len())
	require.Equal(t, 100, in.Before(99, "").Len())
	require.Equal(t, in.Len(), in.Reverse().Reverse().Len())
	i, row, ok := in.Reverse().First()
	require.True(t, ok)
	require.Equal(t, 9, i)
	require.Equal(t, "99", row.Key())
	row, ok = in.Reverse().Get(3)
	require.True(t, ok)
	require.Equal(t, "39", row.Key(), "the first in order is the last in the opposite")
	_, ok = in.From(4).Get(3)
	require.False(t, ok, "a Range has nothing outside of it")

	// Wider bounds do not widen it again.
	require.Equal(t, 20, in.From(3).To(5).From(1).To(9).After(0, "").Before(9, "").Len())
	require.Equal(t, 100, in.Len(), "to narrow makes another Range")
}

func TestRangesOfNothing(t *testing.T) {
	s := cow.NewOne[string](cow.Options[int]{})
	x := mustIndex(cow.NewMultiIndex(s.Table, "value", itself[int], cow.IndexOptions[string]{}))
	empty := func() {
		t.Helper()
		in := x.In(s.Load())
		for _, r := range []cow.Range[string, int, int]{in, in.Reverse(), in.From(1), in.To(1), in.To(1).Reverse(),
			in.Equal(1), in.After(1, "a"), in.After(1, "a").Reverse(), in.Before(1, "a").Reverse()} {
			require.Zero(t, r.Len())
			_, _, ok := r.First()
			require.False(t, ok)
			_, ok = r.Get(1)
			require.False(t, ok)
		}
	}
	empty()
	s.Set("a", 1)
	require.Equal(t, "1:a", pairs(x.In(s.Load())))
	require.Equal(t, 0, x.In(nil).Len())
	s.Delete("a")
	empty()
	s.Set("a", 2)
	require.Equal(t, "2:a", pairs(x.In(s.Load())))
}

func TestPrefixGoesByBytes(t *testing.T) {
	all := []string{"", "a", "a\x7f", "a\x80", "a\x80b", "a\x81", "a\xc3", "a\xc3\xa9", "a\xc4", "a\xef\xbf\xbd", "a\xef\xbf\xbe",
		"a\xfe\xff", "a\xff", "a\xff\xff", "b", "\xfe", "\xff", "\xff\xff", "\xff\xff\xff"}
	s := cow.NewOne[string](cow.Options[good]{})
	text := mustIndex(cow.NewMultiIndex(s.Table, "text", func(r cow.Row[string, good], add func(string)) { add(r.Value().Name) }, cow.IndexOptions[string]{}))
	raw := mustIndex(cow.NewIndexFunc(s.Table, "raw", func(r cow.Row[string, good], add func([]byte)) error { add([]byte(r.Value().Name)); return nil }, cow.IndexOptions[string]{}, bytes.Compare))
	for i, v := range all {
		s.Set(fmt.Sprint(i), good{Name: v})
	}
	for _, p := range all {
		want := slices.DeleteFunc(slices.Clone(all), func(v string) bool { return !strings.HasPrefix(v, p) })
		slices.Sort(want)
		var got []string
		for i := range text.In(s.Load()).Prefix(p).All() {
			got = append(got, i)
		}
		require.Equal(t, want, got, "%q", p)
		got = nil
		prefix := []byte(p)
		for i := range raw.In(s.Load()).Prefix(prefix).All() {
			got = append(got, string(i))
		}
		require.Equal(t, want, got, "%q", p)
		require.Equal(t, p, string(prefix), "the prefix is not written to")
	}
}

func TestIndexKeysAreApartFromTheirCallers(t *testing.T) {
	forBothIndexed(t, func(t *testing.T, s indexedSubject[good]) {
		var given [][]byte
		x := mustIndex(cow.NewIndexFunc(s.of, "bytes", func(r cow.Row[string, good], add func([]byte)) error {
			v := r.Value()
			b := []byte(v.Name)
			add(b)
			given = append(given, b)
			return nil
		}, cow.IndexOptions[string]{Unique: true}, bytes.Compare))
		spoil := func(b []byte) {
			for i := range b {
				b[i] = 'z'
			}
		}
		s.do(t, func(e *cow.Editor[string, good]) {
			for _, v := range []string{"a", "b", "c", "d"} {
				e.Set(v, good{Name: v})
			}
			x.During(e)
			for _, b := range given {
				spoil(b)
			}
		})
		for _, b := range given {
			spoil(b)
		}
		in := x.In(s.load())
		whole := func() {
			t.Helper()
			var got []string
			for i, row := range in.All() {
				require.Equal(t, row.Key(), string(i))
				got = append(got, string(i))
				spoil(i)
			}
			require.Equal(t, []string{"a", "b", "c", "d"}, got)
		}
		whole()
		whole()
		i, _, _ := in.First()
		spoil(i)
		whole()
		for name, of := range map[string]func(b []byte) cow.Range[string, good, []byte]{
			"From":   func(b []byte) cow.Range[string, good, []byte] { return in.From(b) },
			"To":     func(b []byte) cow.Range[string, good, []byte] { return in.To(b) },
			"Equal":  func(b []byte) cow.Range[string, good, []byte] { return in.Equal(b) },
			"After":  func(b []byte) cow.Range[string, good, []byte] { return in.After(b, "") },
			"After2": func(b []byte) cow.Range[string, good, []byte] { return in.After(b, "b") },
			"Before": func(b []byte) cow.Range[string, good, []byte] { return in.Before(b, "b") },
			"Prefix": func(b []byte) cow.Range[string, good, []byte] { return in.Prefix(b) },
		} {
			b := []byte("b")
			r := of(b)
			before := r.Len()
			require.NotZero(t, before)
			spoil(b)
			require.Equal(t, before, r.Len(), name)
		}
		err := s.update(func(e *cow.Editor[string, good]) error { e.Set("e", good{Name: "a"}); return nil })
		requireIndexError(t, err, "bytes", []byte("a"))
		spoil(err.(*cow.IndexError).Key.([]byte))
		whole()
	})
}

func TestKeysWithoutAnOrderNeedOne(t *testing.T) {
	node := func(r resource, add func(string)) { add(r.Node) }
	text := func(v int, add func(string)) { add(strconv.Itoa(v)) }
	anyKey := cow.NewOne[any](cow.Options[int]{})
	r := panicOf(func() {
		_, _ = cow.NewMultiIndex(anyKey.Table, "node", ofValue[any](text), cow.IndexOptions[any]{})
	})
	require.Equal(t, `cow: index "node" needs IndexOptions.CompareKeys: keys of type interface {} have no order of their own`, r)
	r = panicOf(func() {
		_, _ = cow.NewIndexFunc(anyKey.Table, "func", willing(ofValue[any](text)), cow.IndexOptions[any]{}, strings.Compare)
	})
	require.Contains(t, r, `"func"`)
	r = panicOf(func() { cow.NewOrder(anyKey.Table, "order") })
	require.Contains(t, r, `"order"`)

	s := cow.NewOne[resourceKey](cow.Options[resource]{})
	x := mustIndex(cow.NewMultiIndex(s.Table, "node", ofValue[resourceKey](node), cow.IndexOptions[resourceKey]{
		CompareKeys: func(a, b resourceKey) int { return 100 * strings.Compare(b.Name, a.Name) }, // large, and downwards
	}))
	key := func(i int) resourceKey { return resourceKey{Name: fmt.Sprintf("%02d", i)} }
	for i := range 30 {
		s.Set(key(i), resource{Node: fmt.Sprint(i % 2)})
	}
	var got []resourceKey
	for _, row := range x.In(s.Load()).After("0", key(11)).To("1").All() {
		got = append(got, row.Key())
	}
	require.Equal(t, []resourceKey{key(10), key(8), key(6), key(4), key(2), key(0)}, got)
}

// ordered is what the order of rows under one index key must be; see also
// TestEveryOrderedTypeHasAnOrder.
func ordered[K cmp.Ordered, V any](t *testing.T, keys ...K) {
	t.Helper()
	s := cow.NewOne[K](cow.Options[V]{})
	x := mustIndex(cow.NewMultiIndex(s.Table, "all", func(_ cow.Row[K, V], add func(K)) { add(keys[1]) }, cow.IndexOptions[K]{}))
	var v V
	s.Replace(maps.All(map[K]V{keys[0]: v, keys[1]: v, keys[2]: v}))
	var got []K
	for _, row := range x.In(s.Load()).All() {
		got = append(got, row.Key())
	}
	require.Equal(t, keys, got)
	require.Equal(t, 1, x.In(s.Load()).After(keys[1], keys[1]).Len())
	got = nil
	for i := range cow.NewOrder(s.Table, "order").In(s.Load()).All() {
		got = append(got, i)
	}
	require.Equal(t, keys, got)
}

func TestRowsUnderOneIndexKeyAreInTheOrderOfTheirKeys(t *testing.T) {
	type named string
	ordered[string, string](t, "", "a", "b")
	ordered[named, string](t, "a", "aa", "b")
	ordered[int, []int](t, -1, 0, 1<<30)
}
