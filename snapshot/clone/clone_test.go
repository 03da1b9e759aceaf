//lint:file-ignore U1000 Fields are there to be found by reflection.

package clone

import (
	"container/list"
	"container/ring"
	"errors"
	"fmt"
	"math"
	"math/big"
	"net/http"
	"net/netip"
	"net/url"
	"reflect"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
	"time"
	"unique"
	"unsafe"
	"weak"

	"encoding/json"
	"log/slog"

	"github.com/stretchr/testify/require"
)

// Before the variables below, which clone.
var _ = func() bool { compile = compilePlan; return true }()

// kind is a sort of mutable value that a map may hold.
type kind struct {
	name  string
	make  func() any      // returns a fresh value, always an equal one
	spoil func(any)       // mutates everything reachable from a value
	clone func(v any) any // the clone as of a map whose values have that static type
}

func kindOf[V any](name string, fresh func() V, spoil func(V)) kind {
	clone := OfWhole[V]()
	return kind{
		name:  name,
		make:  func() any { return fresh() },
		spoil: func(v any) { spoil(v.(V)) },
		clone: func(v any) any { return clone(v.(V)) },
	}
}

type inner struct {
	n    int
	tags []string
}

type outer struct {
	Name   string
	inner  inner
	ptr    *inner
	any    any
	err    error
	byName map[string]*inner
	arr    [2][]int
	bits   [3]uint8
}

func newOuter() outer {
	return outer{
		Name:   "o",
		inner:  inner{1, []string{"a"}},
		ptr:    &inner{2, []string{"b"}},
		any:    inner{3, []string{"c"}},
		err:    &wrapped{"w", []int{1}},
		byName: map[string]*inner{"k": {4, []string{"d"}}},
		arr:    [2][]int{{1}, {2}},
	}
}

func spoilOuter(o *outer) {
	o.inner.tags[0] = "x"
	o.ptr.n, o.ptr.tags[0] = 99, "x"
	o.any.(inner).tags[0] = "x"
	o.err.(*wrapped).codes[0] = 99
	o.byName["k"].tags[0] = "x"
	o.byName["new"] = nil
	o.arr[0][0], o.arr[1][0] = 99, 99
}

type wrapped struct {
	msg   string
	codes []int
}

func (w *wrapped) Error() string { return w.msg }

type (
	named  map[string]any
	floats []float64
	point  struct{ x, y int32 }
)

