package cow

// Fork returns a new Store that begins with m, a snapshot of s, current or past,
// or of another fork of it. It takes constant time, shares with m what nobody
// can modify, and is independent of s from then on. Its versions go on from
// m's. It has the indexes that s has now, a Lineage of its own, and no history,
// pins or watches. If m is from before an index was made, the first update of the
// fork builds it; if it does not agree with a unique one, that update must put it
// right.
func (s *Store[K, V]) Fork(m *Map[K, V]) *Store[K, V] {
	f := new(Store[K, V])
	f.published.Store(m)
	f.indexes.Store(s.indexes.Load())
	s.fork(&f.line, m.Version())
	return f
}

// Fork returns a new DB that begins with s, a snapshot of db, current or past,
// or of another fork of it. It takes constant time, shares with s what nobody
// can modify, and is independent of db from then on. Its versions go on from
// s's. It has the same tables, to be used through the same Table values, or those
// that Table.Of returns, with their indexes, as Store.Fork says, a Lineage of its
// own, no sink, and no history, pins or watches.
func (db *DB) Fork(s *Snapshot) *DB {
	f := new(DB)
	f.from.Store(&origin{db.schema()})
	begin := &Snapshot{of: f.origin()} // never nil, so that it tells which DB it is of
	if s != nil {
		if s.of.schema != db.schema() {
			panic("cow: Fork from a snapshot of another DB")
		}
		begin.version, begin.maps = s.version, s.maps
	}
	f.published.Store(begin)
	f.indexes.Store(db.indexes.Load())
	db.fork(&f.line, s.Version())
	return f
}
