package durable

import (
	"fmt"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/cow/bolt"
)

// Cow is a DB that cow/bolt keeps in a file.
type Cow struct {
	DB   *cow.DB
	Rows *cow.Table[string, Row]
}

type rowCodec struct{}

func (rowCodec) Append(b []byte, r Row) ([]byte, error) { return r.Append(b), nil }
func (rowCodec) Decode(b []byte) (Row, error)           { return DecodeRow(b) }

// InMemory returns a Cow that is in no file.
func InMemory() *Cow {
	db := new(cow.DB)
	return &Cow{db, cow.NewTable[string](db, "rows", cow.Options[Row]{Codec: rowCodec{}})}
}

// OpenCow opens the file at path.
func OpenCow(path string) (Store, error) {
	c := InMemory()
	if _, err := bolt.Open(path, c.DB, bolt.Options{}); err != nil {
		return nil, fmt.Errorf("cow/bolt: %w", err)
	}
	return c, nil
}

// Set is of Store.
func (c *Cow) Set(key, value string) error {
	_, err := c.Rows.Set(key, Row{Value: value})
	return err
}

// SetAll is of Store.
func (c *Cow) SetAll(rows func(yield func(key, value string) bool)) error {
	return c.DB.Update(func(tx *cow.Tx) error {
		e := c.Rows.Edit(tx)
		rows(func(key, value string) bool {
			e.Set(key, Row{Value: value})
			return true
		})
		return e.Err()
	})
}

// Each is of Store.
func (c *Cow) Each(f func(key string, r Row)) error {
	for key, r := range c.Rows.Load().All() {
		f(key, r)
	}
	return nil
}

// Close is of Store.
func (c *Cow) Close() error { return c.DB.Close() }
