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

func newMemDB() stores.Store {
	db, err := memdb.NewMemDB(&memdb.DBSchema{Tables: map[string]*memdb.TableSchema{
		"records": {Name: "records", Indexes: map[string]*memdb.IndexSchema{
			"id": {Name: "id", Unique: true, Indexer: &memdb.StringFieldIndex{Field: "Key"}},
		}},
	}})
	must(err)
	return memDB{db}
}

func (s memDB) Set(key string, r stores.Record) { s.Update([]stores.Pair{{Key: key, Record: r}}) }
func (s memDB) Fork() stores.Store              { return memDB{s.db.Snapshot()} }

// Update panics if a key is empty, as that cannot be the ID of a row.
func (s memDB) Update(pairs []stores.Pair) {
	txn := s.db.Txn(true)
	defer txn.Abort()
	for _, p := range pairs {
		must(txn.Insert("records", &memRow{p.Key, p.Record}))
	}
	txn.Commit()
}

func (s memDB) Get(key string) (stores.Record, bool) {
	row, err := s.db.Txn(false).First("records", "id", key)
	must(err)
	if row == nil {
		return stores.Record{}, false
	}
	return row.(*memRow).Record, true
}

// All is by a read transaction, which need not end.
func (s memDB) All() iter.Seq2[string, stores.Record] {
	txn := s.db.Txn(false)
	return func(yield func(string, stores.Record) bool) {
		rows, err := txn.Get("records", "id")
		must(err)
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
	must(err)
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
		value, err := json.Marshal(&pairs[i].Record)
		must(err)
		values[i] = string(value)
	}
	must(s.db.Update(func(tx *buntdb.Tx) error {
		for i, p := range pairs {
			if _, _, err := tx.Set(p.Key, values[i], nil); err != nil {
				return err
			}
		}
		return nil
	}))
}

func (s *buntDB) All() iter.Seq2[string, stores.Record] {
	return func(yield func(string, stores.Record) bool) {
		must(s.db.View(func(tx *buntdb.Tx) error {
			return tx.Ascend("", func(key, value string) bool { return yield(key, decodeRecord(value)) })
		}))
	}
}

func decodeRecord(value string) (r stores.Record) {
	must(json.Unmarshal([]byte(value), &r))
	return r
}

// must panics where a database fails at what cannot fail: all of them are in memory.
func must(err error) {
	if err != nil {
		panic(err)
	}
}
