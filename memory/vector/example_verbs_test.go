package vector_test

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/cowstore/cowstore/memory/vector"
)

// Set returns the next version. On an error it returns the one that it was called on.
func ExampleIndex_Set() {
	var empty *vector.Index
	a, err := empty.Set("north", []float32{0, 1})
	b, err2 := a.Set("north", []float32{0.6, 0.8})
	fmt.Println(a.Get("north"))
	fmt.Println(b.Get("north"))
	same, err3 := b.Set("up", []float32{0, 0, 1})
	fmt.Println(same == b, errors.Is(err3, vector.ErrDimension),
		errors.Join(err, err2))
	// Output:
	// [0 1] true
	// [0.6 0.8] true
	// true true <nil>
}

// MinScore is used if HasMin is true, as 0 is a score too. Accept narrows by key.
func ExampleIndex_Search() {
	var x *vector.Index
	x, err := x.Set("a/north", []float32{0, 1})
	x, err2 := x.Set("a/east", []float32{1, 0})
	x, err3 := x.Set("b/north", []float32{0, 2})
	fmt.Println(errors.Join(err, err2, err3))

	query := []float32{0, 1}
	fmt.Println(x.Search(query, vector.Options{MinScore: 0.5, HasMin: true}))
	a := func(key string) bool { return strings.HasPrefix(key, "a/") }
	fmt.Println(x.Search(query, vector.Options{Accept: a}))
	// minus the distance
	fmt.Println(x.Search(query, vector.Options{K: 2, Metric: vector.L2}))
	// Output:
	// <nil>
	// [{a/north 1} {b/north 1}] <nil>
	// [{a/north 1} {a/east 0}] <nil>
	// [{a/north 0} {b/north -1}] <nil>
}

// The memory that vectors take grows with their dimension: here, of two models.
func ExampleIndex_Bytes() {
	notes := func(dim int) (x *vector.Index) {
		for n := range 100 {
			v := make([]float32, dim)
			v[n] = 1
			next, err := x.SetImmutable(fmt.Sprint(n), v)
			if err != nil {
				fmt.Println(err)
				break
			}
			x = next
		}
		return x
	}
	small, large := notes(384), notes(1536)
	fmt.Println(small.Bytes() > 4*small.Len()*small.Dim()) // of a float32
	fmt.Printf("%.0f times\n", float64(large.Bytes())/float64(small.Bytes()))
	// Output:
	// true
	// 4 times
}

// SetImmutable may be given a slice that nobody else has, as Float32s returns.
func ExampleIndex_SetImmutable() {
	embedding := []float64{0.6, 0.8} // many models return float64
	var x *vector.Index
	x, err := x.SetImmutable("note", vector.Float32s(embedding))
	fmt.Println(x.Len(), x.Dim(), err)
	// Output: 1 2 <nil>
}

// Check says ahead what Set would refuse, but for the dimension.
func ExampleCheck() {
	fmt.Println(vector.Check([]float32{0, 0}))
	fmt.Println(errors.Is(vector.Check(nil), vector.ErrEmpty))
	nan := []float32{1, float32(math.NaN())}
	fmt.Println(errors.Is(vector.Check(nan), vector.ErrNotFinite))
	// Output:
	// <nil>
	// true
	// true
}

// Delete may leave the elements of a vector in memory, Purge does not. Without vectors an Index is
// nil.
func ExampleIndex_Purge() {
	var x *vector.Index
	x, err := x.Set("face", []float32{0.3, 0.7})
	x, err2 := x.Set("cat", []float32{1, 0})
	x = x.Purge("face")
	fmt.Println(x.Get("face"))
	fmt.Println(x.Len(), x.Purge("cat") == nil, errors.Join(err, err2))
	// Output:
	// [] false
	// 1 true <nil>
}
