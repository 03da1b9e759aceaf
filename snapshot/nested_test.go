package snapshot_test

import (
	"encoding/json"
	"maps"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/snapshot"
	"github.com/cowstore/cowstore/snapshot/depth"
	"github.com/cowstore/cowstore/snapshot/snapshottest/deeptest"
	"github.com/cowstore/cowstore/snapshot/view"
)

// nests returns ways to put a value into one that has a MarshalJSON of this module.
func nests(t *testing.T) map[string]func(v any) any {
	o := snapshot.Options[any]{Immutable: true, Name: "users"}
	one := func(v any) *snapshot.Map[string, any] {
		m, err := snapshot.Collect(o, maps.All(map[string]any{"ada": v}))
		require.NoError(t, err)
		return m
	}
	lists := func(v any, n int) any {
		for range n {
			v = []any{v}
		}
		return v
	}
	return map[string]func(any) any{
		"maps": func(v any) any { return one(v) },
		"rows": func(v any) any { row, _ := one(v).Row("ada"); return row },
		"changes": func(v any) any {
			for c := range one(v).Diff(snapshot.New[string](o)) {
				return c
			}
			return nil
		},
		"views":              func(v any) any { return view.Cloned[any]{}.ViewOf(view.To(&v)) },
		"pointers":           func(v any) any { return view.PointerOf(&v) },
		"lists":              func(v any) any { return view.SliceOf([]any{v}) },
		"maps in lists":      func(v any) any { return one(lists(v, 99)) },
		"maps deep in lists": func(v any) any { return one(lists(v, 5_000)) },
		"views of maps":      func(v any) any { return view.MapOf(map[string]any{"a": []any{one(v)}}) },
	}
}

// Methods MarshalJSON are called by one another, through encoding/json, and no walk sees how
// deep that goes.
func TestMethodsInOneAnother(t *testing.T) {
	if !deeptest.Apart(t) {
		return
	}
	deep := 200_000
	if testing.Short() {
		deep = 100_000
	}
	debug.SetMaxStack(128 << 20) // an eighth of what there is usually
	short := []string{"rows", "maps in lists"}
	for name, nest := range nests(t) {
		if testing.Short() && !slices.Contains(short, name) {
			continue
		}
		deeptest.Doing("%s", name)
		levels := deep
		if strings.HasPrefix(name, "maps ") {
			levels = 2_000
		}
		v := any(1)
		for range levels {
			v = nest(v)
		}
		_, err := json.Marshal([]any{1, v})
		require.ErrorIs(t, err, snapshot.ErrTooDeep)
		require.Less(t, len(err.Error()), 400)
		_, err = json.Marshal([]any{1, nest(1)})
		require.NoError(t, err, "the next is none the worse for it")
	}
}

// What there may be is counted by the levels of the text, wherever the methods are.
func TestMethodsToTheLastLevel(t *testing.T) {
	for name, nest := range nests(t) {
		if name != "maps in lists" && name != "maps deep in lists" {
			continue // encoding/json reads each level as often as there are methods around it
		}
		by := map[string]int{"maps in lists": 100, "maps deep in lists": 5_001}[name]
		var v any
		n := 0
		for ; n+by <= depth.Limit; n += by {
			v = nest(v)
		}
		text, err := json.Marshal(v)
		require.NoError(t, err, name)
		require.NoError(t, json.Unmarshal(text, new(any)), name)
		for ; n <= depth.Limit; n++ {
			v = []any{v}
		}
		_, err = json.Marshal(nest(v))
		require.ErrorIs(t, err, snapshot.ErrTooDeep, name)
	}
}
