package shapes_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow/cowview/internal/shape"
	"github.com/cowstore/cowstore/cow/cowview/internal/sound"
	"github.com/cowstore/cowstore/cow/cowview/testdata/shapes"
	"github.com/cowstore/cowstore/snapshot/snapshottest"
)

// These tests hold of the generated views of all types of these packages.

// examples is with how many values each type is tested.
func examples() uint64 {
	if testing.Short() {
		return 3
	}
	return 60
}

// forShapes calls f with pointers to values of all types.
func forShapes(t *testing.T, f func(t *testing.T, s shape.Shape, p reflect.Value)) {
	t.Helper()
	for _, s := range shapes.All() {
		t.Run(s.Type.String(), func(t *testing.T) {
			for seed := range examples() {
				f(t, s, s.Example(seed))
				if t.Failed() {
					t.Fatalf("seed %d", seed)
				}
			}
		})
	}
}

func TestThereAreEnoughShapes(t *testing.T) {
	seen := map[reflect.Type]bool{}
	for _, s := range shapes.All() {
		require.Equal(t, reflect.Struct, s.Type.Kind())
		require.False(t, seen[s.Type], s.Type)
		require.True(t, sound.IsView(s.View), s.View)
		seen[s.Type] = true
	}
	require.GreaterOrEqual(t, len(seen), 60)
}

func TestViewsGiveNothingAway(t *testing.T) {
	forShapes(t, func(t *testing.T, s shape.Shape, p reflect.Value) {
		v := s.Of(p)
		var hidden map[string]any
		var more []any
		if s.Hidden != nil {
			hidden = s.Hidden(v)
			for _, x := range hidden {
				more = append(more, x)
			}
		}
		r := sound.Check(t, v, p, more...)
		for _, name := range r.Skipped {
			require.True(t, harmless[name[strings.LastIndex(name, ".")+1:]] || slices.Contains(s.Skipped, name), name)
		}
	})
}

// harmless are methods that are not called for lack of arguments.
var harmless = map[string]bool{"Format": true}

func TestViewsShowEachField(t *testing.T) {
	forShapes(t, func(t *testing.T, s shape.Shape, p reflect.Value) {
		v := s.Of(p)
		var hidden map[string]any
		if s.Hidden != nil {
			hidden = s.Hidden(v)
		}
		sound.Fields(t, v, p, s.Names, hidden)
	})
}

func TestUnexportedFieldsHaveAccessors(t *testing.T) {
	for _, s := range shapes.All() {
		for i := range s.Type.NumField() {
			f := s.Type.Field(i)
			if !f.IsExported() && f.Name != "_" && s.Hidden == nil {
				t.Errorf("%s has %s, and no hook that calls its accessor", s.Type, f.Name)
			}
		}
	}
}

func TestViewsAreTheJSONOfTheirValues(t *testing.T) {
	forShapes(t, func(t *testing.T, s shape.Shape, p reflect.Value) {
		if cyclic(p) {
			return
		}
		want, err := json.Marshal(p.Elem().Interface())
		got, gotErr := json.Marshal(s.Of(p))
		if err != nil {
			require.Error(t, gotErr, "%s, but %v", got, err)
			return
		}
		require.NoError(t, gotErr)
		require.Equal(t, string(want), string(got))
		embedded, err := json.Marshal(map[string]any{"v": s.Of(p)})
		require.NoError(t, err)
		require.Equal(t, `{"v":`+string(want)+`}`, string(embedded))
	})
}

// cyclic reports whether references in what p points to lead back to where they come
// from, for which package json needs very long.
func cyclic(p reflect.Value) bool {
	other := copyOf(p)
	f, _ := snapshottest.Compare(other, other)
	return f.Cycle
}

func copyOf(v reflect.Value) reflect.Value {
	c := reflect.New(v.Type()).Elem()
	c.Set(v)
	return c
}

// cloned returns a pointer to what the method Clone of v returns.
func cloned(t *testing.T, v any) reflect.Value {
	t.Helper()
	m := reflect.ValueOf(v).MethodByName("Clone")
	require.True(t, m.IsValid(), "%T has no Clone", v)
	c := m.Call(nil)[0]
	if c.Kind() == reflect.Pointer {
		return c
	}
	return copyOf(c).Addr()
}

func TestClonesOfViewsHaveTheShapeOfTheirValues(t *testing.T) {
	forShapes(t, func(t *testing.T, s shape.Shape, p reflect.Value) {
		c := cloned(t, s.Of(p))
		require.Equal(t, s.Type, c.Type().Elem())
		_, err := snapshottest.Compare(p, c)
		require.NoError(t, err)
	})
}

func TestEqualViewsAreThoseOfEqualValues(t *testing.T) {
	forShapes(t, func(t *testing.T, s shape.Shape, p reflect.Value) {
		equal := func(a, b any) bool {
			m := reflect.ValueOf(a).MethodByName("Equal")
			return m.Call([]reflect.Value{reflect.ValueOf(b)})[0].Bool()
		}
		v := s.Of(p)
		require.True(t, equal(v, v))
		require.True(t, equal(reflect.Zero(s.View).Interface(), reflect.Zero(s.View).Interface()))
		require.False(t, equal(v, reflect.Zero(s.View).Interface()))
		require.False(t, equal(reflect.Zero(s.View).Interface(), v))
		for seed := range uint64(5) {
			q := s.Example(seed)
			require.Equal(t, reflect.DeepEqual(p.Interface(), q.Interface()), equal(v, s.Of(q)))
		}
	})
}

func TestViewsPrintWhatTheyAreAndNoMore(t *testing.T) {
	forShapes(t, func(t *testing.T, s shape.Shape, p reflect.Value) {
		snapshottest.Printed(t, s.Of(p))
		snapshottest.Printed(t, reflect.Zero(s.View).Interface())
	})
}

func TestZeroViewsAreNotValid(t *testing.T) {
	for _, s := range shapes.All() {
		zero := reflect.Zero(s.View).Interface()
		require.False(t, zero.(interface{ Valid() bool }).Valid(), s.View)
		p := s.Example(1)
		require.True(t, s.Of(p).(interface{ Valid() bool }).Valid(), s.View)
		text, err := json.Marshal(zero)
		require.NoError(t, err, s.View)
		require.Equal(t, "null", string(text), s.View)
		_ = fmt.Sprint(zero)
	}
}
