package peers

import (
	"fmt"
	"io"
	"maps"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/bench/stores"
)

// eachKind runs f for every store there is that keeps records.
func eachKind(t *testing.T, f func(t *testing.T, k stores.Kind)) {
	for _, k := range All() {
		t.Run(k.ID, func(t *testing.T) {
			made := k.New
			k.New = func() stores.Store {
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
var makers = map[string]func(name string) stores.Record{
	"symbol":  symbol,
	"payload": func(name string) stores.Record { return stores.NewPayload("user", name, 100) },
}

// eachRecord runs f for every store and what makes each sort of record.
func eachRecord(t *testing.T, f func(t *testing.T, k stores.Kind, record func(name string) stores.Record)) {
	eachKind(t, func(t *testing.T, k stores.Kind) {
		for name, record := range makers {
			t.Run(name, func(t *testing.T) { f(t, k, record) })
		}
	})
}

func TestKindsAreTold(t *testing.T) {
	ids, names := map[string]bool{}, map[string]bool{}
	eachKind(t, func(t *testing.T, k stores.Kind) {
		require.False(t, ids[k.ID])
		require.False(t, names[k.Name])
		ids[k.ID], names[k.Name] = true, true
	})
}

func TestRoundTrip(t *testing.T) {
	eachRecord(t, func(t *testing.T, k stores.Kind, record func(name string) stores.Record) {
		s := k.New()
		one := record("Client.Do")
		_, ok := s.Get(one.Key())
		require.False(t, ok)
		require.Empty(t, maps.Collect(s.All()))

		want := map[string]stores.Record{}
		var pairs []stores.Pair
		for i := range 1000 {
			r := record(fmt.Sprintf("Client.Do%d", i))
			pairs = append(pairs, stores.Pair{Key: r.Key(), Record: r})
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
	spoil := map[string]func(s stores.Store, key string, r stores.Record){
		"after Set": func(s stores.Store, key string, r stores.Record) {
			s.Set(key, r)
			spoil(r)
		},
		"after Update": func(s stores.Store, key string, r stores.Record) {
			s.Update([]stores.Pair{{Key: key, Record: r}})
			spoil(r)
		},
		"from Get": func(s stores.Store, key string, r stores.Record) {
			s.Set(key, r)
			got, _ := s.Get(key)
			spoil(got)
		},
		"from All": func(s stores.Store, key string, r stores.Record) {
			s.Set(key, r)
			for _, got := range s.All() {
				spoil(got)
			}
		},
		"from a snapshot": func(s stores.Store, key string, r stores.Record) {
			s.Set(key, r)
			if s, ok := s.(stores.Snapshotter); ok {
				got, _ := s.Snapshot().Get(key)
				spoil(got)
				for _, got := range s.Snapshot().All() {
					spoil(got)
				}
			}
		},
		"from a fork": func(s stores.Store, key string, r stores.Record) {
			s.Set(key, r)
			if s, ok := s.(stores.Forker); ok {
				got, _ := s.Fork().Get(key)
				spoil(got)
			}
		},
	}
	eachRecord(t, func(t *testing.T, k stores.Kind, record func(name string) stores.Record) {
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
func spoil(r stores.Record) {
	if r.Payload != nil {
		r.Payload[0]++
		return
	}
	r.Tags[0] = "spoilt  "
	r.Meta["indexed"] = "spoilt too"
	delete(r.Meta, "line")
}

func TestSnapshotsAreAsDeclared(t *testing.T) {
	eachRecord(t, func(t *testing.T, k stores.Kind, record func(name string) stores.Record) {
		s := k.New()
		at, ok := s.(stores.Snapshotter)
		require.Equal(t, k.Snapshots, ok)
		if !ok {
			return
		}
		want := map[string]stores.Record{}
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

// generationOf returns n pairs of a generation.
func generationOf(n int, generation uint32) []stores.Pair {
	pairs := make([]stores.Pair, n)
	for i := range pairs {
		r := stores.NewPayload("user", fmt.Sprint(i), 16)
		pairs[i] = stores.Pair{Key: r.Key(), Record: r.Reindexed(generation)}
	}
	return pairs
}

// Whoever iterates while all keys are updated sees one generation of them if,
// and only if, the store promises that an update is one step.
func TestAtomicityIsAsDeclared(t *testing.T) {
	eachKind(t, func(t *testing.T, k stores.Kind) {
		s, next := k.New(), generationOf(1000, 2)
		s.Update(generationOf(1000, 1))
		// Where an iteration locks one part of the store after the other, its last key
		// is not in the part of its first.
		var last string
		for key := range s.All() {
			last = key
		}

		updated, begun := make(chan struct{}), make(chan struct{})
		update := func() {
			defer close(updated)
			s.Update(next)
		}
		watch := func() {
			defer close(begun)
			for r, _ := s.Get(last); r.Generation() == 1; r, _ = s.Get(last) {
				runtime.Gosched()
			}
		}
		_, unlocked := s.(stores.Snapshotter)
		seen := map[uint32]int{}
		for first, r := range s.All() {
			if len(seen) == 0 {
				putLastAndFirst(next, last, first)
				go update()
				go watch()
			}
			seen[r.Generation()]++
			switch {
			case unlocked:
				<-updated
			case !k.Atomic:
				// The key that is updated first, and may be the only one that can be. A
				// store that holds this up as well is atomic, and hangs here.
				<-begun
			default:
				// The iteration holds up all of the update, or so it should.
				runtime.Gosched()
			}
		}
		<-updated
		<-begun
		require.Equal(t, k.Atomic, len(seen) == 1, "the promise is wrong: %v", seen)
		require.Equal(t, byKey(next), maps.Collect(s.All()))
	})
}

// putLastAndFirst puts the pair of key last at the beginning and that of key
// first at the end.
func putLastAndFirst(pairs []stores.Pair, last, first string) {
	at := func(key string) int {
		return slices.IndexFunc(pairs, func(p stores.Pair) bool { return p.Key == key })
	}
	swap := func(i, j int) { pairs[i], pairs[j] = pairs[j], pairs[i] }
	swap(at(last), 0)
	if first != last {
		swap(at(first), len(pairs)-1)
	}
}

func byKey(pairs []stores.Pair) map[string]stores.Record {
	m := make(map[string]stores.Record, len(pairs))
	for _, p := range pairs {
		m[p.Key] = p.Record
	}
	return m
}

func TestOrderIsAsDeclared(t *testing.T) {
	eachKind(t, func(t *testing.T, k stores.Kind) {
		s := k.New()
		s.Update(generationOf(1000, 1))
		keys := func(all func(func(string, stores.Record) bool)) (keys []string) {
			for key := range all {
				keys = append(keys, key)
			}
			return keys
		}
		found := keys(s.All())
		require.Len(t, found, 1000)
		require.Equal(t, k.Ordered, slices.IsSorted(found), "the promise is wrong")
		if s, ok := s.(stores.Snapshotter); ok {
			require.Equal(t, k.Ordered, slices.IsSorted(keys(s.Snapshot().All())), "the promise is wrong")
		}
	})
}

// Writers, readers and those who iterate do not disturb each other, and the last
// write of each key is there in the end.
func TestConcurrentUse(t *testing.T) {
	const keys, generations = 64, 20
	eachKind(t, func(t *testing.T, k stores.Kind) {
		s := k.New()
		s.Update(generationOf(2*keys, 0))
		var wg sync.WaitGroup
		for writer := range 2 {
			wg.Go(func() {
				for g := range uint32(generations) {
					own := generationOf(2*keys, g+1)[writer*keys:][:keys]
					s.Update(own[:keys/2])
					for _, p := range own[keys/2:] {
						s.Set(p.Key, p.Record)
					}
				}
			})
		}
		var damaged [2]int // by each reader
		for reader := range damaged {
			wg.Go(func() {
				for range generations {
					n := 0
					for key, r := range s.All() {
						if n++; !r.Intact(key) {
							damaged[reader]++
						}
					}
					for _, p := range generationOf(2*keys, 0) {
						if r, ok := s.Get(p.Key); !ok || !r.Intact(p.Key) {
							damaged[reader]++
						}
					}
					if n != 2*keys {
						damaged[reader]++
					}
				}
			})
		}
		wg.Wait()
		require.Zero(t, damaged)
		require.Equal(t, byKey(generationOf(2*keys, generations)), maps.Collect(s.All()))
	})
}

// unforkable are the stores of which there is no copy of one moment.
var unforkable = []string{"syncmap", "sharded", "xsync", "otter", "buntdb"}

// A store and its forks have the same content at first, and then each its own.
func TestForksGoTheirOwnWays(t *testing.T) {
	eachKind(t, func(t *testing.T, k stores.Kind) {
		s := k.New()
		forker, ok := s.(stores.Forker)
		require.Equal(t, !slices.Contains(unforkable, k.ID), ok)
		if !ok {
			return
		}
		s.Update(generationOf(1000, 1))
		branch := forker.Fork()
		require.IsType(t, s, branch)
		twig := branch.(stores.Forker).Fork()

		origin := byKey(generationOf(1000, 1))
		left, right := maps.Clone(origin), maps.Clone(origin)
		change := func(s stores.Store, want map[string]stores.Record, generation uint32, added string) {
			next := generationOf(1000, generation)
			s.Update(next[:500])
			maps.Copy(want, byKey(next[:500]))
			for _, p := range append(next[500:510:510], stores.Pair{Key: added, Record: symbol(added)}) {
				s.Set(p.Key, p.Record)
				want[p.Key] = p.Record
			}
		}
		change(s, left, 2, "added to the origin")
		requireContent(t, left, s)
		requireContent(t, origin, branch)
		change(branch, right, 3, "added to the branch")
		requireContent(t, left, s)
		requireContent(t, right, branch)
		requireContent(t, origin, twig)
	})
}

// requireContent requires that s contains what is wanted and nothing else, by
// whichever way it is read.
func requireContent(t *testing.T, want map[string]stores.Record, s stores.Store) {
	require.Equal(t, want, maps.Collect(s.All()))
	for key, r := range want {
		got, ok := s.Get(key)
		require.True(t, ok)
		require.Equal(t, r, got)
	}
	for _, key := range []string{"added to the origin", "added to the branch"} {
		_, wanted := want[key]
		_, ok := s.Get(key)
		require.Equal(t, wanted, ok)
	}
}

// A fork is of one moment, whoever writes meanwhile.
func TestForkWhileWritten(t *testing.T) {
	const keys, generations = 50, 100
	eachKind(t, func(t *testing.T, k stores.Kind) {
		s, ok := k.New().(stores.Forker)
		if !ok {
			return
		}
		s.Update(generationOf(keys, 0))
		done := make(chan struct{})
		go func() {
			defer close(done)
			for g := range uint32(generations) {
				s.Update(generationOf(keys, g+1))
			}
		}()
		for written := false; !written; {
			select {
			case <-done:
				written = true // and the last fork is of the last generation
			default:
			}
			fork := s.Fork()
			r, _ := fork.Get("user.0")
			found := r.Generation()
			require.Equal(t, byKey(generationOf(keys, found)), maps.Collect(fork.All()))
			fork.Set("user.0", r.Reindexed(generations+1))
			require.True(t, !written || found == generations)
		}
		require.Equal(t, byKey(generationOf(keys, generations)), maps.Collect(s.All()))
	})
}

// symbol returns a record as of generation 0.
func symbol(name string) stores.Record {
	r := stores.Record{
		Package: "net/http", Name: name, Kind: "method", Signature: "func (c *Client) " + name + "()", Doc: name + " is documented.",
		Tags: []string{"", "method", "http"}, Meta: map[string]string{"file": "net/http/client.go", "line": "12"},
	}
	return r.Reindexed(0)
}
