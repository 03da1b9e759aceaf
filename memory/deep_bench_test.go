package memory_test

import (
	"fmt"
	"testing"

	"github.com/cowstore/cowstore/memory"
)

// What a Put costs in a space that is so deep, beside others.
func BenchmarkDeepPut(b *testing.B) {
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