// kinds are the values that every promise of isolation is tested with.
var kinds = []kind{
	kindOf("map[string]any",
		func() map[string]any {
			return map[string]any{"s": "v", "n": 1, "m": map[string]any{"x": []any{1}}, "t": []string{"a"}}
		},
		func(m map[string]any) {
			m["m"].(map[string]any)["x"].([]any)[0] = "x"
			m["m"].(map[string]any)["new"] = 1
			m["t"].([]string)[0] = "x"
			m["s"] = "x"
			delete(m, "n")
		}),
	kindOf("[]any",
		func() []any { return []any{1, []any{2}, []byte("b"), &inner{1, []string{"a"}}} },
		func(v []any) {
			v[0] = "x"
			v[1].([]any)[0] = "x"
			v[2].([]byte)[0] = 'x'
			v[3].(*inner).tags[0] = "x"
		}),
	kindOf("[]string", func() []string { return []string{"a", "b"} }, func(v []string) { v[1] = "x" }),
	kindOf("[]byte", func() []byte { return []byte("abc") }, func(v []byte) { v[1] = 'x' }),
	kindOf("[]int", func() []int { return []int{1, 2} }, func(v []int) { v[1] = 99 }),
	kindOf("[]float64", func() []float64 { return []float64{1, 2} }, func(v []float64) { v[1] = 99 }),
	kindOf("named []float64", func() floats { return floats{1, 2} }, func(v floats) { v[1] = 99 }),
	kindOf("[]point", func() []point { return []point{{1, 2}, {3, 4}, {5, 6}} }, func(v []point) { v[2].y = 99 }),
	kindOf("[]struct", func() []inner { return []inner{{1, []string{"a"}}, {2, []string{"b"}}} },
		func(v []inner) { v[0].n, v[1].tags[0] = 99, "x" }),
	kindOf("[]*struct", func() []*inner { return []*inner{{1, []string{"a"}}, nil} },
		func(v []*inner) { v[0].n = 99; v[0].tags[0] = "x"; v[1] = v[0] }),
	kindOf("[]error", func() []error { return []error{&wrapped{"w", []int{1}}, nil} },
		func(v []error) { v[0].(*wrapped).codes[0] = 99; v[1] = v[0] }),
	kindOf("[][]float64", func() [][]float64 { return [][]float64{{1}, nil, {}} },
		func(v [][]float64) { v[0][0] = 99; v[1] = v[0] }),
	kindOf("[][]string", func() [][]string { return [][]string{{"a"}, nil, {}} },
		func(v [][]string) { v[0][0] = "x"; v[1] = v[0] }),
	kindOf("map[string]string", func() map[string]string { return map[string]string{"a": "1"} },
		func(m map[string]string) { m["a"] = "x"; m["new"] = "x" }),
	kindOf("map[string][]string", func() map[string][]string { return map[string][]string{"a": {"1"}, "n": nil} },
		func(m map[string][]string) { m["a"][0] = "x"; m["n"] = m["a"] }),
	kindOf("[]map[string]any", func() []map[string]any { return []map[string]any{{"a": []int{1}}, nil} },
		func(v []map[string]any) { v[0]["a"].([]int)[0] = 99; v[0]["new"] = 1; v[1] = v[0] }),
	kindOf("named map", func() named { return named{"a": named{"b": []int{1}}} },
		func(m named) { m["a"].(named)["b"].([]int)[0] = 99; m["a"] = nil }),
	kindOf("map[int]struct", func() map[int]inner { return map[int]inner{1: {1, []string{"a"}}} },
		func(m map[int]inner) { m[1].tags[0] = "x"; m[2] = inner{} }),
	kindOf("map[point]bool", func() map[point]bool { return map[point]bool{{1, 2}: true} },
		func(m map[point]bool) { m[point{1, 2}] = false }),
	kindOf("struct", newOuter, func(o outer) { spoilOuter(&o) }),
	kindOf("*struct", func() *outer { o := newOuter(); return &o },
		func(o *outer) { spoilOuter(o); o.Name = "x"; o.bits[1] = 9 }),
	kindOf("**struct", func() **inner { p := &inner{1, []string{"a"}}; return &p },
		func(p **inner) { (*p).tags[0] = "x"; *p = nil }),
	kindOf("*[]any", func() *[]any { return &[]any{[]int{1}} },
		func(p *[]any) { (*p)[0].([]int)[0] = 99; *p = nil }),
	kindOf("*any", func() *any { var a any = []int{1}; return &a },
		func(p *any) { (*p).([]int)[0] = 99; *p = nil }),
	kindOf("array", func() [2]*inner { return [2]*inner{{1, []string{"a"}}, nil} },
		func(a [2]*inner) { a[0].n = 99; a[0].tags[0] = "x" }),
	kindOf("*array", func() *[300]int { return &[300]int{7: 7} }, func(a *[300]int) { a[7] = 99 }),
	kindOf("one pointer", func() [1]struct{ p *inner } { return [1]struct{ p *inner }{{&inner{1, []string{"a"}}}} },
		func(a [1]struct{ p *inner }) { a[0].p.tags[0] = "x" }),
	kindOf("*big.Int", func() *big.Int { return new(big.Int).Lsh(big.NewInt(1), 200) },
		func(i *big.Int) { i.Bits()[3]++; i.SetInt64(7) }),
	kindOf("*big.Rat", func() *big.Rat { return big.NewRat(1, 3) }, func(r *big.Rat) { r.Num().SetInt64(7) }),
	kindOf("*big.Float", func() *big.Float { return big.NewFloat(1.5) }, func(f *big.Float) { f.SetInt64(7) }),
	kindOf("*url.URL", func() *url.URL {
		return &url.URL{Scheme: "https", Host: "h", User: url.UserPassword("u", "p")}
	}, func(u *url.URL) { u.Host = "x"; *u.User = *url.User("x") }),
	kindOf("http.Header", func() http.Header { return http.Header{"A": {"1"}} },
		func(h http.Header) { h["A"][0] = "x"; h.Set("B", "x") }),
	kindOf("json.RawMessage", func() json.RawMessage { return json.RawMessage(`{"a":1}`) },
		func(r json.RawMessage) { r[0] = 'x' }),
	kindOf("*list.List", func() *list.List { l := list.New(); l.PushBack([]int{1}); l.PushBack(2); return l },
		func(l *list.List) { l.Front().Value.([]int)[0] = 99; l.PushFront(0) }),
}

func TestCloneIsApartFromItsOriginal(t *testing.T) {
	dynamic := OfWhole[any]()
	ways := []struct {
		name string
		of   func(k kind) (wrap, clone func(any) any, spoil func(any))
	}{
		{"static", func(k kind) (wrap, clone func(any) any, spoil func(any)) {
			return func(v any) any { return v }, k.clone, k.spoil
		}},
		{"any", func(k kind) (wrap, clone func(any) any, spoil func(any)) {
			return func(v any) any { return v }, dynamic, k.spoil
		}},
		{"in []any", func(k kind) (wrap, clone func(any) any, spoil func(any)) {
			return func(v any) any { return []any{v} }, dynamic, func(v any) { k.spoil(v.([]any)[0]) }
		}},
		{"in map[string]any", func(k kind) (wrap, clone func(any) any, spoil func(any)) {
			return func(v any) any { return map[string]any{"k": v} }, dynamic,
				func(v any) { k.spoil(v.(map[string]any)["k"]) }
		}},
		{"in struct", func(k kind) (wrap, clone func(any) any, spoil func(any)) {
			type s struct{ hidden any }
			return func(v any) any { return s{v} }, dynamic, func(v any) { k.spoil(v.(s).hidden) }
		}},
	}
	for _, way := range ways {
		for _, k := range kinds {
			t.Run(way.name+"/"+k.name, func(t *testing.T) {
				wrap, clone, spoil := way.of(k)
				fresh := func() any { return wrap(k.make()) }

				original := fresh()
				copied := clone(original)
				require.Equal(t, fresh(), copied)
				require.Equal(t, fresh(), original, "cloning wrote to the original")
				requireIsomorphic(t, original, copied)

				spoil(original)
				require.NotEqual(t, fresh(), original, "spoil does nothing")
				require.Equal(t, fresh(), copied)

				original = fresh()
				spoil(clone(original))
				require.Equal(t, fresh(), original)
			})
		}
	}
}

