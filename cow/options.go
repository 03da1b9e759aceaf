package cow

import "github.com/cowstore/cowstore/snapshot"

// Options say how a Store or Table treats its values. The zero value is right
// for most: values that reach memory somebody could modify are deeply cloned,
// and a type that cannot be cloned is refused with a panic when the store is
// made.
type Options[V any] struct {
	// Clone, if not nil, clones values, instead of V's method Clone or the
	// compiled clone. It must not modify its argument, nor keep or share
	// memory that anybody modifies.
	Clone func(V) V

	// Immutable says that values are shared on purpose: nothing is cloned, and
	// nobody may modify a value once it was stored. It is right for handles,
	// such as connections, and for read-only views. Package cowtest helps
	// tests find those who modify one all the same.
	Immutable bool
}

func newMap[K comparable, V any](o Options[V]) *snapshot.Map[K, V] {
	return snapshot.New[K](snapshot.Options[V](o))
}

// An Editor makes the changes of one update to one map. It must not be used
// after the update function has returned, which panics.
type Editor[K comparable, V any] = snapshot.Editor[K, V]

// The errors of one-key verbs, to be tested with errors.Is.
var (
	ErrExists   = snapshot.ErrExists
	ErrNotFound = snapshot.ErrNotFound
	ErrConflict = snapshot.ErrConflict
)
