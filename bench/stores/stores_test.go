package stores

import (
	"fmt"
	"io"
	"maps"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/snapshot/view"
)

// eachKind runs f for every store there is that keeps records.
func eachKind(t *testing.T, f func(t *testing.T, k Kind)) {
	for _, k := range append(Kinds(), More()...) {
		if k.New == nil {
			continue
		}
		t.Run(k.ID, func(t *testing.T) {
			made := k.New
			k.New = func() Store {
				s := made()
				if c, ok := s.(io.Closer); ok {
					t.Cleanup(func() { require.NoError(t, c.Close()) })
				}
				return s
			}
			f(t, k)
		})
	}
}

// makers make the records there are: symbols and payloads.
var makers = map[string]func(name string) Record{
	"symbol":  symbol,
	"payload": func(name string) Record { return NewPayload("user", name, 100) },
}

// eachRecord runs f for every store and what makes each sort of record.
func eachRecord(t *testing.T, f func(t *testing.T, k Kind, record func(name string) Record)) {
	eachKind(t, func(t *testing.T, k Kind) {
		for name, record := range makers {
			t.Run(name, func(t *testing.T) { f(t, k, record) })
		}
	})
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
	eachRecord(t, func(t *testing.T, k Kind, record func(name string) Record) {
		s := k.New()
		one := record("Client.Do")
		_, ok := s.Get(one.Key())
		require.False(t, ok)
		require.Empty(t, maps.Collect(s.All()))

		want := map[string]Record{}
		var pairs []Pair
		for i := range 1000 {
			r := record(fmt.Sprintf("Client.Do%d", i))
			pairs = append(pairs, Pair{r.Key(), r})
			want[r.Key()] = r
		}
		s.Update(pairs)
		for i := range 10 {
			r := pairs[i].Record.Reindexed(5)
			s.Set(r.Key(), r)
			want[r.Key()] = r
		}
		s.Set(one.Key(), one)
		want[one.Key()] = one
		s.Update(nil)

		for key, r := range want {
			got, ok := s.Get(key)
			require.True(t, ok)
			require.Equal(t, r, got)
			require.True(t, got.Intact(key))
		}
		require.Equal(t, want, maps.Collect(s.All()))
		_, ok = s.Get(one.Package)
		require.False(t, ok)
		for range s.All() {
			break
		}
		s.Set(one.Key(), one.Reindexed(1)) // who has stopped iterating holds no lock
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
		"from a fork": func(s Store, key string, r Record) {
			s.Set(key, r)
			if s, ok := s.(Forker); ok {
				got, _ := s.Fork().Get(key)
				spoil(got)
			}
		},
	}
	eachRecord(t, func(t *testing.T, k Kind, record func(name string) Record) {
		aliased := false
		for name, spoil := range spoil {
			s, r := k.New(), record("Client.Do")
			spoil(s, r.Key(), r)
			got, ok := s.Get(r.Key())
			require.True(t, ok)
			if k.Isolated {
				require.True(t, got.Intact(r.Key()), name)
				require.Equal(t, record("Client.Do"), got, name)
			}
			aliased = aliased || !got.Intact(r.Key())
		}
		require.Equal(t, k.Isolated, !aliased, "the promise is wrong")
	})
}

// spoil does to what it can reach what the check sees.
func spoil(r Record) {
	if r.Payload != nil {
		r.Payload[0]++
		return
	}
	r.Tags[0] = "spoilt  "
	r.Meta["indexed"] = "spoilt too"
	delete(r.Meta, "line")
}

func TestSnapshotsAreAsDeclared(t *testing.T) {
	eachRecord(t, func(t *testing.T, k Kind, record func(name string) Record) {
		s := k.New()
		at, ok := s.(Snapshotter)
		require.Equal(t, k.Snapshots, ok)
		if !ok {
			return
		}
		want := map[string]Record{}
		for i := range 100 {
			r := record(fmt.Sprint("Client.Do", i))
			s.Set(r.Key(), r)
			want[r.Key()] = r
		}
		snapshot := at.Snapshot()
		for key, r := range want {
			s.Set(key, r.Reindexed(9))
		}
		one := record("Client.Get")
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
		for range snapshot.All() {
			break
		}
	})
}

func TestGeneratedCodeIsCurrent(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds the generator")
	}
	for dir, args := range map[string][]string{
		".":       {"-type", "Record", "-output", "record_view.go"},
		"../pods": {"-type", "Pod", "-output", "pods_view.go"},
	} {
		c := exec.Command("go", append([]string{"tool", "cowview", "-check"}, args...)...)
		c.Dir = dir
		out, err := c.CombinedOutput()
		require.NoError(t, err, string(out))
	}
}

// What a user reads through a view is the record, as it was.
func TestViewsAreOfTheRecord(t *testing.T) {
	s := newViews().(Viewer)
	_, found := s.View("none")
	require.False(t, found)
	r := NewPayload("user", "1", 64)
	s.Set(r.Key(), r)
	v, found := s.View(r.Key())
	require.True(t, found)
	s.Set(r.Key(), r.Reindexed(2))
	require.True(t, v.Equal(RecordView{}.ViewOf(view.To(&r))))
	require.Equal(t, r, v.Clone())

	var l Lookup
	require.False(t, l.Intact(r.Key()))
	for _, k := range []Store{s, newCowstore()} {
		k.Set(r.Key(), r)
		NewReader(k).Get(r.Key(), &l)
		require.True(t, l.Intact(r.Key()))
		require.False(t, l.Intact("user.2"))
	}
}
