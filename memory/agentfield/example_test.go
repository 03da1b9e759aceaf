package agentfield_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/cowstore/cowstore/memory"
	"github.com/cowstore/cowstore/memory/agentfield"
)

// With the SDK it is agent.NewMemory(backend); here are types of the same shape.
func Example() {
	backend := agentfield.New[MemoryScope, SearchOptions, VectorSearchResult](
		agentfield.Options{})
	ctx := context.Background()

	tags := []string{"draft"}
	err := backend.Set(ctx, "session", "42", "tags", tags)
	tags[0] = "spoiled" // the Backend has its own
	v, found, err2 := backend.Get(ctx, "session", "42", "tags")
	fmt.Println(v, found, errors.Join(err, err2))

	cats, cars := []float64{0.9, 0.1}, []float64{0.1, 0.9}
	animal := map[string]any{"kind": "animal"}
	err = backend.SetVector(ctx, "session", "42", "cats", cats, animal)
	err2 = backend.SetVector(ctx, "session", "42", "cars", cars, nil)
	results, err3 := backend.SearchVector(ctx, "session", "42",
		[]float64{1, 0}, SearchOptions{Limit: 1})
	for _, r := range results {
		fmt.Printf("%s %.2f %v\n", r.Key, r.Score, r.Metadata)
	}
	fmt.Println(errors.Join(err, err2, err3))
	// Output:
	// [draft] true <nil>
	// cats 0.99 map[kind:animal]
	// <nil>
}

// A value comes back with its Go types. A key that is not there is not an error.
func ExampleBackend_Get() {
	backend := agentfield.New[MemoryScope, SearchOptions, VectorSearchResult](
		agentfield.Options{})
	ctx := context.Background()
	type step struct{ Tool, Answer string }
	steps := []step{{"search", "3 hits"}, {"read", "1 page"}}
	err := backend.Set(ctx, "session", "42", "steps", steps)
	err2 := backend.Set(ctx, "session", "42", "goal", nil)
	v, _, err3 := backend.Get(ctx, "session", "42", "steps")
	fmt.Println(v.([]step)[1].Tool, errors.Join(err, err2, err3))
	fmt.Println(backend.List(ctx, "session", "42"))
	fmt.Println(backend.Get(ctx, "session", "42", "goal"))

	fmt.Println(backend.Delete(ctx, "session", "42", "goal"))
	fmt.Println(backend.Get(ctx, "session", "42", "goal"))
	// Output:
	// read <nil>
	// [goal steps] <nil>
	// <nil> true <nil>
	// <nil>
	// <nil> false <nil>
}

// GetVector returns each element as it came in. The value of the key is another thing.
func ExampleBackend_GetVector() {
	backend := agentfield.New[MemoryScope, SearchOptions, VectorSearchResult](
		agentfield.Options{})
	ctx := context.Background()
	exact := []float64{0.1, 1.0 / 3} // a float32 has no such number
	err := backend.Set(ctx, "user", "ada", "tea", "a drink")
	err2 := backend.SetVector(ctx, "user", "ada", "tea", exact,
		map[string]any{"model": "small"})
	fmt.Println(backend.GetVector(ctx, "user", "ada", "tea"))

	err3 := backend.DeleteVector(ctx, "user", "ada", "tea")
	_, _, found, err4 := backend.GetVector(ctx, "user", "ada", "tea")
	v, _, err5 := backend.Get(ctx, "user", "ada", "tea")
	fmt.Println(found, v, errors.Join(err, err2, err3, err4, err5))
	// Output:
	// [0.1 0.3333333333333333] map[model:small] true <nil>
	// false a drink <nil>
}

// When a session ends, all that it has stored goes in one step. Other scopes stay.
func ExampleBackend_ClearScope() {
	backend := agentfield.New[MemoryScope, SearchOptions, VectorSearchResult](
		agentfield.Options{})
	ctx := context.Background()
	err := backend.Set(ctx, "session", "42", "goal", "a train to Lyon")
	err2 := backend.Set(ctx, "session", "43", "goal", "a table for two")
	err3 := backend.Set(ctx, "user", "ada", "name", "Ada")
	backend.ClearScope("session", "42")
	fmt.Println(backend.List(ctx, "session", "42"))
	fmt.Println(backend.List(ctx, "session", "43"))

	backend.Clear() // of all sessions, and all others
	fmt.Println(backend.List(ctx, "session", "43"))
	fmt.Println(backend.List(ctx, "user", "ada"))
	fmt.Println(errors.Join(err, err2, err3))
	// Output:
	// [] <nil>
	// [goal] <nil>
	// [] <nil>
	// [] <nil>
	// <nil>
}

// What the SDK does not ask for is there too: here, what was known before the agent ran.
func ExampleBackend_Memory() {
	backend := agentfield.New[MemoryScope, SearchOptions, VectorSearchResult](
		agentfield.Options{})
	ctx := context.Background()
	err := backend.Set(ctx, "user", "ada", "drink", "coffee")
	before := backend.Memory().Load()
	err2 := backend.Set(ctx, "user", "ada", "drink", "tea")
	err3 := backend.Set(ctx, "user", "ada", "food", "soup")

	ada := before.Space("agentfield", "user", "ada", "values")
	for e := range ada.List(memory.ListOptions{}) {
		fmt.Println(e.Key, e.Value)
	}
	fmt.Println(backend.List(ctx, "user", "ada"))
	fmt.Println(errors.Join(err, err2, err3))
	// Output:
	// drink coffee
	// [drink food] <nil>
	// <nil>
}
