package value

import (
	"encoding/json"
	"math"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"
)

type worker struct {
	Name string
	Jobs <-chan int
	Done func() string
}

func TestFreezeHandlesGivesBackTheSameChannelsAndFunctions(t *testing.T) {
	type signal chan struct{}
	number := 3
	for name, in := range map[string]any{
		"channel": make(chan int), "receiver": (<-chan int)(make(chan int)), "named": make(signal), "nil": (chan int)(nil),
		"pointer": unsafe.Pointer(&number), "nil pointer": unsafe.Pointer(nil), "complex": 1 + 2i, "complex64": complex64(3i),
	} {
		v, err := FreezeHandles(in)
		require.NoError(t, err, name)
		require.Equal(t, Handle, v.Kind(), name)
		require.True(t, v.Exists(), name)
		require.False(t, v.IsNull(), name)
		require.True(t, in == v.Any(), name)
		require.Positive(t, v.Size(), name)
		_, err = Freeze(in)
		require.ErrorIs(t, err, ErrUnsupported, name)
	}

	v, err := FreezeHandles(func() string { return "called" })
	require.NoError(t, err)
	require.Equal(t, "called", v.Any().(func() string)())
	require.Equal(t, "handle", Handle.String())
}

func TestFreezeHandlesInsideOfValues(t *testing.T) {
	c := make(chan int)
	var nilChannel chan int
	in := map[string]any{
		"list": []any{1, c, nilChannel}, "typed": []chan int{c, nil}, "map": map[string]chan int{"c": c},
		"worker": worker{"w", c, func() string { return "done" }}, "pointer": &c, "plain": []string{"a"},
	}
	v, err := FreezeHandles(in)
	require.NoError(t, err)
	require.Equal(t, Handle, v.Path("list.1").Kind())
	require.Equal(t, List, v.Path("typed").Kind())
	in["plain"].([]string)[0] = "spoiled"
	in["typed"].([]chan int)[1] = c

	for range 2 {
		out := v.Any().(map[string]any)
		require.Equal(t, []any{1, c, nilChannel}, out["list"])
		require.Equal(t, []chan int{c, nil}, out["typed"])
		require.Equal(t, map[string]chan int{"c": c}, out["map"])
		require.Equal(t, "done", out["worker"].(worker).Done())
		require.Equal(t, (<-chan int)(c), out["worker"].(worker).Jobs)
		require.NotSame(t, in["pointer"], out["pointer"])
		require.Equal(t, c, *out["pointer"].(*chan int))
		require.Equal(t, []string{"a"}, out["plain"])
		out["plain"].([]string)[0] = "spoiled"
		out["typed"].([]chan int)[0] = nil
	}
	channel, err := As[chan int](v.Path("list.1"))
	require.NoError(t, err)
	require.True(t, channel == c)
}

func TestFreezeHandlesIsElseFreeze(t *testing.T) {
	for name, in := range values() {
		frozen, err := Freeze(in)
		require.NoError(t, err, name)
		v, err := FreezeHandles(in)
		require.NoError(t, err, name)
		require.True(t, Equal(frozen, v), name)
		require.Equal(t, frozen.Any(), v.Any(), name)
	}
	v, err := FreezeHandles(Value{})
	require.NoError(t, err)
	require.False(t, v.Exists())

	cycle := map[string]any{"c": make(chan int)}
	cycle["self"] = cycle
	_, err = FreezeHandles(cycle)
	require.ErrorIs(t, err, ErrCycle)
	for _, in := range []any{math.NaN(), []float64{math.Inf(1)}, map[chan int]int{nil: 1}, map[float64]int{1: 1}} {
		_, err = FreezeHandles(in)
		require.ErrorIs(t, err, ErrUnsupported)
	}
}

func TestAHandleHasNoJSON(t *testing.T) {
	v, err := FreezeHandles(map[string]any{"a": []any{1, make(chan int)}})
	require.NoError(t, err)
	_, err = v.MarshalJSON()
	require.ErrorIs(t, err, ErrUnsupported)
	var where *Error
	require.ErrorAs(t, err, &where)
	require.Equal(t, Error{"a.1", "chan int", ErrUnsupported}, *where)
	_, err = json.Marshal(v)
	require.ErrorIs(t, err, ErrUnsupported)
	_, err = As[map[string][]int](v)
	require.ErrorIs(t, err, ErrUnsupported)
}

func TestHandlesAreEqualWhereGoSaysSo(t *testing.T) {
	freeze := func(v any) Value {
		frozen, err := FreezeHandles(v)
		require.NoError(t, err)
		return frozen
	}
	c := make(chan int)
	f := func() {}
	require.True(t, Equal(freeze(c), freeze(c)))
	require.True(t, Equal(freeze([]any{c}), freeze([]any{c})))
	require.False(t, Equal(freeze(c), freeze(make(chan int))))
	require.False(t, Equal(freeze(c), freeze((<-chan int)(c))), "of another type")
	require.False(t, Equal(freeze(f), freeze(f)), "Go has no == for functions")
	once := freeze(f)
	require.True(t, Equal(once, once))
	require.True(t, Equal(freeze([]any{once}), freeze([]any{once})))
	require.False(t, Equal(freeze(c), freeze(nil)))
	_, ok := Compare(freeze(c), freeze(c))
	require.False(t, ok, "without order")
}

// What JSON cannot say is found, and where.
func TestCheckJSON(t *testing.T) {
	type named string
	check := func(v any) error {
		f, err := FreezeHandles(v)
		require.NoError(t, err)
		b, err := Append(nil, f)
		if err == nil { // as it comes from a file
			back, _, err := Decode(b)
			require.NoError(t, err)
			require.Equal(t, f.CheckJSON() == nil, back.CheckJSON() == nil)
		}
		return f.CheckJSON()
	}
	require.NoError(t, check(map[string]any{"a": []any{1, 1.5, "é", nil, []byte("\xff"), time.Now()}}))
	require.NoError(t, Value{}.CheckJSON())
	for _, c := range []struct {
		v    any
		err  error
		path string
	}{
		{"\xff", ErrUTF8, ""},
		{named("a\xff"), ErrUTF8, ""},
		{map[string]any{"a": []any{1, "\xff"}}, ErrUTF8, "a.1"},
		{map[string]any{"a": map[string]any{"\xff": 1}}, ErrUTF8, "a.\xff"},
		{[]any{func() {}}, ErrUnsupported, "0"},
	} {
		var e *Error
		err := check(c.v)
		require.ErrorIs(t, err, c.err)
		require.ErrorAs(t, err, &e)
		require.Equal(t, c.path, e.Path)
	}
}
