package stores

import (
	"iter"

	"github.com/hashicorp/go-memdb"
)

// memDB is a go-memdb of one table. It stores rows, which carry their key.
type memDB struct{ db *memdb.MemDB }

type memRow struct {
	Key    string
	Record Record
}

const (
	memTable = "records"
	memID    = "id"
)

func newMemDB() Store {
	db, err := memdb.NewMemDB(&memdb.DBSchema{Tables: map[string]*memdb.TableSchema{
		memTable: {Name: memTable, Indexes: map[string]*memdb.IndexSchema{
			memID: {Name: memID, Unique: true, Indexer: &memdb.StringFieldIndex{Field: "Key"}},
		}},
	}})
	if err != nil {
		panic(err) // the schema is wrong
	}
	return memDB{db}
}

func (s memDB) Get(key string) (Record, bool)  { return s.Snapshot().Get(key) }
func (s memDB) Set(key string, r Record)       { s.Update([]Pair{{key, r}}) }
func (s memDB) All() iter.Seq2[string, Record] { return s.Snapshot().All() }
func (s memDB) Snapshot() Snapshot             { return memSnapshot{s.db.Txn(false)} }

// Update panics if a key is empty, as that cannot be the ID of a row.
func (s memDB) Update(pairs []Pair) {
	txn := s.db.Txn(true)
	defer txn.Abort()
	for _, p := range pairs {
		if err := txn.Insert(memTable, &memRow{p.Key, p.Record}); err != nil {
			panic(err)
		}
	}
	txn.Commit()
}

func (s memDB) Fork() Store { return memDB{s.db.Snapshot()} }

// memSnapshot is a read transaction. It modifies nothing, so that it need not
// end, and any number of goroutines can use it.
type memSnapshot struct{ txn *memdb.Txn }

func (s memSnapshot) Get(key string) (Record, bool) {
	row, err := s.txn.First(memTable, memID, key)
	if err != nil {
		panic(err) // there is no such index
	}
	if row == nil {
		return Record{}, false
	}
	return row.(*memRow).Record, true
}

func (s memSnapshot) All() iter.Seq2[string, Record] {
	return func(yield func(string, Record) bool) {
		rows, err := s.txn.Get(memTable, memID)
		if err != nil {
			panic(err) // there is no such index
		}
		for row := rows.Next(); row != nil; row = rows.Next() {
			if r := row.(*memRow); !yield(r.Key, r.Record) {
				return
			}
		}
	}
}
