package memory_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/memory"
	"github.com/cowstore/cowstore/memory/filter"
	"github.com/cowstore/cowstore/memory/value"
	"github.com/cowstore/cowstore/snapshot/snapshottest/deeptest"
)

// Whatever takes a value freezes it, and so refuses one of more than a thousand levels,
// with space and key.
func TestDeepValues(t *testing.T) {
	deeptest.RequireAll(t, strings.Fields(`As Editor.AppendTo Editor.Insert Editor.Modify Editor.Put
		Editor.PutItem Editor.PutUnlessSimilar Editor.PutVector Editor.SetIf Editor.Supersede Editor.Upsert Entry.Format Entry.LogValue Equal
		Freeze Hit.Format Hit.LogValue
		Memory.Backup Memory.Import Memory.Restore Snapshot.Export Snapshot.Format
		Snapshot.LogValue Snapshot.MarshalJSON Space.AppendTo Space.Entry Space.Insert Space.Modify Space.Put Space.PutItem Space.PutUnlessSimilar
		Space.PutVector Space.Search Space.SetIf Space.Supersede Space.Upsert Typed.Put Typed.Update`), map[string]string{
		"it has to do with whole memories, spaces or versions": `Batch.Space Batch.Version Editor.Clear Editor.ClearAll Editor.Configure
			Memory.AsOf Memory.At Memory.Batch Memory.BatchContext Memory.BatchIn Memory.Changes Memory.DB Memory.Fork
			Memory.In Memory.Load Memory.Merge Memory.Of Memory.Resume Memory.Since Memory.Rows Memory.Space
			Memory.Sweep Memory.SweepEvery Memory.Undo New On Snapshot.Len
			Snapshot.Space Snapshot.Spaces Snapshot.Version Space.Changes Space.Clear Space.ClearAll Space.Configure
			Space.In Space.Len Space.Load Space.Path Space.Reindex Space.Since Space.Space Space.Watch SpaceSnapshot.Len SpaceSnapshot.LenAll SpaceSnapshot.Options
			SpaceSnapshot.Path`,
		"it gives out what is there, or removes it": `Editor.Contains Editor.Delete Editor.Erase Editor.Keep Editor.Search Memory.EmbedEvery Memory.EmbedMissing
			Space.Keep Space.Recall Editor.DeleteIf Editor.DeleteVector Editor.Entry Editor.Get Editor.GetMany
			Editor.Take Hit.Matches Hit.Space Of Space.Delete Space.DeleteIf Space.DeleteVector Space.Contains Space.Erase Space.Get Space.GetMany Space.History Space.List SpaceSnapshot.Contains
			Space.Take Space.Vector SpaceSnapshot.Entry SpaceSnapshot.Get SpaceSnapshot.GetMany SpaceSnapshot.List SpaceSnapshot.Search
			SpaceSnapshot.Vector Typed.All Typed.Get Typed.Search`,
		"nobody else can call it":         `soFar.InOrder soFar.Lookup soFar.Space soFar.Within unsupported.Error unsupported.Is`,
		"it is of texts, kinds or errors": `ChangeKind.String MergeError.Error MergeError.Unwrap`,
	})
	if !deeptest.Apart(t) {
		return
	}
	debug.SetMaxStack(8 << 20) // for the thousand levels that are looked at
	m := memory.New(memory.Options{})
	m.DB().Retain(cow.Retention{Versions: 10})
	s := m.Space("agent")
	must := func(_ uint64, err error) { require.NoError(t, err) }
	for name, v := range deeptest.Values(deeptest.Levels()) {
		if name == "a pointer to any" {
			continue // bounded, by more stack than there is here: see the test of package value
		}
		deeptest.Doing("%s", name)
		refused := func(err error) {
			require.ErrorIs(t, err, value.ErrTooDeep)
			require.ErrorIs(t, err, cow.ErrTooDeep)
			require.Less(t, len(err.Error()), 500)
		}
		verb := func(_ uint64, err error) {
			refused(err)
			require.ErrorContains(t, err, `key "k"`)
		}
		_, err := s.Delete("k")
		require.NoError(t, err)
		verb(s.Put("k", v))
		verb(s.Insert("k", v))
		verb(s.SetIf("k", 0, v))
		verb(s.Upsert("k", func(memory.Value) (any, error) { return v, nil }))
		verb(s.PutItem("k", memory.Item{Value: v}))
		verb(s.PutItem("k", memory.Item{Metadata: map[string]any{"a": v}}))
		verb(s.PutVector("k", []float32{1}, map[string]any{"a": v}))
		verb(s.AppendTo("k", v))
		_, _, err = s.PutUnlessSimilar("k", memory.Item{Value: v}, memory.Query{Text: "x"})
		verb(0, err)
		must(s.Put("old", 1))
		verb(s.Supersede("old", "k", memory.Item{Value: v}))
		verb(memory.Of[any](s).Put("k", v))
		verb(memory.Of[any](s).Update("k", func(at *any, _ bool) error { *at = v; return nil }))
		must(s.Put("k", 1))
		verb(s.Modify("k", func(memory.Value) (any, error) { return v, nil }))
		batch := func(verb func(e *memory.Editor) error) {
			err := m.Batch(func(b *memory.Batch) error { return verb(b.Space("agent")) })
			refused(err)
			require.ErrorContains(t, err, `key "k"`)
		}
		batch(func(e *memory.Editor) error { return e.Put("k", v) })
		batch(func(e *memory.Editor) error { e.Delete("k"); return e.Insert("k", v) })
		batch(func(e *memory.Editor) error { e.Delete("k"); return e.SetIf("k", 0, v) })
		batch(func(e *memory.Editor) error { return e.Modify("k", func(memory.Value) (any, error) { return v, nil }) })
		batch(func(e *memory.Editor) error { return e.Upsert("k", func(memory.Value) (any, error) { return v, nil }) })
		batch(func(e *memory.Editor) error { return e.PutItem("k", memory.Item{Value: v}) })
		batch(func(e *memory.Editor) error { return e.AppendTo("k", v) })
		batch(func(e *memory.Editor) error { return e.Supersede("old", "k", memory.Item{Value: v}) })
		batch(func(e *memory.Editor) error {
			_, err := e.PutUnlessSimilar("k", memory.Item{Value: v}, memory.Query{Text: "x"})
			return err
		})
		batch(func(e *memory.Editor) error { return e.PutVector("k", []float32{1}, map[string]any{"a": v}) })
		_, err = memory.Freeze(v)
		refused(err)
		_, err = value.FreezeHandles([]any{v})
		refused(err)
		for _, f := range []filter.Filter{
			filter.Val("a").Eq(v), filter.Val("a").Ne(v), filter.Val("a").Gt(v), filter.Val("a").Gte(v), filter.Val("a").Lt(v),
			filter.Val("a").Lte(v), filter.Meta("a").In(1, v), filter.Not(filter.Val("a").In(v)),
		} {
			refused(f.Err())
		}
	}
	line := func(text string) error {
		_, err := m.Import(t.Context(), strings.NewReader(text+"\n"))
		return err
	}
	deep := func(n int, in string) string { return strings.Repeat("[", n) + in + strings.Repeat("]", n) }
	for _, n := range []int{1001, 9000, 100_000} {
		require.Error(t, line(`{"space":["a"],"key":"k","value":`+deep(n, "1")+`}`))
		require.Error(t, line(`{"space":["a"],"key":"k","value":1,"metadata":{"a":`+deep(n, "1")+`}}`))
		require.Error(t, line(`{"space":`+deep(n, `"a"`)+`,"key":"k","value":1}`))
		require.Error(t, line(`{"space":["a"],"key":`+deep(n, `"a"`)+`,"value":1}`))
		require.Error(t, line(`{"space":["a"],"key":"k","vector":`+deep(n, "1")+`}`))
		require.Error(t, line(`{"space":["a"],"options":`+strings.Repeat(`{"a":`, n)+`1`+strings.Repeat("}", n)+`}`))
	}

	// What is as deep as may be goes through all the rest.
	v := any("needle")
	for range 499 {
		v = map[string]any{"a": []any{v}}
	}
	must(s.PutItem("k", memory.Item{Value: v, Vector: []float32{1, 2}, Metadata: map[string]any{"a": v.(map[string]any)["a"]}}))
	now := m.Load()
	found, err := s.Search(memory.Query{Text: "needle", K: 1})
	require.NoError(t, err)
	_, err = s.Search(memory.Query{Vector: []float32{1, 2}, K: 1, Filter: filter.Val("a.0").Eq(v)})
	require.NoError(t, err)
	entry, ok := s.Entry("k")
	require.True(t, ok)
	require.NotEmpty(t, found)
	shown := []any{now, entry, found[0], found, m, entry.Value}
	for c, err := range m.Since(now.Version() - 1) {
		require.NoError(t, err)
		shown = append(shown, c)
	}
	require.Greater(t, len(shown), 6)
	for _, x := range shown {
		var line bytes.Buffer
		slog.New(slog.NewTextHandler(&line, nil)).Info("x", "v", x)
		require.Less(t, line.Len(), 10_000)
		for _, verb := range []string{"%v", "%+v", "%s", "%d"} {
			require.Less(t, len(fmt.Sprintf(verb, x)), 5000)
		}
	}
	var b bytes.Buffer
	require.NoError(t, now.Export(&b))
	_, err = m.Import(t.Context(), &b)
	require.NoError(t, err)
	require.True(t, memory.Equal(entry.Value, entry.Value))
	_, err = now.MarshalJSON()
	require.Error(t, err, "Export is for that")
	require.NoError(t, m.Backup(&b))
	_, err = memory.New(memory.Options{}).Restore(t.Context(), &b)
	require.NoError(t, err)
	_, err = memory.As[any](entry.Value)
	require.NoError(t, err)
}
