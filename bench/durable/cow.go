package durable

import (
	"fmt"
	"iter"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/cow/bolt"
)

// CowStore is a DB that cow/bolt keeps in a file.
type CowStore struct {
	DB   *cow.DB
	Rows *cow.Table[string, Row]
	past cow.Retention
}

type rowCodec struct{}

func (rowCodec) Append(b []byte, r Row) ([]byte, error) { return r.Append(b), nil }
func (rowCodec) Decode(b []byte) (Row, error)           { return DecodeRow(b) }

// InMemory returns a CowStore that is in no file.
func InMemory() *CowStore {
	db := new(cow.DB)
	return &CowStore{DB: db, Rows: cow.NewTable[string](db, "rows", cow.Options[Row]{Codec: rowCodec{}})}
}

// openCow opens files that retain so many versions.
func openCow(versions int) func(path string) (Store, error) {
	return func(path string) (Store, error) {
		c := InMemory()
		c.past.Versions = versions
		c.DB.Retain(c.past)
		if _, err := bolt.Open(path, c.DB, bolt.Options{}); err != nil {
			return nil, fmt.Errorf("cow/bolt: %w", err)
		}
		return c, nil
	}
}

// Set is of Store.
func (c *CowStore) Set(key, value string) error {
	_, err := c.Rows.Set(key, Row{Value: value})
	return err
}

// SetAll is of Store. The rows are no part of the past.
func (c *CowStore) SetAll(rows iter.Seq2[string, string]) error {
	c.DB.Retain(cow.Retention{})
	defer c.DB.Retain(c.past)
	return c.DB.Update(func(tx *cow.Tx) error {
		e := c.Rows.Edit(tx)
		for key, value := range rows {
			e.Set(key, Row{Value: value})
		}
		return e.Err()
	})
}

// Each is of Store.
func (c *CowStore) Each(f func(key string, r Row)) error {
	for key, r := range c.Rows.Load().All() {
		f(key, r)
	}
	return nil
}

// Close is of Store.
func (c *CowStore) Close() error { return c.DB.Close() }
