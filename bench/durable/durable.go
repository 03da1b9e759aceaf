// Package durable has stores that keep rows in a file, each set as its maker says is
// best for many writers who must not lose what was acknowledged.
package durable

import (
	"encoding/binary"
	"fmt"
	"iter"
)

// A Store keeps rows in a file. Its methods may be called from several goroutines.
type Store interface {
	// Set writes a row in a transaction of its own, and returns once it is on disk.
	Set(key, value string) error

	// SetAll writes rows in one transaction.
	SetAll(rows iter.Seq2[string, string]) error

	// Each calls f with each row, decoded.
	Each(f func(key string, r Row)) error

	Close() error
}

// A Kind is a way to keep rows.
type Kind struct {
	ID   string
	Open func(path string) (Store, error)
}

// Kinds are all there are.
var (
	Cow     = Kind{"cow-bolt", openCow(0)}
	CowPast = Kind{"cow-bolt-past", openCow(1000)}
	Update  = Kind{"bbolt-update", openBolt(false)}
	Batch   = Kind{"bbolt-batch", openBolt(true)} // to be set by SetBatch
	Bunt    = Kind{"buntdb", openBunt}
	SQLite  = Kind{"sqlite", openSQLite}
)

// A Row is a value with what an application keeps beside it, encoded in the file and
// decoded when it is loaded.
type Row struct {
	Seen  uint64
	Value string
}

// Append appends r to b.
func (r Row) Append(b []byte) []byte {
	return append(binary.AppendUvarint(b, r.Seen), r.Value...)
}

// DecodeRow is the reverse of Append.
func DecodeRow(b []byte) (Row, error) {
	seen, n := binary.Uvarint(b)
	if n <= 0 {
		return Row{}, fmt.Errorf("durable: a row of %d bytes", len(b))
	}
	return Row{seen, string(b[n:])}, nil
}