func cloneOf[V any](v V) V {
	c := OfWhole[V]()
	if c == nil {
		return v
	}
	return c(v)
}

func TestCloneKeepsNilAndEmptyApart(t *testing.T) {
	require.Nil(t, cloneOf([]byte(nil)))
	require.Equal(t, []byte{}, cloneOf([]byte{}))
	require.Nil(t, cloneOf(json.RawMessage(nil)))
	require.Equal(t, json.RawMessage{}, cloneOf(json.RawMessage{}))
	require.Nil(t, cloneOf([]*inner(nil)))
	require.Equal(t, []*inner{}, cloneOf(make([]*inner, 0, 4)))
	require.Nil(t, cloneOf(map[string]string(nil)))
	require.Equal(t, map[string]string{}, cloneOf(map[string]string{}))
	require.Nil(t, cloneOf(map[int]*inner(nil)))
	require.Equal(t, map[int]*inner{}, cloneOf(map[int]*inner{}))
	require.Nil(t, cloneOf((*outer)(nil)))
	require.Nil(t, cloneOf(any(nil)))
	require.Equal(t, outer{}, cloneOf(outer{}))
	for _, v := range []any{
		[]any(nil), []any{}, map[string]any(nil), map[string]any{}, []string(nil), []string{}, []byte(nil), []byte{},
		[]int(nil), []int{}, []float64(nil), []float64{}, map[string]string(nil), map[string]string{},
		[][]float64(nil), [][]float64{}, map[string][]string(nil), map[string][]string{}, []map[string]any(nil),
		[]map[string]any{}, []inner(nil), []inner{}, map[int]inner(nil), map[int]inner{}, (*inner)(nil), (**inner)(nil),
		[]struct{}(nil), []struct{}{}, make([]struct{}, 3), http.Header(nil), http.Header{}, (chan int)(nil),
		[1]*inner{}, error(nil), (*wrapped)(nil), [0]*inner{},
	} {
		t.Run(fmt.Sprintf("%T", v), func(t *testing.T) {
			require.Equal(t, v, cloneOf(v))
			require.Equal(t, []any{v}, cloneOf([]any{v}))
		})
	}
	require.Equal(t, []error{(*wrapped)(nil), nil}, cloneOf([]error{(*wrapped)(nil), nil}))
}

func TestCloneClipsSlices(t *testing.T) {
	require.Equal(t, 3, cap(cloneOf(make([]byte, 3, 100))))
	require.Equal(t, 3, cap(cloneOf(make([]string, 3, 100))))
	require.Equal(t, 3, cap(cloneOf(make([]*inner, 3, 100))))
	require.Equal(t, 3, cap(cloneOf(make([]inner, 3, 100))))
	require.Equal(t, 3, cap(cloneOf(make([]outer, 3, 100))))
	require.Equal(t, 3, cap(cloneOf(make([]any, 3, 100))))
	require.Equal(t, 0, cap(cloneOf(make([]outer, 0, 100))))
	for _, v := range []any{
		make([]byte, 3, 100), make([]any, 3, 100), make([]int, 3, 100), make([]outer, 3, 100), make([]point, 3, 100),
		make([][]float64, 3, 100), make([]map[string]any, 3, 100), make([]time.Time, 3, 100), make([]struct{}, 3, 100),
		make([]int16, 3, 100), make([]error, 3, 100), make([]func(), 3, 100),
	} {
		c := reflect.ValueOf(cloneOf(v))
		require.Equal(t, 3, c.Len(), "%T", v)
		require.Equal(t, 3, c.Cap(), "%T", v)
	}
}

