package snapshot

// Attach returns a map equal to m, at its version, that carries x, something
// computed from m that is worth keeping with it, such as an index. Maps derived
// from it remember it as their nearest ancestor that carries something; see
// Attached. The x must not hold a map: one from before the attachment remembers
// its ancestor, and so on, so that no version would ever be let go. It takes
// constant time.
func (m *Map[K, V]) Attach(x any) *Map[K, V] {
	n := new(Map[K, V])
	if m != nil {
		n.len, n.version, n.root.kid = m.len, m.version, m.root.kid
	}
	c := *m.config().plain
	c.attached, c.to = x, n
	n.cfg = &c
	return n
}

// Attached returns what is attached to the nearest ancestor of m that has
// something, and that ancestor: m itself, or a map which m was derived from,
// so that m.Diff of it is what happened since. Both are nil if there is none.
// An ancestor lives as long as maps that remember it.
func (m *Map[K, V]) Attached() (x any, to *Map[K, V]) {
	if m == nil || m.cfg == nil {
		return nil, nil
	}
	return m.cfg.attached, m.cfg.to
}

// Map returns the map as it is now, at Version(), or the one the edit began
// with if nothing was changed yet. The edit may go on; it does not change what
// Map returned.
func (e *Editor[K, V]) Map() *Map[K, V] {
	e.enter()
	defer e.leave()
	e.owned = false
	return e.cur
}

// Attach attaches x to the map as it is now, and returns that; see
// [Map.Attach]. It does not count as a change.
func (e *Editor[K, V]) Attach(x any) *Map[K, V] {
	m := e.Map().Attach(x)
	e.enter()
	defer e.leave()
	e.cur = m
	return m
}
