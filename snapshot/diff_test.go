package snapshot

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// changes returns the changes from older to newer as text, in order.
func changes(newer, older *Map[string, *parcel]) []string {
	var out []string
	for c := range newer.Diff(older) {
		text := fmt.Sprint(c.Kind, " ", c.Key)
		if v, ok := c.Old(); ok {
			text += fmt.Sprint(" from ", v.number())
		}
		if v, ok := c.New(); ok {
			text += fmt.Sprint(" to ", v.number())
		}
		out = append(out, text)
	}
	slices.Sort(out)
	return out
}

func TestDiff(t *testing.T) {
	m := small(4)
	e := m.Edit()
	e.Set("key1", newParcel(10))
	e.Set("key2", newParcel(2)) // an equal value
	e.Delete("key3")
	e.Set("key5", newParcel(5))
	n := e.Seal()
	require.Equal(t, []string{
		"added key5 to 5", "changed key1 from 1 to 10", "changed key2 from 2 to 2", "removed key3 from 3",
	}, changes(n, m))
	require.Equal(t, []string{
		"added key3 to 3", "changed key1 from 10 to 1", "changed key2 from 2 to 2", "removed key5 from 5",
	}, changes(m, n))
	require.Empty(t, changes(m, m))
	require.Empty(t, changes(n, n))
	require.Equal(t, []string{"added key1 to 1", "added key2 to 2", "added key3 to 3", "added key4 to 4"}, changes(m, nil))
	require.Equal(t, []string{"removed key1 from 1", "removed key2 from 2", "removed key3 from 3", "removed key4 from 4"},
		changes(nil, m))
	require.Equal(t, changes(m, nil), changes(m, new(Map[string, *parcel])))
	require.Empty(t, changes(nil, nil))

	// What was set back is a change all the same; what was added and deleted
	// is none.
	e = n.Edit()
	e.Set("key1", newParcel(1))
	e.Set("key3", newParcel(3))
	e.Delete("key5")
	require.Equal(t, []string{"changed key1 from 1 to 1", "changed key2 from 2 to 2", "changed key3 from 3 to 3"},
		changes(e.Seal(), m))
	require.Equal(t, changes(n, m), changes(n, m), "a Diff may be asked again")
}

func TestDiffOfForksAndStrangers(t *testing.T) {
	m := small(100)
	e := m.Edit()
	e.Set("key1", newParcel(11))
	e.Set("left", newParcel(1))
	a := e.Seal()
	e = m.Edit()
	e.Set("key1", newParcel(12))
	e.Delete("key2")
	b := e.Seal()
	require.Equal(t, []string{"added key2 to 2", "added left to 1", "changed key1 from 12 to 11"}, changes(a, b))
	require.Equal(t, []string{"changed key1 from 11 to 12", "removed key2 from 2", "removed left from 1"}, changes(b, a))

	stranger := small(99)
	got := changes(m, stranger)
	require.Len(t, got, 100, "no entry is shared, so every key has changed")
	require.Contains(t, got, "added key100 to 100")
	require.Contains(t, got, "changed key50 from 50 to 50")
}

func TestChangesAreIsolated(t *testing.T) {
	m := small(3)
	e := m.Edit()
	e.Set("key1", newParcel(10))
	e.Delete("key2")
	e.Set("new", newParcel(4))
	n := e.Seal()
	all := slices.Collect(n.Diff(m))
	require.Len(t, all, 3)
	for _, c := range all {
		for _, get := range []func() (*parcel, bool){c.Old, c.New} {
			v, ok := get()
			if !ok {
				require.Nil(t, v)
				continue
			}
			number := v.number()
			v.spoil()
			v, _ = get()
			require.Equal(t, number, v.number())
		}
	}
	for k, v := range map[string]int{"key1": 10, "new": 4} {
		got, _ := n.Get(k)
		require.Equal(t, v, got.number())
	}
	for k, v := range map[string]int{"key1": 1, "key2": 2} {
		got, _ := m.Get(k)
		require.Equal(t, v, got.number())
	}

	// A map whose values are shared on purpose shares them here too.
	p, q := new(int), new(int)
	i := must(Collect(Options[*int]{Immutable: true}, maps.All(map[string]*int{"a": p})))
	f := i.Edit()
	f.Set("a", q)
	for c := range f.Seal().Diff(i) {
		v, _ := c.Old()
		require.Same(t, p, v)
		v, _ = c.New()
		require.Same(t, q, v)
	}

	var zero Change[string, int]
	_, ok := zero.Old()
	require.False(t, ok)
	_, ok = zero.New()
	require.False(t, ok)
}

