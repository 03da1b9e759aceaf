package stores

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// unforkable are the stores of which there is no copy of one moment.
var unforkable = []string{"syncmap", "sharded", "xsync", "otter", "buntdb"}

// A store and its forks have the same content at first, and then each its own.
func TestForksGoTheirOwnWays(t *testing.T) {
	eachKind(t, func(t *testing.T, k Kind) {
		s := k.New()
		forker, ok := s.(Forker)
		require.Equal(t, !slices.Contains(unforkable, k.ID), ok)
		if !ok {
			return
		}
		s.Update(generationOf(1000, 1))
		branch := forker.Fork()
		require.IsType(t, s, branch)
		twig := branch.(Forker).Fork()

		origin := byKey(generationOf(1000, 1))
		left, right := maps.Clone(origin), maps.Clone(origin)
		change := func(s Store, want map[string]Record, generation uint32, added string) {
			next := generationOf(1000, generation)
			s.Update(next[:500])
			maps.Copy(want, byKey(next[:500]))
			for _, p := range append(next[500:510:510], Pair{added, symbol(added)}) {
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
func requireContent(t *testing.T, want map[string]Record, s Store) {
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
	eachKind(t, func(t *testing.T, k Kind) {
		s, ok := k.New().(Forker)
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