func TestCloneKeepsCycles(t *testing.T) {
	type node struct {
		next *node
		name string
	}
	a := &node{name: "a"}
	a.next = &node{a, "b"}
	c := cloneOf(a)
	require.NotSame(t, a, c)
	require.Same(t, c, c.next.next)
	require.Equal(t, "b", c.next.name)

	m := map[string]any{}
	m["self"] = m
	cm := cloneOf(m)
	cm["mark"] = 1
	require.Len(t, cm["self"], 2)
	require.Len(t, m, 1)
	cm = cloneOf(any(m)).(map[string]any)
	cm["mark"] = 1
	require.Len(t, cm["self"], 2)

	s := make([]any, 2)
	s[0] = s
	cs := cloneOf(s)
	cs[1] = 1
	require.Equal(t, 1, cs[0].([]any)[1])
	require.Nil(t, s[1])

	type rec map[int]rec
	r := rec{}
	r[1] = r
	cr := cloneOf(r)
	cr[2] = nil
	require.Len(t, cr[1], 2)

	type list []list
	l := make(list, 1)
	l[0] = l
	cl := cloneOf(l)
	require.Same(t, &cl[0], &cl[0][0])
	require.NotSame(t, &l[0], &cl[0])

	type ptr *ptr
	var p ptr
	p = &p
	cp := cloneOf(p)
	require.NotSame(t, (*ptr)(p), (*ptr)(cp))
	require.Same(t, (*ptr)(cp), (*ptr)(*cp))

	var i any
	i = &i
	ci := cloneOf(i).(*any)
	require.Same(t, ci, *ci)

	g := ring.New(5)
	cg := cloneOf(g)
	require.Same(t, cg, cg.Move(5))
	require.Equal(t, 5, cg.Len())
}

func TestCloneKeepsSharing(t *testing.T) {
	p := &inner{1, []string{"a"}}
	c := cloneOf([]*inner{p, p, {}})
	require.Same(t, c[0], c[1])
	require.NotSame(t, p, c[0])

	// The same object through pointers of two types.
	type alias *inner
	two := cloneOf([]any{p, alias(p)})
	require.Same(t, two[0], (*inner)(two[1].(alias)))

	// Containers, met by their plan and without.
	m := map[string]any{}
	b := []byte("abc")
	f := []float64{1}
	type holder struct {
		m     map[string]any
		b     []byte
		f     []float64
		short []byte
		any   []any
	}
	h := cloneOf(holder{m, b, f, b[:2], []any{m, b, [][]float64{f, f}, []map[string]any{m}}})
	h.m["x"] = 1
	require.Equal(t, 1, h.any[0].(map[string]any)["x"])
	require.Equal(t, 1, h.any[3].([]map[string]any)[0]["x"])
	require.Same(t, &h.b[0], &h.any[1].([]byte)[0])
	require.Same(t, &h.f[0], &h.any[2].([][]float64)[1][0])
	require.Same(t, &h.b[0], &h.short[0], "another slice of the array")
	require.Empty(t, m)

	// What a memo keyed by addresses alone would confuse.
	type first struct {
		inner inner
		more  []int
	}
	x := &first{inner: inner{n: 1}, more: []int{1}}
	y := cloneOf([]any{&x.inner, x})
	require.Equal(t, x, y[1])
	require.Same(t, y[0], &y[1].(*first).inner)
	require.NotSame(t, x, y[1])

	// More than are searched one by one, more than one index long.
	many := make([]*inner, 0, 20_000)
	for i := range 10_000 {
		many = append(many, &inner{n: i})
	}
	many = append(many, many...)
	for _, n := range []int{5, 12, 13, 14, 48, 49, 500, 3000, 10_000} {
		c := cloneOf(append(many[:n:n], many[:n]...))
		for i := range n {
			require.Equal(t, i, c[i].n)
			require.True(t, c[i] == c[i+n] && c[i] != many[i])
		}
	}
}

func TestCloneOfSharedBoxesTakesNoExponentialTime(t *testing.T) {
	type pair struct{ a, b any }
	var v any = []int{1}
	for range 64 {
		v = pair{v, v}
	}
	c := cloneOf(v)
	for range 64 {
		c = c.(pair).b
	}
	require.Equal(t, []int{1}, c)
}

func TestCloneOfMapKeys(t *testing.T) {
	nan := map[float64]*int{math.NaN(): new(int), math.NaN(): new(int), 1: new(int)}
	require.Len(t, cloneOf(nan), 3)
	require.Len(t, cloneOf(any(map[any][]int{math.NaN(): {1}, math.NaN(): {2}})), 2)
	require.Len(t, cloneOf(map[float64]int{math.NaN(): 1, math.NaN(): 2}), 2)

	p := &inner{n: 1}
	type refs struct {
		set  map[*inner]bool
		list []*inner
	}
	r := cloneOf(refs{map[*inner]bool{p: true, {n: 2}: false}, []*inner{p}})
	require.Len(t, r.set, 2)
	require.NotSame(t, p, r.list[0])
	require.True(t, r.set[r.list[0]], "keyed by the clone")

	// A key whose hash depends on a boxed struct, which is met again while it is
	// filled, and at each depth at which filling may be put off.
	type key struct {
		p *any
		n int
	}
	var inside any
	k := key{&inside, 1}
	m := map[any]any{k: []int{1}, "s": 2, 1.5: p, [1]any{k}: 4}
	inside = []any{m, k}
	var v any = []any{k, m}
	for range 2 * maxDepth {
		c := cloneOf(v)
		for {
			s := c.([]any)
			if len(s) == 2 {
				k, m := s[0].(key), s[1].(map[any]any)
				require.Len(t, m, 4)
				require.NotSame(t, &inside, k.p)
				require.True(t, (*k.p).([]any)[1] == any(k))
				for k := range m {
					_, ok := m[k]
					require.True(t, ok, "%T is not under its hash", k)
				}
				require.Equal(t, []int{1}, m[k])
				require.Equal(t, 4, m[[1]any{k}])
				break
			}
			c = s[0]
		}
		v = []any{v}
	}
}

