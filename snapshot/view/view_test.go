package view_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/snapshot/view"
)

// A point is viewed by pointView, as a generated type would.
type point struct {
	Name string
	Tags []string
}

type pointView struct{ ref view.Ref[point] }

func (pointView) ViewOf(r view.Ref[point]) pointView { return pointView{r} }
func (v pointView) Valid() bool                      { return v.ref.Valid() }
func (v pointView) Name() string                     { return view.Shared(v.ref).Name }
func (v pointView) Tags() view.Slice[string]         { return view.SliceOf(view.Shared(v.ref).Tags) }
func (v pointView) String() string                   { return v.Name() }

func TestRefs(t *testing.T) {
	var none view.Ref[point]
	require.False(t, none.Valid())
	require.Nil(t, view.Shared(none))
	p, q := &point{Name: "a", Tags: []string{"x"}}, &point{Name: "a", Tags: []string{"x"}}
	require.Same(t, p, view.Shared(view.To(p)))
	require.True(t, view.Equal(view.To(p), view.To(q)))
	require.True(t, view.Equal(none, none))
	require.False(t, view.Equal(view.To(p), none))
	require.False(t, view.Equal(none, view.To(p)))
	q.Tags[0] = "y"
	require.False(t, view.Equal(view.To(p), view.To(q)))
	require.Equal(t, "a", view.Of[pointView](view.To(p)).Name())
}

func jsonOf(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	require.NoError(t, err)
	return string(text)
}

func TestSlices(t *testing.T) {
	for _, s := range [][]int{nil, {}, {1}, {1, 2, 3}} {
		v := view.SliceOf(s)
		require.Equal(t, len(s), v.Len())
		require.Equal(t, s == nil, v.IsNil())
		require.Equal(t, s, v.Clone())
		require.Equal(t, append([]int{7}, s...), v.AppendTo([]int{7}))
		require.Equal(t, slices.Collect(slices.Values(s)), slices.Collect(v.Values()))
		for i, x := range v.All() {
			require.Equal(t, s[i], x)
			require.Equal(t, s[i], v.At(i))
		}
		require.Equal(t, jsonOf(t, s), jsonOf(t, v))
		require.Equal(t, fmt.Sprint(s), v.String())
		require.Equal(t, s, view.Of[view.Slice[int]](view.To(&s)).Clone())
		require.Equal(t, slices.Contains(s, 2), view.Contains(v, 2))
	}
}

func TestAViewIsOfWhatIsInTheSliceAndNotOfItsRoom(t *testing.T) {
	array := []byte("abcdef")
	s := array[:2]
	require.Equal(t, "b", view.BytesOf(s).Sub(1, 2).Text())
	require.Panics(t, func() { view.BytesOf(s).Sub(0, 3) })
	require.Panics(t, func() { view.SliceOf(s).Sub(0, 3) })
	require.Panics(t, func() { view.SliceOf(s).At(2) })

	sub := view.SliceOf(s).Sub(0, 1).AppendTo(nil)
	sub = append(sub, 'x')
	require.Equal(t, "ax", string(sub))
	require.Equal(t, "abcdef", string(array))
}

func TestSlicesOfViews(t *testing.T) {
	points := []point{{"a", []string{"x"}}, {"b", nil}}
	v := view.SliceViewsOf[pointView](points)
	require.Equal(t, 2, v.Len())
	require.Equal(t, "x", v.At(0).Tags().At(0))
	require.Equal(t, "b", v.Sub(1, 2).At(0).Name())
	require.Equal(t, "[2 elements]", v.String())
	require.Equal(t, jsonOf(t, points), jsonOf(t, v))
	for i, w := range v.All() {
		require.Equal(t, points[i].Name, w.Name())
		if i == 0 {
			break
		}
	}
	require.Len(t, v.AppendTo(nil), 2)
	clone := v.Clone()
	clone[0].Tags[0] = "y"
	require.Equal(t, "x", points[0].Tags[0])

	pointers := []*point{&points[0], nil}
	w := view.SlicePointersOf[pointView](pointers)
	require.Equal(t, "a", w.At(0).Name())
	require.False(t, w.At(1).Valid())
	require.False(t, w.Sub(1, 2).At(0).Valid())
	require.Equal(t, jsonOf(t, pointers), jsonOf(t, w))
	require.NotSame(t, pointers[0], w.Clone()[0])
	require.Len(t, slices.Collect(w.Values()), 2)

	nested := [][]string{{"x"}, nil}
	n := view.SliceViewsOf[view.Slice[string]](nested)
	require.Equal(t, "x", n.At(0).At(0))
	require.True(t, n.At(1).IsNil())
	require.Equal(t, "[2 elements]", n.String())
}

