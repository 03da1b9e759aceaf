// Package agentfield has a [Backend] for the memory of AgentField's Go SDK, in a
// [memory.Memory], without importing the SDK. Its type parameters are the SDK's own
// types:
//
//	backend := agentfield.New[agent.MemoryScope, agent.SearchOptions, agent.VectorSearchResult](nil)
//	agentMemory := agent.NewMemory(backend)
//
// What is stored and what is read are separate from each other and from their
// callers, however deep: nobody's later write to a map, slice, pointer or
// embedding shows anywhere else. SearchVector searches.
//
// The shape is that of the SDK at its commit 5965a7f. If the SDK's types differ
// from it, in the names, types, order or tags of their fields, the program does
// not compile.
package agentfield
