package memory_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/memory"
	"github.com/cowstore/cowstore/memory/value"
)

// A Value inside a value counts with its levels, so that no chain of updates makes
// one that is too deep to read.
func TestValuesInsideValuesAreBoundedInDepth(t *testing.T) {
	for name, wrap := range map[string]func(v memory.Value) any{
		"list":        func(v memory.Value) any { return []any{v} },
		"map":         func(v memory.Value) any { return map[string]any{"in": v} },
		"typed list":  func(v memory.Value) any { return []memory.Value{v} },
		"struct":      func(v memory.Value) any { return struct{ In memory.Value }{v} },
		"interfaces":  func(v memory.Value) any { return []any{[]any{v}, 1} },
		"many values": func(v memory.Value) any { return []any{1, v, map[string]any{"x": v}} },
	} {
		t.Run(name, func(t *testing.T) {
			around := 0
			if testing.Short() && name != "many values" { // which copies them thousands of times
				around = 900 // of the thousand levels
			}
			first := any("leaf")
			for range around {
				first = []any{first}
			}
			m := memory.New(memory.Options{NoText: true})
			s := m.Space("s")
			require.NoError(t, errOf(s.Put("a", first)))
			var err error
			n := 0
			for ; n < 2000 && err == nil; n++ {
				_, err = s.Modify("a", func(v memory.Value) (any, error) { return wrap(v), nil })
				if name == "many values" && n > 15 {
					return // it doubles each time
				}
			}
			require.ErrorIs(t, err, value.ErrTooDeep)
			require.LessOrEqual(t, n, 1001-around)
			require.GreaterOrEqual(t, n, (1000-around)/2)
			v, ok := s.Get("a")
			require.True(t, ok)
			require.NotNil(t, v.Any())
		})
	}
}
