package watch

import (
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow/internal/index"
	"github.com/cowstore/cowstore/snapshot"
)

// A two is an index key of two fields.
type two struct {
	n    int
	text string
}

func twoOf(v int) two { return two{v / 10, fmt.Sprint(v % 10 * 13)} }

// byTwo is an index by two fields, both of a value, which counts comparisons.
func byTwo(compared *int) *index.Def[int, int, two] {
	keys := func(r snapshot.Row[int, int], add func(two)) error { add(twoOf(r.Value())); return nil }
	return index.NewCompared("two", keys, index.Options[int]{}, []func(a, b two) int{
		func(a, b two) int { *compared++; return a.n - b.n },
		func(a, b two) int { *compared++; return strings.Compare(a.text, b.text) },
	})
}

// anyBounds returns bounds of each kind there is.
func anyBounds(rng *rand.Rand, all index.Span[int, int, two], n int) index.Bounds[two] {
	i := func() two {
		i := twoOf(rng.IntN(n))
		i.text = i.text[:rng.IntN(len(i.text)+1)]
		return i
	}
	s := all
	switch rng.IntN(12) {
	case 0:
		s.From(i())
	case 1:
		s.To(i())
	case 2:
		s.Leading(1, i())
	case 3:
		return s.Index().Equal(i())
	case 4:
		s.After(i(), rng.IntN(5))
	case 5:
		s.Before(i(), rng.IntN(5))
		s.From(i())
	case 6:
		low := rng.IntN(n)
		s.From(twoOf(low))
		s.To(twoOf(low + rng.IntN(30)))
	case 7:
		s.Above(i())
	case 8:
		s.Above(i())
		s.Through(i())
	case 9, 10:
		s.Prefix(i())
	}
	return s.Bounds
}

func TestIntervalsAgainstAList(t *testing.T) {
	rounds := 4000
	if testing.Short() {
		rounds = 1000
	}
	rng := rand.New(rand.NewPCG(1, 2))
	compared := 0
	x := byTwo(&compared)
	m := snapshot.New[int](snapshot.Options[int]{})
	_, m, err := x.Adder()(nil, m)
	require.NoError(t, err)
	whole := x.In(m, index.Bounds[two]{})
	const n = 200

	var root *interval[two]
	type listed struct {
		bounds index.Bounds[two]
		is     *interval[two]
	}
	var list []listed
	find := func(b *index.Bounds[two]) int {
		for i := range list {
			if x.CompareBounds(b, &list[i].bounds) == 0 {
				return i
			}
		}
		return -1
	}
	type version struct {
		root *interval[two]
		list []listed
	}
	var old []version
	check := func(v version) {
		var all []*interval[two]
		v.root.all(func(n *interval[two]) { all = append(all, n) })
		require.Len(t, all, len(v.list))
		for i := range len(all) - 1 {
			require.Negative(t, x.CompareBounds(&all[i].bounds, &all[i+1].bounds), "they are in order")
		}
		for range 5 {
			row := builderOf{}.Ref(builderOf{}.Probe(m, rng.IntN(5)))
			it := index.Item[two]{Key: twoOf(rng.IntN(n + 10)), Row: row}
			got := make(map[*index.Bounds[two]]bool)
			v.root.around(&x.Order, it, func(n *interval[two]) {
				require.False(t, got[&n.bounds], "twice")
				got[&n.bounds] = true
			})
			want := 0
			for i := range v.list {
				b := &v.list[i].bounds
				if x.IsAfterLow(b, it) && x.IsBeforeHigh(b, it) {
					want++
					is := v.root.find(&x.Order, b)
					require.True(t, got[&is.bounds])
				}
			}
			require.Len(t, got, want)
		}
	}
	for range rounds {
		b := anyBounds(rng, whole, n)
		i := find(&b)
		if rng.IntN(5) < 2 && len(list) > 0 {
			i = rng.IntN(len(list))
			b = list[i].bounds
		}
		if i >= 0 && rng.IntN(2) == 0 || len(list) > 60 {
			root = root.without(&x.Order, &b)
			if i >= 0 {
				list = append(append([]listed{}, list[:i]...), list[i+1:]...)
			}
		} else {
			next, is := root.with(&x.Order, &b)
			if i >= 0 {
				require.Same(t, root, next)
				require.Equal(t, 0, x.CompareBounds(&b, &is.bounds))
			} else {
				list = append(append([]listed{}, list...), listed{b, is})
			}
			root = next
		}
		v := version{root, list}
		check(v)
		if rng.IntN(100) == 0 {
			old = append(old, v)
		}
	}
	for _, v := range old {
		check(v)
	}
}

type builderOf = snapshot.Builder[int, int]

