package stores

import (
	"fmt"
	"maps"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// generationOf returns n pairs of a generation.
func generationOf(n int, generation uint32) []Pair {
	pairs := make([]Pair, n)
	for i := range pairs {
		r := NewPayload("user", fmt.Sprint(i), 16)
		pairs[i] = Pair{r.Key(), r.Reindexed(generation)}
	}
	return pairs
}

// Whoever iterates while all keys are updated sees one generation of them if,
// and only if, the store promises that an update is one step.
func TestAtomicityIsAsDeclared(t *testing.T) {
	eachKind(t, func(t *testing.T, k Kind) {
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
		_, unlocked := s.(Snapshotter)
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
func putLastAndFirst(pairs []Pair, last, first string) {
	at := func(key string) int {
		return slices.IndexFunc(pairs, func(p Pair) bool { return p.Key == key })
	}
	swap := func(i, j int) { pairs[i], pairs[j] = pairs[j], pairs[i] }
	swap(at(last), 0)
	if first != last {
		swap(at(first), len(pairs)-1)
	}
}

func byKey(pairs []Pair) map[string]Record {
	m := make(map[string]Record, len(pairs))
	for _, p := range pairs {
		m[p.Key] = p.Record
	}
	return m
}

func TestOrderIsAsDeclared(t *testing.T) {
	eachKind(t, func(t *testing.T, k Kind) {
		s := k.New()
		s.Update(generationOf(1000, 1))
		keys := func(all func(func(string, Record) bool)) (keys []string) {
			for key := range all {
				keys = append(keys, key)
			}
			return keys
		}
		found := keys(s.All())
		require.Len(t, found, 1000)
		require.Equal(t, k.Ordered, slices.IsSorted(found), "the promise is wrong")
		if s, ok := s.(Snapshotter); ok {
			require.Equal(t, k.Ordered, slices.IsSorted(keys(s.Snapshot().All())), "the promise is wrong")
		}
	})
}

// Writers, readers and those who iterate do not disturb each other, and the last
// write of each key is there in the end.
func TestConcurrentUse(t *testing.T) {
	const keys, generations = 64, 20
	eachKind(t, func(t *testing.T, k Kind) {
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
