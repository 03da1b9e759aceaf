package view

import (
	"bytes"
	"slices"
)

// Bytes shows a slice of bytes.
type Bytes struct{ b []byte }

// BytesOf returns a view of b, which is not to be written to.
func BytesOf(b []byte) Bytes { return Bytes{b} }

// ViewOf returns a view of the bytes that r points to.
func (Bytes) ViewOf(r Ref[[]byte]) Bytes { return Bytes{*r.p} }

// Len returns the number of bytes.
func (v Bytes) Len() int { return len(v.b) }

// IsNil reports whether the slice is nil, and not only empty.
func (v Bytes) IsNil() bool { return v.b == nil }

// At returns the byte at i.
func (v Bytes) At(i int) byte { return v.b[i] }

// Sub returns a view of the bytes from i up to but without j.
func (v Bytes) Sub(i, j int) Bytes { return Bytes{slices.Clip(v.b)[i:j]} }

// AppendTo appends the bytes to b, and returns it.
func (v Bytes) AppendTo(b []byte) []byte { return append(b, v.b...) }

// Clone returns a copy of the bytes that belongs to the caller.
func (v Bytes) Clone() []byte { return bytes.Clone(v.b) }

// Equal reports whether the bytes are those of b.
func (v Bytes) Equal(b []byte) bool { return bytes.Equal(v.b, b) }

// Text returns a copy of the bytes as a string.
func (v Bytes) Text() string { return string(v.b) }

// String returns how many bytes there are.
func (v Bytes) String() string { return count(len(v.b), "byte") }

// MarshalJSON returns the JSON of the slice, in base64.
func (v Bytes) MarshalJSON() ([]byte, error) { return marshal(v.b) }
