// Package look is how a page about a DB sees its tables, whatever their types: names, and rows as
// texts. Package cow implements it, and package inspect shows it.
package look

import "iter"

// A DB is the tables of a cow.DB.
type DB interface {
	// Tables returns the tables, in the order in which they were made.
	Tables() []Table

	// Held returns about how many bytes the changes of a version hold back, 0 where they are not
	// retained.
	Held(version uint64) int
}

// A Table is one table of a DB.
type Table interface {
	Name() string
	Indexes() []string // the names

	// In returns the table in a *cow.Snapshot of the DB.
	In(snapshot any) Map
}

// A Map is one table in one snapshot. It is immutable.
type Map interface {
	Len() int

	// Key returns the key that a text is of, as Row.Key has it.
	Key(text string) (Key, bool)

	// Row returns the row of a key.
	Row(key Key) (Row, bool)

	// Rows returns an iterator over the rows that follow a key in an order that the map has, or
	// come before it, backwards. Nil is no key: over all. It begins in constant time.
	Rows(after Key, back bool) iter.Seq[Row]

	// ByIndex returns an iterator over the rows in the order of an index, after so many of
	// them, and how many there are in all; false if there is no such index.
	ByIndex(name string, skip int) (rows iter.Seq[Row], n int, ok bool)

	// Diff returns an iterator over the rows that differ from those of an older map of the
	// same table: both, of which one is nil if it is not there.
	Diff(older Map) iter.Seq2[*Row, *Row]
}

// A Key is a key of a table, of its type.
type Key any

// A Row is a row of a table.
type Row struct {
	Key      string // a text
	Keyed    bool   // Map.Key finds it by that text, which is of no other key
	Revision uint64
	Bytes    int // that it takes, about

	Type func() string // of the value

	// Value returns the value, which is the caller's own.
	Value func() any
}

// For returns what a *cow.DB is for a page. Package cow sets it.
var For func(db any) DB
