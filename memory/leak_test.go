package memory

import (
	"runtime"
	"slices"
	"testing"
	"time"
	"weak"

	"github.com/cowstore/cowstore/memory/internal/data"

	"github.com/stretchr/testify/require"
)

// A version that nobody holds is let go, whatever comes after it.
func TestVersionsAreLetGo(t *testing.T) {
	m := New(Options{MaxEntries: 3})
	s := m.Space("s")
	var versions []weak.Pointer[data.Entry]
	for i := range 20 {
		require.NoError(t, errOf(s.Put("k", []any{i, "some text"})))
		require.NoError(t, errOf(s.PutVector("k", []float32{float32(i), 1}, nil)))
		require.NoError(t, errOf(s.Put(string(rune('a'+i)), i))) // evicts another
		versions = append(versions, weak.Make(s.Load().lookup("k")))
	}
	require.Eventually(t, func() bool {
		runtime.GC()
		return !slices.ContainsFunc(versions[:len(versions)-1], func(v weak.Pointer[data.Entry]) bool { return v.Value() != nil })
	}, time.Minute, time.Millisecond, "old entries are still there")
	require.Equal(t, 3, m.Load().Len()) // m itself is there all the time
}
