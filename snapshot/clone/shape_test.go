//lint:file-ignore U1000 Fields are there to be found by reflection.

package clone

import (
	"container/list"
	"container/ring"
	"io"
	"maps"
	"reflect"
	"slices"
	"sync"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

func listOf(l *list.List, values ...any) *list.List {
	for _, v := range values {
		l.PushBack(v)
	}
	return l
}

// bothWays returns the values of l from either end.
func bothWays(l *list.List) (forth, back []any) {
	for e := l.Front(); e != nil && len(forth) < 100; e = e.Next() {
		forth = append(forth, e.Value)
	}
	for e := l.Back(); e != nil && len(back) < 100; e = e.Prev() {
		back = append(back, e.Value)
	}
	slices.Reverse(back)
	return forth, back
}

func TestClonedListsAreLists(t *testing.T) {
	check := func(l *list.List, values ...any) {
		t.Helper()
		forth, back := bothWays(l)
		require.Equal(t, values, forth)
		require.Equal(t, values, back)
		require.Equal(t, len(values), l.Len())
	}
	type byValue struct {
		Order list.List
		At    map[string]*list.Element
		first *list.Element
	}
	for _, n := range []int{0, 1, 2, 3, 50} {
		var values []any
		for i := range n {
			values = append(values, i)
		}
		l := listOf(list.New(), values...)
		for _, c := range []*list.List{cloneOf(l), cloneOf(any(l)).(*list.List), cloneOf([]*list.List{l})[0]} {
			check(c, values...)
			c.PushBack("end")
			c.PushFront("begin")
			check(c, append(append([]any{"begin"}, values...), "end")...)
			for e := c.Front(); e != nil; e = c.Front() {
				c.Remove(e)
			}
			check(c)
		}
		check(l, values...)

		v := &byValue{At: map[string]*list.Element{}}
		listOf(&v.Order, values...)
		if n > 0 {
			v.At["last"], v.first = v.Order.Back(), v.Order.Front()
		}
		c := cloneOf(v)
		check(&c.Order, values...)
		if n > 0 {
			require.Same(t, c.Order.Front(), c.first)
			c.Order.MoveToFront(c.At["last"])
			require.Equal(t, n-1, c.Order.Front().Value)
		}
		check(&v.Order, values...)

		// In a V that is the struct itself the elements know the list they were
		// in, as in any copy of such a struct.
		u := cloneOf(*v)
		forth, _ := bothWays(&u.Order)
		require.Equal(t, values, forth)
	}
	for n := range 5 {
		r := ring.New(n + 1)
		c := cloneOf(r)
		require.Equal(t, n+1, c.Len())
		require.Same(t, c, c.Move(n+1))
	}
	deep, length := list.New(), 200_000
	if testing.Short() {
		length = 15_000
	}
	for i := range length {
		deep.PushBack(i)
	}
	withSmallStack(t, func() { deep = cloneOf(deep) })
	n := 0
	for e := deep.Front(); e != nil; e = e.Next() {
		require.True(t, e.Value == n)
		n++
	}
	require.Equal(t, deep.Len(), n)
}

// A waiting is an item of a queue whose first and last link is in the queue itself.
type waiting struct {
	next, prev *waiting
	n          int
}

type queue struct {
	head waiting
	n    int
}

func TestPointersIntoObjectsStayThere(t *testing.T) {
	q := &queue{n: 1}
	q.head.next, q.head.prev = &q.head, &q.head
	c := cloneOf(q)
	require.NotSame(t, q, c)
	require.Same(t, &c.head, c.head.next)
	require.Same(t, &c.head, c.head.prev)

	type buffer struct {
		buf  [8]byte
		cur  *byte
		rest []byte
	}
	b := &buffer{}
	b.cur, b.rest = &b.buf[3], b.buf[4:6]
	d := cloneOf(b)
	require.Same(t, &d.buf[3], d.cur)
	require.Same(t, &d.buf[4], &d.rest[0])
	require.Equal(t, 4, cap(d.rest))

	// From outside, in either order, and through interfaces.
	type outside struct {
		part  *int
		whole *struct{ a, b, c int }
		any   any
	}
	w := &struct{ a, b, c int }{1, 2, 3}
	o := cloneOf(outside{&w.b, w, &w.c})
	require.Same(t, &o.whole.b, o.part)
	require.Same(t, &o.whole.c, o.any)

	// The first field, and a field of a field of an element.
	type leaf struct{ s, t []string }
	type branch struct {
		leaf
		leaves [3]leaf
	}
	tree := []branch{{}, {leaf{[]string{"a"}, nil}, [3]leaf{1: {[]string{"b"}, []string{"c"}}}}}
	e := cloneOf([]any{&tree[1].leaf, &tree[1].leaves[1].t, tree, &tree[1], &tree[1].leaves, tree[1].leaves[1:]})
	cut := e[2].([]branch)
	require.Same(t, &cut[1].leaf, e[0])
	require.Same(t, &cut[1].leaves[1].t, e[1])
	require.Same(t, &cut[1], e[3])
	require.Same(t, &cut[1].leaves, e[4])
	require.Same(t, &cut[1].leaves[1], &e[5].([]leaf)[0])
	require.Equal(t, tree, cut)
	require.NotSame(t, &tree[1].leaf.s[0], &cut[1].leaf.s[0])

	// A variable that holds a pointer to itself, or into what it holds.
	var self any
	self = &self
	s := cloneOf(self).(*any)
	require.Same(t, s, *s)
	loop := make([]any, 3)
	loop[0], loop[1], loop[2] = loop, &loop[1], loop[1:]
	l := cloneOf(loop)
	require.Same(t, &l[0], &l[0].([]any)[0])
	require.Same(t, &l[1], l[1])
	require.Same(t, &l[1], &l[2].([]any)[0])
}

func TestSlicesOfOneArrayStayThat(t *testing.T) {
	type matrix struct {
		data []int
		rows [][]int
	}
	m := matrix{data: []int{1, 2, 3, 4}}
	m.rows = [][]int{m.data[:2], m.data[2:]}
	c := cloneOf(m)
	c.rows[1][0] = 7
	require.Equal(t, []int{1, 2, 7, 4}, c.data)
	c.rows[0] = append(c.rows[0], 8)
	require.Equal(t, []int{1, 2, 8, 4}, c.data, "rows can grow into the next, as they could")
	require.Equal(t, []int{1, 2, 3, 4}, m.data)

	// No slice of all of it.
	all := make([]string, 10)
	for i := range all {
		all[i] = string(rune('a' + i))
	}
	d := cloneOf([][]string{all[2:6], all[4:8], all[8:9:9], all[7:7], all[5:7:7]})
	require.Equal(t, [][]string{{"c", "d", "e", "f"}, {"e", "f", "g", "h"}, {"i"}, {}, {"f", "g"}}, d)
	require.Same(t, &d[0][2], &d[1][0])
	require.Same(t, &d[0][3], &d[4][0])
	require.Equal(t, 2, cap(d[4]))
	require.Same(t, &d[2][0], &d[3][:2][1])
	require.Equal(t, 8, cap(d[0]), "what two of them could grow into")

	// A pointer to an element, an array, an element beyond the length.
	e := cloneOf([]any{all[:3], &all[1], (*[2]string)(all[1:]), &all[5]})
	require.Same(t, &e[0].([]string)[1], e[1])
	require.Same(t, &e[0].([]string)[1], &e[2].(*[2]string)[0])
	require.Same(t, &e[0].([]string)[:6][5], e[3])
	require.Equal(t, 6, cap(e[0].([]string)))
	require.Empty(t, e[0].([]string)[:6][4], "what was beyond every length")

	// Twice the same with room to grow.
	room := append(make([]byte, 0, 4), "ab"...)
	two := cloneOf([][]byte{room, room})
	_ = append(two[0], 'c')
	require.Equal(t, []byte("abc"), two[1][:3])
	require.Equal(t, 2, cap(cloneOf([][]byte{room[:2:2], room})[0]))
	require.Equal(t, 2, cap(cloneOf([][]byte{room, room[:2:2]})[0]), "only one could grow")
	empty := cloneOf([][]int{make([]int, 0, 4)[:0], nil, {}})
	require.Equal(t, [][]int{{}, nil, {}}, empty)
	require.Zero(t, cap(empty[0]))
	buf := make([]int, 3)
	view := cloneOf([][]int{buf, buf[:0], buf[3:]})
	_ = append(view[1], 9)
	require.Equal(t, []int{9, 0, 0}, view[0])

	// Of other types.
	type numbers []int
	grid := [4][3]int{{1, 2, 3}, {4, 5, 6}}
	f := cloneOf([]any{grid[:3], numbers(grid[1][:]), grid[2:], &grid[0][2], grid[1][1:2]})
	require.Same(t, &f[0].([][3]int)[1][0], &f[1].(numbers)[0])
	require.Same(t, &f[0].([][3]int)[2], &f[2].([][3]int)[0])
	require.Same(t, &f[0].([][3]int)[0][2], f[3])
	require.Same(t, &f[1].(numbers)[1], &f[4].([]int)[0])

	// An empty slice where a pointer to a slice leads.
	type list []list
	type ends struct {
		none list
		p    *list
	}
	in := list{{nil}, nil}
	h := cloneOf(&ends{in[:0], &in[0]})
	require.Equal(t, list{nil}, *h.p)
	_ = append(h.none, nil)
	require.Nil(t, *h.p)

	// A struct in two interfaces.
	type boxed struct{ s []byte }
	var x any = boxed{room}
	y := cloneOf([]any{x, x})
	_ = append(y[0].(boxed).s, 'd')
	require.Equal(t, []byte("abd"), y[1].(boxed).s[:3])

	// Many, each in the next.
	long := make([]any, 3000)
	for i := range long {
		long[i] = long[i:]
	}
	g := cloneOf(long)
	for i := range g {
		require.True(t, len(g[i].([]any)) == len(g)-i && &g[i].([]any)[0] == &g[i])
	}
}

func TestNeighboursAreNotTakenForOverlaps(t *testing.T) {
	// Small objects without pointers lie side by side in one word.
	type flags struct {
		b []*bool
		n []*int32
		s [][]byte
	}
	var f flags
	for i := range 500 {
		f.b, f.n = append(f.b, new(bool)), append(f.n, new(int32))
		f.s = append(f.s, make([]byte, i%9))
	}
	f.b, f.n, f.s = slices.Clip(f.b), slices.Clip(f.n), slices.Clip(f.s)
	var g ground
	for i := range f.b {
		for _, o := range []struct {
			p unsafe.Pointer
			n int
		}{{unsafe.Pointer(f.b[i]), 1}, {unsafe.Pointer(f.n[i]), 4}, {unsafe.Pointer(unsafe.SliceData(f.s[i])), i % 9}} {
			require.True(t, o.n == 0 || g.add(uintptr(o.p), uintptr(o.p)+uintptr(o.n)))
		}
	}
	requireIsomorphic(t, f, cloneOf(f))
}

func TestGroundTellsWhatOverlaps(t *testing.T) {
	const size = 3000
	for seed := range uint32(300) {
		var g ground
		taken := make([]bool, size)
		x := seed*2654435761 + 1
		random := func(n uint32) uintptr {
			x ^= x << 13
			x ^= x >> 17
			x ^= x << 5
			return uintptr(x % n)
		}
		for range 200 {
			n := random(9) + 1
			if random(10) == 0 {
				n = random(700) + 1
			}
			lo := random(size - uint32(n))
			if random(3) > 0 {
				lo &^= 7
			}
			free := !slices.Contains(taken[lo:lo+n], true)
			require.Equal(t, free, g.add(1<<20+lo, 1<<20+lo+n), "%d to %d", lo, lo+n)
			if !free {
				break // what was added is not defined any more
			}
			for i := range n {
				taken[lo+i] = true
			}
		}
	}
}

// fill is a slice with a method Clone, chunk a struct, both of which clone only
// what they hold.
type (
	fill  []int
	chunk struct {
		a, b int
		p    *int
	}
)

func (f fill) Clone() fill     { return slices.Clone(f) }
func (c *chunk) Clone() *chunk { return &chunk{a: c.a, b: c.b} }

// shrinking loses its last element when it is cloned.
type shrinking []int

func (s shrinking) Clone() shrinking { return slices.Clone(s[:len(s)-1]) }

func TestPointersIntoWhatAMethodClones(t *testing.T) {
	c := &chunk{1, 2, new(int)}
	v := cloneOf([]any{&c.b, c, c})
	require.Same(t, &v[1].(*chunk).b, v[0])
	require.Same(t, v[1], v[2])
	require.NotSame(t, c, v[1])
	require.Nil(t, v[1].(*chunk).p, "the method is trusted")

	f := fill{1, 2, 3}
	w := cloneOf([]any{f, f, &f[1], []int(f[1:])})
	require.Same(t, &w[0].(fill)[0], &w[1].(fill)[0])
	require.Same(t, &w[0].(fill)[1], w[2])
	require.Same(t, &w[0].(fill)[1], &w[3].([]int)[0])

	s := shrinking{1, 2, 3}
	require.Equal(t, []any{shrinking{1, 2}}, cloneOf([]any{s}))
	err := cloneError(func() { cloneOf([]any{s, &s[2]}) })
	require.NotNil(t, err)
	require.Equal(t, reflect.TypeFor[int](), err.Type)

	// By value inside of something else it is a part as any.
	type holder struct{ chunk chunk }
	h := &holder{chunk{1, 2, nil}}
	x := cloneOf([]any{&h.chunk, h})
	require.Same(t, &x[1].(*holder).chunk, x[0])
}

type (
	celsius struct{ degrees *int }
	kelvin  celsius
)

func TestOneObjectOfTwoTypes(t *testing.T) {
	x := 1
	c := &celsius{&x}
	v := cloneOf([]any{c, (*kelvin)(c), &c.degrees})
	require.Same(t, v[0], (*celsius)(v[1].(*kelvin)))
	require.Same(t, &v[0].(*celsius).degrees, v[2])

	type names map[string]int
	m := map[string]int{}
	w := cloneOf([]any{m, names(m)})
	w[0].(map[string]int)["a"] = 1
	require.Equal(t, names{"a": 1}, w[1])

	// By package unsafe: numbers are bytes, a pointer is none.
	words := []uint64{1, 2, 3}
	bytes := unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), 24)
	u := cloneOf([]any{bytes[8:16], words})
	require.Same(t, (*byte)(unsafe.Pointer(&u[1].([]uint64)[1])), &u[0].([]byte)[0])
	type odd struct {
		n uintptr
		p *int
	}
	o := &odd{1, &x}
	require.NotNil(t, cloneOf([]any{o, (*uintptr)(unsafe.Pointer(o))}))
	err := cloneError(func() {
		cloneOf(map[string]any{"a": o, "b": (*[2]uintptr)(unsafe.Pointer(o))})
	})
	require.NotNil(t, err, "never a value of another shape")
	require.ErrorContains(t, err, "snapshot: cannot clone map[string]interface {}: value: ")
}

