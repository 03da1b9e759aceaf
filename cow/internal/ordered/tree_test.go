package ordered

import (
	"cmp"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// A pair is an item of the model: rows count after keys, and text says which write it
// is of.
type pair struct {
	key  int
	row  row
	name string // of the key: equal keys may differ
}

type row struct{ id, write, bound int }

type name struct {
	key  int
	name string
}

// The order takes a row with a bound of 1 for above, and of -1 for below, all others
// with that key.
var order = &Order[name, row]{
	Keys: func(a, b name, r row) int { return cmp.Or(cmp.Compare(a.key, b.key), -r.bound) },
	Rows: func(a, b row) int { return cmp.Compare(a.id, b.id) },
}

func comparePairs(a, b pair) int {
	return cmp.Or(cmp.Compare(a.key, b.key), -b.row.bound, cmp.Compare(a.row.id, b.row.id))
}

// pairs returns what Next gives, from a place on.
func pairs(next func() ([]name, []row)) iter.Seq[pair] {
	return func(yield func(pair) bool) {
		for {
			keys, rows := next()
			if len(keys) == 0 {
				return
			}
			for i, k := range keys {
				if !yield(pair{k.key, rows[i], k.name}) {
					return
				}
			}
		}
	}
}

// placesOf are before the first item of a tree, and after the last.
func placesOf[K, R any](t Tree[K, R]) (start, end Cursor[K, R]) {
	start.Start(t)
	end.End(t)
	return start, end
}

// A place is a bound in the order of the tests; all is none.
type place = Bound[name, row]

var all place

func seek(t Tree[name, row], k name, r row) (c Cursor[name, row]) {
	c.Seek(t, &place{Order: order, Key: k, Row: r})
	return c
}

// to and downTo are Next and Prev to a place.
func to[K, R any](c *Cursor[K, R], end Bound[K, R]) func() ([]K, []R) {
	return func() ([]K, []R) { return c.Next(&end) }
}

func downTo[K, R any](c *Cursor[K, R], start Bound[K, R]) func() ([]K, []R) {
	return func() ([]K, []R) { return c.Prev(&start) }
}

func backwards(prev func() ([]name, []row)) []pair {
	var all []pair
	for {
		keys, rows := prev()
		if len(keys) == 0 {
			return all
		}
		for i := len(keys) - 1; i >= 0; i-- {
			all = append(all, pair{keys[i].key, rows[i], keys[i].name})
		}
	}
}

// check demands that a tree has these items and that its nodes are as they must be.
func check(t *testing.T, tree Tree[name, row], want []pair) {
	t.Helper()
	require.Equal(t, len(want), tree.Len())
	start, end := placesOf(tree)
	c := start
	requireSame(t, want, slices.AppendSeq(make([]pair, 0, len(want)), pairs(to(&c, all))))
	c = end
	back := backwards(downTo(&c, all))
	slices.Reverse(back)
	requireSame(t, want, back)
	k, r, ok := tree.First()
	require.Equal(t, len(want) > 0, ok)
	if ok {
		require.Equal(t, want[0], pair{k.key, r, k.name})
		checkNode(t, tree.root, depth(tree.root))
	}
	for i := 0; i < len(want); i += 1 + len(want)/7 {
		k, r := tree.At(i)
		require.Equal(t, want[i], pair{k.key, r, k.name})
		at := seek(tree, k, r)
		require.Equal(t, i, at.Rank())
		k, r, ok := at.Item()
		require.True(t, ok)
		require.Equal(t, want[i], pair{k.key, r, k.name})
	}
	require.Equal(t, len(want), end.Rank())
	_, _, ok = end.Item()
	require.False(t, ok)
}

func requireSame(t *testing.T, want, got []pair) {
	t.Helper()
	if !slices.Equal(want, got) {
		require.Equal(t, want, got) // which is slow, and shows them
	}
}

func depth[K any](n *node[K]) int {
	if !n.isBranch {
		return 1
	}
	return 1 + depth(kidsOf(n).at[0])
}

func checkNode(t *testing.T, n *node[name], height int) {
	require.Positive(t, n.n)
	require.LessOrEqual(t, int(n.n), width)
	for i := int(n.n); i < width; i++ {
		if n.keys[i] != (name{}) {
			t.Fatal("a key is kept")
		}
		if n.isBranch {
			require.Nil(t, kidsOf(n).at[i], "a kid is kept")
		} else if rowsOf[name, row](n).at[i] != (row{}) {
			t.Fatal("a row is kept")
		}
	}
	if !n.isBranch {
		require.Equal(t, 1, height)
		return
	}
	below := 0
	for i, kid := range kidsOf(n).at[:n.n] {
		require.Equal(t, kid.keys[0], n.keys[i])
		checkNode(t, kid, height-1)
		below += kid.items()
	}
	require.Equal(t, below, n.items())
}

// A version is a tree and what must be in it.
type version struct {
	tree  Tree[name, row]
	model []pair
}

func TestTreesAgainstAModel(t *testing.T) {
	seeds := uint64(40)
	if testing.Short() {
		seeds = 3
	}
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 1))
			keys, rows := 1+rng.IntN(300), 1+rng.IntN(20)
			var old []version
			var v version
			if rng.IntN(2) == 0 {
				for i := range rng.IntN(3000) {
					v.model = append(v.model, pair{i / 3, row{i, 0, 0}, "built"})
				}
				v.tree = Build(len(v.model), func(i int) (name, row) { p := v.model[i]; return name{p.key, p.name}, p.row })
				check(t, v.tree, v.model)
			}
			write := 0
			for range 60 {
				old = append(old, version{v.tree, slices.Clone(v.model)})
				e := v.tree.Edit(order)
				grow := rng.IntN(3)
				for range 1 + rng.IntN(100) {
					p := pair{key: rng.IntN(keys), row: row{id: rng.IntN(rows)}}
					if rng.IntN(4) == 0 && len(v.model) > 0 {
						p = v.model[rng.IntN(len(v.model))]
					}
					i, found := slices.BinarySearchFunc(v.model, p, comparePairs)
					if rng.IntN(3) >= grow {
						require.Equal(t, found, e.Delete(name{key: p.key}, p.row))
						if found {
							v.model = slices.Delete(v.model, i, i+1)
						}
						continue
					}
					write++
					p.row.write, p.name = write, fmt.Sprint(write)
					same := found && rng.IntN(2) == 0
					if same {
						p.name = v.model[i].name
					}
					e.Set(name{p.key, p.name}, p.row, same)
					if found {
						v.model[i] = p
					} else {
						v.model = slices.Insert(v.model, i, p)
					}
					k, r, ok := e.Get(order, name{key: p.key}, row{id: p.row.id})
					require.True(t, ok)
					require.Equal(t, p, pair{k.key, r, k.name})
				}
				v.tree = e.Seal()
				if rng.IntN(8) == 0 { // a sealed Editor may go on, and changes nothing
					for range 50 {
						e.Set(name{rng.IntN(keys), "late"}, row{id: rng.IntN(rows)}, false)
						e.Delete(name{key: rng.IntN(keys)}, row{id: rng.IntN(rows)})
					}
				}
				check(t, v.tree, v.model)
				p := pair{key: rng.IntN(keys), row: row{id: rng.IntN(rows), bound: rng.IntN(3) - 1}}
				i, _ := slices.BinarySearchFunc(v.model, p, comparePairs)
				q := pair{key: rng.IntN(keys), row: row{id: rng.IntN(rows), bound: rng.IntN(3) - 1}}
				high := place{order, name{key: q.key}, q.row, rng.IntN(2) == 0}
				j, found := slices.BinarySearchFunc(v.model, q, comparePairs)
				if found && high.After {
					j++
				}
				start, end := placesOf(v.tree)
				c := seek(v.tree, name{key: p.key}, p.row)
				requireSame(t, v.model[i:max(i, j)], slices.AppendSeq([]pair{}, pairs(to(&c, high))))
				requireSame(t, v.model[:j], slices.AppendSeq([]pair{}, pairs(to(&start, high))))
				c = seek(v.tree, name{key: p.key}, p.row)
				for _, from := range []struct {
					c    Cursor[name, row]
					last int
				}{{c, i}, {end, len(v.model)}} {
					back := backwards(downTo(&from.c, high))
					slices.Reverse(back)
					requireSame(t, v.model[min(j, from.last):from.last], back)
				}
			}
			for _, v := range old {
				check(t, v.tree, v.model)
			}
		})
	}
}

