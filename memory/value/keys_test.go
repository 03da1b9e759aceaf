package value

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// withKeys returns how many lists there are of keys that begin with a prefix.
func withKeys(prefix string) int {
	keyLists.RLock()
	defer keyLists.RUnlock()
	n := 0
	for name := range keyLists.byKeys {
		if strings.Contains(name, prefix) {
			n++
		}
	}
	return n
}

func TestMapsWithTheSameKeysShareThem(t *testing.T) {
	a := mustFreeze(t, map[string]any{"x": 1, "y": 2})
	b := mustFreeze(t, map[string]string{"y": "b", "x": "a"})
	c := mustFreeze(t, struct {
		X int `json:"x"`
		Y bool
		Z *int `json:"y"`
	}{})
	require.Same(t, &a.keys()[0], &b.keys()[0])
	require.NotEqual(t, a.keys(), c.keys())
	// Keys of one length in all, cut in another way, are others.
	d := mustFreeze(t, map[string]any{"ab": 1, "c": 2})
	e := mustFreeze(t, map[string]any{"a": 1, "bc": 2})
	require.Equal(t, []string{"ab", "c"}, d.keys())
	require.Equal(t, []string{"a", "bc"}, e.keys())
	f := mustFreeze(t, map[string]any{"a": 1, "b": 2})
	g := mustFreeze(t, map[string]any{"a\x00b": 1})
	require.Equal(t, []string{"a", "b"}, f.keys())
	require.Equal(t, []string{"a\x00b"}, g.keys())
	require.Equal(t, 0, mustFreeze(t, map[string]any{}).Len())
	for range mustFreeze(t, map[string]any{}).All() {
		t.Fatal("there is nothing in it")
	}
}

func TestKeysThatNoValueHasAreForgotten(t *testing.T) {
	const many = 100
	values := make([]Value, many)
	for i := range values {
		values[i] = mustFreeze(t, map[string]any{fmt.Sprintf("forgotten-%d", i): i})
	}
	require.Equal(t, many, withKeys("forgotten-"))
	runtime.KeepAlive(values)
	values = nil
	require.Eventually(t, func() bool { // cleanups run in a goroutine of their own
		runtime.GC()
		return withKeys("forgotten-") == 0
	}, time.Minute, time.Millisecond)
}

func TestDictionariesAreNotShared(t *testing.T) {
	large := map[string]int{}
	for i := range maxShared + 1 {
		large[fmt.Sprintf("dictionary-%d", i)] = i
	}
	v := mustFreeze(t, large)
	require.Zero(t, withKeys("dictionary-"))
	require.EqualValues(t, 17, v.Key("dictionary-17").Int())
	require.Equal(t, large, v.Any())
}

// While lists come and go, each value has its own keys.
func TestKeysOfManyAtOnce(t *testing.T) {
	var all sync.WaitGroup
	for g := range 4 {
		all.Go(func() {
			for i := range 2000 {
				k := fmt.Sprintf("at-once-%d", i%7)
				v, err := Freeze(map[string]any{k: g, "other": i})
				if err != nil || v.Key(k).Int() != int64(g) || v.Len() != 2 {
					t.Errorf("%v, %v", v.keys(), err)
					return
				}
				if g == 0 && i%100 == 0 {
					runtime.GC()
				}
			}
		})
	}
	all.Wait()
}
