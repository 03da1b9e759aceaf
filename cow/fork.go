package cow

import "github.com/cowstore/cowstore/snapshot"

// Fork returns a new Store that begins with m, a snapshot of s, current or past,
// or of another fork of it. It takes constant time, shares with m what nobody
// can modify, and is independent of s from then on. Its versions go on from
// m's. It has the indexes of s, and no history, pins or watches. If m is older
// than a unique index and does not agree with it, the first update of the fork
// must put that right.
func (s *Store[K, V]) Fork(m *snapshot.Map[K, V]) *Store[K, V] {
	f := new(Store[K, V])
	f.current.Store(m)
	return f
}

// Fork returns a new DB that begins with s, a snapshot of db, current or past,
// or of another fork of it. It takes constant time, shares with s what nobody
// can modify, and is independent of db from then on. Its versions go on from
// s's. It has the same tables, to be used through the same Table values, with
// their indexes, as Store.Fork says, and no history, pins or watches.
func (db *DB) Fork(s *Snapshot) *DB {
	f := new(DB)
	f.tables.Store(db.schema())
	begin := &Snapshot{db: f} // never nil, so that it tells which DB it is of
	if s != nil {
		if s.db.schema() != db.schema() {
			panic("cow: Fork from a snapshot of another DB")
		}
		begin.version, begin.maps = s.version, s.maps
	}
	f.current.Store(begin)
	return f
}
