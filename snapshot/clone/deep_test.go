package clone_test

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/snapshot/clone"
	"github.com/cowstore/cowstore/snapshot/snapshottest/deep"
)

type locked struct {
	mu   sync.Mutex
	name string
}

// length returns how many levels v has.
func length(v any) (n int) {
	for x := reflect.ValueOf(v); x.IsValid(); {
		switch x.Kind() {
		case reflect.Interface:
			x = x.Elem()
			continue
		case reflect.Pointer:
			x = x.Elem()
			if x.IsValid() && x.Kind() == reflect.Struct {
				continue
			}
		case reflect.Slice, reflect.Array:
			if x.Len() == 0 {
				return n
			}
			x = x.Index(x.Len() - 1)
		case reflect.Map:
			it := x.MapRange()
			it.Next()
			x = it.Value()
		case reflect.Struct:
			x = x.Field(x.NumField() - 1)
		default:
			return n
		}
		n++
	}
	return n
}

func TestDeepValues(t *testing.T) {
	deep.RequireAll(t, strings.Fields("Error.Error IsConstant Of OfWhole Size"), map[string]string{
		"it looks at types":  "HasPointers NatureOf",
		"it is not exported": "crumb.String",
	})
	if !deep.Apart(t) {
		return
	}
	ofAny, whole := clone.Of[any](), clone.OfWhole[any]()
	for name, v := range deep.Values(deep.Levels) {
		deep.Doing("%s", name)
		n := length(v)
		require.Equal(t, n, length(ofAny(v)))
		require.Equal(t, n, length(whole(v)))
		// Once more as graphs, and as wholes: one object twice, and a pointer into one.
		two := ofAny([]any{v, v}).([]any)
		require.Equal(t, n, length(two[0]))
		if p := reflect.ValueOf(two[0]); p.Kind() == reflect.Map || p.Kind() == reflect.Pointer {
			require.Equal(t, p.UnsafePointer(), reflect.ValueOf(two[1]).UnsafePointer())
		}
		type interior struct {
			v  any
			in *any
		}
		i := &interior{v: v}
		i.in = &i.v
		j := ofAny(i).(*interior)
		require.Same(t, &j.v, j.in)
		require.Equal(t, n, length(j.v))

		require.Positive(t, clone.Size(reflect.ValueOf(&v).Elem(), false))
		require.False(t, clone.IsConstant(reflect.ValueOf(v)))
	}
	link, lists := deep.LinkOf(deep.Levels), deep.ListsOf(deep.Levels)
	require.Equal(t, length(link), length(clone.Of[*deep.Link]()(link)))
	require.Equal(t, length(lists), length(clone.Of[deep.Lists]()(lists)))

	deep.Doing("errors")
	err := errors.New("x")
	for range deep.Levels {
		err = fmt.Errorf("%.10w", err) // with a text that does not grow
	}
	clone.IsConstant(reflect.ValueOf(err))
	clone.Of[error]()(err)

	deep.Doing("a lock")
	v := any(locked{name: "x"})
	for range deep.Levels {
		v = []any{v}
	}
	defer func() {
		e, ok := recover().(*clone.Error)
		require.True(t, ok)
		require.Equal(t, reflect.TypeFor[sync.Mutex](), e.Type)
		require.Less(t, len(e.Error()), 600)
	}()
	ofAny(v)
}