func TestNothingIsRememberedWhereNothingCanOverlap(t *testing.T) {
	type twice struct{ a, b []int }
	type apart struct {
		a []int
		b []string
		c *float64
		d map[string]string
	}
	type buffer struct {
		buf [4]byte
		cur *byte
	}
	type array struct {
		a *[4]int
		b []int
	}
	for typ, want := range map[reflect.Type]bool{
		reflect.TypeFor[[]string]():           false,
		reflect.TypeFor[map[string]string]():  false,
		reflect.TypeFor[record]():             false,
		reflect.TypeFor[apart]():              false,
		reflect.TypeFor[*apart]():             false,
		reflect.TypeFor[[]*int]():             true,
		reflect.TypeFor[[][]int]():            true,
		reflect.TypeFor[map[string][]int]():   true,
		reflect.TypeFor[twice]():              true,
		reflect.TypeFor[buffer]():             false,
		reflect.TypeFor[*buffer]():            true,
		reflect.TypeFor[array]():              true,
		reflect.TypeFor[list.List]():          true,
		reflect.TypeFor[any]():                true,
		reflect.TypeFor[*struct{ v []int }](): false,
		reflect.TypeFor[*struct{ v *any }]():  true,
	} {
		require.Equal(t, want, shares(planOf(typ)), typ)
	}
}

