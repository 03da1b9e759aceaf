package depth_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/snapshot/depth"
)

type node struct{ Next *node }

type anyNode struct{ Next any }

type lists []lists

type maps map[string]maps

type pointer *pointer

type embedded struct{ Next *embedding }

type embedding struct{ embedded }

// nest returns a value of n levels.
func nest(n int, v any, level func(any) any) any {
	for range n {
		v = level(v)
	}
	return v
}

// deep are the ways in which values nest.
var deep = map[string]func(n int) any{
	"[]any":           func(n int) any { return nest(n, nil, func(v any) any { return []any{v} }) },
	"the second":      func(n int) any { return nest(n, nil, func(v any) any { return []any{1, v, "x"} }) },
	"map[string]any":  func(n int) any { return nest(n, nil, func(v any) any { return map[string]any{"k": v} }) },
	"[1]any":          func(n int) any { return nest(n, nil, func(v any) any { return [1]any{v} }) },
	"struct in any":   func(n int) any { return nest(n, nil, func(v any) any { return anyNode{v} }) },
	"pointer in any":  func(n int) any { return nest(n, nil, func(v any) any { return &anyNode{v} }) },
	"pointers to any": func(n int) any { return nest(n, 1, func(v any) any { return &v }) },
	"list": func(n int) any {
		var l *node
		for range n {
			l = &node{l}
		}
		return l
	},
	"lists": func(n int) any {
		var l lists
		for range n {
			l = lists{l}
		}
		return l
	},
	"maps": func(n int) any {
		var m maps
		for range n {
			m = maps{"k": m}
		}
		return m
	},
	"pointers": func(n int) any {
		var p pointer
		for range n {
			q := p
			p = &q
		}
		return p
	},
	"embedded": func(n int) any {
		var l *embedding
		for range n {
			l = &embedding{embedded{l}}
		}
		return l
	},
}

func TestTheLimitIsExact(t *testing.T) {
	fields := &depth.Rule{}
	for name, of := range deep {
		if testing.Short() && !slices.Contains([]string{"[]any", "map[string]any", "list", "embedded"}, name) {
			continue
		}
		most, more, inner, less, deepest := of(depth.Limit), of(depth.Limit+1), of(depth.Limit-2), of(depth.Limit-3), of(2*depth.Limit)
		for _, r := range []*depth.Rule{depth.JSON, fields} {
			require.NoError(t, r.Check(most), name)
			require.ErrorIs(t, r.Check(more), depth.ErrTooDeep, name)
			require.NoError(t, r.CheckIn(3, less), name)
			require.ErrorIs(t, r.CheckIn(3, inner), depth.ErrTooDeep, name)
			require.ErrorContains(t, r.Check(deepest), "more than 10000 levels", name)
		}
	}
}

// What is around counts for values that are known to be flat, by their type or at once, too.
func TestWhatIsAroundCounts(t *testing.T) {
	for _, v := range []any{[]any{"tea"}, []int{1}, struct{ A []int }{}, map[string]any{}} {
		levels := 1
		if reflect.TypeOf(v).Kind() == reflect.Struct {
			levels = 2
		}
		require.NoError(t, depth.JSON.CheckIn(depth.Limit-levels, v), "%T", v)
		require.ErrorIs(t, depth.JSON.CheckIn(depth.Limit-levels+1, v), depth.ErrTooDeep, "%T", v)
		require.ErrorIs(t, depth.JSON.CheckIn(depth.Limit+1, v), depth.ErrTooDeep, "%T", v)
	}
	require.NoError(t, depth.JSON.CheckIn(depth.Limit+1, "tea"))
}

func TestWhatJSONReadsPassesAndMore(t *testing.T) {
	for _, name := range []string{"[]any", "map[string]any", "list", "lists", "maps", "embedded"} {
		v := deep[name](depth.Limit)
		text, err := json.Marshal(v)
		require.NoError(t, err, name)
		back := reflect.New(reflect.TypeOf(v))
		require.NoError(t, json.Unmarshal(text, back.Interface()), name)
		require.NoError(t, depth.JSON.Check(back.Elem().Interface()), name)
	}
}

func TestTextsAreReadUpToTheLimit(t *testing.T) {
	for _, inner := range []string{"", `"]]]]"`, `"\"[[[["`, `{"}}}}":[]}`, `"\\",1`} {
		for n := depth.Limit - 3; n < depth.Limit+3; n++ {
			text := []byte(strings.Repeat("[", n) + inner + strings.Repeat("]", n))
			require.Equal(t, json.Unmarshal(text, new(any)) == nil, depth.CheckText(text, depth.Limit) == nil, "%d levels around %s", n, inner)
		}
	}
}

func TestCyclesAreTooDeep(t *testing.T) {
	ring := &node{&node{&node{}}}
	ring.Next.Next.Next = ring
	list := []any{1, nil}
	list[1] = list
	m := map[string]any{}
	m["m"] = []any{m}
	var p pointer
	p = &p
	for _, v := range []any{ring, list, m, p} {
		require.ErrorIs(t, depth.JSON.Check(v), depth.ErrTooDeep)
		require.ErrorContains(t, depth.JSON.Check([]any{v}), "cycle")
	}
	require.Error(t, depth.Text.Check(list))
	require.Error(t, depth.Text.Check(m))
	require.NoError(t, depth.Text.Check(ring), "fmt follows one pointer")
}

