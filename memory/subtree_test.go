package memory_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow/cowtest"
	"github.com/cowstore/cowstore/memory"
)

// A limit of All is on the sum of a space and all below it, and on nothing else.
func TestALimitOnASpaceAndAllBelow(t *testing.T) {
	for name, c := range map[string]struct {
		limits memory.Limits
		most   int
	}{
		"entries": {memory.Limits{MaxEntries: 30}, 30},
		"bytes":   {memory.Limits{MaxBytes: 20_000}, 60},
	} {
		t.Run(name, func(t *testing.T) {
			m := memory.New(memory.Options{})
			user := m.Space("user", "42")
			require.NoError(t, errOf(user.Configure(memory.SpaceOptions{All: c.limits})))
			below := []memory.Space{user, user.Space("notes"), user.Space("notes", "deep", "er"), user.Space("")}
			beside := []memory.Space{m.Space(), m.Space("user"), m.Space("user", "42\x00b"), m.Space("user", "43", "notes")}
			for i := range 120 {
				for _, s := range append(below, beside...) {
					require.NoError(t, errOf(s.Put(fmt.Sprint(i), "some words")))
				}
				n := 0
				for _, s := range below {
					n += s.Len()
				}
				require.LessOrEqual(t, n, c.most)
				if i > 20 {
					require.Greater(t, n, c.most/3)
				}
			}
			for _, s := range beside {
				require.Equal(t, 120, s.Len())
			}
			for _, s := range below {
				require.NotZero(t, s.Len(), "the least recently used go, wherever they are")
			}
			require.NoError(t, m.CheckDerived())
		})
	}
}

// All limits above a space hold at once, and that of the Memory.
func TestLimitsInEachOther(t *testing.T) {
	m := memory.New(memory.Options{MaxEntries: 50})
	for depth, most := range []int{40, 30, 20} {
		path := []string{"a", "b", "c"}[:depth+1]
		require.NoError(t, errOf(m.Space(path...).Configure(memory.SpaceOptions{All: memory.Limits{MaxEntries: most}})))
	}
	require.NoError(t, errOf(m.Space().Configure(memory.SpaceOptions{All: memory.Limits{MaxEntries: 45}})))
	for i := range 100 {
		for depth := 3; depth >= 0; depth-- {
			path := []string{"a", "b", "c"}[:depth]
			require.NoError(t, errOf(m.Space(path...).Put(fmt.Sprint(i), i)))
		}
		lens := make([]int, 4)
		for depth := range lens {
			for _, path := range spaces(m.Load(), memory.SpacesOptions{Prefix: []string{"a", "b", "c"}[:depth]}) {
				lens[depth] += m.Space(path...).Len()
			}
		}
		for depth, most := range []int{45, 40, 30, 20} {
			require.LessOrEqual(t, lens[depth], most)
		}
		if i > 50 {
			require.Equal(t, 45, lens[0])
		}
	}
	require.NoError(t, m.CheckDerived())
}

// What is configured for each space below goes for those that are not configured
// themselves, the nearest first, option by option.
func TestDefaultsForSpaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := memory.New(memory.Options{TTL: 24 * time.Hour})
		configure := func(o memory.SpaceOptions, path ...string) {
			require.NoError(t, errOf(m.Space(path...).Configure(o)))
		}
		configure(memory.SpaceOptions{MaxEntries: 7, Each: memory.SpaceDefaults{MaxEntries: 20, TTL: time.Hour}}, "user")
		configure(memory.SpaceOptions{Each: memory.SpaceDefaults{MaxEntries: 10}}, "user", "42")
		configure(memory.SpaceOptions{MaxEntries: 15}, "user", "42", "own")
		configure(memory.SpaceOptions{MaxEntries: math.MaxInt, TTL: memory.Never}, "user", "42", "none")
		for _, c := range []struct {
			path []string
			n    int
			ttl  time.Duration
		}{
			{[]string{}, 40, 24 * time.Hour},
			{[]string{"user"}, 7, 24 * time.Hour},
			{[]string{"user", "1"}, 20, time.Hour},
			{[]string{"user", "1", "x", "y", "z"}, 20, time.Hour},
			{[]string{"user", "42"}, 20, time.Hour},
			{[]string{"user", "42", "x"}, 10, time.Hour},
			{[]string{"user", "42", "own"}, 15, time.Hour},
			{[]string{"user", "42", "own", "x"}, 10, time.Hour},
			{[]string{"user", "42", "none"}, 40, 0},
			{[]string{"user\x00b"}, 40, 24 * time.Hour},
		} {
			s := m.Space(c.path...)
			fill(t, m, "other", 1)
			for i := range 40 {
				require.NoError(t, errOf(s.Put(fmt.Sprint(i), i)))
			}
			require.Equal(t, c.n, s.Len(), c.path)
			e, ok := s.Entry("39")
			require.True(t, ok)
			if c.ttl == 0 {
				require.Zero(t, e.Expires)
			} else {
				require.Equal(t, time.Now().Add(c.ttl), e.Expires, c.path)
			}
		}
		require.Equal(t, memory.SpaceOptions{}, m.Space("user", "1").Load().Options(), "as it is configured itself")
		require.NoError(t, m.CheckDerived())
	})
}

