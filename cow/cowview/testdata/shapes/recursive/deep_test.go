package recursive

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/snapshot/snapshottest/deeptest"
	"github.com/cowstore/cowstore/snapshot/view"
)

// A generated is what cowview makes of a type T: the view W of it, and its Clone.
type generated[T, W any] interface {
	view.Viewer[T, W]
	fmt.Stringer
	json.Marshaler
	slog.LogValuer
	Clone() T
	Equal(W) bool
}

func deepView[W generated[T, W], T interface{ Clone() T }](t *testing.T, of func(n int, v T) T) {
	var a, b T
	for i := range deeptest.Levels() {
		a, b = of(i, a), of(i, b)
	}
	deeptest.Doing("%T", a)
	v, w := view.Of[W](view.To(&a)), view.Of[W](view.To(&b))
	require.True(t, v.Equal(w))
	require.Less(t, len(v.String()), 600)
	require.Less(t, len(v.LogValue().String()), 600)
	_, err := json.Marshal(v)
	require.ErrorIs(t, err, cow.ErrTooDeep)
	clone := v.Clone()
	require.True(t, view.Of[W](view.To(&clone)).Equal(v))
	clone = a.Clone()
	require.True(t, view.Of[W](view.To(&clone)).Equal(v))

	stored := cow.New[string](cow.Options[any]{}) // and not a table of each type: each takes seconds to compile
	_, err = stored.Set("a", a)
	require.NoError(t, err)
	is, ok := stored.Get("a")
	require.True(t, ok)
	clone = is.(T)
	require.True(t, view.Of[W](view.To(&clone)).Equal(v))
	_, err = json.Marshal(stored.Load())
	require.ErrorIs(t, err, cow.ErrTooDeep)
}

func TestDeepValues(t *testing.T) {
	if !deeptest.Apart(t) {
		return
	}
	deepView[ListView](t, func(n int, v List) List { return List{[]int{n}, &v} })
	deepView[TreeView](t, func(n int, v Tree) Tree { return Tree{"a", []Tree{v}, nil} })
	deepView[TreeView](t, func(n int, v Tree) Tree { return Tree{"a", nil, map[string]Tree{"k": v}} })
	deepView[TrieView](t, func(n int, v Trie) Trie { return Trie{Up: &v} })
	deepView[MenuView](t, func(n int, v Menu) Menu { return Menu{Refs: map[string][]*Menu{"a": {&v}}} })
	deepView[PersonView](t, func(n int, v Person) Person { return Person{Home: &Address{Owner: &v}} })
	deepView[VertexView](t, func(n int, v Vertex) Vertex { return Vertex{Out: []*Vertex{&v}} })
	deepView[HolderView](t, func(n int, v Holder) Holder { return Holder{Nested: Nested{v.Nested}} })
	deepView[HolderView](t, func(n int, v Holder) Holder { return Holder{Dirs: Dirs{"a": v.Dirs}} })

	var list List
	for i := range deeptest.Levels() {
		next := list
		list = List{[]int{i}, &next}
	}
	lists := cow.New[string](cow.Options[List]{})
	_, err := lists.Set("a", list)
	require.NoError(t, err)
	lists.Get("a")
	stored, ok := cow.NewViews[ListView](lists).Get("a")
	require.True(t, ok)
	require.True(t, stored.Equal(view.Of[ListView](view.To(&list))))
	_, err = json.Marshal(lists.Load())
	require.ErrorIs(t, err, cow.ErrTooDeep)

	var h Holder
	for range deeptest.Levels() {
		next := h.chain
		h.chain = &next
	}
	clone := h.Clone()
	require.True(t, view.Of[HolderView](view.To(&h)).Equal(view.Of[HolderView](view.To(&clone))))
}
