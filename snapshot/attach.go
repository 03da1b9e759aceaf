package snapshot

// attach is Builder.Attach.
func (m *Map[K, V]) attach(x any) *Map[K, V] {
	n := new(Map[K, V])
	if m != nil {
		n.len, n.version, n.root.kid = m.len, m.version, m.root.kid
	}
	c := *m.config().plain
	c.attached, c.to = x, n
	n.cfg = &c
	return n
}

// attached is Builder.Attached.
func (m *Map[K, V]) attached() (x any, to *Map[K, V]) {
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

// attach is Builder.AttachDuring.
func (e *Editor[K, V]) attach(x any) *Map[K, V] {
	m := e.Map().attach(x)
	e.enter()
	defer e.leave()
	e.cur = m
	return m
}
