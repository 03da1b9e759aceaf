package snapshot

import (
	"fmt"
	"math"
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

// entryRoundTrip makes entries with all keys and finds each by its own key alone.
func entryRoundTrip[K comparable, V comparable](t *testing.T, keys []K, value V) {
	c := newConfig[K](Options[V]{}) // no Map: each is much to compile
	entries := make([]*entry[V], len(keys))
	for i, k := range keys {
		entries[i] = c.newEntry(k, value, uint64(i))
	}
	runtime.GC()
	for i, e := range entries {
		require.Equal(t, keys[i], c.key(e))
		require.Equal(t, value, e.value)
		require.Equal(t, uint64(i), e.revision())
		for j, k := range keys {
			if c.is(e, k) != (i == j) {
				t.Fatalf("entry of %v is that of %v", keys[i], k)
			}
		}
	}
	last := c.newEntry(keys[0], value, 1<<55-1)
	require.Equal(t, uint64(1<<55-1), last.revision())
	require.Equal(t, keys[0], c.key(last))
}

func TestEntriesHoldKeysAndValuesOfAnySize(t *testing.T) {
	strs := stringKeys[string](300)
	entryRoundTrip(t, strs, 1)
	entryRoundTrip(t, strs, "value")
	entryRoundTrip(t, strs, struct{}{})
	entryRoundTrip(t, strs, uint8(200))
	entryRoundTrip(t, strs, [3]bool{true, false, true})
	entryRoundTrip(t, strs, struct {
		a uint8
		b float64
		c uint16
	}{1, 2, 3})
	entryRoundTrip(t, strs, &struct{ s string }{"behind"})
	entryRoundTrip(t, strs, [40]string{7: "large"})
	entryRoundTrip(t, stringKeys[label](300), complex(1, 2))
	ints := keysOf(100, func(i int) int { return i })
	entryRoundTrip(t, ints, 1)
	entryRoundTrip(t, ints, struct{}{})
	entryRoundTrip(t, ints, uint8(200))
	entryRoundTrip(t, keysOf(100, func(i int) uint8 { return uint8(i) }), any("any"))
	entryRoundTrip(t, keysOf(100, anyKey), "value")
	entryRoundTrip(t, keysOf(100, func(i int) composite { return composite{int32(i), "s", true} }), 1)
	entryRoundTrip(t, []struct{}{{}}, 1)
	entryRoundTrip(t, []struct{}{{}}, struct{}{})
	entryRoundTrip(t, [][0]string{{}}, "value")
}

func TestOnlyShortStringsAreInline(t *testing.T) {
	c := New[string](Options[int]{}).cfg
	for n, inline := range map[int]bool{0: false, 1: true, 16: true, 17: true, maxInline: true, maxInline + 1: false, 1000: false} {
		k := strings.Repeat("x", n)
		e := c.newEntry(k, 1, 1)
		require.Equal(t, inline, e.inlineLen() > 0, n)
		require.Equal(t, inline, inlines(n), n)
		require.Equal(t, !inline || n == 0, n == 0 || unsafe.StringData(c.key(e)) == unsafe.StringData(k),
			"an inline key is a copy, and keeps nothing of the caller's alive")
	}
}

// A lookup compares keys of 8 to 40 bytes as words: every bit counts.
func TestLookupTellsKeysApartByEveryBit(t *testing.T) {
	for n := 1; n <= maxInline+2; n++ {
		for _, fill := range []func(i int) byte{
			func(int) byte { return 0xff },
			func(int) byte { return 0 },
			func(i int) byte { return byte(i*37 + n) },
		} {
			b := make([]byte, n)
			for i := range b {
				b[i] = fill(i)
			}
			key := string(b)
			m := New[string](Options[int]{})
			m.cfg.hash = func(string) uint64 { return 0 }
			e := m.Edit()
			e.Set(key, n)
			m = e.Seal()
			v, ok := m.Get(key)
			require.True(t, ok)
			require.Equal(t, n, v)
			for bit := range 8 * n {
				b[bit/8] ^= 1 << (bit % 8)
				if m.lookup(string(b)) != nil {
					t.Fatalf("the key %q of %d bytes was found as %q, which differs in bit %d", key, n, b, bit)
				}
				b[bit/8] ^= 1 << (bit % 8)
			}
			require.False(t, m.Has(key+"x"))
			require.False(t, m.Has(key[1:]))
			require.False(t, m.Has(key[:n-1]))
		}
	}
}

// Two bytes that differ in the same way must not make up for each other.
func TestLookupTellsKeysApartByTwoBytes(t *testing.T) {
	for n := 2; n <= 48; n++ {
		b := []byte(strings.Repeat("k", n))
		m := New[string](Options[int]{})
		m.cfg.hash = func(string) uint64 { return 0 }
		e := m.Edit()
		e.Set(string(b), n)
		m = e.Seal()
		for i := range b {
			for j := range i {
				b[i] ^= 0x14
				b[j] ^= 0x14
				if m.Has(string(b)) {
					t.Fatalf("found %q", b)
				}
				b[i] ^= 0x14
				b[j] ^= 0x14
			}
		}
	}
}

func TestKeysAreKeptApartFromTheirCallers(t *testing.T) {
	for _, n := range []int{1, 20, maxInline} {
		b := []byte(strings.Repeat("k", n))
		key := strings.Clone(string(b))
		e := New[string](Options[int]{}).Edit()
		// A string that its owner breaks the rules with: inline keys do not care.
		e.Set(unsafe.String(&b[0], n), 1)
		clear(b)
		require.True(t, e.Seal().Has(key))
	}
}

// Values without pointers share an object with their short keys that the
// collector does not scan, others one that it does. Both live as long as
// anything points at them, a key that was handed out too.
func TestEntriesLiveAndDieAsTheyMust(t *testing.T) {
	if raceEnabled {
		t.Skip("finalizers come late")
	}
	m := New[string](Options[*[64]int]{Immutable: true})
	died := make(chan int, 100)
	e := m.Edit()
	for i := range 100 {
		v := &[64]int{i}
		runtime.AddCleanup(v, func(i int) { died <- i }, i)
		e.Set(fmt.Sprint("key", i), v)
	}
	m = e.Seal()
	runtime.GC()
	runtime.GC()
	require.Empty(t, died, "no value may die while the map lives")
	for i := range 100 {
		v, ok := m.Get(fmt.Sprint("key", i))
		require.True(t, ok)
		require.Equal(t, i, v[0])
	}
	e = m.Edit()
	for i := range 50 {
		e.Delete(fmt.Sprint("key", i))
	}
	next := e.Seal()
	runtime.GC()
	require.Empty(t, died, "nor may one that an older version has")
	runtime.KeepAlive(m)
	runtime.KeepAlive(e)
	seen := map[int]bool{}
	for len(seen) < 50 {
		runtime.GC()
		seen[<-died] = true
	}
	require.Equal(t, 50, next.Len())
	for i := range seen {
		require.Less(t, i, 50)
	}
	runtime.KeepAlive(next)
}

func TestKeysOutliveTheirMap(t *testing.T) {
	var keys []string
	func() {
		e := New[string](Options[int]{}).Edit()
		for i := range 2000 {
			e.Set(fmt.Sprint("key", i), i)
		}
		for k := range e.Seal().Keys() {
			keys = append(keys, k)
		}
	}()
	runtime.GC()
	garbage := make([][]byte, 0, 5000)
	for range cap(garbage) {
		garbage = append(garbage, []byte(strings.Repeat("z", 32)))
	}
	runtime.GC()
	seen := map[string]bool{}
	for _, k := range keys {
		require.True(t, strings.HasPrefix(k, "key"))
		seen[k] = true
	}
	require.Len(t, seen, 2000)
	runtime.KeepAlive(garbage)
}

func TestEqualKeysHaveEqualHashes(t *testing.T) {
	type mixed [2]any
	zero := 0.0
	m := must(Collect(Options[int]{}, func(yield func(float64, int) bool) { yield(zero, 1) }))
	require.True(t, m.Has(math.Copysign(0, -1)), "-0 is 0")

	x := must(Collect(Options[int]{}, func(yield func(mixed, int) bool) { yield(mixed{"x", zero}, 1) }))
	require.True(t, x.Has(mixed{strings.ToLower("X"), math.Copysign(0, -1)}))
	require.False(t, x.Has(mixed{label("x"), zero}))

	y := must(Collect(Options[int]{}, func(yield func(any, int) bool) { yield(1, 1) }))
	require.True(t, y.Has(1))
	require.False(t, y.Has(int64(1)))
	require.False(t, y.Has(nil))
}

// Integers are hashed as memory; every size of them must still be told apart.
func TestIntegersOfEverySize(t *testing.T) {
	integers[int](t)
	integers[int8](t)
	integers[int16](t)
	integers[int32](t)
	integers[int64](t)
	integers[uint](t)
	integers[uint8](t)
	integers[uint16](t)
	integers[uint32](t)
	integers[uint64](t)
	integers[uintptr](t)
}

func integers[K int | int8 | int16 | int32 | int64 | uint | uint8 | uint16 | uint32 | uint64 | uintptr](t *testing.T) {
	hash := hasher[K]()
	seen := map[uint64]K{}
	for bit := range 8 * unsafe.Sizeof(K(0)) {
		for _, k := range []K{1 << bit, ^(1 << bit)} {
			h := hash(k)
			require.Equal(t, h, hash(k))
			other, ok := seen[h]
			require.False(t, ok, "%T: %d and %d have one hash", k, other, k)
			seen[h] = k
		}
	}
}
