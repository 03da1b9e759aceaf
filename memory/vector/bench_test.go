package vector

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/cowstore/cowstore/memory/vector/internal/kernel"
)

func BenchmarkSearch(b *testing.B) {
	for _, c := range []struct {
		name   string
		n, dim int
	}{{"494×384", 494, 384}, {"1k×1536", 1000, 1536}, {"10k×768", 10_000, 768}, {"100k×384", 100_000, 384}} {
		for _, instr := range kernel.Sets() {
			b.Run(c.name+"/"+instr.Name, func(b *testing.B) {
				use(b, instr)
				r := rand.New(rand.NewPCG(1, 1))
				x := fill(b, r, c.n, c.dim)
				q := random(r, c.dim)
				b.ReportAllocs()
				for b.Loop() {
					if _, err := x.Search(q, Options{}); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func BenchmarkSet(b *testing.B) {
	for _, n := range []int{1000, 100_000} {
		r := rand.New(rand.NewPCG(1, 1))
		x := fill(b, r, n, 384)
		v := random(r, 384)
		keys := make([]string, n)
		for i := range keys {
			keys[i] = key(i)
		}
		b.Run(fmt.Sprintf("replace/%d", n), func(b *testing.B) {
			b.ReportAllocs()
			y := x
			for b.Loop() {
				y = set(b, y, keys[r.IntN(n)], v)
			}
		})
		b.Run(fmt.Sprintf("add+delete/%d", n), func(b *testing.B) {
			b.ReportAllocs()
			y := x
			for b.Loop() {
				y = set(b, y, "another", v).Delete("another")
			}
		})
	}
}

func BenchmarkEncode(b *testing.B) {
	v := random(rand.New(rand.NewPCG(1, 1)), 384)
	code := make(code, pairsFor(len(v)))
	for b.Loop() {
		encode(code, v, 20)
	}
}

// BenchmarkSearchParallel has all cores share the memory bandwidth.
func BenchmarkSearchParallel(b *testing.B) {
	for _, instr := range kernel.Sets() {
		b.Run("100k×384/"+instr.Name, func(b *testing.B) {
			use(b, instr)
			r := rand.New(rand.NewPCG(1, 1))
			x := fill(b, r, 100_000, 384)
			q := random(r, 384)
			b.ResetTimer()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					if _, err := x.Search(q, Options{}); err != nil {
						b.Error(err)
					}
				}
			})
		})
	}
}

// BenchmarkSearchDuplicates is the worst case: no bound tells anything apart.
func BenchmarkSearchDuplicates(b *testing.B) {
	for _, instr := range kernel.Sets() {
		b.Run("10k×768/"+instr.Name, func(b *testing.B) {
			use(b, instr)
			v := random(rand.New(rand.NewPCG(1, 1)), 768)
			var x *Index
			for i := range 10_000 {
				x = set(b, x, key(i), v)
			}
			for b.Loop() {
				if _, err := x.Search(v, Options{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkCodeQuery(b *testing.B) {
	v := random(rand.New(rand.NewPCG(1, 1)), 1536)
	room := make([]int8, roomFor(len(v)))
	for b.Loop() {
		newCodedQuery(room, v, 40)
	}
}
