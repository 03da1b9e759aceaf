package memory_test

import (
	"fmt"
	"testing"

	"github.com/cowstore/cowstore/memory"
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
				if v.Key("line").Kind() != memory.Int {
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
