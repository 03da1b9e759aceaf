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
	"github.com/cowstore/cowstore/snapshot/snapshottest/deeptest"
)

type locked struct {
	mu   sync.Mutex //lint:ignore U1000 it is there to be found
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
	deeptest.RequireAll(t, strings.Fields("Error.Error IsConstant Of OfWhole Report.Made ReportOf Size"), map[string]string{
		"it looks at types":       "HasPointers NatureOf Parts",
		"it looks at one pointer": "Sentinel",
		"it is not exported":      "crumb.String",
	})
	if !deeptest.Apart(t) {
		return
	}
	ofAny, whole := clone.Of[any](), clone.OfWhole[any]()
	for name, v := range deeptest.Values(deeptest.Levels()) {
		deeptest.Doing("%s", name)
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
		own := any([]any{v, &page{}})
		r := clone.ReportOf(reflect.ValueOf(own), nil)
		require.Greater(t, r.Made(reflect.ValueOf(ofAny(own)), nil), r.Bytes)
		require.False(t, clone.IsConstant(reflect.ValueOf(v)))
	}
	link, lists := deeptest.LinkOf(deeptest.Levels()), deeptest.ListsOf(deeptest.Levels())
	require.Equal(t, length(link), length(clone.Of[*deeptest.Link]()(link)))
	require.Equal(t, length(lists), length(clone.Of[deeptest.Lists]()(lists)))

	deeptest.Doing("errors")
	err := errors.New("x")
	for range deeptest.Levels() {
		err = fmt.Errorf("%.10w", err) // with a text that does not grow
	}
	clone.IsConstant(reflect.ValueOf(err))
	clone.Of[error]()(err)

	deeptest.Doing("a lock")
	v := any(locked{name: "x"})
	for range deeptest.Levels() {
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
