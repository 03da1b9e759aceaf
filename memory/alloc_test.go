package memory_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/memory"
)

var sink int64

func TestReadsAllocateNothing(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	for name, o := range map[string]memory.Options{"plain": {}, "expiring": {TTL: time.Hour}, "limited": {MaxEntries: 100}} {
		t.Run(name, func(t *testing.T) {
			m := memory.New(o)
			s := m.Space("user", "42", "notes")
			for _, k := range []string{"a", "b", "c"} {
				require.NoError(t, errOf(s.PutItem(k, memory.Item{Value: map[string]any{"n": 1, "in": map[string]any{"x": 2.5}}, Vector: []float32{1, 2}, Metadata: map[string]any{"n": 1}})))
			}
			view := s.Load()
			zero := func(what string, f func()) {
				t.Helper()
				require.Zero(t, testing.AllocsPerRun(200, f), what)
			}
			zero("Load", func() { sink += int64(m.Load().Version()) })
			zero("Space.Load", func() { s.Load() })
			zero("Space.Get and two fields", func() {
				v, _ := s.Get("b")
				sink += v.Key("n").Int() + int64(v.Path("in.x").Float())
			})
			zero("SpaceSnapshot.Get and two fields", func() {
				v, _ := view.Get("b")
				sink += v.Key("n").Int() + int64(v.Path("in.x").Float())
			})
			zero("Space.GetMany", func() {
				for _, v := range s.GetMany([]string{"a", "c", "d"}) {
					sink += v.Key("n").Int()
				}
			})
			zero("SpaceSnapshot.GetMany", func() {
				for _, v := range view.GetMany([]string{"a", "c", "d"}) {
					sink += v.Key("n").Int()
				}
			})
			zero("Get of nothing", func() { s.Get("nothing"); view.Get("nothing") })
		})
	}
}
