// Package vector is a persistent index of vectors that finds the nearest ones
// exactly.
//
// An [Index] is an immutable value: Set and Delete return the next one, which
// shares nearly everything with the one before. Old ones stay valid and
// unchanged for as long as somebody holds them, and any number of goroutines
// may search any of them at once. There is no lock and no background work.
//
// # Exact
//
// Search returns what comparing the query with every vector in float64 would
// return. It does look at every vector, but mostly at an approximation, a code of
// eight bits an element, many elements at a time. That comes with a bound of its
// error, and only the vectors whose bounds reach the worst hit are compared in
// float64, at the end. Where many vectors are about equally near, many are; the
// answer stays the same and takes longer. Vectors of fewer than 32 elements have
// no codes: they are as quickly compared themselves.
//
// The vector instructions that are used are those that the machine has: AVX-512
// VNNI, AVX2 or NEON. Everywhere else eight elements are compared at a time in a word.
// Hits and scores are the same with all of them.
//
// # Representation
//
// Vectors lie in blocks of up to 256 slots that versions share. The newest
// block of an index is appended to in place, in slots that no version can see
// yet (see block). A replaced or deleted vector leaves a dead slot; each version
// has its own bitmap of live ones, and a block that is less than two thirds live
// is left, its vectors appended again. A write so costs constant time, over many
// writes, apart from a key map and a block list that grow logarithmically.
package vector
