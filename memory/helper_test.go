package memory_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/memory"
)

// quicker returns full, or less of it where tests are to be quick, or are slow.
func quicker(full int) int {
	if testing.Short() || raceEnabled {
		return max(1, full/10)
	}
	return full
}

func freeze(t testing.TB, v any) memory.Value {
	t.Helper()
	f, err := memory.Freeze(v)
	require.NoError(t, err)
	return f
}

// errOf returns the error of a write.
func errOf(_ uint64, err error) error { return err }

// removed reports whether a verb removed something.
func removed(rev uint64, err error) bool { return rev > 0 && err == nil }

// count returns how many entries a verb removed, or -1 for an error.
func count(n int, err error) int {
	if err != nil {
		return -1
	}
	return n
}

// keys returns the keys of a view, in order.
func keys(v memory.SpaceSnapshot) []string {
	all := []string{}
	for e := range v.List(memory.ListOptions{}) {
		all = append(all, e.Key)
	}
	return all
}

// hitKeys returns the keys of hits, in their order.
func hitKeys(hits []memory.Hit, err error) []string {
	if err != nil {
		return []string{"error: " + err.Error()}
	}
	all := []string{}
	for _, h := range hits {
		all = append(all, h.Key)
	}
	return all
}

// spaces returns the paths of the spaces that have entries.
func spaces(s memory.Snapshot, o memory.SpacesOptions) [][]string {
	all := slices.Collect(s.Spaces(o))
	if all == nil {
		all = [][]string{}
	}
	return all
}