// What a commit pays, and who registers, does not grow with the watches that are not
// concerned, but for a logarithm.
func TestRangesThatAreNotConcernedCostLittle(t *testing.T) {
	most := func(n int) (registering, passing, leaving int) {
		compared := 0
		x := byTwo(&compared)
		_, m, err := x.Adder()(nil, snapshot.New[int](snapshot.Options[int]{}))
		require.NoError(t, err)
		whole := x.In(m, index.Bounds[two]{})
		h := New[int]()
		parts := make([]Parts[int, int, two], n)
		for i := range parts {
			part := whole
			part.From(two{i, "2"})
			part.Prefix(two{i, "2"})
			parts[i] = NewPart(x, part.Bounds)
		}
		c := NewWaiter(false)
		count := func(f func()) int {
			compared = 0
			f()
			return compared
		}
		registering = count(func() {
			for _, w := range parts {
				h.Enter()
				w.Add(h, c)
			}
		})
		passing = count(func() {
			for i := range 100 {
				m = commit(h, m, x, i, 10*(i*n/100)+9) // "117", after the range
				h.Fire(m.Version(), m)
			}
		})
		leaving = count(func() {
			for _, w := range parts {
				w.Remove(h, c)
				h.Leave(c)
			}
		})
		require.True(t, h.IsEmpty())
		return registering / n, passing / 100, leaving / n
	}
	r1, p1, l1 := most(100)
	r2, p2, l2 := most(10_000)
	t.Log("comparisons", r1, p1, l1, "and with a hundred times as many", r2, p2, l2)
	require.Less(t, r2, 6*r1, "registering")
	require.Less(t, p2, 6*p1, "passing by")
	require.Less(t, l2, 6*l1, "leaving")
}

// Whoever registers or leaves, and a commit, visits no ranges that are not concerned: behind
// these is one that lies below itself, where a walk over all would not come to an end.
func TestRangesThatAreNotConcernedAreNotVisited(t *testing.T) {
	defer debug.SetMaxStack(debug.SetMaxStack(1 << 20))
	x := byValue()
	m := commit(New[int](), snapshot.New[int](snapshot.Options[int]{}), x, 0, 0)
	whole := x.In(m, index.Bounds[int]{})
	h := New[int]()
	c := NewWaiter(false)
	watch := func(from int) Parts[int, int, int] {
		part := whole
		part.From(from)
		part.To(from + 2)
		w := NewPart(x, part.Bounds)
		h.Enter()
		w.Add(h, c)
		return w
	}
	for i := range 1000 {
		watch(i)
	}
	last := h.indexes[any(x)].(indexWatchers[int]).parts
	for last.right != nil {
		last = last.right
	}
	beyond := whole
	beyond.From(5000)
	trap := &interval[int]{bounds: beyond.Bounds}
	trap.left, trap.reach = trap, &trap.bounds
	last.right = trap
	for i := range 100 {
		w := watch(-i)
		m = commit(h, m, x, 0, 5*i)
		h.Fire(m.Version(), m)
		w.Remove(h, c)
		h.Leave(c)
	}
}

// A Clear wakes those who watch what was there, and an index asks them once.
func TestAClearIsLookedUp(t *testing.T) {
	x := byValue()
	h := New[int]()
	m := snapshot.New[int](snapshot.Options[int]{})
	for k := range 100 {
		m = commit(h, m, x, k, k)
	}
	watchers := make(map[string]*Waiter)
	add := func(name string, w Watched[int, int]) {
		c := NewWaiter(false)
		c.C = make(chan struct{}, 10) // which tells a second signal
		watchers[name] = c
		h.Enter()
		w.Add(h, c)
	}
	none := index.Bounds[int]{}
	add("a key that was there", NewKeys[int, int]([]int{5}))
	add("a key that comes", NewKeys[int, int]([]int{200}))
	add("another key", NewKeys[int, int]([]int{300}))
	part := x.In(m, none)
	part.To(10)
	add("a part of the index", NewPart(x, part.Bounds))
	add("the map", Whole[int, int]{})
	m = commit(h, m, x, 0, 0) // after which nobody is late
	h.Fire(m.Version(), m)
	for _, c := range watchers {
		for len(c.C) > 0 {
			<-c.C
		}
	}
	e := m.Edit()
	e.Clear()
	e.Set(200, 200)
	next, err := Next(h, index.Step[int, int]{Base: m, Next: e.Seal(), Cleared: true, Edit: e}, index.List[int, int]{x})
	require.NoError(t, err)
	h.Fire(next.Version(), next)
	for name, c := range watchers {
		signals := 1
		if name == "another key" {
			signals = 0
		}
		require.Len(t, c.C, signals, name)
	}
	whole := x.In(next, none)
	require.Equal(t, 1, whole.Len())
}
