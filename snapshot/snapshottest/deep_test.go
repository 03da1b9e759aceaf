package snapshottest_test

import (
	"errors"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/snapshot/depth"
	"github.com/cowstore/cowstore/snapshot/snapshottest"
	"github.com/cowstore/cowstore/snapshot/snapshottest/deeptest"
)

// A failing is a test that only notes that it has failed.
type failing struct{ testing.TB }

func (failing) Helper()               {}
func (failing) Logf(string, ...any)   {}
func (failing) Errorf(string, ...any) {}
func (failing) FailNow()              { runtime.Goexit() }

func TestDeepValues(t *testing.T) {
	deeptest.RequireAll(t, strings.Fields("Compare Place.Try Printed Spoil"), map[string]string{
		"it makes values of a bounded size": "Graph Run TreeOf Types",
		"it is of a type among them": `Base.ID Count.Add Failure.Error Heap.Len Index.Has Label.String Leaf.Rename Names.First
			Node.Next Own.Clone Sentinel.Error`,
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
		other := others[name]
		_, err := snapshottest.Compare(reflect.ValueOf(&v), reflect.ValueOf(&other))
		require.ErrorIs(t, err, depth.ErrTooDeep)
		require.Less(t, len(err.Error()), 400)
		if depth.Text.Check(v) != nil {
			done := make(chan bool)
			go func() {
				defer close(done)
				snapshottest.Printed(failing{t}, v)
				done <- true
			}()
			require.False(t, <-done)
		}
		snapshottest.Spoil(reflect.ValueOf(&v))
		require.Nil(t, v)
	}
	key := any(0)
	for range deeptest.Levels() {
		key = [1]any{key}
	}
	_, err := snapshottest.Place{
		Type: reflect.TypeFor[any](),
		Put:  func(reflect.Value) error { return nil },
		Get:  func() reflect.Value { return reflect.ValueOf(&key) },
	}.Try(1)
	require.Error(t, err)
	require.False(t, errors.Is(err, snapshottest.ErrRefused))
}