// New limits are for what is there too: a Sweep sees to them at once.
func TestSweepKeepsLimitsOfSubtreesAndDefaults(t *testing.T) {
	m := memory.New(memory.Options{})
	for i := range 5 {
		for j := range 200 {
			require.NoError(t, errOf(m.Space("a", fmt.Sprint(i)).Put(fmt.Sprint(j), j)))
		}
	}
	require.NoError(t, errOf(m.Space("a").Configure(memory.SpaceOptions{Each: memory.SpaceDefaults{MaxEntries: 100}})))
	require.Zero(t, count(m.Sweep(t.Context())))
	for i := range 5 {
		require.Equal(t, 100, m.Space("a", fmt.Sprint(i)).Len())
	}
	require.NoError(t, errOf(m.Space("a").Configure(memory.SpaceOptions{All: memory.Limits{MaxEntries: 10}})))
	require.Zero(t, count(m.Sweep(t.Context())))
	require.Equal(t, 10, m.Load().Len())
	require.NoError(t, m.CheckDerived())
}

// A batch that writes more than a subtree may have fails, and does nothing.
func TestABatchOfMoreThanASubtreeMayHave(t *testing.T) {
	m := memory.New(memory.Options{})
	require.NoError(t, errOf(m.Space("a").Configure(memory.SpaceOptions{All: memory.Limits{MaxEntries: 10}})))
	err := m.Batch(func(b *memory.Batch) error {
		for i := range 11 {
			if err := b.Space("a", fmt.Sprint(i)).Put("k", 1); err != nil {
				return err
			}
		}
		return nil
	})
	require.ErrorIs(t, err, memory.ErrFull)
	require.ErrorContains(t, err, `"a"`)
	require.Zero(t, m.Load().Len())
}

func TestNegativeLimitsOfSubtreesPanic(t *testing.T) {
	for _, o := range []memory.SpaceOptions{
		{All: memory.Limits{MaxEntries: -1}}, {All: memory.Limits{MaxBytes: -1}},
		{Each: memory.SpaceDefaults{MaxEntries: -1}}, {Each: memory.SpaceDefaults{MaxBytes: -1}}, {Each: memory.SpaceDefaults{TTL: -1}},
	} {
		require.Panics(t, func() { _, _ = memory.New(memory.Options{}).Space("s").Configure(o) }, "%+v", o)
	}
}

