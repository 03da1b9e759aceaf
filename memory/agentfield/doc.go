// Package agentfield has a [Backend] for the memory of AgentField's Go SDK, in a
// [memory.Memory], without importing the SDK. Its type parameters are the SDK's own
// types:
//
//	backend := agentfield.New[agent.MemoryScope, agent.SearchOptions, agent.VectorSearchResult](
//		agentfield.Options{Cyclic: agent.ErrCyclicMemoryValue})
//	agentMemory := agent.NewMemory(backend)
//
// What is stored and what is read are separate from each other and from their
// callers, however deep: nobody's later write to a map, slice, pointer or
// embedding shows anywhere else. SearchVector searches.
//
// The shape is that of the SDK at its commit 5965a7f. If the SDK's types differ
// from it, in the names, types, order or tags of their fields, the program does
// not compile.
//
// # Differences from the SDK's InMemoryBackend
//
// Of values and metadata:
//
//   - InMemoryBackend copies map[string]any, []any and []float64, and hands out the
//     rest as it was stored: a []string, a struct with a map in it, what a pointer
//     leads to. Here all of it is copied but channels and functions; a type with a
//     method Clone is copied by that.
//   - What several pointers, maps or slices of a value share is one object again
//     here. There, a map that is in a value twice becomes two.
//   - A nil map[string]any, []any or []float64 stays nil here, metadata too. There
//     it comes back empty.
//   - A value that contains itself is an error in both; there only through
//     map[string]any and []any, while a cycle of pointers is stored as it is. The
//     error here is [value.ErrCycle] in a *memory.KeyError, and wraps Options.Cyclic.
//   - InMemoryBackend stores anything else. Here [value.ErrUnsupported] refuses what
//     JSON does not have: NaN and infinities, maps by keys that are not strings or
//     integers and do not marshal themselves to text, and structs with a lock but no
//     Clone; and [value.ErrTooDeep] what is nested more than a thousand levels.
//   - The exported fields of a value are read when it is stored, and its methods
//     MarshalJSON and MarshalText are called, on a copy.
//   - A time.Time loses its reading of the monotonic clock.
//
// Of vectors:
//
//   - SearchVector of InMemoryBackend finds nothing. Here it searches.
//   - All embeddings of a scope must have as many elements as its first, at least one,
//     all of them finite as a float32. InMemoryBackend stores any.
//
// Of all methods:
//
//   - A context that is done is an error here, and nothing happens. There it is not
//     looked at.
//   - List is ordered here, in the order of a map there.
//   - The scope "a" with the ID "b:c" and the scope "a:b" with the ID "c" are one
//     scope there, two here.
//   - With limits or a TTL in Options.Memory, what was stored may be evicted, may
//     expire, or may be refused with [memory.ErrFull].
package agentfield