type link struct{ next any }

// withSmallStack fails the test process if f uses more stack than a clone may. The
// limit is far below what a recursion over a million objects takes.
func withSmallStack(t *testing.T, f func()) {
	t.Helper()
	defer debug.SetMaxStack(debug.SetMaxStack(1 << 20))
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	<-done
}

func TestCloneOfDeepValuesHasABoundedStack(t *testing.T) {
	n := 1_000_000
	switch {
	case testing.Short():
		n = 15_000 // with 70 bytes each they are too many
	case raceEnabled:
		n = 100_000
	}
	few := max(n/10, 10_000)
	type node struct {
		next    *node
		payload []int
	}
	type nested map[int]nested
	type deepSlice []deepSlice

	t.Run("list", func(t *testing.T) {
		var l *node
		for i := range n {
			l = &node{l, []int{i}}
		}
		withSmallStack(t, func() { l = cloneOf(l) })
		for i := range n {
			require.True(t, l.payload[0] == n-1-i)
			l = l.next
		}
		require.Nil(t, l)
	})
	t.Run("[]any", func(t *testing.T) {
		v := []any{}
		for range n {
			v = []any{v, 1}
		}
		withSmallStack(t, func() { v = cloneOf(v) })
		depth := 0
		for ; len(v) > 0; v = v[0].([]any) {
			depth++
		}
		require.Equal(t, n, depth)
	})
	t.Run("map[string]any", func(t *testing.T) {
		v := map[string]any{}
		for range n {
			v = map[string]any{"in": v}
		}
		withSmallStack(t, func() { v = cloneOf(v) })
		depth := 0
		for ; len(v) > 0; v = v["in"].(map[string]any) {
			depth++
		}
		require.Equal(t, n, depth)
	})
	t.Run("boxed structs", func(t *testing.T) {
		var v any
		for range n {
			v = link{v}
		}
		withSmallStack(t, func() { v = cloneOf(v) })
		depth := 0
		for ; v != nil; v = v.(link).next {
			depth++
		}
		require.Equal(t, n, depth)
	})
	t.Run("reflected maps", func(t *testing.T) {
		var v nested
		for range few {
			v = nested{1: v}
		}
		withSmallStack(t, func() { v = cloneOf(v) })
		depth := 0
		for ; v != nil; v = v[1] {
			depth++
		}
		require.Equal(t, few, depth)
	})
	t.Run("slices of slices", func(t *testing.T) {
		var v deepSlice
		for range n {
			v = deepSlice{v}
		}
		withSmallStack(t, func() { v = cloneOf(v) })
		depth := 0
		for ; v != nil; v = v[0] {
			depth++
		}
		require.Equal(t, n, depth)
	})
	t.Run("mixed", func(t *testing.T) {
		var v any
		for i := range n {
			switch i % 6 {
			case 0:
				v = link{v}
			case 1:
				v = &link{v}
			case 2:
				v = []any{v}
			case 3:
				v = named{"k": v}
			case 4:
				v = []map[string]any{{"k": v}}
			case 5:
				v = [1]*link{{v}}
			}
		}
		withSmallStack(t, func() { v = cloneOf(v) })
		depth := 0
		for ; v != nil; depth++ {
			switch x := v.(type) {
			case link:
				v = x.next
			case *link:
				v = x.next
			case []any:
				v = x[0]
			case named:
				v = x["k"]
			case []map[string]any:
				v = x[0]["k"]
			case [1]*link:
				v = x[0].next
			}
		}
		require.Equal(t, n, depth)
	})
	t.Run("lock at the end", func(t *testing.T) {
		var v any = &sync.Mutex{}
		for range few {
			v = []any{v}
		}
		withSmallStack(t, func() {
			err := cloneError(func() { cloneOf(v) })
			require.Equal(t, reflect.TypeFor[sync.Mutex](), err.Type)
			require.Less(t, len(err.Path), 1000)
		})
	})
}