func TestMaps(t *testing.T) {
	for _, m := range []map[string]int{nil, {}, {"a": 1, "b": 2}} {
		v := view.MapOf(m)
		require.Equal(t, len(m), v.Len())
		require.Equal(t, m == nil, v.IsNil())
		require.Equal(t, m, v.Clone())
		require.Equal(t, len(m), len(maps.Collect(v.All())))
		require.Equal(t, slices.Sorted(maps.Keys(m)), slices.Sorted(v.Keys()))
		require.Equal(t, slices.Sorted(maps.Values(m)), slices.Sorted(v.Values()))
		require.Equal(t, jsonOf(t, m), jsonOf(t, v))
		n, ok := v.Get("a")
		require.Equal(t, m["a"], n)
		require.Equal(t, v.Has("a"), ok)
		require.False(t, v.Has("c"))
		require.Equal(t, m, view.Of[view.Map[string, int]](view.To(&m)).Clone())
	}
	require.Equal(t, "[1 key]", view.MapOf(map[int]int{1: 1}).String())
	require.Equal(t, "[2 keys]", view.MapOf(map[int]int{1: 1, 2: 2}).String())
}

func TestMapsOfViews(t *testing.T) {
	m := map[string]point{"a": {"A", []string{"x"}}, "b": {"B", nil}}
	v := view.MapViewsOf[pointView](m)
	w, ok := v.Get("a")
	require.True(t, ok)
	require.Equal(t, "x", w.Tags().At(0))
	w, ok = v.Get("c")
	require.False(t, ok)
	require.False(t, w.Valid())
	held := maps.Collect(v.All())
	require.Equal(t, "A", held["a"].Name())
	require.Equal(t, "B", held["b"].Name())
	require.Len(t, slices.Collect(v.Values()), 2)
	require.Equal(t, jsonOf(t, m), jsonOf(t, v))
	clone := v.Clone()
	clone["a"].Tags[0] = "y"
	require.Equal(t, "x", m["a"].Tags[0])

	pointers := map[string]*point{"a": {Name: "A"}, "nil": nil}
	p := view.MapPointersOf[pointView](pointers)
	w, ok = p.Get("a")
	require.True(t, ok)
	require.Equal(t, "A", w.Name())
	w, ok = p.Get("nil")
	require.True(t, ok)
	require.False(t, w.Valid())
	_, ok = p.Get("none")
	require.False(t, ok)
	require.Equal(t, jsonOf(t, pointers), jsonOf(t, p))
	for range p.Values() {
		break
	}
}

func TestPointers(t *testing.T) {
	n := 5
	v := view.PointerOf(&n)
	got, ok := v.Get()
	require.True(t, ok)
	require.Equal(t, 5, got)
	require.NotSame(t, &n, v.Clone())
	require.Equal(t, "5", v.String())
	require.Equal(t, "5", jsonOf(t, v))

	var none view.Pointer[int]
	require.False(t, none.Valid())
	_, ok = none.Get()
	require.False(t, ok)
	require.Nil(t, none.Clone())
	require.Equal(t, "<nil>", none.String())
	require.Equal(t, "null", jsonOf(t, none))

	s := []string{"x"}
	p := &s
	w := view.Of[view.PointerViews[[]string, view.Slice[string]]](view.To(&p))
	e, ok := w.Get()
	require.True(t, ok)
	require.Equal(t, "x", e.At(0))
	require.Equal(t, "[*[]string]", w.String())
	(*w.Clone())[0] = "y"
	require.Equal(t, "x", s[0])
	require.Equal(t, `["x"]`, jsonOf(t, w))
	_, ok = view.PointerViewsOf[view.Slice[string]]((*[]string)(nil)).Get()
	require.False(t, ok)
}

