package memory

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// What a limit counts has what JSON does not show in it.
func TestHiddenBytesCount(t *testing.T) {
	type blob struct {
		Name string
		data []byte
	}
	v, err := Freeze(blob{"b", make([]byte, 1<<20)})
	require.NoError(t, err)
	require.Greater(t, v.Size(), int64(1<<20))
	require.Less(t, v.Size(), int64(1<<20+1<<10))
	m := New(Options{MaxBytes: 1 << 20})
	require.ErrorIs(t, errOf(m.Space().Put("k", blob{"b", make([]byte, 1<<20)})), ErrFull)
}

type cloner struct {
	mu sync.Mutex
	b  []byte
	in *[]string
}

func (c *cloner) Clone() *cloner {
	c.mu.Lock()
	defer c.mu.Unlock()
	return &cloner{b: slices.Clone(c.b), in: c.in}
}

// A counter is shared by its clones, and written to.
type counter struct {
	mu *sync.Mutex
	m  map[int]string
}

func (c counter) Clone() counter { return c }

// A tally is a counter whose lock is elsewhere.
type tally struct{ m map[int]string }

func (c *tally) Clone() *tally { return &tally{c.m} }

type itself struct {
	mu sync.Mutex
	s  []string
}

func (i *itself) Clone() *itself { return i }

// What a type's own Clone makes counts as anything else.
func TestWhatAnOwnCloneMakesCounts(t *testing.T) {
	size := 1 << 19
	if testing.Short() {
		size = 1 << 16
	}
	type hidden struct{ c *cloner }
	type inside struct{ C cloner }
	type ofValue struct{ v Value }
	value, err := Freeze(strings.Repeat("x", size))
	require.NoError(t, err)
	long := []string{strings.Repeat("x", size)}
	for name, v := range map[string]func() any{
		"alone":      func() any { return &cloner{b: make([]byte, size)} },
		"in a map":   func() any { return map[string]any{"c": []any{&cloner{b: make([]byte, size)}}} },
		"hidden":     func() any { return hidden{&cloner{b: make([]byte, size)}} },
		"behind":     func() any { return &hidden{&cloner{b: make([]byte, size)}} },
		"inside":     func() any { return &inside{C: cloner{b: make([]byte, size)}} },
		"of pointer": func() any { return []*inside{{C: cloner{b: make([]byte, size)}}} },
		"deep":       func() any { return &cloner{in: &long} },
		"a Value":    func() any { return ofValue{value} },
		"in a graph": func() any { c := &cloner{b: make([]byte, size)}; return []any{c, c} },
	} {
		f, err := Freeze(v())
		require.NoError(t, err, name)
		require.Greater(t, f.Size(), int64(size), name)
		require.Less(t, f.Size(), int64(2*size+10_000), name) // twice: each is cloned by itself
		again, err := Freeze([]any{f, 1})
		require.NoError(t, err, name)
		require.Greater(t, again.Size(), int64(size), name)
		m := New(Options{MaxBytes: int64(size / 4)})
		for range 30 {
			require.ErrorIs(t, errOf(m.Space().Put("k", v())), ErrFull, name)
		}
	}
	// What others may write to is not read.
	c, i := counter{new(sync.Mutex), map[int]string{}}, &itself{s: make([]string, 1)}
	d := &tally{c.m} // guarded by c.mu
	done := make(chan bool)
	go func() {
		for k := range 10_000 {
			c.mu.Lock()
			c.m[k%100] = strings.Repeat("x", k%10)
			c.mu.Unlock()
			i.mu.Lock()
			i.s = append(i.s[:0:0], "x")
			i.mu.Unlock()
		}
		close(done)
	}()
	for range 100 {
		f, err := Freeze([]any{c, i, d})
		require.NoError(t, err)
		require.Less(t, f.Size(), int64(1000))
	}
	<-done
	large := &itself{s: make([]string, size)}
	f, err := Freeze(large)
	require.NoError(t, err)
	require.Less(t, f.Size(), int64(1000), "it is the caller's")
}

type panicking struct {
	in   string
	more *int // or Clone would not be needed
}

func (p panicking) MarshalJSON() ([]byte, error) {
	if p.in == "MarshalJSON" {
		panic(p.in)
	}
	return []byte("1"), nil
}

func (p panicking) Clone() panicking {
	if p.in == "Clone" {
		panic(p.in)
	}
	return p
}

func TestAPanicOfAValueIsThatOfItsCaller(t *testing.T) {
	m := New(Options{})
	require.NoError(t, errOf(m.Space().Put("k", 1)))
	before := m.Load()
	for _, in := range []string{"MarshalJSON", "Clone"} {
		p := struct{ P panicking }{panicking{in, nil}}
		require.PanicsWithValue(t, in, func() { _, _ = m.Space().Put("k", p) })
		require.PanicsWithValue(t, in, func() {
			_ = m.Batch(func(b *Batch) error { return b.Space().Put("k", p) })
		})
		require.True(t, before == m.Load())
	}
	require.NoError(t, errOf(m.Space().Put("k", 2)))
	require.NoError(t, m.CheckDerived())
}

// A Hit can be shown as JSON, as every other part of an entry.
func TestAHitMarshals(t *testing.T) {
	m := New(Options{})
	const huge = 3e38
	require.NoError(t, errOf(m.Space().PutItem("k", Item{Value: json.Number("12345678901234567890123"), Vector: []float32{huge, huge}})))
	for _, metric := range []Metric{Cosine, Dot, L2} {
		hits, err := m.Space().Search(Query{Vector: []float32{-huge, -huge}, Metric: metric})
		require.NoError(t, err)
		_, err = json.Marshal(hits)
		require.NoError(t, err, fmt.Sprint(metric))
	}
}
