package cow

// A Snapshot is all tables of a DB at one version. It is immutable, valid
// forever and safe for concurrent use; it must be handled by pointer. The nil
// *Snapshot is that of a DB before its first update.
type Snapshot struct {
	of      *origin
	version uint64
	maps    []any // *Map[K, V] by index of table; nil or short: empty
}

// Version returns the version, the number of published updates up to it.
func (s *Snapshot) Version() uint64 {
	if s == nil {
		return 0
	}
	return s.version
}

// set puts the map of a table into a snapshot that is being made.
func (s *Snapshot) set(index int, m any) {
	for index >= len(s.maps) {
		s.maps = append(s.maps, nil)
	}
	s.maps[index] = m
}

// table returns the map of a table, or nil if it has none yet.
func (s *Snapshot) table(index int) any {
	if s == nil || index >= len(s.maps) {
		return nil
	}
	return s.maps[index]
}

// Len returns the number of rows in all tables.
func (s *Snapshot) Len() int {
	n := 0
	if s != nil {
		for _, m := range s.maps {
			if m, ok := m.(interface{ Len() int }); ok {
				n += m.Len()
			}
		}
	}
	return n
}

// Exclusive returns how many rows s has that other does not share, and about
// how many bytes of memory they keep alive. It takes time proportional to their
// number.
func (s *Snapshot) Exclusive(other *Snapshot) (rows, bytes int) {
	if s == nil {
		return 0, 0
	}
	for _, t := range s.tables() {
		r, b := t.exclusive(s, other)
		rows, bytes = rows+r, bytes+b
	}
	return rows, bytes
}
