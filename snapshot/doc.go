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
// # Clones
//
// A clone keeps the shape of its original: dynamic types, nil and empty, unexported fields, cycles,
// and every relation of memory. Two references to one object lead to one object in the clone. A
// pointer into an object leads to the same place in its clone. Slices of one array stay slices of
// one array. Spare capacity of one slice alone is dropped; spare capacity that slices share is
// zeroed.
//
// Some values stay themselves, and are not cloned: those that nobody outside of their own package
// can change, such as time zones, reflect types and errors made by errors.New, as io.EOF; errors
// that the program named by [clone.Sentinel]; and handles, such as functions, channels and weak
// pointers. Package [clone] has the list. Other errors behind pointers are cloned, and so are trees
// of errors.
//
// A type with a method Clone that returns the type is cloned by that method, which is trusted. A
// method that cowview generated is called for whole values only.
//
// # Errors
//
// An Editor's verbs return a *[KeyError], and for Set, Err does. Nothing was changed then. It wraps
// one of the package's errors, or a *[clone.Error] if a value must not be copied: behind an
// interface there is a lock, an atomic or an unsafe.Pointer, or references use memory as different
// types, by package unsafe. A key of more than 10,000 levels of structs and arrays in interfaces is
// [ErrTooDeep], as is a value of more levels for MarshalJSON. Clones and views take any depth, and
// String shows no values.
//
// # Panics
//
// Misuse panics, and the message says what to do instead: a type that holds a lock and the like,
// with a *[clone.Error] when the map is made; contradictory Options; an Editor used late or by two
// goroutines; a merge, rewind or Put of what belongs to a map with other Options; keys that cannot
// be compared. A panic of the caller's own function goes through, and the entry stays as it was.
//
// # Guarantees
//
//   - A value never reaches the map's memory from outside, or from another value, unless
//     Immutable, Clone or Shared says so.
//   - It comes back in the same shape.
//   - It never exhausts the stack, however deeply it is nested, except in the caller's own
//     functions.
//   - To clone n objects takes time proportional to n log n at most.
//   - No value corrupts a map, or ends the process.
//
// # Reading the source
//
// From the ground up: errors.go; policy.go, how values are kept apart, by package
// clone; entry.go, page.go and tree.go, the persistent hash table; map.go, what
// reads it; diff.go; editor.go, build.go and merge.go, what makes the next map;
// builder.go, for stores that build on this package; print.go.
package snapshot