type namedError error

// Pointers to interfaces of other names, which Go converts.
func TestPointersToInterfacesOfOtherNames(t *testing.T) {
	type refs struct {
		a *error
		b *namedError
		c *interface{ Error() string }
	}
	var err error = io.ErrUnexpectedEOF
	c := Of[refs]()(refs{&err, (*namedError)(&err), (*interface{ Error() string })(&err)})
	require.NotSame(t, &err, c.a)
	require.True(t, unsafe.Pointer(c.a) == unsafe.Pointer(c.b) && unsafe.Pointer(c.a) == unsafe.Pointer(c.c))
	require.Equal(t, err, *c.a)
}

type cloning interface{ Clone() cloning }

type selfCloned struct{ x []int }

func (c *selfCloned) Clone() cloning { return &selfCloned{slices.Clone(c.x)} }

type clonedValue struct{ x *int }

func (c clonedValue) Clone() cloning { x := *c.x; return clonedValue{&x} }

// What clones itself by an interface is cloned once.
func TestAnInterfaceWithACloneKeepsItsSharing(t *testing.T) {
	clone := Of[[]cloning]()
	for range 3 { // with whatever care the last one took
		a, b := &selfCloned{[]int{1}}, &selfCloned{[]int{2}}
		n := 5
		v := clonedValue{&n}
		in := []cloning{a, b, a, v, nil, v, (*selfCloned)(nil)}
		out := clone(in)
		require.Equal(t, in, out)
		require.Same(t, out[0], out[2])
		require.NotSame(t, a, out[0])
		require.NotSame(t, b, out[1])
		require.NotSame(t, &n, out[3].(clonedValue).x)
		require.NotSame(t, out[0], out[1])
		one := clone([]cloning{b})
		require.Equal(t, []cloning{b}, one)
	}
}

