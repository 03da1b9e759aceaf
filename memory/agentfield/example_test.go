package agentfield_test

import (
	"context"
	"fmt"

	"github.com/cowstore/cowstore/memory/agentfield"
)

// With the SDK it is agent.NewMemory(backend); here are types of the same shape.
func Example() {
	backend := MemoryBackend(
		agentfield.New[MemoryScope, SearchOptions, VectorSearchResult](agentfield.Options{}))
	ctx := context.Background()

	tags := []string{"draft"}
	_ = backend.Set(ctx, "session", "42", "tags", tags)
	tags[0] = "spoiled" // the Backend has its own
	v, found, _ := backend.Get(ctx, "session", "42", "tags")
	fmt.Println(v, found)

	_ = backend.SetVector(ctx, "session", "42", "cats", []float64{0.9, 0.1}, map[string]any{"kind": "animal"})
	_ = backend.SetVector(ctx, "session", "42", "cars", []float64{0.1, 0.9}, map[string]any{"kind": "machine"})
	results, _ := backend.SearchVector(ctx, "session", "42", []float64{1, 0}, SearchOptions{Limit: 1})
	fmt.Printf("%s %.2f %v\n", results[0].Key, results[0].Score, results[0].Metadata)
	// Output:
	// [draft] true
	// cats 0.99 map[kind:animal]
}
