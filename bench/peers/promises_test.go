package peers

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/bench/stores"
)

// eachKind runs f for every store there is that keeps records.
func eachKind(t *testing.T, f func(t *testing.T, k stores.Kind)) {
	told := map[string]bool{}
	for _, k := range All() {
		require.False(t, told[k.ID] || told[k.Name])
		told[k.ID], told[k.Name] = true, true
		t.Run(k.ID, func(t *testing.T) {
			made := k.New
			k.New = func() stores.Store {
				s := made()
				if c, ok := s.(io.Closer); ok {
					t.Cleanup(func() {
						require.NoError(t, c.Close())
						require.Panics(t, func() { s.Update(nil) }, "it is closed")
					})
				}
				return s
			}
			f(t, k)
		})
	}
}

func symbol(name string) stores.Record { return stores.NewSymbol("net/http", name) }

func payload(name string) stores.Record { return stores.NewPayload("user", name, 16) }

type content = map[string]stores.Record

// generationOf returns n records of a generation, half of them symbols, and the same as pairs.
func generationOf(n int, generation uint32) (all content, pairs []stores.Pair) {
	all = content{}
	for i := range n {
		r := payload(fmt.Sprint(i))
		if i%2 != 0 {
			r = symbol(fmt.Sprint(i))
		}
		r = r.Reindexed(generation)
		all[r.Key()] = r
		pairs = append(pairs, stores.Pair{Key: r.Key(), Record: r})
	}
	return all, pairs
}

// requireContent requires that s contains what is wanted and nothing else.
func requireContent(t *testing.T, want content, s stores.Store) {
	require.Equal(t, want, maps.Collect(s.All()))
	reader, found := stores.NewReader(s), stores.Lookup{}
	for key, r := range want {
		got, ok := s.Get(key)
		require.True(t, ok)
		require.Equal(t, r, got)
		reader.Get(key, &found)
		require.True(t, found.Intact(key))
	}
	for _, key := range []string{"none", "user", "user.left", "user.right"} {
		_, ok := s.Get(key)
		require.Equal(t, want[key].Check != 0, ok)
		reader.Get(key, &found)
		require.Equal(t, ok, found.Intact(key))
	}
}

func TestRoundTrip(t *testing.T) {
	eachKind(t, func(t *testing.T, k stores.Kind) {
		s := k.New()
		requireContent(t, content{}, s)
		want, pairs := generationOf(1000, 0)
		s.Update(pairs)
		for i := range 10 {
			r := pairs[i].Record.Reindexed(5)
			s.Set(r.Key(), r)
			want[r.Key()] = r
		}
		s.Update(nil)
		requireContent(t, want, s)

		var keys []string
		for key := range s.All() {
			keys = append(keys, key)
		}
		require.Len(t, keys, 1000)
		require.Equal(t, k.Ordered, slices.IsSorted(keys), "the promise is wrong")
		for range s.All() {
			break
		}
		s.Set(pairs[0].Key, pairs[0].Record) // who has stopped iterating holds no lock
	})
}

