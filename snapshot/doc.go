// Package snapshot is an immutable hash map of values that nobody else holds.
//
// A [Map] never changes. Its [Editor] makes the next one, sharing all that it
// did not touch, in time and memory that hardly grow with the size; any number
// of versions can be kept, edited again and compared. A lookup costs about what
// one in a Go map costs.
//
// A Map owns its values: what goes in is cloned and what comes out is a clone,
// so that no caller can reach into it, whatever it keeps or writes to. [Options]
// say how, once for each map; most types need none. [Map.Shared] reads without
// cloning, for callers who promise not to write.
//
// The package has no lock, goroutine or clock. Package cow publishes
// maps to concurrent readers.
//
// # What is an error, what panics, what a value can never do
//
// A clone has the shape of its original: dynamic types, nil and empty, unexported
// fields, cycles, and every relation of memory. Two references to one object lead
// to one in the clone, a pointer into an object leads to the same place in its
// clone, and slices of one array stay slices of one array, as far as two of them
// can see or grow; what only one slice could grow into is cut off, and what is
// beyond the length of all is zero.
//
//	stays itself           what nobody outside of its own package can change: time zones,
//	                       reflect types, errors made by errors.New, as io.EOF, and
//	                       errors that the program named by clone.Sentinel; handles:
//	                       functions, channels, weak pointers; see package clone. Other
//	                       errors behind pointers are cloned, trees of errors too
//	its own method         a type with a method Clone that returns the type: trusted;
//	                       one that cowview generated, for whole values only
//	is an error            of an Editor's verbs, and of Err for Set: a *KeyError with one
//	                       of the package's errors, or with a *clone.Error: behind an
//	                       interface there is a lock, an atomic or an unsafe.Pointer, or
//	                       references take memory for different things, by package
//	                       unsafe. Nothing was changed. A key of more than 10,000
//	                       levels of structs and arrays in interfaces is ErrTooDeep, as
//	                       is a value of more levels to MarshalJSON; Clone and views take
//	                       any depth, and String shows no values.
//	panics                 misuse: a type that holds a lock and the like, with a
//	                       *clone.Error when the map is made; contradictory Options; an
//	                       Editor used late or by two goroutines; a merge, rewind or Put
//	                       of what belongs to a map with other Options; keys that cannot
//	                       be compared. The message says the way out. A panic of the
//	                       caller's own function goes through, and the entry stays as
//	                       it was.
//	can never              reach the map's memory from outside, or from another value,
//	                       unless Immutable, Clone or Shared says so; come back in
//	                       another shape; exhaust the stack, however deep they are, by
//	                       any function but the caller's own; take more
//	                       than n log n time for n objects; corrupt a map, or end the
//	                       process.
//
// # Reading the source
//
// From the ground up: errors.go; policy.go, how values are kept apart, by package
// clone; entry.go, page.go and tree.go, the persistent hash table; map.go, what
// reads it; diff.go; editor.go, build.go and merge.go, what makes the next map;
// builder.go, for stores that build on this package; print.go.
package snapshot
