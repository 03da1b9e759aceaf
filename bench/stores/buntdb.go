package stores

import (
	"encoding/json"
	"iter"

	"github.com/tidwall/buntdb"
)

// buntDB is a BuntDB that is kept in memory only. Its values are strings, so a
// record is stored as JSON, and whoever reads it has a record of their own.
type buntDB struct{ db *buntdb.DB }

func newBuntDB() Store {
	db, err := buntdb.Open(":memory:")
	if err != nil {
		panic(err) // nothing was opened that could fail
	}
	return &buntDB{db}
}

// Close ends the goroutine of the DB, which holds all of it.
func (s *buntDB) Close() error { return s.db.Close() }

func (s *buntDB) Get(key string) (Record, bool) {
	var value string
	err := s.db.View(func(tx *buntdb.Tx) (err error) {
		value, err = tx.Get(key)
		return err
	})
	if err != nil {
		return Record{}, false
	}
	return decodeRecord(value), true
}

func (s *buntDB) Set(key string, r Record) { s.Update([]Pair{{key, r}}) }

func (s *buntDB) Update(pairs []Pair) {
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

func (s *buntDB) All() iter.Seq2[string, Record] {
	return func(yield func(string, Record) bool) {
		err := s.db.View(func(tx *buntdb.Tx) error {
			return tx.Ascend("", func(key, value string) bool { return yield(key, decodeRecord(value)) })
		})
		if err != nil {
			panic(err) // the DB is closed
		}
	}
}

func encodeRecord(r *Record) string {
	value, err := json.Marshal(r)
	if err != nil {
		panic(err) // a Record can be encoded
	}
	return string(value)
}

func decodeRecord(value string) (r Record) {
	if err := json.Unmarshal([]byte(value), &r); err != nil {
		panic(err) // nobody else encodes
	}
	return r
}
