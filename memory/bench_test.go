package memory_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cowstore/cowstore/memory"
	"github.com/cowstore/cowstore/memory/filter"
	"github.com/cowstore/cowstore/memory/value"
)

// filled returns a space of n records.
func filled(b *testing.B, n int, o memory.Options) memory.Space {
	b.Helper()
	m := memory.New(o)
	s := m.Space("user", "42", "notes")
	err := m.Batch(func(b *memory.Batch) error {
		e := b.Space(s.Path()...)
		for i := range n {
			if err := e.Put(fmt.Sprintf("key-%06d", i), record(i)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	return s
}

func record(i int) map[string]any {
	return map[string]any{"name": fmt.Sprintf("symbol %d", i), "line": i, "kind": "func", "used": i%2 == 0}
}

func BenchmarkGet(b *testing.B) {
	for _, n := range []int{1_000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s := filled(b, n, memory.Options{NoText: true})
			keys := make([]string, n)
			for i := range keys {
				keys[i] = fmt.Sprintf("key-%06d", i*7919%n)
			}
			i := 0
			for b.Loop() {
				v, _ := s.Get(keys[i])
				if v.Key("line").Kind() != value.Int {
					b.Fatal("not found")
				}
				if i++; i == n {
					i = 0
				}
			}
		})
	}
}

func BenchmarkPut(b *testing.B) {
	for _, o := range []struct {
		name string
		memory.Options
	}{{"values", memory.Options{NoText: true}}, {"texts", memory.Options{}}, {"limited", memory.Options{NoText: true, MaxEntries: 100_000}}} {
		b.Run(o.name, func(b *testing.B) {
			const n = 100_000
			s := filled(b, n, o.Options)
			i := 0
			for b.Loop() {
				if _, err := s.Put(fmt.Sprintf("key-%06d", i*7919%(2*n)), record(i)); err != nil {
					b.Fatal(err)
				}
				i++
			}
		})
	}
}

func randomVector(r *rand.Rand, dim int) []float32 {
	v := make([]float32, dim)
	for i := range v {
		v[i] = float32(r.NormFloat64())
	}
	return v
}

// A note of an agent: a few words, with their vector, among those of a user.
func BenchmarkPutANote(b *testing.B) {
	const n, dim = 494, 384
	r := rand.New(rand.NewPCG(1, 1))
	items := make([]memory.Item, n+1) // one more, so that each replaces another
	for i := range items {
		items[i] = memory.Item{Value: map[string]any{"text": fmt.Sprintf("the user prefers short answers about subject %d", i)}, Vector: randomVector(r, dim)}
	}
	for _, noText := range []bool{true, false} {
		b.Run(fmt.Sprintf("text=%t", !noText), func(b *testing.B) {
			s := memory.New(memory.Options{NoText: noText}).Space("user", "42", "notes")
			i := 0
			put := func() {
				if _, err := s.PutItem(fmt.Sprintf("note-%03d", i*7%n), items[i%len(items)]); err != nil {
					b.Fatal(err)
				}
				i++
			}
			for range n {
				put()
			}
			b.ReportAllocs()
			for b.Loop() {
				put()
			}
		})
	}
}

// What a Put costs in a space that is so deep, beside others.
func BenchmarkPutInADeepSpace(b *testing.B) {
	for _, depth := range []int{0, 1, 3, 6} {
		b.Run(fmt.Sprint(depth), func(b *testing.B) {
			m := memory.New(memory.Options{NoText: true})
			space := func(i int) memory.Space {
				s := m.Space()
				for d := range depth {
					s = s.Space(fmt.Sprint("element ", d*i%100))
				}
				return s
			}
			for i := range 20_000 {
				if _, err := space(i).Put(fmt.Sprint(i), i); err != nil {
					b.Fatal(err)
				}
			}
			i := 0
			for b.Loop() {
				if _, err := space(i).Put(fmt.Sprint(i%20_000), i); err != nil {
					b.Fatal(err)
				}
				i++
			}
		})
	}
}

// The slowest Put into a space beside something large that happens in another one.
func BenchmarkSlowestPut(b *testing.B) {
	const n = 1_000_000
	large := func(o memory.SpaceOptions) *memory.Memory {
		m := memory.New(memory.Options{})
		if _, err := m.Space("large").Configure(o); err != nil {
			b.Fatal(err)
		}
		for from := 0; from < n; from += 10_000 {
			err := m.Batch(func(b *memory.Batch) error {
				e := b.Space("large")
				for i := from; i < from+10_000; i++ {
					if err := e.Put(fmt.Sprintf("key-%07d", i), i); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				b.Fatal(err)
			}
		}
		runtime.GC()
		return m
	}
	for _, c := range []struct {
		name string
		make func() *memory.Memory
		do   func(m *memory.Memory)
	}{
		{"nothing", func() *memory.Memory { return large(memory.SpaceOptions{}) }, func(*memory.Memory) {}},
		{"Clear", func() *memory.Memory { return large(memory.SpaceOptions{}) }, func(m *memory.Memory) { _, _ = m.Space("large").Clear() }},
		{"expired", func() *memory.Memory { return large(memory.SpaceOptions{TTL: 20 * time.Second}) }, func(*memory.Memory) { time.Sleep(20 * time.Second) }},
		{"Configure", func() *memory.Memory { return large(memory.SpaceOptions{}) }, func(m *memory.Memory) { _, _ = m.Space("large").Configure(memory.SpaceOptions{MaxEntries: 10}) }},
		{"Import", func() *memory.Memory { return memory.New(memory.Options{}) }, func(m *memory.Memory) {
			var lines strings.Builder
			for i := range 200_000 {
				fmt.Fprintf(&lines, `{"space":["imported"],"key":"%d","value":"some text of a few words, %d"}`+"\n", i, i)
			}
			go func() { _, _ = m.Import(b.Context(), strings.NewReader(lines.String())) }()
			_, _ = m.DB().Wait(b.Context(), m.Load().Version()) // until it has begun
		}},
	} {
		b.Run(c.name, func(b *testing.B) {
			m := c.make()
			s := m.Space("small")
			if _, err := s.Configure(memory.SpaceOptions{MaxEntries: 2}); err != nil {
				b.Fatal(err)
			}
			c.do(m)
			var slowest time.Duration
			var all []time.Duration
			for b.Loop() {
				for i := range 5_000 {
					at := time.Now()
					if _, err := s.Put(fmt.Sprint(i%4), i); err != nil {
						b.Fatal(err)
					}
					took := time.Since(at)
					slowest = max(slowest, took)
					all = append(all, took)
				}
			}
			slices.Sort(all)
			b.ReportMetric(float64(slowest.Microseconds()), "slowest-µs")
			b.ReportMetric(float64(all[len(all)*999/1000].Microseconds()), "p99.9-µs")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// A turn of an agent reads a space that nobody has read for a while, of many: what it
// waits for is memory.
func BenchmarkSearchOneOfManySpaces(b *testing.B) {
	const users, each, dim = 1000, 494, 64
	r := rand.New(rand.NewPCG(1, 1))
	m := memory.New(memory.Options{NoText: true})
	spaces := make([]memory.Space, users)
	for u := range spaces {
		spaces[u] = m.Space("user", fmt.Sprint(u), "notes")
		if err := m.Batch(func(batch *memory.Batch) error {
			e := batch.Space(spaces[u].Path()...)
			for i := range each {
				if err := e.PutItem(fmt.Sprintf("note-%04d", i), memory.Item{Value: record(i), Vector: randomVector(r, dim)}); err != nil {
					return err
				}
			}
			return nil
		}); err != nil {
			b.Fatal(err)
		}
	}
	runtime.GC()
	query, i := randomVector(r, dim), 0
	b.ReportAllocs()
	for b.Loop() {
		i++
		if hits, err := spaces[i*7919%users].Search(memory.Query{Vector: query}); err != nil || len(hits) != 10 {
			b.Fatal(len(hits), err)
		}
	}
}

// What a search takes whose filter refuses most.
func BenchmarkSearchFiltered(b *testing.B) {
	const n, dim = 10_000, 384
	r := rand.New(rand.NewPCG(1, 1))
	s := memory.New(memory.Options{NoText: true}).Space("notes")
	for i := range n {
		if _, err := s.PutItem(fmt.Sprint(i), memory.Item{Vector: randomVector(r, dim), Metadata: map[string]any{"kind": i % 100}}); err != nil {
			b.Fatal(err)
		}
	}
	query := randomVector(r, dim)
	for _, f := range []struct {
		name string
		filter.Filter
	}{{"all", filter.Filter{}}, {"half", filter.Meta("kind").Lt(50)}, {"1%", filter.Meta("kind").Eq(3)}} {
		b.Run(f.name, func(b *testing.B) {
			for b.Loop() {
				if hits, err := s.Search(memory.Query{Vector: query, Filter: f.Filter}); err != nil || len(hits) != 10 {
					b.Fatal(len(hits), err)
				}
			}
		})
	}
}