// sameRest reports whether two trees have the same rows from two places on, at which they
// may skip what they share, and how many items it had to look at.
func sameRest(c, d *Cursor[name, row], end place) (same bool, looked int) {
	var x, y []row
	for {
		if len(x) == 0 && len(y) == 0 {
			for skips := 0; SkipShared(c, d); skips++ {
				if skips > 10_000 { // more than there are leaves
					panic("SkipShared does not come to an end")
				}
			}
		}
		if len(x) == 0 {
			_, x = c.Next(&end)
		}
		if len(y) == 0 {
			_, y = d.Next(&end)
		}
		n := min(len(x), len(y))
		if n == 0 {
			return len(x) == len(y), looked
		}
		looked += n
		if !slices.Equal(x[:n], y[:n]) {
			return false, looked
		}
		x, y = x[n:], y[n:]
	}
}

func TestWhatTwoTreesShareIsSkipped(t *testing.T) {
	seeds := uint64(20)
	if testing.Short() {
		seeds = 2
	}
	for seed := range seeds {
		rng := rand.New(rand.NewPCG(seed, 2))
		keys := 1 + rng.IntN(5000)
		var trees []Tree[name, row]
		var v Tree[name, row]
		for range 12 {
			e := v.Edit(order)
			for range rng.IntN(keys) {
				k, r := name{key: rng.IntN(keys)}, row{id: rng.IntN(3)}
				if rng.IntN(3) == 0 {
					e.Delete(k, r)
				} else {
					_, was, found := e.Get(order, k, r)
					if found && rng.IntN(2) == 0 {
						r = was // the same row, in a node of its own
					} else {
						r.write = rng.Int()
					}
					e.Set(k, r, false)
				}
			}
			v = e.Seal()
			trees = append(trees, v)
		}
		rows := func(c Cursor[name, row], end place) (all []row) {
			for p := range pairs(to(&c, end)) {
				all = append(all, p.row)
			}
			return all
		}
		for range 300 {
			a, b := trees[rng.IntN(len(trees))], trees[rng.IntN(len(trees))]
			c, _ := placesOf(a)
			d, _ := placesOf(b)
			any := func() (name, row) {
				return name{key: rng.IntN(keys)}, row{id: rng.IntN(3), bound: rng.IntN(3) - 1}
			}
			if rng.IntN(2) == 0 {
				k, r := any()
				c, d = seek(a, k, r), seek(b, k, r)
			}
			end := all
			if rng.IntN(2) == 0 {
				k, r := any()
				end = place{order, k, r, rng.IntN(2) == 0}
			}
			want := slices.Equal(rows(c, end), rows(d, end))
			same, _ := sameRest(&c, &d, end)
			require.Equal(t, want, same)
		}
	}
}