func TestKinds(t *testing.T) {
	require.Equal(t, "added changed removed unknown", fmt.Sprint(Added, " ", Changed, " ", Removed, " ", Kind(0)))
}

// A Diff looks at the pages that changed, whatever the size of the maps.
func TestDiffTakesTheTimeOfTheChanges(t *testing.T) {
	m := New[int](Options[int]{})
	good, hashed := m.cfg.hash, 0
	m.cfg.hash = func(key int) uint64 { hashed++; return good(key) }
	e := m.Edit()
	e.SetAll(numbers(100_000))
	m = e.Seal()
	e = m.Edit()
	for i := range 4 {
		e.Set(i*10_000, -1)
		e.Delete(i*10_000 + 1)
	}
	e.Set(-1, 0)
	e.Set(-2, 0)
	n := e.Seal()
	count := func(newer, older *Map[int, int], want int) {
		t.Helper()
		hashed = 0
		require.Len(t, slices.Collect(newer.Diff(older)), want)
		// Each change is in one page, or two after a split, of each map, and at
		// most each entry there is looked up.
		require.LessOrEqual(t, hashed, want*2*2*capacity(maxBuckets))
		t.Logf("%d changes: %d keys hashed", want, hashed)
	}
	count(n, m, 10)
	count(m, n, 10)

	// The same between forks that are both far from where they parted.
	left, right := m, m
	for i := range 50 {
		e := left.Edit()
		e.Set(i*100, i)
		left = e.Seal()
		e = right.Edit()
		e.Set(i*100+50, i)
		right = e.Seal()
	}
	count(left, right, 100)
	count(right, left, 100)
	hashed = 0
	require.Empty(t, slices.Collect(m.Diff(m)))
	require.Zero(t, hashed)
}

// What two maps share is not looked at, be it a page, a directory or a bag.
func TestDiffSkipsWhatIsShared(t *testing.T) {
	m := New[int](Options[int]{})
	good, hashed := m.cfg.hash, 0
	m.cfg.hash = func(key int) uint64 {
		hashed++
		if key < 1000 {
			return 0
		}
		return good(key) | 1<<63
	}
	e := m.Edit()
	e.SetAll(numbers(3000))
	m = e.Seal()
	require.Equal(t, 1, shapeOf(m).bags)
	e = m.Edit()
	e.Set(2000, -1)
	n := e.Seal()
	hashed = 0
	require.Len(t, slices.Collect(n.Diff(m)), 1)
	require.LessOrEqual(t, hashed, 2*capacity(maxBuckets))
}

// Sealing after an add and a delete compares with the map it began with: that
// too must take the time of the edit.
func TestSealTakesTheTimeOfTheEdit(t *testing.T) {
	m := New[int](Options[int]{})
	good, hashed := m.cfg.hash, 0
	m.cfg.hash = func(key int) uint64 { hashed++; return good(key) }
	e := m.Edit()
	e.SetAll(numbers(100_000))
	m = e.Seal()
	hashed = 0
	e = m.Edit()
	e.Set(-1, 1)
	e.Delete(-1)
	require.Same(t, m, e.Seal())
	require.LessOrEqual(t, hashed, 8*capacity(maxBuckets))
}

// A page that fills a run of slots is compared with whatever is in each of
// them: every shape of one tree meets every shape of the other. Below the root
// there are wide directories too.
func TestDiffOfTreesOfAllShapes(t *testing.T) {
	t.Run("at the root", func(t *testing.T) { testDiffOfShapes(t, 0) })
	t.Run("below it", func(t *testing.T) { testDiffOfShapes(t, fanBits) })
}

