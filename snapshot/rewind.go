package snapshot

import "iter"

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
