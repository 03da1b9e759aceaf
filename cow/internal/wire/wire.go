// Package wire is how packages under cow put numbers and texts into bytes: numbers are
// varints, and a text comes after its length.
package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// ErrTooShort says that bytes end too early.
var ErrTooShort = errors.New("too short")

// Append appends s after its length.
func Append[S []byte | string](b []byte, s S) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// A Reader reads what was appended, in the same order. After an error, which End returns,
// it returns zero values. The zero Reader reads nothing; it must not be used concurrently.
type Reader struct {
	b   []byte
	err error
}

// NewReader returns a Reader of b, which it does not modify.
func NewReader(b []byte) *Reader { return &Reader{b: b} }

// take returns the next n bytes, of which the Reader is done.
func (r *Reader) take(n uint64) []byte {
	if n > uint64(len(r.b)) {
		r.b, r.err = nil, ErrTooShort
		return nil
	}
	b := r.b[:n:n]
	r.b = r.b[n:]
	return b
}

// number is done with a varint of n bytes; 0 or less: there is none.
func (r *Reader) number(n int) {
	if n <= 0 {
		r.b, r.err = nil, ErrTooShort
		return
	}
	r.b = r.b[n:]
}

// Uvarint reads a number.
func (r *Reader) Uvarint() uint64 {
	v, n := binary.Uvarint(r.b)
	r.number(n)
	return v
}

// Varint reads a number that may be negative.
func (r *Reader) Varint() int64 {
	v, n := binary.Varint(r.b)
	r.number(n)
	return v
}

// Uint64 reads eight bytes, the lowest first.
func (r *Reader) Uint64() uint64 {
	if b := r.take(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

// Bytes reads a text. It is a part of what is read.
func (r *Reader) Bytes() []byte { return r.take(r.Uvarint()) }

// Text is Bytes in memory of its own.
func (r *Reader) Text() string { return string(r.Bytes()) }

// More reports whether there is more to read.
func (r *Reader) More() bool { return len(r.b) > 0 }

// Err returns the error so far.
func (r *Reader) Err() error { return r.err }

// End returns the error of reading all that there was.
func (r *Reader) End() error {
	if r.err == nil && len(r.b) > 0 {
		return fmt.Errorf("%d bytes too many", len(r.b))
	}
	return r.err
}