func TestBytes(t *testing.T) {
	b := []byte("abc")
	v := view.Of[view.Bytes](view.To(&b))
	require.Equal(t, 3, v.Len())
	require.Equal(t, byte('b'), v.At(1))
	require.Equal(t, "abc", v.Text())
	require.True(t, v.Equal([]byte("abc")))
	require.Equal(t, "xabc", string(v.AppendTo([]byte("x"))))
	require.Equal(t, jsonOf(t, b), jsonOf(t, v))
	require.Equal(t, "[3 bytes]", v.String())
	v.Clone()[0] = 'x'
	require.Equal(t, "abc", v.Text())
	require.True(t, view.BytesOf(nil).IsNil())
}

func TestClones(t *testing.T) {
	var value any = []int{1}
	c := view.Of[view.Cloned[any]](view.To(&value))
	c.Get().([]int)[0] = 2
	view.CloneOf(value).([]int)[0] = 2
	require.Equal(t, []any{[]int{1}}, []any{value})
	require.Equal(t, "[1]", jsonOf(t, c))
	require.Equal(t, "[interface {}]", c.String())
	require.Equal(t, 5, view.CloneOf(5))
}

func TestLongValuesPrintShort(t *testing.T) {
	many := make([]int, 1000)
	require.Equal(t, "[0 0 0 0 0 0 0 0 … 992 more]", view.SliceOf(many).String())
	long := strings.Repeat("ä", 10_000)
	text := view.SliceOf([]string{"a", long, long}).String()
	require.Less(t, len(text), 300)
	require.True(t, strings.HasSuffix(text, "… 1 more]"), text)
	require.Less(t, len(view.PointerOf(&long).String()), 300)
}

// A loop is a value that leads to itself in every way.
type loop struct {
	Name   string
	Next   *loop
	Any    any
	List   []any
	ByName map[string]any
	Err    error
	f      func()
	nested struct{ A, B int }
	Array  [3]byte
	When   time.Time
	For    time.Duration
	Old    bool
	Size   uint8
	Rate   float64
}

// Error makes a loop an error, whose text nobody may ask for.
func (l *loop) Error() string { panic("asked for") }

func newLoop() *loop {
	l := &loop{Name: "a", List: []any{1}, ByName: map[string]any{}, When: time.Unix(1, 0).UTC(), For: time.Second, Size: 7, Rate: 0.5}
	l.Next, l.Any, l.Err = l, l, l
	l.f, l.nested.A = nil, 1
	l.List[0] = l.List
	l.ByName["self"] = l.ByName
	return l
}

func TestStructsPrintTheirFieldsInShort(t *testing.T) {
	r := view.To(newLoop())
	require.Equal(t, `loop{Name: "a", Next: *view_test.loop, Any: *view_test.loop, List: [1], ByName: {1}, Err: *view_test.loop, f: nil, nested: {…}, Array: [3], When: 1970-01-01 00:00:01 +0000 UTC, For: 1s, Old: false, Size: 7, Rate: 0.5}`, view.StringOf(r))
	require.Equal(t, "<nil>", view.StringOf(view.Ref[loop]{}))
	require.Equal(t, slog.Value{}, view.LogOf(view.Ref[loop]{}))

	var b strings.Builder
	slog.New(slog.NewJSONHandler(&b, nil)).Info("", "v", view.LogOf(r))
	require.Contains(t, b.String(), `"v":{"Name":"a","Next":"*view_test.loop","Any":"*view_test.loop","List":"[1]","ByName":"{1}","Err":"*view_test.loop","f":"nil","nested":"{…}","Array":"[3]","When":"1970-01-01 00:00:01 +0000 UTC","For":"1s","Old":false,"Size":7,"Rate":0.5}`)

	many := make([]int, 1_000_000)
	require.Equal(t, "[1000000]", view.StringOf(view.To(&many)))
	long := point{Name: strings.Repeat("ä", 1_000_000)}
	require.Less(t, len(view.StringOf(view.To(&long))), 500)
}

func TestTheTextOfAStructEnds(t *testing.T) {
	type wide struct{ A, B, C, D, E, F, G, H, I, J string }
	s := strings.Repeat("x", 100)
	w := wide{s, s, s, s, s, s, s, s, s, s}
	text := view.StringOf(view.To(&w))
	require.Less(t, len(text), 700)
	require.True(t, strings.HasSuffix(text, ", …}"), text)
}
