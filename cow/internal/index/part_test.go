package index

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow/internal/ordered"
	"github.com/cowstore/cowstore/snapshot"
)

// descents returns how often f goes down a tree to the first place below a node or to the last:
// a walk does so for each leaf.
func descents(f func()) (n int) {
	ordered.Descending = func() { n++ }
	defer func() { ordered.Descending = nil }()
	f()
	return n
}

// Entries are skipped, and two versions found to have the same rows, without a walk over what is
// skipped, or what they share.
func TestPartsAreNotWalkedOver(t *testing.T) {
	const most = 2 * 3 * 32 // both go by each kid of a node on each level of the larger tree
	for _, n := range []int{1000, 20_000} {
		x := NewOrdered("value", func(r snapshot.Row[int, int], add func(int)) { add(r.Value()) }, Options[int]{})
		list, m, err := x.Adder()(nil, snapshot.New[int](snapshot.Options[int]{}))
		require.NoError(t, err)
		edit := func(f func(e *snapshot.Editor[int, int])) {
			e := m.Edit()
			f(e)
			changes := snapshot.Builder[int, int]{}.Net(e, nil)
			m, err = Next(Step[int, int]{Base: m, Next: e.Seal(), Changes: changes, Edit: e}, list, nil)
			require.NoError(t, err)
		}
		edit(func(e *snapshot.Editor[int, int]) {
			for i := range n {
				e.Set(i, i)
			}
		})
		whole := x.In(m, Bounds[int]{})
		for _, reverse := range []bool{false, true} {
			for _, at := range []int{1, n / 2, n - 10} {
				s, want := whole, at
				if reverse {
					s.Reverse()
					want = n - 1 - at
				}
				require.LessOrEqual(t, descents(func() {
					s.Skip(at)
					s.Limit(5)
					require.Equal(t, 5, s.Len())
					i, _, ok := s.First()
					require.True(t, ok)
					require.Equal(t, want, i)
				}), 4, "of %d entries skipped, %d", n, at)
			}
		}

		for _, reverse := range []bool{false, true} { // it ends in the leaf where its bound is
			part := whole
			if reverse {
				part.From(n - 2)
				part.To(n)
				part.Reverse()
			} else {
				part.From(0)
				part.To(2)
			}
			require.Zero(t, descents(func() {
				read := 0
				part.Each(func(int, snapshot.Row[int, int]) bool { read++; return true })
				require.Equal(t, 2, read)
			}))
		}

		part := whole
		part.From(1)
		edit(func(e *snapshot.Editor[int, int]) { e.Set(0, 0) }) // another row beside those of the part
		next := x.In(m, part.Bounds)
		require.LessOrEqual(t, descents(func() { require.True(t, next.HasSameRows(&part.Part)) }), most, "of %d rows", n)
		edit(func(e *snapshot.Editor[int, int]) { e.Set(n/2, n/2) })
		next = x.In(m, part.Bounds)
		require.LessOrEqual(t, descents(func() { require.False(t, next.HasSameRows(&part.Part)) }), most, "of %d rows", n)
	}
}
