// Package snapshot is an immutable hash map of values that nobody else holds.
//
// A [Map] never changes. Its [Editor] derives the next one, sharing all that it
// did not touch, in time and memory that hardly grow with the size; any number
// of versions can be kept, edited again and compared. A lookup costs about what
// one in a Go map costs.
//
// A Map owns its values: what goes in is cloned and what comes out is a clone,
// so that no caller can reach into it, whatever it keeps or writes to. [Options]
// say how, once for each map; most types need none. [Map.Shared] reads without
// cloning, for callers who promise not to write.
//
// The package has no lock, goroutine, clock or encoding. Package cow publishes
// maps to concurrent readers.
//
// # Reading the source
//
// map.go and editor.go are what a user sees. Below them tree.go is the
// persistent hash table, of directories (directory.go) and pages (page.go) of
// entries (entry.go), found by their hashes (hash.go) and compared by diff.go.
// policy.go decides how values are kept apart, and clone.go and its
// neighbours are the deep clone.
package snapshot
