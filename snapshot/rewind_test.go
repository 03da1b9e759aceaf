package snapshot

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"
)

// requireSame requires that two maps have the same rows, by identity.
func requireSame[K comparable, V any](t testing.TB, want, got *Map[K, V]) {
	t.Helper()
	require.Equal(t, want.Version(), got.Version())
	require.Equal(t, want.Len(), got.Len())
	for c := range got.Diff(want) {
		require.Fail(t, "another row", "%v %v", c.Kind, c.Key)
	}
	for row := range want.Rows() {
		same, ok := got.Row(row.Key())
		require.True(t, ok)
		require.Equal(t, row.Revision(), got.Revision(row.Key()))
		require.True(t, row == same)
	}
	n := 0
	for range got.Keys() {
		n++
	}
	require.Equal(t, want.Len(), n)
}

// A past is a line of maps and what changed between them.
type past[K comparable, V any] struct {
	maps    []*Map[K, V]
	changes [][]Change[K, V] // of maps[i], since maps[i-1]
}

// newPast makes random edits, small and large, that often undo one another.
func newPast[K comparable, V any](m *Map[K, V], keys []K, of func(int) V, r *rand.Rand, edits int) past[K, V] {
	p := past[K, V]{[]*Map[K, V]{m}, [][]Change[K, V]{nil}}
	for i := range edits {
		older := p.maps[len(p.maps)-1]
		e := older.editAt(older.Version() + 1 + uint64(r.IntN(3)))
		n := 1 + r.IntN(5)
		if i%5 == 0 {
			n = r.IntN(2 * len(keys))
		}
		if r.IntN(10) == 0 {
			e.Clear()
		}
		deletes := r.IntN(4)
		for j := range n {
			if k := keys[r.IntN(len(keys))]; r.IntN(4) < deletes {
				e.Delete(k)
			} else {
				e.Set(k, of(i*1000+j))
			}
		}
		newer := e.Seal()
		p.maps = append(p.maps, newer)
		p.changes = append(p.changes, slices.Collect(newer.Diff(older)))
	}
	return p
}

// between returns what changed from maps[i] to maps[j], the latest first.
func (p past[K, V]) between(i, j int) func(yield func(Change[K, V]) bool) {
	return func(yield func(Change[K, V]) bool) {
		for ; j > i; j-- {
			for _, c := range p.changes[j] {
				if !yield(c) {
					return
				}
			}
		}
	}
}

func testRewind[K comparable, V any](t *testing.T, m *Map[K, V], keys []K, of func(int) V, seed uint64, edits, samples int) {
	r := rand.New(rand.NewPCG(seed, 0))
	p := newPast(m, keys, of, r, edits)
	for range samples {
		j := r.IntN(len(p.maps))
		i := r.IntN(j + 1)
		older, newer := p.maps[i], p.maps[j]
		got := newer.rewind(older.Version(), p.between(i, j))
		checkTree(t, got)
		requireSame(t, older, got)
		// It is a map like any other: to edit it changes none of the others.
		e := got.Edit()
		for _, k := range keys[:min(len(keys), 40)] {
			if r.IntN(2) == 0 {
				e.Set(k, of(-1))
			} else {
				e.Delete(k)
			}
		}
		checkTree(t, e.Seal())
		checkTree(t, older)
		checkTree(t, newer)
		requireSame(t, older, got)
	}
	for i := 1; i < len(p.maps); i++ {
		require.Equal(t, len(p.changes[i]), len(slices.Collect(p.maps[i].Diff(p.maps[i-1]))), "the maps are as they were")
	}
}

func TestRewindGivesTheOlderMap(t *testing.T) {
	edits, samples := 60, 60
	if raceEnabled {
		edits, samples = 20, 20
	}
	for seed := range uint64(3) {
		testRewind(t, New[string](Options[int]{}), stringKeys[string](300), intValues.of, seed, edits, samples)
		testRewind(t, New[int](Options[*parcel]{}), keysOf(300, func(i int) int { return i }), newParcel, seed, edits, samples)
		testRewind(t, new(Map[composite, int]), keysOf(30, func(i int) composite { return composite{n: int32(i)} }), intValues.of, seed, edits, samples)
		testRewind(t, New[any](Options[int]{}), keysOf(300, anyKey), intValues.of, seed, edits, samples)
		testRewind(t, nil, stringKeys[string](10), intValues.of, seed, edits, samples)
	}
	n := 20_000
	if raceEnabled {
		n = 3000
	}
	testRewind(t, New[int](Options[int]{}), keysOf(n, func(i int) int { return i }), intValues.of, 1, 15, 15)
}

func TestRewindWithBadHashes(t *testing.T) {
	edits := 25
	if raceEnabled {
		edits = 8
	}
	for name, bad := range badHashes {
		t.Run(name, func(t *testing.T) {
			m := New[string](Options[int]{})
			spoilHash(m, bad)
			testRewind(t, m, stringKeys[string](150), intValues.of, 1, edits, edits)
		})
	}
}

func TestRewindByNothing(t *testing.T) {
	none := func(func(Change[string, *parcel]) bool) {}
	m := small(20)
	requireSame(t, m, m.rewind(m.Version(), none))
	require.Equal(t, uint64(0), m.rewind(0, none).Version())
	var empty *Map[string, *parcel]
	got := empty.rewind(0, none)
	require.Zero(t, got.Len())
	e := got.Edit()
	e.Set("a", newParcel(1))
	require.Equal(t, 1, e.Seal().Len())
}

