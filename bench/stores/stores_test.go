package stores

import (
	"fmt"
	"maps"
	"testing"

	"github.com/stretchr/testify/require"
)

// eachKind runs f for every store there is.
func eachKind(t *testing.T, f func(t *testing.T, k Kind)) {
	for _, k := range append(Kinds(), More()...) {
		t.Run(k.ID, func(t *testing.T) { f(t, k) })
	}
}

func TestKindsAreTold(t *testing.T) {
	ids, names := map[string]bool{}, map[string]bool{}
	eachKind(t, func(t *testing.T, k Kind) {
		require.False(t, ids[k.ID])
		require.False(t, names[k.Name])
		ids[k.ID], names[k.Name] = true, true
	})
}

func TestRoundTrip(t *testing.T) {
	eachKind(t, func(t *testing.T, k Kind) {
		s := k.New()
		_, ok := s.Get("net/http.Client.Do")
		require.False(t, ok)
		require.Empty(t, maps.Collect(s.All()))

		want := map[string]Record{}
		var pairs []Pair
		for i := range 1000 {
			r := symbol(fmt.Sprintf("Client.Do%d", i))
			pairs = append(pairs, Pair{r.Key(), r})
			want[r.Key()] = r
		}
		s.Update(pairs)
		for i := range 10 {
			r := pairs[i].Record.Reindexed(5)
			s.Set(r.Key(), r)
			want[r.Key()] = r
		}
		one := symbol("Client.Do")
		s.Set(one.Key(), one)
		want[one.Key()] = one

		for key, r := range want {
			got, ok := s.Get(key)
			require.True(t, ok)
			require.Equal(t, r, got)
			require.True(t, got.Intact(key))
		}
		require.Equal(t, want, maps.Collect(s.All()))
		_, ok = s.Get("net/http")
		require.False(t, ok)
		for range s.All() {
			break
		}
	})
}

// What a caller can do to a record reaches the store if, and only if, the
// store does not promise isolation.
func TestIsolationIsAsDeclared(t *testing.T) {
	spoil := map[string]func(s Store, key string, r Record){
		"after Set": func(s Store, key string, r Record) {
			s.Set(key, r)
			spoil(r)
		},
		"after Update": func(s Store, key string, r Record) {
			s.Update([]Pair{{key, r}})
			spoil(r)
		},
		"from Get": func(s Store, key string, r Record) {
			s.Set(key, r)
			got, _ := s.Get(key)
			spoil(got)
		},
		"from All": func(s Store, key string, r Record) {
			s.Set(key, r)
			for _, got := range s.All() {
				spoil(got)
			}
		},
		"from a snapshot": func(s Store, key string, r Record) {
			s.Set(key, r)
			if s, ok := s.(Snapshotter); ok {
				got, _ := s.Snapshot().Get(key)
				spoil(got)
				for _, got := range s.Snapshot().All() {
					spoil(got)
				}
			}
		},
	}
	eachKind(t, func(t *testing.T, k Kind) {
		aliased := false
		for name, spoil := range spoil {
			s, r := k.New(), symbol("Client.Do")
			spoil(s, r.Key(), r)
			got, ok := s.Get(r.Key())
			require.True(t, ok)
			if k.Isolated {
				require.True(t, got.Intact(r.Key()), name)
				require.Equal(t, symbol("Client.Do"), got, name)
			}
			aliased = aliased || !got.Intact(r.Key())
		}
		require.Equal(t, k.Isolated, !aliased, "the promise is wrong")
	})
}

// spoil does to what it can reach what the check sees.
func spoil(r Record) {
	r.Tags[0] = "spoilt  "
	r.Meta["indexed"] = "spoilt too"
	delete(r.Meta, "line")
}

func TestSnapshotsAreAsDeclared(t *testing.T) {
	eachKind(t, func(t *testing.T, k Kind) {
		s := k.New()
		at, ok := s.(Snapshotter)
		require.Equal(t, k.Snapshots, ok)
		if !ok {
			return
		}
		want := map[string]Record{}
		for i := range 100 {
			r := symbol(fmt.Sprint("Client.Do", i))
			s.Set(r.Key(), r)
			want[r.Key()] = r
		}
		snapshot := at.Snapshot()
		for key, r := range want {
			s.Set(key, r.Reindexed(9))
		}
		one := symbol("Client.Get")
		s.Set(one.Key(), one)

		require.Equal(t, want, maps.Collect(snapshot.All()))
		for key, r := range want {
			got, ok := snapshot.Get(key)
			require.True(t, ok)
			require.Equal(t, r, got)
			got, _ = s.Get(key)
			require.Equal(t, r.Reindexed(9), got)
		}
		_, ok = snapshot.Get(one.Key())
		require.False(t, ok)
	})
}