// To see that two trees are the same but for a node takes a look at few items.
func TestLittleIsLookedAtWhereMuchIsShared(t *testing.T) {
	tree := Build(100_000, func(i int) (name, row) { return name{key: i}, row{id: i} })
	e := tree.Edit(order)
	e.Set(name{key: 50_000}, row{id: 50_000}, true) // the same row again
	next := e.Seal()
	c, _ := placesOf(tree)
	d, _ := placesOf(next)
	same, looked := sameRest(&c, &d, all)
	require.True(t, same)
	require.LessOrEqual(t, looked, width)
	c, _ = placesOf(tree)
	d = c
	same, looked = sameRest(&c, &d, all)
	require.True(t, same)
	require.Zero(t, looked)
}

// What comes in order, up or down, and what goes in order leaves no thin tree behind.
func TestTreesStayLow(t *testing.T) {
	const n = 100_000
	for _, up := range []bool{true, false} {
		e := Tree[int, struct{}]{}.Edit(natural[int, struct{}]())
		for i := range n {
			if !up {
				i = n - i
			}
			e.Set(i, struct{}{}, true)
		}
		tree := e.Seal()
		require.Equal(t, n, tree.Len())
		require.LessOrEqual(t, depth(tree.root), 5)
		e = tree.Edit(natural[int, struct{}]())
		for i := range n + 1 {
			if i%100 != 0 {
				e.Delete(i, struct{}{})
			}
		}
		thin, leaves := e.Seal(), 0
		for c, _ := placesOf(thin); ; leaves++ {
			if keys, _ := c.Next(&Bound[int, struct{}]{}); len(keys) == 0 {
				break
			}
		}
		require.LessOrEqual(t, leaves, thin.Len()/4, "of %d items", thin.Len())
		require.Equal(t, n, tree.Len())
	}
}

// A row in the place of another shares all keys with the tree before.
func TestRowsAreReplacedWithoutTheirKeys(t *testing.T) {
	tree := Build(10_000, func(i int) (string, int) { return fmt.Sprintf("%05d", i), 0 })
	order := natural[string, int]()
	e := tree.Edit(order)
	e.Set("05000", 1, true)
	next := e.Seal()
	_, row, _ := next.Get(order, "05000", 0)
	require.Equal(t, 1, row)
	x, _ := placesOf(next)
	y, _ := placesOf(tree)
	for {
		a, _ := x.Next(&Bound[string, int]{})
		b, _ := y.Next(&Bound[string, int]{})
		if len(a) == 0 {
			break
		}
		require.Same(t, &a[0], &b[0])
	}
	allocs := testing.AllocsPerRun(100, func() {
		e := tree.Edit(order)
		e.Set("05000", 1, true)
		next = e.Seal()
	})
	require.LessOrEqual(t, allocs, 3+2.0) // one for each node, and two owners
}

// natural is the Order of items by their keys alone.
func natural[K cmp.Ordered, R any]() *Order[K, R] {
	return &Order[K, R]{Keys: func(a, b K, _ R) int { return cmp.Compare(a, b) }}
}