func testDiffOfShapes(t *testing.T, depth uint) {
	base := New[int](Options[int]{})
	// Fixed, so that the shapes are the same each time.
	base.cfg.hash = func(key int) uint64 { return uint64(key) * 0x9e37_79b9_7f4a_7c15 >> depth }
	grow := func(from *Map[int, int], n, step int) *Map[int, int] {
		e := from.Edit()
		for i := range n {
			e.Set(i*step, n+i)
		}
		return e.Seal()
	}
	// Some share all but a few entries, in pages of other sizes, some share none.
	shared := grow(base, 60, 3)
	shapes := []*Map[int, int]{nil, base, shared}
	for _, n := range []int{1, 7, 8, 40, 48, 49, 60, 100, 200, 400, 800, 1500, 2000} {
		m := grow(base, n, 1)
		e := m.Edit()
		for i := range n * 3 / 4 {
			e.Delete(i)
		}
		e.Set(-1, n)
		shapes = append(shapes, m, e.Seal(), grow(shared, n, 2))
	}
	wide := 0
	for _, a := range shapes {
		checkTree(t, a)
		if a != nil && bucketsOf(a.root.kid[0]) == wideKid {
			wide++
		}
		for _, b := range shapes {
			got := maps.Collect(b.All())
			seen := map[int]bool{}
			for c := range a.Diff(b) {
				_, there := got[c.Key]
				if seen[c.Key] || there != (c.Kind != Added) || a.lookup(c.Key) == b.lookup(c.Key) {
					t.Fatalf("%v %d, once before: %v", c.Kind, c.Key, seen[c.Key])
				}
				seen[c.Key] = true
				if v, ok := c.New(); ok {
					got[c.Key] = v
				} else {
					delete(got, c.Key)
				}
			}
			require.Equal(t, maps.Collect(a.All()), got)
		}
	}
	require.Equal(t, depth > 0, wide > 2)
}

// A page may fill more slots of a wide directory than one of the other has for it, which holds a
// directory: its entries are told once.
func TestDiffOfAPageThatReachesBeyondADirectory(t *testing.T) {
	base := New[int](Options[int]{})
	base.cfg.hash = func(key int) uint64 { // the slot of a wide directory, and the rest
		return uint64(key/1000)<<(hashBits-fanBits-wideBits) | uint64(key%1000)*0x9e37_79b9_7f4a_7c15>>(fanBits+wideBits)
	}
	fill := func(slots, n int, e *Editor[int, int]) {
		for i := range n {
			e.Set(slots*1000+i, i)
		}
	}
	e := base.Edit()
	for slot := range 2 * group {
		fill(slot, 1, e)
	}
	for slot := 5 * group; slot < 14*group; slot++ {
		fill(slot, 20, e)
	}
	one := e.Seal()
	e = base.Edit()
	for slot := group; slot < 2*group; slot++ {
		fill(slot, 50, e)
	}
	other := e.Seal()
	require.Equal(t, uint64(wideKid), bucketsOf(one.root.kid[0]))
	require.True(t, isDirectory(nodeAt[int](other.root.kid[0]).kid[1]))
	for _, maps := range [][2]*Map[int, int]{{one, other}, {other, one}} {
		kinds := map[Kind]int{}
		for c := range maps[0].Diff(maps[1]) {
			kinds[c.Kind]++
		}
		require.Equal(t, group, kinds[Changed])
		require.Equal(t, maps[0].Len()-group, kinds[Added])
		require.Equal(t, maps[1].Len()-group, kinds[Removed])
	}
}

// A directory that gives its place to one of another kind still shares its pages with it, and
// with those below it: only the page is looked at that needed the place.
func TestDiffOfDirectoriesOfTwoKindsSkipsWhatTheyShare(t *testing.T) {
	m := New[int](Options[int]{})
	good, hashed := m.cfg.hash, 0
	m.cfg.hash = func(key int) uint64 { hashed++; return good(key) >> fanBits }
	kinds := map[uint64]int{}
	for i := range 3000 {
		e := m.Edit()
		e.Set(i, i)
		n := e.Seal()
		kinds[bucketsOf(n.root.kid[0])]++
		hashed = 0
		require.Len(t, slices.Collect(n.Diff(m)), 1)
		require.LessOrEqual(t, hashed, 2*(capacity(maxBuckets)+1))
		hashed = 0
		require.Len(t, slices.Collect(m.Diff(n)), 1)
		require.LessOrEqual(t, hashed, 2*(capacity(maxBuckets)+1))
		m = n
	}
	require.Greater(t, kinds[0], 1000)
	require.Greater(t, kinds[wideKid], 300)
}
