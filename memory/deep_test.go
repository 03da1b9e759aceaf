package memory_test

import (
	"bytes"
	"fmt"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/memory"
	"github.com/cowstore/cowstore/memory/value"
	"github.com/cowstore/cowstore/snapshot/snapshottest/deeptest"
)

// Whatever takes a value freezes it, and so refuses one of more than a thousand levels,
// with space and key.
func TestDeepValues(t *testing.T) {
	if !deeptest.Apart(t) {
		return
	}
	debug.SetMaxStack(8 << 20) // for the thousand levels that are looked at
	m := memory.New(memory.Options{})
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
		verb(memory.Of[any](s).Put("k", v))
		verb(memory.Of[any](s).Update("k", func(at *any, _ bool) error { *at = v; return nil }))
		must(s.Put("k", 1))
		verb(s.Modify("k", func(memory.Value) (any, error) { return v, nil }))
		_, err = memory.Freeze(v)
		refused(err)
		_, err = memory.FreezeHandles([]any{v})
		refused(err)
		for _, f := range []memory.Filter{
			memory.Val("a").Eq(v), memory.Val("a").Ne(v), memory.Val("a").Gt(v), memory.Val("a").Gte(v), memory.Val("a").Lt(v),
			memory.Val("a").Lte(v), memory.Meta("a").In(1, v), memory.Not(memory.Val("a").In(v)),
		} {
			refused(f.Err())
		}
	}
	line := func(text string) error {
		_, err := m.Import(strings.NewReader(text + "\n"))
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
	found, err := s.SearchText("needle", memory.SearchOptions{K: 1})
	require.NoError(t, err)
	_, err = s.Search([]float32{1, 2}, memory.SearchOptions{K: 1, Filter: memory.Val("a.0").Eq(v)})
	require.NoError(t, err)
	entry, ok := s.Entry("k")
	require.True(t, ok)
	for _, x := range []any{now, entry, found, m, entry.Value} {
		for _, verb := range []string{"%v", "%+v", "%s", "%d"} {
			require.Less(t, len(fmt.Sprintf(verb, x)), 5000)
		}
	}
	var b bytes.Buffer
	require.NoError(t, now.Export(&b))
	_, err = m.Import(&b)
	require.NoError(t, err)
	require.NoError(t, m.Backup(&b))
	_, err = memory.As[any](entry.Value)
	require.NoError(t, err)
}
