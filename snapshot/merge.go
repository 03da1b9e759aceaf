package snapshot

import (
	"iter"
)

// A Conflict is a key that two maps have both written or removed since the third
// they both come from, even if to equal values, unless both removed it or have the same
// write: see [Editor.Merge]. It is a value, safe for concurrent use, and stays valid.
type Conflict[K comparable, V any] struct {
	Key K

	base, ours, theirs *entry[V]
	cfg                *config[K, V]
}

// Base returns the value both began with, isolated, and whether there was one.
func (c Conflict[K, V]) Base() (V, bool) { return isolated(c.cfg, c.base) }

// Ours returns the value in the map that is merged into, isolated, and whether
// there is one.
func (c Conflict[K, V]) Ours() (V, bool) { return isolated(c.cfg, c.ours) }

// Theirs returns the value in the map that is merged, isolated, and whether
// there is one.
func (c Conflict[K, V]) Theirs() (V, bool) { return isolated(c.cfg, c.theirs) }

// Rows returns the rows of Base, Ours and Theirs; the zero Row where there is none.
func (c Conflict[K, V]) Rows() (base, ours, theirs Row[K, V]) {
	return c.cfg.row(c.base), c.cfg.row(c.ours), c.cfg.row(c.theirs)
}

// Merge makes all changes from base to theirs in the map that is edited, which is called ours: a
// three-way merge. A key that ours has also written or removed since base is a conflict, even if
// both values are equal, since values cannot be compared. There are two exceptions: both have
// removed the key, or both have the same write, which an earlier merge brought from one to the
// other. A key that is absent, and was absent in base, counts as not written.
//
// The function resolve decides a conflict: it returns the value to keep, or false for keep to
// remove the key. If it returns an error, Merge stops and returns it; a part of the merge is done
// then: give up the Editor, or return the error from the update that it is of.
//
// Merge panics, before it does anything, if base or theirs has other Options than ours; the nil and
// the zero Map fit all. It takes time proportional to the changes.
func (e *Editor[K, V]) Merge(base, theirs *Map[K, V], resolve func(c Conflict[K, V]) (v V, keep bool, err error)) error {
	cfg := e.current().config().plain
	for _, m := range []*Map[K, V]{base, theirs} {
		if m != nil && m.cfg != nil && m.cfg.plain != cfg {
			panic("snapshot: Merge of a map with other Options: merge what was derived from the same map")
		}
	}
	some := make([]Change[K, V], 0, atOnce)
	for c := range theirs.Diff(base) {
		if some = append(some, c); len(some) == atOnce {
			if err := e.mergeSome(some, resolve); err != nil {
				return err
			}
			some = some[:0]
		}
	}
	return e.mergeSome(some, resolve)
}

// mergeSome makes some changes of a merge, up to atOnce, whose keys it looks up together.
func (e *Editor[K, V]) mergeSome(changes []Change[K, V], resolve func(c Conflict[K, V]) (v V, keep bool, err error)) error {
	cfg := e.current().config().plain
	var keys [atOnce]K
	var found [atOnce]*entry[V]
	for i, c := range changes {
		keys[i] = c.Key
	}
	e.current().lookupAll(keys[:len(changes)], &found)
	asked := false
	for i, c := range changes {
		ours := found[i]
		if asked { // resolve may have written this key too
			ours = e.current().lookup(c.Key)
		}
		switch {
		case c.new.write() == c.old.write(), ours.write() == c.new.write():
			// Nothing to do: theirs still has the write of base; or both have one write, or none,
			// as both removed the key. The write of no row is nil.
		case ours.write() == c.old.write():
			if c.new == nil {
				e.Delete(c.Key)
			} else {
				e.copy(c)
			}
		default:
			asked = true
			v, keep, err := resolve(Conflict[K, V]{c.Key, c.old, ours, c.new, cfg})
			if err != nil {
				return err
			}
			if keep {
				e.Set(c.Key, v)
			} else {
				e.Delete(c.Key)
			}
		}
	}
	return nil
}

// copy stores the newer entry of a change under its key, as a copy that
// merges know.
func (e *Editor[K, V]) copy(ch Change[K, V]) {
	c := e.current().config()
	h := c.hashOf(ch.Key)
	e.enter()
	defer e.leave()
	m := e.writable()
	n := m.cfg.copyEntry(ch.new, e.version)
	e.wrote(m.put(h, ch.Key, n), n)
}

// rewind is Builder.Rewind.
func (m *Map[K, V]) rewind(version uint64, changes iter.Seq[Change[K, V]]) *Map[K, V] {
	n := &Map[K, V]{version: version}
	n.cfg = m.config()
	if m != nil {
		n.len, n.root.kid = m.len, m.root.kid
	}
	for c := range changes {
		if c.was != n.cfg.plain || c.cfg != n.cfg.plain {
			panic("snapshot: Rewind by a change of a map with other Options")
		}
		h := c.cfg.hashOf(c.Key)
		if c.old == nil {
			n.remove(h, c.Key)
		} else {
			n.put(h, c.Key, c.old)
		}
	}
	return n
}
