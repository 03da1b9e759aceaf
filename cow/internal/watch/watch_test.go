package watch

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow/internal/index"
	"github.com/cowstore/cowstore/snapshot"
)

func byValue() *index.Def[int, int, int] {
	x := index.NewOrdered("value", func(r snapshot.Row[int, int], add func(int)) { add(r.Value()) }, index.Options[int]{})
	_, _, _ = x.Adder()(nil, snapshot.New[int](snapshot.Options[int]{})) // it is of a map then
	return x
}

// Registering many keys goes in steps, between which commits go first.
func TestAWatchOfManyKeysIsRegisteredInSteps(t *testing.T) {
	const n = 10 * atOnce
	keys := make([]int, n)
	for i := range keys {
		keys[i] = i
	}
	h := New[int]()
	c := NewWaiter(false)
	h.Enter()
	largest, before := 0, 0
	h.stepping = func() {
		largest, before = max(largest, len(h.keys)-before, before-len(h.keys)), len(h.keys)
	}
	w := NewKeys[int, int](keys)
	w.Add(h, c)
	require.Len(t, h.keys, n)
	w.Remove(h, c)
	require.Empty(t, h.keys)
	require.Equal(t, atOnce, largest, "keys registered at once")

	of := NewIndexKeys(byValue(), keys)
	steps := 0
	h.stepping = func() { steps++ }
	of.Add(h, c)
	require.Equal(t, n/atOnce, steps)
	of.Remove(h, c)
	require.Equal(t, 2*n/atOnce, steps)
	require.False(t, h.IsEmpty())
	h.Leave(c)
	require.True(t, h.IsEmpty())
}

// commit returns the map that one write makes of base, having looked up whom that wakes.
func commit[I any](h *Hub[int], base *snapshot.Map[int, int], x *index.Def[int, int, I], key, v int) *snapshot.Map[int, int] {
	e := base.Edit()
	e.Set(key, v)
	changes := snapshot.Builder[int, int]{}.Net(e, nil)
	m, _ := Next(h, index.Step[int, int]{Base: base, Next: e.Seal(), Changes: changes, Edit: e}, index.List[int, int]{x})
	return m
}

// Whoever registers between the moment at which a commit is looked up and that at
// which it is published is woken.
func TestAWatchThatComesWhileACommitIsUnderWay(t *testing.T) {
	x := byValue()
	since := commit(New[int](), snapshot.New[int](snapshot.Options[int]{}), x, 1, 0)
	part := x.In(since, index.Bounds[int]{})
	part.To(2)
	for name, w := range map[string]Watched[int, int]{
		"key":               NewKeys[int, int]([]int{1}),
		"index key":         NewIndexKeys(x, []int{1}),
		"index range":       NewPart(x, part.Bounds),
		"map":               Whole[int, int]{},
		"the first watcher": NewKeys[int, int]([]int{1}),
	} {
		t.Run(name, func(t *testing.T) {
			h := New[int]()
			other := NewWaiter(false)
			if name != "the first watcher" {
				h.Enter()
				NewKeys[int, int]([]int{99}).Add(h, other)
			}
			m := commit(h, since, x, 1, 1)
			c := NewWaiter(false)
			h.Enter()
			w.Add(h, c)
			h.Fire(m.Version(), m)
			require.Len(t, c.C, 1, "it was registered before the swap")
			for len(other.C) > 0 {
				<-other.C
			}
			<-c.C
			// The next commit wakes those whom it concerns.
			n := commit(h, m, x, 2, 7)
			h.Fire(n.Version(), n)
			require.Empty(t, other.C)
			if name == "map" {
				require.Len(t, c.C, 1)
			} else {
				require.Empty(t, c.C)
			}
			require.Empty(t, h.pending)
			require.Empty(t, h.late)
		})
	}
}

// The slice of keys is the caller's, to go on with.
func TestKeysAreThoseOfThen(t *testing.T) {
	keys := []int{1, 2}
	w := NewKeys[int, int](keys)
	keys[0], keys[1] = 3, 4
	require.Equal(t, Keys[int, int]{1, 2}, w)
}
