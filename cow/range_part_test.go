package cow_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/snapshot"
)

func newParts(t *testing.T) (cow.One[string, good], *cow.Index[string, good, part]) {
	s := cow.NewOne[string](cow.Options[good]{})
	x, err := cow.NewIndexFunc(s.Table, "parts", func(r cow.Row[string, good], add func(part)) error {
		for _, p := range r.Value().Parts {
			add(p)
		}
		return nil
	}, cow.IndexOptions[string]{},
		func(a, b part) int { return 3 * cmp.Compare(a.team(), b.team()) },
		func(a, b part) int { return b.level() - a.level() }, // the highest first
		func(a, b part) int { return cmp.Compare(a.name(), b.name()) })
	require.NoError(t, err)
	return s, x
}

func randomPart(rng *rand.Rand) part {
	return partOf(rng.IntN(4), rng.IntN(5), rng.IntN(3))
}

func twoDigits(i int) string { return fmt.Sprintf("%02d", i) }

// A range by leading fields has what agrees with them, alone and with other bounds.
func TestLeadingFields(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	s, x := newParts(t)
	for i := range 300 {
		_, err := s.Set(twoDigits(i), good{Parts: []part{randomPart(rng), randomPart(rng)}})
		require.NoError(t, err)
	}
	all := x.In(s.Load())
	for range 300 {
		n, p, from := 1+rng.IntN(3), randomPart(rng), randomPart(rng)
		agree := func(i part) bool {
			return i.team() == p.team() && (n < 2 || i.level() == p.level()) && (n < 3 || i.name() == p.name())
		}
		order := func(a, b part) int {
			return cmp.Or(cmp.Compare(a.team(), b.team()), b.level()-a.level(), cmp.Compare(a.name(), b.name()))
		}
		var leading, bounded []string
		for i, row := range all.All() {
			if agree(i) {
				leading = append(leading, fmt.Sprint(int(i), " ", row.Key()))
				if order(i, from) >= 0 {
					bounded = append(bounded, fmt.Sprint(int(i), " ", row.Key()))
				}
			}
		}
		texts := func(r cow.Range[string, good, part]) (texts []string) {
			for i, row := range r.All() {
				texts = append(texts, fmt.Sprint(int(i), " ", row.Key()))
			}
			require.Len(t, texts, r.Len())
			return texts
		}
		require.Equal(t, leading, texts(all.Leading(n, p)))
		require.Equal(t, bounded, texts(all.Leading(n, p).From(from)))
		require.Equal(t, bounded, texts(all.From(from).Leading(n, p)))
		back := texts(all.Leading(n, p).Reverse())
		slices.Reverse(back)
		require.Equal(t, leading, back)
	}
	require.PanicsWithValue(t, `cow: Leading(4) of index "parts", whose keys have 3 fields: give it 1 to 3`, func() { all.Leading(4, 0) })
	require.PanicsWithValue(t, `cow: Leading(0) of index "parts", whose keys have 3 fields: give it 1 to 3`, func() { all.Leading(0, 0) })
	require.PanicsWithValue(t, `cow: Prefix of index "parts", whose keys, of type cow_test.part, are neither strings nor []byte nor structs that end in one: make an index whose keys do`, func() { all.Prefix(0) })
	require.PanicsWithValue(t, `cow: index "none" needs a function that compares its keys, of type *int, which have no order of their own: give one to NewIndexFunc or NewOrder`, func() {
		_, _ = cow.NewIndexFunc(s.Table, "none", func(cow.Row[string, good], func(*int)) error { return nil }, cow.IndexOptions[string]{})
	})
}

