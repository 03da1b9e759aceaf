package view_test

import (
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/snapshot/depth"
	"github.com/cowstore/cowstore/snapshot/snapshottest/deeptest"
	"github.com/cowstore/cowstore/snapshot/view"
)

// A linkView is what cowview generates for a deeptest.Link.
type linkView struct{ ref view.Ref[deeptest.Link] }

func (linkView) ViewOf(r view.Ref[deeptest.Link]) linkView { return linkView{r} }

// deepCalls calls all that walks values with one of several levels.
func deepCalls[T any](t *testing.T, v, other T) {
	tooDeep := func(m interface{ MarshalJSON() ([]byte, error) }) {
		_, err := m.MarshalJSON()
		require.ErrorIs(t, err, depth.ErrTooDeep)
	}
	short := func(text string) { require.Less(t, len(text), 400) }
	p, list, m := &v, []T{v}, map[string]T{"k": v}

	view.CloneOf(v)
	require.True(t, view.Equal(view.To(p), view.To(&other)))
	_, err := view.JSONOf(view.To(p))
	require.ErrorIs(t, err, depth.ErrTooDeep)
	short(view.StringOf(view.To(p)))
	short(view.StringOf(view.To(&struct {
		A T
		B slog.Value
		C slog.Attr
	}{v, slog.AnyValue(v), slog.Any("a", v)})))
	short(view.LogOf(view.To(p)).String())

	c := view.Cloned[T]{}.ViewOf(view.To(p))
	c.Get()
	short(c.String())
	tooDeep(c)
	short(view.PointerOf(p).String())
	view.PointerOf(p).Clone()
	tooDeep(view.PointerOf(p))
	short(view.SliceOf(list).String())
	view.SliceOf(list).Clone()
	tooDeep(view.SliceOf(list))
	short(view.MapOf(m).String())
	view.MapOf(m).Clone()
	tooDeep(view.MapOf(m))
	ptr := view.PointerViewsOf[view.Cloned[T]](p)
	ptr.Clone()
	short(ptr.String())
	tooDeep(ptr)
	tooDeep(view.SliceViewsOf[view.Cloned[T]](list))
	tooDeep(view.SlicePointersOf[view.Cloned[T]]([]*T{p}))
	tooDeep(view.MapViewsOf[view.Cloned[T]](m))
	tooDeep(view.MapPointersOf[view.Cloned[T]](map[string]*T{"k": p}))
}

func TestDeepValues(t *testing.T) {
	deeptest.RequireAll(t, strings.Fields(`CloneOf Cloned.Get Cloned.MarshalJSON Cloned.String Cloned.ViewOf Contains Equal JSONOf LogOf
		MapOf MapPointersOf MapViewsOf Pointer.Clone Pointer.MarshalJSON Pointer.String PointerOf PointerViews.Clone
		PointerViews.MarshalJSON PointerViews.String PointerViewsOf Slice.String SliceOf SlicePointersOf SliceViewsOf
		StringOf elements.Clone elements.MarshalJSON elements.String entries.Clone entries.MarshalJSON entries.String`),
		map[string]string{
			"it gives out what is there, or views of that": `Map.All Map.Get Map.Values Map.ViewOf MapPointers.All MapPointers.Get
				MapPointers.Values MapPointers.ViewOf MapViews.All MapViews.Get MapViews.Values MapViews.ViewOf Of Pointer.Get
				Pointer.Valid Pointer.ViewOf PointerViews.Get PointerViews.Valid PointerViews.ViewOf Ref.Valid Shared Slice.All
				Slice.AppendTo Slice.At Slice.Sub Slice.Values Slice.ViewOf SlicePointers.All SlicePointers.AppendTo
				SlicePointers.At SlicePointers.Sub SlicePointers.Values SlicePointers.ViewOf SliceViews.All SliceViews.AppendTo
				SliceViews.At SliceViews.Sub SliceViews.Values SliceViews.ViewOf To elements.IsNil elements.Len entries.Has
				entries.IsNil entries.Keys entries.Len`,
			"it looks at types, or at where values are": "Check MapSpan Meet PointerSpan SliceSpan",
			"it is of bytes": `Bytes.AppendTo Bytes.At Bytes.Clone Bytes.Equal Bytes.IsNil Bytes.Len Bytes.MarshalJSON
				Bytes.String Bytes.Sub Bytes.Text Bytes.ViewOf BytesOf`,
		})
	if !deeptest.Apart(t) {
		return
	}
	others := map[string]any{}
	for name, v := range deeptest.Values(deeptest.Levels()) {
		others[name] = v
	}
	for name, v := range deeptest.Values(deeptest.Levels()) {
		deeptest.Doing("%s", name)
		deepCalls(t, v, others[name])
	}
	deeptest.Doing("by type")
	link, lists := deeptest.LinkOf(deeptest.Levels()), deeptest.ListsOf(deeptest.Levels())
	deepCalls(t, lists, deeptest.ListsOf(deeptest.Levels()))
	deepCalls(t, *link, *deeptest.LinkOf(deeptest.Levels()))
	w := view.Of[linkView](view.To(link))
	_, err := view.JSONOf(w.ref)
	require.ErrorIs(t, err, depth.ErrTooDeep)
	require.Less(t, len(view.SliceOf([]any{1, lists, 2}).String()), 400)
	require.False(t, view.Contains(view.SliceOf([]any{link}), any(link.Next)))
	for _, same := range []bool{true, false} {
		var a, b any
		for i := range deeptest.Levels() {
			a, b = [2]any{i, a}, [2]any{i, b}
			if i == 0 && !same {
				a = [2]any{i, "another"}
			}
		}
		require.Equal(t, same, view.Contains(view.SliceOf([]any{1, b, nil}), a))
		require.True(t, view.Contains(view.SliceOf([]any{1, b, nil}), b))
		require.Equal(t, same, view.Contains(view.SliceOf([][1]any{{1}, {b}}), [1]any{a}))
	}
	require.Contains(t, view.PointerOf(&[]any{1, link}).String(), "[1 0x", "fmt does not follow it")
	var group slog.Value
	for range deeptest.Levels() {
		group = slog.GroupValue(slog.Attr{Key: "g", Value: group})
	}
	require.Equal(t, "{A: {…}}", view.StringOf(view.To(&struct{ A slog.Value }{group})))
}

func TestTenThousandLevelsAreJSON(t *testing.T) {
	link, next := deeptest.LinkOf(depth.Limit), deeptest.LinkOf(depth.Limit+1)
	_, err := view.JSONOf(view.To(link))
	require.NoError(t, err)
	_, err = view.JSONOf(view.To(next))
	require.EqualError(t, err, "view: deeptest.Link: value is nested too deeply: more than 10000 levels, with those around it")
}
