// Package vector has a persistent index of vectors that finds the nearest ones exactly.
//
// An [Index] is an immutable value: [Index.Set] and [Index.Delete] return the next one, which
// shares nearly everything with the one before. Old ones stay valid and unchanged for as long as
// somebody holds them, and any number of goroutines may search any of them at once. There is no
// lock and no background work.
//
// # Exact
//
// [Index.Search] returns what comparing the query with every vector in float64 would return. It
// looks at every vector, but mostly at an approximation, a code of eight bits an element, many
// elements at a time. The error of a code has a bound, and only vectors whose bounds reach the worst
// hit are compared in float64, at the end. Where many vectors are about equally near, many are
// compared: the answer is the same, and takes longer. Vectors of fewer than 32 elements have no
// codes, as comparing them is as quick.
//
// Search uses the vector instructions that the machine has: AVX-512 VNNI, AVX2 or NEON. Without
// them it compares eight elements at a time in a word. Hits and scores are the same either way.
//
// # Representation
//
// Vectors lie in blocks of up to 256 slots that versions share. The newest block of an index is
// appended to in place, in slots that no version can see yet. A replaced or deleted vector leaves a
// dead slot; each version has its own bitmap of live ones. A block that is less than two thirds live
// is given up, and its live vectors are appended again. So a write takes constant time, averaged
// over many writes, apart from a map of keys and a list of blocks, where it takes logarithmic time.
package vector