func TestCloneSharesHandlesAndValues(t *testing.T) {
	ch := make(chan int)
	fn := func() {}
	loc := time.FixedZone("x", 3600)
	sentinel := errors.New("sentinel")
	type all struct {
		Tags []string // so that there is something to clone
		ch   chan int
		fn   func()
		loc  *time.Location
		at   time.Time
		typ  reflect.Type
		err  error
		any  []any
		h    unique.Handle[string]
		ip   netip.AddrPort
		net  netip.Prefix
		weak weak.Pointer[string]
		attr slog.Attr
		grp  slog.Value
	}
	v := all{
		Tags: []string{"a"}, ch: ch, fn: fn, loc: loc, at: time.Now().In(loc), typ: reflect.TypeFor[all](),
		err: sentinel, any: []any{loc, ch, sentinel, reflect.TypeFor[int](), p256, time.Now().In(loc)},
		h: unique.Make("s"), ip: netip.MustParseAddrPort("[fe80::1%eth0]:80"), net: netip.MustParsePrefix("10.0.0.0/8"),
		weak: weak.Make(new(string)), attr: slog.String("k", "value"), grp: slog.GroupValue(slog.Int("a", 1), slog.Int("b", 2)),
	}
	c := cloneOf(v)
	require.NotSame(t, &v.Tags[0], &c.Tags[0])
	require.True(t, c.ch == ch && c.loc == loc && c.at == v.at && c.typ == v.typ && c.err == sentinel)
	require.Equal(t, reflect.ValueOf(fn).Pointer(), reflect.ValueOf(c.fn).Pointer())
	require.NotSame(t, &v.any[0], &c.any[0])
	for i := range v.any {
		require.True(t, v.any[i] == c.any[i], "%T", v.any[i])
	}
	require.True(t, c.h == v.h && c.ip == v.ip && c.net == v.net && c.weak == v.weak)
	require.Equal(t, "k=value", c.attr.String())
	require.Equal(t, v.grp.String(), c.grp.String())

	wrap := fmt.Errorf("more: %w", sentinel)
	require.ErrorIs(t, cloneOf(any(wrap)).(error), sentinel)
	require.ErrorIs(t, cloneOf(any(errors.Join(sentinel, wrap))).(error), sentinel)

	f := runtime.FuncForPC(reflect.ValueOf(TestCloneSharesHandlesAndValues).Pointer())
	require.Same(t, f, cloneOf([]any{f})[0], "a pointer to what has no size")
}

func TestCloneOfBuilderCanBeWritten(t *testing.T) {
	type holder struct {
		b strings.Builder
		n []int
	}
	h := &holder{}
	h.b.WriteString("abc")
	m := map[string]any{"p": h, "b": &h.b}
	c := cloneOf(m)
	c["p"].(*holder).b.WriteString("def")
	c["b"].(*strings.Builder).WriteString("ghi")
	h.b.WriteString("xyz")
	require.Equal(t, "abcdefghi", c["p"].(*holder).b.String())
	require.Same(t, &c["p"].(*holder).b, c["b"])
	require.Equal(t, "abcxyz", h.b.String())
}

func TestCloneOfScalarsKeepsTheirBox(t *testing.T) {
	src := []any{"s", 1 << 30, 1.5, time.Now(), point{1, 2}, struct{ a, b string }{"a", "b"}}
	dst := cloneOf(src)
	for i := range src {
		require.Equal(t, (*eface)(unsafe.Pointer(&src[i])).data, (*eface)(unsafe.Pointer(&dst[i])).data, "%T", src[i])
	}
}

func TestCloneAllocatesNoMoreThanByHand(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector empties pools")
	}
	allocs := func(f func()) float64 { return testing.AllocsPerRun(100, f) }
	doc := document(1)
	cloneDoc := OfWhole[map[string]any]()
	require.LessOrEqual(t, allocs(func() { cloneDoc(doc) }), allocs(func() { byHand(doc) })+0.5)
	rec := newRecord()
	cloneRec := OfWhole[record]()
	require.LessOrEqual(t, allocs(func() { cloneRec(rec) }), allocs(func() { rec.byHand() })+0.5)
	cloneBytes := OfWhole[[]byte]()
	b := make([]byte, 100)
	require.LessOrEqual(t, allocs(func() { cloneBytes(b) }), 1.0)
	cloneAny := OfWhole[any]()
	require.Zero(t, allocs(func() { cloneAny("scalar") }))
}

func TestPoolHoldsNoValue(t *testing.T) {
	clone := OfWhole[any]()
	var freed, cloned weak.Pointer[inner]
	func() {
		p := &inner{1, []string{"a"}}
		var v any = p
		for range 200 {
			v = []any{v, p}
		}
		freed = weak.Make(p)
		c := clone(v)
		for {
			s, ok := c.([]any)
			if !ok {
				break
			}
			c = s[0]
		}
		cloned = weak.Make(c.(*inner))
	}()
	// One collection leaves pools as they are, though in their second place.
	runtime.GC()
	require.Nil(t, freed.Value())
	require.Nil(t, cloned.Value())
	clone(1)
}

func TestCloneByManyReaders(t *testing.T) {
	src := map[string]any{"d": document(3), "o": newOuter(), "l": newList(300), "m": map[int]any{1: link{link{[]int{1}}}}}
	want := cloneOf(src)
	clone := OfWhole[map[string]any]()
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 20 {
				c := clone(src)
				if !reflect.DeepEqual(want, c) {
					t.Error("a clone differs")
				}
				c["d"].(map[string]any)["id"] = 0
				o := c["o"].(outer)
				spoilOuter(&o)
			}
		})
	}
	wg.Wait()
	require.Equal(t, want, src)
}