type clonedMap map[string]int

func (m clonedMap) Clone() cloning { return maps.Clone(m) }

type clonedSlice []int

func (s clonedSlice) Clone() cloning { return slices.Clone(s) }

// A guardedClone cannot be copied but by its method.
type guardedClone struct {
	mu sync.Mutex
	x  []int
}

func (c *guardedClone) Clone() cloning { return &guardedClone{x: slices.Clone(c.x)} }

// What is reached through an interface with a Clone and in another way is one object,
// in whatever order and from wherever.
func TestWhatIsBehindAnInterfaceWithACloneStaysOne(t *testing.T) {
	type both struct {
		Top cloning
		All []*selfCloned
	}
	type turned struct {
		All []*selfCloned
		Top cloning
	}
	type more struct {
		Tops []cloning
		By   map[string]cloning
		Any  any
		Ptr  **selfCloned
		X    *[]int
		Self *more
	}
	clones := func(v any) []any { // with whatever care the last one took
		return []any{cloneOf([]any{v})[0], cloneOf(map[int]any{1: v})[1], cloneOf(v), cloneOf(v)}
	}
	a, b := &selfCloned{[]int{1}}, &selfCloned{[]int{2}}
	for _, c := range clones(both{a, []*selfCloned{b, a, a}}) {
		c := c.(both)
		require.True(t, c.Top == cloning(c.All[1]) && c.All[1] == c.All[2] && c.All[0] != c.All[1])
		require.True(t, c.Top != cloning(a) && c.All[0] != b)
		require.Equal(t, both{a, []*selfCloned{b, a, a}}, c)
	}
	for _, c := range clones(turned{[]*selfCloned{b, a, a}, a}) {
		c := c.(turned)
		require.True(t, c.Top == cloning(c.All[1]) && c.Top != cloning(a))
		require.Equal(t, []int{1}, c.All[2].x)
	}
	v := &more{Tops: []cloning{a, b, a}, By: map[string]cloning{"a": a, "b": b}, Any: a, Ptr: &b, X: &a.x}
	v.Self = v
	for _, c := range clones(v) {
		c := c.(*more)
		require.True(t, c.Tops[0] == c.Tops[2] && c.Tops[0] == c.By["a"] && c.Tops[0] == c.Any)
		require.True(t, c.Tops[1] == c.By["b"] && c.Tops[1] == cloning(*c.Ptr))
		require.Same(t, &c.Any.(*selfCloned).x, c.X, "into what the method has made")
		require.Same(t, c, c.Self)
		require.NotSame(t, a, c.Any)
		require.NotSame(t, b, *c.Ptr)
	}
	for _, kind := range []struct{ direct, behind any }{{clonedMap{"a": 1}, nil}, {clonedSlice{1, 2}, nil}} {
		behind := kind.direct.(cloning)
		for _, v := range [][]any{
			{kind.direct, struct{ c cloning }{behind}, []cloning{behind}},
			{struct{ c cloning }{behind}, []cloning{behind}, kind.direct},
		} {
			for _, c := range clones(v) {
				var words []uintptr
				for _, e := range c.([]any) {
					switch e := e.(type) {
					case struct{ c cloning }:
						words = append(words, reflect.ValueOf(e.c).Pointer())
					case []cloning:
						words = append(words, reflect.ValueOf(e[0]).Pointer())
					default:
						words = append(words, reflect.ValueOf(e).Pointer())
					}
				}
				require.Equal(t, words[0], words[1])
				require.Equal(t, words[0], words[2])
				require.NotEqual(t, reflect.ValueOf(kind.direct).Pointer(), words[0])
				require.Equal(t, v, c)
			}
		}
	}
	// An element of a slice, which is cloned with it.
	all := []selfCloned{{[]int{1}}, {[]int{2}}}
	for _, c := range clones([]any{all, []cloning{&all[0], &all[1]}}) {
		c := c.([]any)
		require.Same(t, &c[0].([]selfCloned)[0], c[1].([]cloning)[0])
		require.Same(t, &c[0].([]selfCloned)[1], c[1].([]cloning)[1])
		require.NotSame(t, &all[1], c[1].([]cloning)[1])
	}
	// Its only field, which lies where it does.
	for _, c := range clones([]any{[]cloning{a}, &a.x, []cloning{a}}) {
		c := c.([]any)
		require.Same(t, c[0].([]cloning)[0], c[2].([]cloning)[0])
		require.Same(t, &c[0].([]cloning)[0].(*selfCloned).x, c[1])
		require.NotSame(t, &a.x, c[1])
	}
	// What only its method may copy.
	g := &guardedClone{x: []int{1}}
	type into struct {
		Top cloning
		X   *[]int
	}
	c := cloneOf(into{g, &g.x}) // with no more care than the first one of a type takes
	require.Same(t, &c.Top.(*guardedClone).x, c.X)
	require.NotSame(t, &g.x, c.X)
	for _, c := range clones([]any{[]cloning{g}, &g.x, []cloning{g}}) {
		c := c.([]any)
		require.Same(t, c[0].([]cloning)[0], c[2].([]cloning)[0])
		require.Same(t, &c[0].([]cloning)[0].(*guardedClone).x, c[1])
		require.NotSame(t, &g.x, c[1])
	}
}

