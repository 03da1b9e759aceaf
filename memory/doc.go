// Package memory has values for the memory of software agents: JSON-like, frozen
// once by [Freeze], and immutable from then on, so that any number of readers may
// share one without a copy. A [Value] reads without allocating, along paths too,
// and gives back, by [Value.Any] and [As], what came in, with its Go types.
//
// A Value is a good V for package cow: it needs no clone.
//
//	facts := cow.New[string](cow.Options[memory.Value]{Immutable: true})
package memory