func TestRewindRefusesForeignChanges(t *testing.T) {
	m, other := small(3), small(3)
	foreign := func(yield func(Change[string, *parcel]) bool) {
		for c := range other.Diff(nil) {
			if !yield(c) {
				return
			}
		}
	}
	message := "snapshot: Rewind by a change of a map with other Options"
	require.PanicsWithValue(t, message, func() { m.rewind(0, foreign) })
	require.PanicsWithValue(t, message, func() { m.rewind(0, slices.Values([]Change[string, *parcel]{{Key: "a"}})) })
	require.PanicsWithValue(t, message, func() { new(Map[string, *parcel]).rewind(0, foreign) })
	require.Equal(t, 3, m.Len())
}

// A map that carries something rewinds to one that has it for an ancestor.
func TestRewindOfAMapThatCarriesSomething(t *testing.T) {
	older := small(10)
	e := older.Edit()
	e.Delete("key1")
	e.Set("key2", newParcel(22))
	newer := e.Seal().annotate("x")
	got := newer.rewind(older.Version(), newer.Diff(older))
	requireSame(t, older, got)
	x, to := got.annotation()
	require.Equal(t, "x", x)
	require.Same(t, newer, to)
}

func sizeOf[K comparable, V any](key K, v V, o Options[V]) int { // most with V any: each type is much to compile
	e := New[K](o).Edit()
	e.Set(key, v)
	row, _ := e.Seal().Row(key)
	return row.size()
}

// requireSize requires that a size is what it must be, or not much more.
func requireSize(t *testing.T, atLeast, got int) {
	t.Helper()
	require.GreaterOrEqual(t, got, atLeast)
	require.LessOrEqual(t, got, atLeast+300+atLeast/4)
}

func TestSizeGrowsWithTheRow(t *testing.T) {
	type node struct {
		text string
		next *node
		any  any
		all  map[string][]byte
	}
	for _, n := range []int{0, 100, 10_000} {
		text := strings.Repeat("x", n)
		requireSize(t, n, sizeOf(text, 1, Options[int]{}))
		requireSize(t, n, sizeOf(1, text, Options[string]{}))
		requireSize(t, n, sizeOf[int, any](1, []byte(text), Options[any]{}))
		requireSize(t, 8*n, sizeOf[int, any](1, make([]int64, n), Options[any]{}))
		requireSize(t, n, sizeOf[int, any](1, text, Options[any]{}))
		requireSize(t, 2*n, sizeOf[int, any](1, []string{text, text}, Options[any]{}))
		requireSize(t, 2*n, sizeOf[int, any](1, [2]string{text, text}, Options[any]{}))
		requireSize(t, 2*n, sizeOf[int, any](1, map[string]string{text: text}, Options[any]{}))
		requireSize(t, 4*n, sizeOf[int, any](1, node{text, &node{text: text}, &node{text: text}, map[string][]byte{"a": []byte(text)}}, Options[any]{}))
	}
	requireSize(t, 8000, sizeOf[int, any](1, [1000]int64{}, Options[any]{}))
	ints := map[int64]int64{}
	for i := range int64(1000) {
		ints[i] = i
	}
	require.GreaterOrEqual(t, sizeOf[int, any](1, ints, Options[any]{}), 16_000)
	var nothing struct {
		p *int
		m map[string]int
		s []string
		e error
		f func()
		c chan int
	}
	requireSize(t, int(unsafe.Sizeof(nothing)), sizeOf[int, any](1, nothing, Options[any]{Immutable: true}))
}

// A ring has no end, but Size has.
func TestSizeOfValuesWithoutEndIsBounded(t *testing.T) {
	type ring struct {
		next *ring
		any  any
		more []*ring
		byID map[int]*ring
		_    [64]byte
	}
	r := new(ring)
	r.next, r.any, r.more, r.byID = r, r, []*ring{r, r, r}, map[int]*ring{1: r, 2: r}
	size := sizeOf(1, r, Options[*ring]{})
	require.Greater(t, size, 100)
	require.Less(t, size, 1001*200)
	var all []any
	all = append(all, nil)
	all[0] = all
	require.Less(t, sizeOf[int, any](1, all, Options[any]{}), 1001*64)

	many := make([]*ring, 200_000)
	for i := range many {
		many[i] = &ring{}
	}
	size = sizeOf[int, any](1, many, Options[any]{})
	const word = int(unsafe.Sizeof(many[0]))
	require.GreaterOrEqual(t, size, word*len(many))
	require.Less(t, size, word*len(many)+1001*200)
}

// What an Immutable value leads to others may modify, under locks of their
// own: Size counts what it can without a look.
func TestSizeLooksIntoNoHandle(t *testing.T) {
	type handle struct {
		all  map[string]*int
		list []any
		text string
	}
	h := &handle{}
	e := New[string](Options[*handle]{Immutable: true}).Edit()
	e.Set("a", h)
	row, _ := e.Seal().Row("a")
	before := row.size()
	requireSize(t, 40, before)
	h.all = map[string]*int{"a": new(int), "b": new(int)}
	h.list = make([]any, 1000)
	h.text = strings.Repeat("x", 1000)
	require.Equal(t, before, row.size())
	requireSize(t, 1000, sizeOf(1, h.text, Options[string]{Immutable: true}))
}

// What all values share none of them keeps alive.
func TestSizeCountsNoTimeZone(t *testing.T) {
	zone := time.FixedZone(strings.Repeat("x", 5000), 1)
	requireSize(t, 24, sizeOf[int, any](1, time.Now().In(zone), Options[any]{}))
	requireSize(t, 24, sizeOf(1, &[]time.Time{time.Now().In(zone)}[0], Options[*time.Time]{}))
}
