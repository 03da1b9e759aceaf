package snapshot

// A Kind says what happened to a key between two maps.
type Kind uint8

// The kinds of change.
const (
	Added   Kind = iota + 1 // only the newer map has the key
	Changed                 // both have it; it was set between them, perhaps to an equal value
	Removed                 // only the older map has the key
)

// String returns "added", "changed" or "removed".
func (k Kind) String() string {
	switch k {
	case Added:
		return "added"
	case Changed:
		return "changed"
	case Removed:
		return "removed"
	}
	return "unknown"
}

// A Change is what happened to one key between two maps. It is a value, safe
// for concurrent use, and stays valid.
type Change[K comparable, V any] struct {
	Key  K
	Kind Kind

	old, new *entry[V]
	was, cfg *config[K, V] // of the maps that old and new lie in; equal where there is but one
}

// change returns the change of an entry of one map into one of another, of which
// one may be nil.
func change[K comparable, V any](was, is *config[K, V], old, new *entry[V]) Change[K, V] {
	switch {
	case old == nil:
		return Change[K, V]{is.key(new), Added, nil, new, is.plain, is.plain}
	case new == nil:
		return Change[K, V]{was.key(old), Removed, old, nil, was.plain, was.plain}
	}
	return Change[K, V]{is.key(new), Changed, old, new, was.plain, is.plain}
}

// Old returns the value in the older map, isolated, and whether there was one.
func (c Change[K, V]) Old() (V, bool) { return isolated(c.was, c.old) }

// New returns the value in the newer map, isolated, and whether there is one.
func (c Change[K, V]) New() (V, bool) { return isolated(c.cfg, c.new) }

// isolated returns the value of e, isolated, and whether there is an e.
func isolated[K comparable, V any](c *config[K, V], e *entry[V]) (V, bool) {
	if e == nil {
		var zero V
		return zero, false
	}
	return c.isolate(e.value), true
}
