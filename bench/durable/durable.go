// Package durable has stores that keep rows in a file, each set as its maker says is
// best for many writers who must not lose what was acknowledged.
package durable

import (
	"encoding/binary"
	"fmt"
	"time"
)

// A Store keeps rows in a file. Its methods may be called from several goroutines.
type Store interface {
	// Set writes a row in a transaction of its own, and returns once it is on disk.
	Set(key, value string) error

	// SetAll writes rows in few transactions.
	SetAll(rows func(yield func(key, value string) bool)) error

	// Each calls f with each row, decoded.
	Each(f func(key string, r Row)) error

	Close() error
}

// A Kind is a way to keep rows.
type Kind struct {
	ID, Name string
	Open     func(path string) (Store, error)
}

// The kinds there are, but for BatchOf.
var (
	Cow     = Kind{"cow-bolt", "cow/bolt", openCow}
	CowPast = Kind{"cow-bolt-past", "cow/bolt with a past", openCowPast}
	Update  = Kind{"bbolt-update", "bbolt, Update", openUpdate}
	Bunt    = Kind{"buntdb", "BuntDB, SyncAlways", openBunt}
	SQLite  = Kind{"sqlite", "SQLite, WAL, synchronous=FULL", openSQLite}
)

// BatchOf is bbolt with calls of Batch, set so.
func BatchOf(batch Batch) Kind {
	return Kind{"bbolt-batch", fmt.Sprintf("bbolt, Batch of %v", batch), func(path string) (Store, error) { return openBatch(path, batch) }}
}

// A Batch is how bbolt collects calls of Batch.
type Batch struct {
	Size  int
	Delay time.Duration
}

func (b Batch) String() string { return fmt.Sprintf("%d calls or %v", b.Size, b.Delay) }

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
