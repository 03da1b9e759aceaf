// Package data has the rows of a Memory: what is in them, what they weigh, and how they are
// stored. It knows no tables.
package data

import (
	"math"
	"sync/atomic"
	"unsafe"

	"github.com/cowstore/cowstore/memory/internal/size"
	"github.com/cowstore/cowstore/memory/value"
)

// An Entry is a row. Nobody may modify it but by stamping it.
type Entry struct {
	Value    value.Value // Absent: there is only a vector
	Metadata value.Value // a Map, or Absent
	Vector   []float32   // nil: none; shared with the index. No two puts share one
	Created  int64       // these are in ns since 1970, or Unset
	Updated  int64
	Expires  int64 // 0: never
	Size     int64 // how many bytes it takes, without its name and vector
	Used     Stamp
}

// Unset is the time that an entry does not have yet. No entry was written then.
const Unset = math.MinInt64

// SameVector reports whether two entries have the vector of one put.
func SameVector(a, b []float32) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// Expired reports whether the entry has expired at an instant.
func (e *Entry) Expired(instant int64) bool {
	return instant != 0 && e.Expires != 0 && e.Expires <= instant
}

// Next returns a copy of e to be changed and stored, or a new entry if it is nil.
func (e *Entry) Next() *Entry {
	if e == nil {
		return &Entry{Created: Unset, Updated: Unset}
	}
	return &Entry{Value: e.Value, Metadata: e.Metadata, Vector: e.Vector, Created: e.Created, Updated: Unset, Expires: e.Expires}
}

// Set sets the value of an entry that is not stored yet. A vector that another value had goes:
// by it nobody must find v.
func (e *Entry) Set(v value.Value) {
	if e.Vector != nil && e.Value.Exists() && v.Exists() && !value.Equal(e.Value, v) {
		e.Vector = nil
	}
	e.Value = v
}

// rowSize is about what an entry takes besides its parts and its name: its row, and its
// place in the table, in the order, and in the row of the index of vectors and text.
var rowSize = int64(size.Object(int(unsafe.Sizeof(Entry{})))) + 48

// expirySize is about what an entry that expires takes of the index by expiry.
const expirySize = 24

// Measure sets the size of an entry.
func (e *Entry) Measure() {
	e.Size = rowSize + e.Value.Size() + e.Metadata.Size()
	if e.Expires != 0 {
		e.Size += expirySize
	}
}

// Whole returns the size of an entry with its vector, which the index of the space holds,
// and counts.
func (e *Entry) Whole() int64 { return e.Size + int64(size.Object(4*len(e.Vector))) }

// NameSize returns what the name of an entry takes, with the head of the row it lies in.
func NameSize(name string) int64 { return int64(size.Row(name)) }

// A Stamp says when an entry was last used, in ticks: the batches of a Memory and
// all its forks, which share entries and so their stamps, and, where a limit is small, the
// reads. It is all of an entry that ever changes. Its lowest bit says that it is of a read.
type Stamp struct{ v atomic.Uint64 }

// stampEvery is how many ticks a stamp of a read is good for. A key that many
// read is so written to once in a while, and else only looked at, and its cache
// line stays with all of them.
const stampEvery = 8

// Used stamps an entry that was read, or that a batch is about to store. A reader that
// comes late with its tick changes nothing.
func (s *Stamp) Used(tick uint64) {
	for is := s.v.Load(); is < tick<<1 && !s.v.CompareAndSwap(is, tick<<1); is = s.v.Load() {
	}
}

// Read stamps an entry that was read.
func (s *Stamp) Read(tick uint64) {
	if is := s.v.Load(); is&1 == 0 || tick >= is>>1+stampEvery {
		s.v.Store(tick<<1 | 1)
	}
}

// Last returns until when an entry may have been used. A stamp of a read stands for
// later ones too.
func (s *Stamp) Last() uint64 {
	is := s.v.Load()
	return is>>1 + is&1*stampEvery
}