// Of each level there are 2^n copies, as functions that know no sharing see it.
func TestWhatIsSharedIsLookedAtOnce(t *testing.T) {
	for name, level := range map[string]func(any) any{
		"slices":  func(v any) any { return []any{v, v} },
		"maps":    func(v any) any { return map[string]any{"a": v, "b": v} },
		"structs": func(v any) any { return [2]any{v, v} },
		"pointers": func(v any) any {
			return &[2]any{v, v}
		},
	} {
		require.NoError(t, depth.JSON.Check(nest(5000, nil, level)), name)
		require.NoError(t, depth.JSON.Check(nest(60, nil, level)), name)
		require.Error(t, depth.JSON.Check(nest(depth.Limit+1, nil, level)), name)
	}
	// The deeper way to what is shared is the one that counts.
	inner := deep["[]any"](6000)
	require.NoError(t, depth.JSON.Check([]any{inner, nest(3000, inner, func(v any) any { return []any{v} })}))
	require.Error(t, depth.JSON.Check([]any{inner, nest(5000, inner, func(v any) any { return []any{v} })}))
	type hidden struct{ a, b any }
	require.ErrorIs(t, depth.Text.Check(nest(200, nil, func(v any) any { return hidden{v, v} })), depth.ErrTooDeep)
	require.NoError(t, depth.Text.Check(nest(10, nil, func(v any) any { return hidden{v, v} })))

	n := 1 << 17
	if testing.Short() {
		n = 2 * depth.Limit
	}
	wide := make([]any, n)
	for i := range wide {
		wide[i] = []any{i}
	}
	require.NoError(t, depth.JSON.Check(wide))
}

type own struct{ Next any }

func (own) MarshalJSON() ([]byte, error) { return []byte("1"), nil }

type ownPointer struct{ Next any }

func (*ownPointer) MarshalJSON() ([]byte, error) { return []byte("1"), nil }

type named struct{ v any }

func (named) String() string { return "named" }

type withHidden struct {
	A      int
	hidden any
	Left   any `json:"-"`
}

type ring struct {
	*ring
	N int
}

// What a function does not look at may be as deep as it likes.
func TestOnlyWhatIsLookedAtCounts(t *testing.T) {
	v := deep["[]any"](depth.Limit + 1)
	loop := &ring{N: 1}
	loop.ring = loop
	for _, ok := range []any{
		own{v}, &own{v}, &ownPointer{v}, []ownPointer{{v}}, &struct{ A ownPointer }{ownPointer{v}},
		withHidden{1, v, v}, loop, nil, 1, error(nil), time.Now(),
	} {
		require.NoError(t, depth.JSON.Check(ok), "%T", ok)
		if ok != any(loop) { // which only its type ends
			_, err := json.Marshal(ok)
			require.NoError(t, err, "%T", ok)
		}
	}
	for _, bad := range []any{
		ownPointer{v}, map[string]ownPointer{"a": {v}}, struct{ A ownPointer }{ownPointer{v}}, withHidden{Left: 1, A: 1}.with(v),
	} {
		require.Error(t, depth.JSON.Check(bad), "%T", bad)
	}
	codec := &depth.Rule{Own: []reflect.Type{reflect.TypeFor[json.Marshaler]()}, Tags: []string{"cbor", "json"}}
	require.NoError(t, codec.Check(ownPointer{v}))
	require.NoError(t, codec.Check(withHidden{1, v, v}))
	require.Error(t, codec.Check(struct {
		A any `cbor:"a" json:"-"`
	}{v}))

	type key struct{ A *any }
	require.NoError(t, codec.Check(map[key]int{{&v}: 1}))
	require.Error(t, (&depth.Rule{Keys: true}).Check(map[key]int{{&v}: 1}))

	require.NoError(t, depth.Text.Check(named{v}))
	require.NoError(t, depth.Text.Check([]any{named{v}}))
	require.NoError(t, depth.Text.Check([]any{errors.New("x"), &withHidden{1, v, nil}}))
	require.Error(t, depth.Text.Check(withHidden{1, v, nil}))
	require.Error(t, depth.Text.Check(&withHidden{1, v, nil}))
	require.Error(t, depth.Text.Check(struct{ n named }{named{v}}), "fmt calls no method there")
	require.Error(t, depth.Text.Check(map[any]int{nest(depth.Limit+1, nil, func(v any) any { return [1]any{v} }): 1}))
}

func (w withHidden) with(v any) any {
	return struct {
		withHidden
		B any
	}{w, v}
}

func TestTypesThatCannotBeDeepCostNothing(t *testing.T) {
	for _, v := range []any{
		1, "x", []byte{}, map[string][]int{}, struct {
			A [3]map[string]*time.Time
			B *own
		}{}, []own{},
	} {
		require.True(t, depth.JSON.Shallow(reflect.TypeOf(v)), "%T", v)
		require.Zero(t, testing.AllocsPerRun(10, func() { _ = depth.JSON.Check(v) }), "%T", v)
	}
	for _, v := range []any{&node{}, lists{}, maps{}, anyNode{}, []any{}, [1][]*embedding{}, pointer(nil), map[string]fmt.Stringer{}} {
		require.False(t, depth.JSON.Shallow(reflect.TypeOf(v)), "%T", v)
	}
	require.True(t, depth.Text.Shallow(reflect.TypeFor[**node]()))
}
