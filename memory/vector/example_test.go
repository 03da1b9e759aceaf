package vector_test

import (
	"fmt"

	"github.com/cowstore/cowstore/memory/vector"
)

// Each Set and Delete makes another Index. The one before is still searched as it was.
func Example() {
	var empty *vector.Index
	a, _ := empty.Set("north", []float32{0, 1})
	b, _ := a.Set("east", []float32{1, 0})
	c := b.Delete("north")

	query := []float32{0.6, 0.8}
	for _, x := range []*vector.Index{a, b, c} {
		hits, err := x.Search(query, vector.Options{K: 2})
		fmt.Println(hits, err)
	}
	_, err := c.Set("up", []float32{0, 0, 1})
	fmt.Println(err)
	// Output:
	// [{north 0.8}] <nil>
	// [{north 0.8} {east 0.6}] <nil>
	// [{east 0.6}] <nil>
	// vector: wrong dimension: have 3, want 2
}