// Who follows the changes of a part has the rows of that part, and a watch of it ends
// exactly when they differ.
func TestAPartOfTheRowsIsFollowed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(3, 4))
		s, x := newParts(t)
		s.Retain(cow.Retention{Versions: 1000})
		bounds := []cow.Range[string, good, part]{
			x.In(s.Load()),
			x.In(s.Load()).Leading(1, partOf(1, 0, 0)),
			x.In(s.Load()).Leading(2, partOf(2, 2, 0)),
			x.In(s.Load()).From(partOf(1, 3, 1)).To(partOf(2, 1, 0)),
			x.In(s.Load()).After(partOf(1, 3, 1), "07"),
			x.In(s.Load()).Before(partOf(2, 1, 0), "07"),
		}
		// The rows in a part, by brute force.
		rows := func(m *cow.Map[string, good], r cow.Range[string, good, part]) map[string]uint64 {
			in := map[string]uint64{}
			for row := range m.Rows() {
				if slices.ContainsFunc(row.Value().Parts, func(p part) bool { return between(r, bounds, p, row.Key()) }) {
					in[row.Key()] = row.Revision()
				}
			}
			return in
		}
		followed := make([]map[string]uint64, len(bounds))
		watched := make([]chan struct{}, len(bounds))
		watch := func(i int) {
			since := s.Load()
			watched[i] = make(chan struct{})
			go func() {
				defer close(watched[i])
				_, _ = s.Watch(t.Context(), since, x.OnRange(bounds[i]))
			}()
		}
		for i := range bounds {
			followed[i] = map[string]uint64{}
			watch(i)
		}
		synctest.Wait()
		for range 400 {
			before := s.Load()
			require.NoError(t, s.Update(func(e *cow.Editor[string, good]) error {
				for range 1 + rng.IntN(3) {
					if k := twoDigits(rng.IntN(20)); rng.IntN(4) == 0 {
						e.Delete(k)
					} else {
						e.Set(k, good{Parts: []part{randomPart(rng), randomPart(rng)}[:rng.IntN(3)]})
					}
				}
				return nil
			}))
			synctest.Wait()
			now := s.Load()
			for i, r := range bounds {
				was, is := rows(before, r), rows(now, r)
				for c := range r.Changes(now.Diff(before)) {
					_, had := was[c.Key]
					_, has := is[c.Key]
					require.Equal(t, map[[2]bool]snapshot.Kind{{false, true}: cow.Added, {true, true}: cow.Changed, {true, false}: cow.Removed}[[2]bool{had, has}], c.Kind)
					if _, row := c.Rows(); has {
						followed[i][c.Key] = row.Revision()
					} else {
						delete(followed[i], c.Key)
					}
				}
				require.Equal(t, is, followed[i])
				select {
				case <-watched[i]:
					require.NotEqual(t, was, is, "a watch of part %d ended for nothing", i)
					watch(i)
					synctest.Wait()
				default:
					require.Equal(t, was, is, "a watch of part %d was not woken", i)
				}
			}
		}
	})
	s, other := newParts(t)
	_, x := newParts(t)
	require.PanicsWithValue(t, `cow: OnRange of index "parts" with a Range of another: make it by In or During of this one`,
		func() { x.OnRange(other.In(s.Load())) })
}

// between reports whether an index key lies in one of the ranges of the test, told by
// hand.
func between(r cow.Range[string, good, part], all []cow.Range[string, good, part], p part, key string) bool {
	order := func(a, b part) int {
		return cmp.Or(cmp.Compare(a.team(), b.team()), b.level()-a.level(), cmp.Compare(a.name(), b.name()))
	}
	switch slices.IndexFunc(all, func(o cow.Range[string, good, part]) bool { return o == r }) {
	case 0:
		return true
	case 1:
		return p.team() == 1
	case 2:
		return p.team() == 2 && p.level() == 2
	case 3:
		return order(p, partOf(1, 3, 1)) >= 0 && order(p, partOf(2, 1, 0)) < 0
	case 4:
		return cmp.Or(order(p, partOf(1, 3, 1)), strings.Compare(key, "07")) > 0
	case 5:
		return cmp.Or(order(p, partOf(2, 1, 0)), strings.Compare(key, "07")) < 0
	}
	panic("a range of something else")
}