func TestCloneUnderConstantCollection(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(1))
	for range 30 {
		src := map[string]any{"d": document(3), "o": newOuter(), "l": newList(1000), "t": newTree(6),
			"m": map[string]record{"a": newRecord()}, "s": []outer{newOuter(), newOuter()}}
		c := cloneOf(src)
		d := cloneOf(c)
		src = nil
		runtime.GC()
		require.Equal(t, c, d)
	}
}

// raceEnabled says that the race detector is on.
var raceEnabled = func() bool {
	info, _ := debug.ReadBuildInfo()
	for _, s := range info.Settings {
		if s.Key == "-race" {
			return s.Value == "true"
		}
	}
	return false
}()

// requireIsomorphic fails unless a and b have one shape: equal leaves, and what is
// one object in a is one object in b and the other way round. No object may be in
// both, except where nothing is mutable.
func requireIsomorphic(t *testing.T, a, b any) {
	t.Helper()
	w := walker{to: map[object]object{}, from: map[object]object{}}
	if err := w.walk(reflect.ValueOf(&a).Elem(), reflect.ValueOf(&b).Elem(), "v"); err != nil {
		t.Fatal(err)
	}
}

type object struct {
	t   reflect.Type
	p   unsafe.Pointer
	len int
}

type walker struct{ to, from map[object]object }

// pair notes that a and b correspond. It reports whether they are to be walked.
func (w walker) pair(a, b reflect.Value, len int, path string) (bool, error) {
	oa, ob := object{a.Type(), a.UnsafePointer(), len}, object{b.Type(), b.UnsafePointer(), len}
	if oa.p == ob.p {
		return false, fmt.Errorf("%s: %s is shared", path, a.Type())
	}
	to, ok := w.to[oa]
	from, back := w.from[ob]
	switch {
	case !ok && !back:
		w.to[oa], w.from[ob] = ob, oa
		return true, nil
	case to != ob || from != oa:
		return false, fmt.Errorf("%s: sharing of %s is lost or new", path, a.Type())
	}
	return false, nil
}

func (w walker) walk(a, b reflect.Value, path string) error {
	if a.IsValid() != b.IsValid() || a.IsValid() && a.Type() != b.Type() {
		return fmt.Errorf("%s: dynamic types differ", path)
	}
	if !a.IsValid() {
		return nil
	}
	pl := planOf(a.Type())
	switch a.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Slice, reflect.Interface:
		if a.IsNil() != b.IsNil() {
			return fmt.Errorf("%s: nil and not", path)
		}
		if a.IsNil() {
			return nil
		}
	}
	switch {
	case pl.fix == nil && a.Kind() == reflect.Pointer:
		return nil
	case pl.class == classMethod && a.Kind() == reflect.Pointer:
		return nil // as its method made it: trusted
	case pl.class == classPointer:
		if more, err := w.pair(a, b, 0, path); !more {
			return err
		}
		return w.walk(a.Elem(), b.Elem(), "(*"+path+")")
	case a.Kind() == reflect.Interface:
		return w.walk(a.Elem(), b.Elem(), path)
	case a.Kind() == reflect.Struct:
		for i := range a.NumField() {
			if err := w.walk(a.Field(i), b.Field(i), path+"."+a.Type().Field(i).Name); err != nil {
				return err
			}
		}
	case a.Kind() == reflect.Array, a.Kind() == reflect.Slice:
		if a.Len() != b.Len() {
			return fmt.Errorf("%s: lengths differ", path)
		}
		if a.Kind() == reflect.Slice {
			if a.Len() == 0 {
				return nil
			}
			if more, err := w.pair(a, b, a.Len(), path); !more {
				return err
			}
		}
		for i := range a.Len() {
			if err := w.walk(a.Index(i), b.Index(i), fmt.Sprintf("%s[%d]", path, i)); err != nil {
				return err
			}
		}
	case a.Kind() == reflect.Map:
		if a.Len() != b.Len() {
			return fmt.Errorf("%s: lengths differ", path)
		}
		if more, err := w.pair(a, b, 0, path); !more {
			return err
		}
		for i := a.MapRange(); i.Next(); {
			e := b.MapIndex(i.Key())
			if !e.IsValid() {
				return fmt.Errorf("%s: no key %v", path, i.Key())
			}
			if err := w.walk(i.Value(), e, fmt.Sprintf("%s[%v]", path, i.Key())); err != nil {
				return err
			}
		}
	case a.Kind() == reflect.Chan, a.Kind() == reflect.Func:
	case !a.Equal(b):
		return fmt.Errorf("%s: %v and %v", path, a, b)
	}
	return nil
}

