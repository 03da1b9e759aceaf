package peers

import (
	"encoding/json"
	"iter"

	"github.com/hashicorp/go-memdb"
	"github.com/tidwall/buntdb"

	"github.com/cowstore/cowstore/bench/stores"
)

// memDB is a go-memdb of one table. It stores rows, which carry their key.
type memDB struct{ db *memdb.MemDB }

type memRow struct {
	Key    string
	Record stores.Record
}

const (
	memTable = "records"
	memID    = "id"
)

func newMemDB() stores.Store {
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

func (s memDB) Set(key string, r stores.Record) { s.Update([]stores.Pair{{Key: key, Record: r}}) }
func (s memDB) Fork() stores.Store              { return memDB{s.db.Snapshot()} }

// Update panics if a key is empty, as that cannot be the ID of a row.
func (s memDB) Update(pairs []stores.Pair) {
	txn := s.db.Txn(true)
	defer txn.Abort()
	for _, p := range pairs {
		if err := txn.Insert(memTable, &memRow{p.Key, p.Record}); err != nil {
			panic(err)
		}
	}
	txn.Commit()
}

func (s memDB) Get(key string) (stores.Record, bool) {
	row, err := s.db.Txn(false).First(memTable, memID, key)
	if err != nil {
		panic(err) // there is no such index
	}
	if row == nil {
		return stores.Record{}, false
	}
	return row.(*memRow).Record, true
}

// All is by a read transaction, which need not end.
func (s memDB) All() iter.Seq2[string, stores.Record] {
	txn := s.db.Txn(false)
	return func(yield func(string, stores.Record) bool) {
		rows, err := txn.Get(memTable, memID)
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

// buntDB is a BuntDB that is kept in memory only. Its values are strings, so a
// record is stored as JSON, and whoever reads it has a record of their own.
type buntDB struct{ db *buntdb.DB }

func newBuntDB() stores.Store {
	db, err := buntdb.Open(":memory:")
	if err != nil {
		panic(err) // nothing was opened that could fail
	}
	return &buntDB{db}
}

// Close ends the goroutine of the DB, which holds all of it.
func (s *buntDB) Close() error { return s.db.Close() }

func (s *buntDB) Get(key string) (stores.Record, bool) {
	var value string
	err := s.db.View(func(tx *buntdb.Tx) (err error) {
		value, err = tx.Get(key)
		return err
	})
	if err != nil {
		return stores.Record{}, false
	}
	return decodeRecord(value), true
}

func (s *buntDB) Set(key string, r stores.Record) { s.Update([]stores.Pair{{Key: key, Record: r}}) }

func (s *buntDB) Update(pairs []stores.Pair) {
	values := make([]string, len(pairs))
	for i := range pairs {
		values[i] = encodeRecord(&pairs[i].Record)
	}
	err := s.db.Update(func(tx *buntdb.Tx) error {
		for i, p := range pairs {
			if _, _, err := tx.Set(p.Key, values[i], nil); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		panic(err) // the DB is closed
	}
}

func (s *buntDB) All() iter.Seq2[string, stores.Record] {
	return func(yield func(string, stores.Record) bool) {
		err := s.db.View(func(tx *buntdb.Tx) error {
			return tx.Ascend("", func(key, value string) bool { return yield(key, decodeRecord(value)) })
		})
		if err != nil {
			panic(err) // the DB is closed
		}
	}
}

func encodeRecord(r *stores.Record) string {
	value, err := json.Marshal(r)
	if err != nil {
		panic(err) // a Record can be encoded
	}
	return string(value)
}

func decodeRecord(value string) (r stores.Record) {
	if err := json.Unmarshal([]byte(value), &r); err != nil {
		panic(err) // nobody else encodes
	}
	return r
}