// Export and replay keep all that is configured.
func TestOptionsOfSubtreesAreKept(t *testing.T) {
	o := memory.SpaceOptions{
		MaxEntries: 1, MaxBytes: 2, TTL: time.Second,
		All:  memory.Limits{MaxEntries: 3, MaxBytes: 4},
		Each: memory.SpaceDefaults{MaxEntries: 5, MaxBytes: 6, TTL: memory.Never},
	}
	m, _ := onDB()
	follower, _ := onDB()
	cowtest.Follow(t, follower.DB(), m.DB())
	require.NoError(t, errOf(m.Space("a").Configure(o)))
	require.NoError(t, errOf(m.Space("a", "b").Configure(memory.SpaceOptions{All: o.All})))
	require.Equal(t, o, follower.Space("a").Load().Options())
	require.Equal(t, o.All, follower.Space("a", "b").Load().Options().All)

	var b strings.Builder
	require.NoError(t, m.Load().Export(&b))
	n := memory.New(memory.Options{})
	_, err := n.Import(t.Context(), strings.NewReader(b.String()))
	require.NoError(t, err)
	require.Equal(t, o, n.Space("a").Load().Options())
	require.Equal(t, memory.SpaceOptions{All: o.All}, n.Space("a", "b").Load().Options())

	for _, options := range []string{`{"all":{"ttl":"1s"}}`, `{"all":{"max_bytes":-1}}`, `{"each":{"max_entries":-1}}`, `{"each":{"ttl":"-1s"}}`, `{"all":{"x":1}}`} {
		_, err := n.Import(t.Context(), strings.NewReader(`{"space":["s"],"options":`+options+`}`))
		require.ErrorIs(t, err, memory.ErrMalformed, options)
	}
}

// Limits near the largest numbers are limits like others: nothing overflows.
func TestLimitsNearTheLargestNumbers(t *testing.T) {
	for less := range 3 {
		entries, bytes := math.MaxInt-less, math.MaxInt64-int64(less)
		m := memory.New(memory.Options{MaxEntries: entries, MaxBytes: bytes})
		o := memory.SpaceOptions{
			MaxEntries: entries, MaxBytes: bytes, TTL: math.MaxInt64,
			All:  memory.Limits{MaxEntries: entries, MaxBytes: bytes},
			Each: memory.SpaceDefaults{MaxEntries: entries, MaxBytes: bytes, TTL: math.MaxInt64},
		}
		require.NoError(t, errOf(m.Space("a").Configure(o)))
		require.NoError(t, errOf(m.Space().Configure(o)))
		for i := range 300 {
			require.NoError(t, errOf(m.Space("a", fmt.Sprint(i%3)).PutItem(fmt.Sprint(i), memory.Item{Value: "some words", Vector: []float32{1, 2}})))
		}
		require.Equal(t, 300, m.Load().Len())
		require.Zero(t, count(m.Sweep(t.Context())))
		require.Equal(t, 300, m.Load().Len())
		require.NoError(t, m.CheckDerived())
	}
}

// Clearing all below a space is a mark, however many spaces there are: the sums above
// follow, and those of what is written next begin anew.
func TestClearAllOfManySpaces(t *testing.T) {
	const n = 500
	m := memory.New(memory.Options{})
	put := func() {
		require.NoError(t, m.Batch(func(b *memory.Batch) error {
			for i := range n {
				if err := b.Space("a", fmt.Sprint(i%50), fmt.Sprint(i)).Put("k", i); err != nil {
					return err
				}
			}
			return b.Space("beside").Put("k", 1)
		}))
	}
	put()
	rows := m.DB().Load().Len()
	require.Equal(t, n, count(m.Space("a").ClearAll()))
	require.Equal(t, 1, m.Load().Len())
	require.NoError(t, m.CheckDerived())
	require.Greater(t, m.DB().Load().Len(), rows-500, "most of it is left to later writes")
	require.NoError(t, errOf(m.Space("a", "7", "7").Put("k", 1)))
	require.NoError(t, errOf(m.Space("a", "7", "new").Put("k", 1)))
	require.NoError(t, m.CheckDerived())
	require.NoError(t, m.Batch(func(b *memory.Batch) error {
		require.Equal(t, 2, b.Space("a", "7").ClearAll())
		require.Equal(t, 0, b.Space("a").ClearAll())
		return b.Space("a", "7", "7").Put("k", 2)
	}))
	require.NoError(t, m.CheckDerived())
	require.Equal(t, 2, m.Load().Len())
	put()
	require.NoError(t, m.CheckDerived())
	require.Equal(t, n+1, count(m.Space().ClearAll()))
	require.Zero(t, m.Load().Len())
	require.NoError(t, m.CheckDerived())
	require.Zero(t, count(m.Sweep(t.Context())))
	require.NoError(t, m.CheckDerived())
	require.Less(t, m.DB().Load().Len(), 10, "nothing is left")
}