// grow makes a graph of decoded JSON and its like, with sharing and cycles, from a
// program of bytes.
func grow(program []byte) any {
	var made []any // containers, to be used again
	next := func() byte {
		if len(program) == 0 {
			return 0
		}
		b := program[0]
		program = program[1:]
		return b
	}
	var value func(depth int) any
	fill := func(n int, f func(i int)) {
		for i := range n {
			f(i)
		}
	}
	value = func(depth int) any {
		op := next()
		if depth > 500 {
			op %= 8
		}
		n := int(op>>5) % 5
		switch op % 26 {
		case 0:
			return nil
		case 1:
			return int(op)
		case 2:
			return float64(op)
		case 3:
			return strings.Repeat("s", n)
		case 4:
			return op%2 == 0
		case 5, 6:
			if len(made) > 0 {
				return made[int(next())%len(made)]
			}
			return time.Unix(int64(op), 0)
		case 7:
			return point{int32(op), 1}
		case 8, 9, 10:
			m := map[string]any{}
			made = append(made, m)
			fill(n, func(i int) { m[string(rune('a'+i))] = value(depth + 1) })
			return m
		case 11, 12, 13:
			s := make([]any, n, n+1)
			made = append(made, s)
			fill(n, func(i int) { s[i] = value(depth + 1) })
			return s
		case 14:
			s := make([]string, n)
			made = append(made, s)
			return s
		case 15:
			s := make([]byte, n, 2*n)
			made = append(made, s)
			return s
		case 16:
			row := []float64{1, 2}
			s := make([][]float64, n)
			fill(n, func(i int) {
				if s[i] = row; i > 1 {
					s[i] = []float64{float64(i)}
				}
			})
			made = append(made, s, row)
			return s
		case 17:
			m := map[string][]string{"a": make([]string, n), "n": nil}
			made = append(made, m, m["a"])
			return m
		case 18:
			s := make([]map[string]any, n)
			made = append(made, s)
			fill(n, func(i int) {
				if m, ok := value(depth + 1).(map[string]any); ok {
					s[i] = m
				}
			})
			return s
		case 19:
			p := &link{}
			made = append(made, p)
			p.next = value(depth + 1)
			return p
		case 20:
			return link{value(depth + 1)}
		case 21:
			m := named{}
			made = append(made, m)
			fill(n, func(i int) { m[string(rune('a'+i))] = value(depth + 1) })
			return m
		case 22:
			m := map[int]*outer{}
			made = append(made, m)
			fill(n, func(i int) { m[i] = &outer{any: value(depth + 1)} })
			return m
		case 23:
			s := make([]outer, n)
			made = append(made, s)
			fill(n, func(i int) {
				s[i].any = value(depth + 1)
				s[i].ptr = &inner{n: i}
				s[i].byName = map[string]*inner{"p": s[i].ptr}
			})
			return s
		case 24:
			p := new(any)
			made = append(made, p)
			*p = value(depth + 1)
			return p
		default:
			return [2]any{value(depth + 1), value(depth + 1)}
		}
	}
	return value(0)
}

func FuzzCloneKeepsTheShape(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{8 + 26*4, 11 + 26*5, 14 + 26*4, 16 + 26*7, 5, 0, 5, 1, 19, 5, 0})
	f.Add([]byte{19, 20, 25, 5, 0, 22 + 26*4, 18 + 26*3, 8, 8 + 26*4, 5, 0, 5, 1, 5, 2, 5, 3})
	f.Add([]byte{24, 11 + 26*6, 24, 5, 0, 5, 1, 23 + 26*3, 5, 2, 5, 3, 21 + 26*5, 17 + 26*3, 15 + 26*5, 5, 4})
	f.Add([]byte(strings.Repeat("\x13\x14\x8b\x70", 200) + "\x05\x00\x05\x01"))
	f.Add([]byte(strings.Repeat("\x8b\x88\x05\x03\x90\x91\x92", 60)))
	f.Fuzz(func(t *testing.T, program []byte) {
		v := grow(program)
		c := cloneOf(v)
		requireIsomorphic(t, v, c)
		requireIsomorphic(t, grow(program), v) // the original is as it was
		requireIsomorphic(t, v, cloneOf(c))
	})
}

// cloneError returns the Error that f panics with, or nil.
func cloneError(f func()) (err *Error) {
	defer func() {
		if r := recover(); r != nil {
			err = r.(*Error)
		}
	}()
	f()
	return nil
}

func needsClone[V any]() bool { return OfWhole[V]() != nil }

// Wherever on its stack a goroutine clones, and wherever the stack grows and moves meanwhile,
// what it gets is a clone.
func TestCloneOnAStackThatGrows(t *testing.T) {
	type simple struct {
		Name string
		List []string
		Map  map[string]string
	}
	clone := Of[simple]()
	v := simple{"a", []string{"b"}, map[string]string{"k": "v"}}
	var deep func(n int) simple
	deep = func(n int) simple {
		if n > 0 {
			return deep(n - 1)
		}
		return clone(v)
	}
	for n := range 2_000 {
		got := make(chan simple)
		go func() { got <- deep(n) }() // on a stack of its own, which is small
		c := <-got
		require.Equal(t, v, c, n)
		require.NotSame(t, &v.List[0], &c.List[0], n)
	}
}
