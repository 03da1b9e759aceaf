// Package data has the rows of a Memory: what is in them, what they weigh, and how they are
// stored. It knows no tables.
package data

import (
	"math"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/cowstore/cowstore/memory/internal/size"
	"github.com/cowstore/cowstore/memory/value"
)

// An Entry is a row. Nobody may modify it but by stamping it.
type Entry struct {
	Value    value.Value // Absent: there is only a vector
	Metadata value.Value // a Map, or Absent
	Created  int64       // these are in ns since 1970, or Unset
	Updated  int64
	Expires  int64 // 0: never
	Size     int64 // how many bytes it takes, without its name and vector
	Used     Stamp
	extra    *extra // nil: it has none
}

// An extra is what few entries have, so that the others are no larger for it. It is never modified:
// the entries that an entry becomes share it.
type extra struct {
	vector []float32 // nil: none; shared with the index. No two puts share one
	flags  byte
	by     string // the key of the entry that has superseded this one
}

// The flags of an entry.
const (
	kept       byte = 1 << iota // never evicted
	embedded                    // the vector was made of the text
	superseded                  // no search finds it; it has a value, and no vector
	flags      = kept | embedded | superseded
)

// has returns what an entry has of an extra.
func (e *Entry) has() extra {
	if e.extra == nil {
		return extra{}
	}
	return *e.extra
}

func (x extra) is(flag byte) bool { return x.flags&flag != 0 }

// give stores x, if there is anything in it.
func (e *Entry) give(x extra) {
	if e.extra = nil; x.vector != nil || x.flags != 0 {
		stored := x // not x itself: only what is stored is to be allocated
		e.extra = &stored
	}
}

// Kept reports whether the entry is never evicted.
func (e *Entry) Kept() bool { return e.has().is(kept) }

// Keep says whether the entry is never evicted.
func (e *Entry) Keep(keep bool) {
	if x := e.has(); x.is(kept) != keep {
		x.flags ^= kept
		e.give(x)
	}
}

// Vector returns the vector, nil if there is none. It is shared, with the index too.
func (e *Entry) Vector() []float32 { return e.has().vector }

// Embedded reports whether the vector was made of the text.
func (e *Entry) Embedded() bool { return e.has().is(embedded) }

// SetVector sets the vector, and whether it was made of the text. An entry with a new one is current.
func (e *Entry) SetVector(v []float32, ofText bool) {
	x := e.has()
	x.vector = v
	if x.flags &^= embedded; ofText {
		x.flags |= embedded
	}
	if v != nil {
		x.flags, x.by = x.flags&^superseded, ""
	}
	e.give(x)
}

// EmbeddedSince reports whether e is what an earlier entry became when its text got a vector, and
// no more.
func (e *Entry) EmbeddedSince(earlier *Entry) bool {
	if e == nil || earlier == nil || !e.Embedded() || earlier.Vector() != nil {
		return false
	}
	is, was := e.has(), earlier.has()
	return value.Equal(e.Value, earlier.Value) && value.Equal(e.Metadata, earlier.Metadata) &&
		is.flags == was.flags|embedded && is.by == was.by &&
		e.Created == earlier.Created && e.Updated == earlier.Updated && e.Expires == earlier.Expires
}

// SupersededBy returns the key of the entry that has superseded e, and whether one has.
func (e *Entry) SupersededBy() (key string, is bool) {
	x := e.has()
	return x.by, x.is(superseded)
}

// Supersede says that an entry with that key has superseded e. Its vector goes: no search finds
// it any more, and those of a space may have another dimension by the time that it is current again.
func (e *Entry) Supersede(key string) {
	e.give(extra{flags: e.has().flags&kept | superseded, by: key})
}

// renew makes the entry current again, if it was superseded.
func (e *Entry) renew() {
	if x := e.has(); x.is(superseded) {
		e.give(extra{flags: x.flags &^ superseded})
	}
}

// Searched is what searches find an entry by.
type Searched struct {
	Value  value.Value
	Vector []float32
}

// Searched returns what searches find e by: nothing, if it was superseded.
func (e *Entry) Searched() Searched {
	x := e.has()
	if x.is(superseded) {
		return Searched{}
	}
	return Searched{e.Value, x.vector}
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

// Expiry returns when the entry expires, the zero time for never.
func (e *Entry) Expiry() time.Time {
	if e.Expires == 0 {
		return time.Time{}
	}
	return time.Unix(0, e.Expires)
}

// Next returns a copy of e to be changed and stored, or a new entry if it is nil.
func (e *Entry) Next() *Entry {
	if e == nil {
		return &Entry{Created: Unset, Updated: Unset}
	}
	return &Entry{Value: e.Value, Metadata: e.Metadata, Created: e.Created, Updated: Unset, Expires: e.Expires, extra: e.extra}
}

// Set sets the value of an entry that is not stored yet. A vector that another value had goes:
// by it nobody must find v. What superseded the entry did so with the old value.
func (e *Entry) Set(v value.Value) {
	if e.Vector() != nil && e.Value.Exists() && v.Exists() && !value.Equal(e.Value, v) {
		e.SetVector(nil, false)
	}
	e.Value = v
	e.renew()
}

// rowSize is about what an entry takes besides its parts and its name: its row, and its
// place in the table, in the order, and in the row of the index of vectors and text.
var rowSize = int64(size.Object(int(unsafe.Sizeof(Entry{})))) + 48

// extraSize is what an entry takes besides that has an extra.
var extraSize = int64(size.Object(int(unsafe.Sizeof(extra{}))))

// expirySize is about what an entry that expires takes of the index by expiry.
const expirySize = 24

// Measure sets the size of an entry.
func (e *Entry) Measure() {
	e.Size = rowSize + e.Value.Size() + e.Metadata.Size()
	if e.Expires != 0 {
		e.Size += expirySize
	}
	if e.extra != nil {
		e.Size += extraSize + int64(size.Object(len(e.extra.by)))
	}
}

// Whole returns the size of an entry with its vector, which the index of the space holds,
// and counts.
func (e *Entry) Whole() int64 { return e.Size + int64(size.Object(4*len(e.Vector()))) }

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