// turncoat has a method that returns something else.
type turncoat struct{ x int }

func (c *turncoat) Clone() cloning { return &selfCloned{[]int{c.x}} }

func TestAnInterfaceWhoseCloneIsAnother(t *testing.T) {
	v := &turncoat{1}
	c := cloneOf([]cloning{v, v})
	require.Equal(t, &selfCloned{[]int{1}}, c[0])
	require.Same(t, c[0], c[1])
	both := cloneOf([]any{[]cloning{v}, v})
	require.Equal(t, v, both[1])
	require.NotSame(t, v, both[1])
	require.Same(t, both[1], both[0].([]cloning)[0], "one object, which cannot be of both types")
	err := cloneError(func() { cloneOf([]any{[]cloning{v}, &v.x}) })
	require.ErrorContains(t, err, "is pointed to in memory that is also of type")
}

// A tied is in what it leads to, by value.
type tied struct{ to *knotted }

type knotted struct {
	n    int
	back tied
	all  [1]tied
}

func TestATypeInWhatItLeadsToIsCloned(t *testing.T) {
	v := tied{&knotted{n: 1}}
	v.to.back, v.to.all[0].to = v, &knotted{n: 2}
	c := Of[tied]()(v)
	require.NotSame(t, v.to, c.to)
	require.Same(t, c.to, c.to.back.to)
	require.NotSame(t, v.to.all[0].to, c.to.all[0].to)
	require.Equal(t, 2, c.to.all[0].to.n)
}