// What a caller can do to a record reaches the store if, and only if, the
// store does not promise isolation.
func TestIsolationIsAsDeclared(t *testing.T) {
	reaches := map[string]func(s stores.Store, r stores.Record) stores.Record{
		"what was set": func(_ stores.Store, r stores.Record) stores.Record { return r },
		"Get":          func(s stores.Store, r stores.Record) stores.Record { got, _ := s.Get(r.Key()); return got },
		"All":          func(s stores.Store, r stores.Record) stores.Record { return maps.Collect(s.All())[r.Key()] },
		"Get of a fork": func(s stores.Store, r stores.Record) stores.Record {
			if f, ok := s.(stores.Forker); ok {
				r, _ = f.Fork().Get(r.Key())
			}
			return r
		},
	}
	eachKind(t, func(t *testing.T, k stores.Kind) {
		for _, record := range []func(name string) stores.Record{symbol, payload} {
			aliased := false
			for _, set := range []func(s stores.Store, pairs []stores.Pair){stores.SetEach, stores.Store.Update} {
				for by, reach := range reaches {
					s, r := k.New(), record("Do")
					set(s, []stores.Pair{{Key: r.Key(), Record: r}})
					spoil(reach(s, r))
					got, ok := s.Get(r.Key())
					require.True(t, ok)
					aliased = aliased || !got.Intact(r.Key())
					if k.Isolated {
						require.Equal(t, record("Do"), got, by)
					}
				}
			}
			require.Equal(t, k.Isolated, !aliased, "the promise is wrong")
		}
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

// A store and its forks have the same content at first, and then each its own. What All
// returned before stays as it was if, and only if, the store promises snapshots.
func TestSnapshotsAndForksAreAsDeclared(t *testing.T) {
	eachKind(t, func(t *testing.T, k stores.Kind) {
		s := k.New()
		origin, pairs := generationOf(1000, 1)
		s.Update(pairs)
		snapshot := s.All()
		forker, forks := s.(stores.Forker)
		var branch, twig stores.Store
		if forks {
			branch = forker.Fork()
			require.IsType(t, s, branch)
			twig = branch.(stores.Forker).Fork()
		}
		changed := func(s stores.Store, generation uint32, added string) content {
			_, next := generationOf(500, generation)
			next = append(next, stores.Pair{Key: "user." + added, Record: payload(added)})
			s.Update(next[:400])
			stores.SetEach(s, next[400:])
			want := maps.Clone(origin)
			for _, p := range next {
				want[p.Key] = p.Record
			}
			return want
		}
		left := changed(s, 2, "left")
		requireContent(t, left, s)
		require.Equal(t, k.Snapshots, len(maps.Collect(snapshot)) == len(origin), "the promise is wrong")
		if k.Snapshots {
			require.Equal(t, origin, maps.Collect(snapshot))
		}
		if forks {
			requireContent(t, origin, branch)
			right := changed(branch, 3, "right")
			requireContent(t, left, s)
			requireContent(t, right, branch)
			requireContent(t, origin, twig)
		}
	})
}

// While others update many keys at once, and set single ones, whoever iterates sees one
// generation of the many if, and only if, an update is promised to be one step; a fork is
// of one moment; and the last write of each key is there in the end.
func TestWhileWritten(t *testing.T) {
	keys, rounds := 500, 100
	if testing.Short() {
		keys, rounds = 100, 20
	}
	eachKind(t, func(t *testing.T, k stores.Kind) {
		want, _ := generationOf(keys, 0)
		var generations [2][]stores.Pair
		for g := range generations {
			_, generations[g] = generationOf(keys, uint32(g))
		}
		s, single := k.New(), payload("single")
		s.Update(generations[0])
		s.Set(single.Key(), single)

		var stop atomic.Bool
		var updates, sets int
		var wg sync.WaitGroup
		wg.Go(func() {
			for ; !stop.Load(); updates++ {
				s.Update(generations[(updates+1)%2])
			}
		})
		wg.Go(func() {
			for ; !stop.Load(); sets++ {
				s.Set(single.Key(), single.Reindexed(uint32(sets+1)))
			}
		})
		damaged := 0
		look := func(s stores.Store) (mixed bool) {
			seen, n := map[uint32]bool{}, 0
			for key, r := range s.All() {
				n++
				if _, ok := want[key]; ok {
					seen[generation(r)] = true
				}
				if !r.Intact(key) {
					damaged++
				}
			}
			if n != keys+1 {
				damaged++
			}
			return len(seen) > 1
		}
		mixed, mixedForks, start := 0, 0, time.Now()
		for round := 0; round < rounds || !k.Atomic && mixed == 0 && time.Since(start) < time.Minute; round++ {
			if look(s) {
				mixed++
			}
			for key := range want {
				if r, ok := s.Get(key); !ok || !r.Intact(key) {
					damaged++
				}
			}
			if s, ok := s.(stores.Forker); ok {
				fork := s.Fork()
				if look(fork) {
					mixedForks++
				}
				fork.Set(single.Key(), single)
			}
		}
		stop.Store(true)
		wg.Wait()
		require.Zero(t, damaged)
		require.Equal(t, k.Atomic, mixed == 0, "the promise is wrong")
		require.Zero(t, mixedForks)
		want, _ = generationOf(keys, uint32(updates%2))
		want[single.Key()] = single.Reindexed(uint32(sets))
		requireContent(t, want, s)
	})
}

// generation returns the generation of any record.
func generation(r stores.Record) uint32 {
	if r.Payload != nil {
		return r.Generation()
	}
	g, _ := strconv.ParseUint(r.Tags[0], 16, 32)
	return uint32(g)
}

// The maximum is so far off that a cache keeps what it is given, also when that
// is more than the new entries it has a place of their own for.
func TestOtterEvictsNothing(t *testing.T) {
	n := 200_000
	if testing.Short() {
		n = 20_000
	}
	s := newOtter()
	for i := range n {
		s.Set(fmt.Sprint(i), stores.Record{})
	}
	s.(otterCache).c.CleanUp()
	require.Len(t, maps.Collect(s.All()), n)
}
