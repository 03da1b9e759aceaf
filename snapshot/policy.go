package snapshot

import "github.com/cowstore/cowstore/snapshot/clone"

// Options says how a Map keeps its values apart from those of its callers.
// The zero value is right: values are cloned on the way in and on the way out,
// and types that need no clone are found out.
//
// In order, the first that applies:
//
//   - Immutable: values are shared on purpose.
//   - Clone: values are cloned by that function.
//   - V reaches nothing mutable (numbers, strings, arrays and structs of those,
//     time.Time and the like, which package clone lists with the reasons): nothing is
//     cloned, a read costs nothing more.
//   - V has a method Clone() V: values are cloned by it, nil ones excepted. The
//     method is trusted: one that copies too little shares the rest. One that
//     cowview generated is called for whole values only: parts of a value, and what
//     a pointer leads to, get the deep clone below, which sees what they share.
//   - A deep clone, compiled once per type. It has the shape of the value, down
//     to pointers into other objects; see the package documentation.
//
// A V that by its type holds what must not be copied (a lock, an atomic, an
// unsafe.Pointer) and has neither a Clone method nor an option panics when the
// map is made: nothing is ever shared silently.
//
// Options may be copied and used from several goroutines.
type Options[V any] struct {
	// Clone returns a copy of its argument that shares nothing mutable with it.
	// It goes before a Clone method and the compiled clone, and is trusted. It
	// must be safe for concurrent use and must not write to its argument.
	Clone func(V) V

	// Immutable says that values are shared on purpose and that nobody modifies
	// them: connections, read-only views. Nothing is cloned. Together with Clone
	// it panics.
	Immutable bool

	// Name is what errors begin with: "" is "snapshot". A store of several maps says
	// here which of them it is.
	Name string
}

// newCloner returns the function that isolates values of V under o in a map, or nil
// where values need none. The function is safe for concurrent use and never writes to
// its argument. newCloner panics where V holds what must not be copied, and where
// o contradicts itself.
func newCloner[V any](o Options[V]) func(V) V {
	switch {
	case o.Clone != nil && o.Immutable:
		panic("snapshot: Options.Clone and Options.Immutable exclude each other")
	case o.Immutable:
		return nil
	case o.Clone != nil:
		return o.Clone
	}
	return clone.OfWhole[V]()
}
