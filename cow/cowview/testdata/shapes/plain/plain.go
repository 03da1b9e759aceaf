// Package plain has structs of what is immutable, and of bytes.
package plain

import (
	"encoding/json"
	"time"
)

//go:generate go run github.com/cowstore/cowstore/cow/cowview -type Scalars,Words,Units,Empty,Blank,Blobs,Row

// Scalars has a field of each kind of number.
type Scalars struct {
	B   bool
	I   int
	I8  int8
	I16 int16
	I32 int32
	I64 int64
	U   uint
	U8  uint8
	U16 uint16
	U32 uint32
	U64 uint64
	P   uintptr
	F32 float32
	F64 float64
	C64 complex64  `json:"-"`
	C   complex128 `json:"-"`
	R   rune
}

// A Label is a named string.
type Label string

func (l Label) String() string { return "label " + string(l) }

// Words has texts.
type Words struct {
	S      string
	Label  Label
	Labels [3]Label
	Pair   [2][2]string
}

// A Count is a named number.
type Count int

// Units has named numbers.
type Units struct {
	N     Count
	For   time.Duration
	Month time.Month
	Ns    [2]Count
}

// Empty has nothing.
type Empty struct{}

// Blank has fields without a name.
type Blank struct {
	_ int
	A int
	_ []string
	B []Count
	_ struct{}
}

// Bytes is a named slice of bytes.
type Bytes []byte

// Octet is a named byte.
type Octet byte

// Blobs has bytes of all sorts.
type Blobs struct {
	Data   []byte
	Named  Bytes
	Octets []Octet
	Raw    json.RawMessage
	Sum    [32]byte
	Parts  [][]byte
	Lines  []Bytes
	By     map[string][]byte
	ByName map[string]Bytes
	P      *[]byte
	Small  []int8
}

// A Row is structs of what is immutable in each other.
type Row struct {
	Words Words
	Units [2]Units
	Empty Empty
}
