// Package memory is the memory of software agents: entries in spaces, each with a
// JSON-like value, a vector, metadata and its text, at one version in every
// snapshot.
//
// A [Memory] is read several times in each call of a model and written once in a
// while. A read finds a [Value], frozen once when it was put and immutable by type,
// so that it is shared without a copy and without a lock. A write is a batch that
// becomes visible as a whole, in values, vectors and text alike. [Memory.Load]
// returns a [Snapshot] that stays as it is for as long as it is kept, whatever is
// written, expires or is evicted; versions can be retained, compared by Changes,
// forked and merged.
//
//	m := memory.New(memory.Options{})
//	notes := m.Space("user", "42", "notes")
//	err := notes.Put("style", map[string]any{"text": "prefers short answers"})
//	v, ok := notes.Get("style")
//
// A [Space] is a namespace, known by a path of strings. [View] is a space in a
// snapshot and has all reads; Space has them too, each on the current snapshot, and
// all writes, each a [Batch] of one.
//
// There is no embedding model here: whoever wants to search by vectors brings them.
//
// # How it is made
//
// A Memory is a [cow.DB] of three tables. The entries are the one truth. What
// follows from them, how many entries a space has, the index of its vectors
// (package vector) and of its text (package text), lies in the row of the space, as
// an immutable value of its own, and is brought up to the entries at the end of each
// batch, by comparing versions. So a commit, a fork, a merge and a read of the past
// have all of it in step without any mechanism of their own.
package memory
