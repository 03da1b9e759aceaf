package shapes_test

import (
	"encoding/json"
	"reflect"
	"strconv"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/cow/cowview/internal/sound"
	"github.com/cowstore/cowstore/cow/cowview/testdata/shapes/lists"
	"github.com/cowstore/cowstore/cow/cowview/testdata/shapes/pod"
	"github.com/cowstore/cowstore/snapshot/snapshottest"
	"github.com/cowstore/cowstore/snapshot/view"
)

// The rows of a store are replaced while readers walk the views of those that they
// have. A view that let anybody write would be a race, and its text would change.
func TestViewsStayAsTheyAreWhileRowsAreReplaced(t *testing.T) {
	t.Run("pods", testReplaced[pod.Pod, pod.PodView])
	t.Run("items", testReplaced[lists.Nested, lists.NestedView])
}

func testReplaced[T any, V view.Viewer[T, V]](t *testing.T) {
	const rows = 8
	rounds := 40
	if testing.Short() {
		rounds = 8
	}
	example := func(seed int) T {
		return *snapshottest.TreeOf(reflect.TypeFor[T](), uint64(seed)).Interface().(*T)
	}
	s := cow.New[string](cow.Options[T]{})
	for i := range rows {
		_, err := s.Set(strconv.Itoa(i), example(i))
		require.NoError(t, err)
	}
	var wg sync.WaitGroup
	for w := range 2 {
		wg.Go(func() {
			for i := range rounds * rows {
				key := strconv.Itoa((i + w) % rows)
				if _, err := s.Modify(key, func(v *T) error {
					snapshottest.Spoil(reflect.ValueOf(v))
					*v = example(i)
					return nil
				}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for range 3 {
		wg.Go(func() {
			for i := range rounds {
				shared, _ := s.Load().Shared().Get(strconv.Itoa(i % rows))
				v := view.Of[V](view.To(&shared))
				before, _ := json.Marshal(v)
				sound.Check(t, v, reflect.ValueOf(&shared))
				if after, _ := json.Marshal(v); string(after) != string(before) {
					t.Errorf("%s became %s", before, after)
				}
			}
		})
	}
	wg.Wait()
}
