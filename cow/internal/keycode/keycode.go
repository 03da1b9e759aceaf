// Package keycode turns keys into bytes and back.
//
// The bytes of two keys are equal if and only if the keys are, and are in the order
// of the keys, field by field, so that they can be the keys of a database. They do
// not depend on the machine.
package keycode

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"unsafe"
)

// A Codec turns keys of one type into bytes and back. It is immutable and safe for
// concurrent use.
type Codec[K any] struct{ parts []part }

// A part is a piece of a key that is not made of others.
type part struct {
	offset uintptr
	kind   reflect.Kind // Array: of bytes
	size   int          // in memory
	last   bool
}

// ErrBytes says that bytes are not those of a key.
var ErrBytes = errors.New("not the bytes of a key")

// maxParts bounds how long a plan for an array gets.
const maxParts = 1 << 10

// New returns the Codec of K: booleans, numbers, strings, and arrays and structs of
// these. It returns an error for any other type.
func New[K any]() (*Codec[K], error) {
	c := new(Codec[K])
	if err := c.add(reflect.TypeFor[K](), 0); err != nil {
		return nil, err
	}
	if n := len(c.parts); n > 0 {
		c.parts[n-1].last = true
	}
	return c, nil
}

func (c *Codec[K]) add(t reflect.Type, offset uintptr) error {
	switch k := t.Kind(); {
	case k == reflect.Struct:
		for i := range t.NumField() {
			f := t.Field(i)
			if f.Name == "_" {
				continue // which does not count for equality
			}
			if err := c.add(f.Type, offset+f.Offset); err != nil {
				return fmt.Errorf("%s: %w", f.Name, err)
			}
		}
		return nil
	case k == reflect.Array && t.Elem().Kind() != reflect.Uint8:
		for i := range t.Len() {
			if err := c.add(t.Elem(), offset+uintptr(i)*t.Elem().Size()); err != nil {
				return err
			}
		}
		return nil
	case k == reflect.Array, k == reflect.String, k == reflect.Bool,
		reflect.Int <= k && k <= reflect.Float64:
		if len(c.parts) == maxParts {
			return fmt.Errorf("keys of type %v are too large to be encoded", t)
		}
		c.parts = append(c.parts, part{offset: offset, kind: k, size: int(t.Size())})
		return nil
	}
	return fmt.Errorf("keys of type %v cannot be encoded", t)
}

// Schema returns a text that is the same for types whose keys have the same parts under the
// same names, and so the same bytes: int is int64, and uint and uintptr are uint64.
func (c *Codec[K]) Schema() string { return schemaOf(reflect.TypeFor[K]()) }

func schemaOf(t reflect.Type) string {
	switch k := t.Kind(); k {
	case reflect.Struct:
		var fields []string
		for i := range t.NumField() {
			if f := t.Field(i); f.Name != "_" {
				fields = append(fields, f.Name+" "+schemaOf(f.Type))
			}
		}
		return "struct{" + strings.Join(fields, "; ") + "}"
	case reflect.Array:
		return fmt.Sprintf("[%d]%s", t.Len(), schemaOf(t.Elem()))
	case reflect.Int:
		return "int64"
	case reflect.Uint, reflect.Uintptr:
		return "uint64"
	default:
		return k.String()
	}
}

// Strings that are not at the end have an end mark, and a zero byte in them is
// marked not to be one.
var (
	end  = []byte{0, 1}
	zero = []byte{0, 0xff}
)

// Append appends the bytes of k to b.
func (c *Codec[K]) Append(b []byte, k K) []byte {
	for _, part := range c.parts {
		p := unsafe.Add(unsafe.Pointer(&k), part.offset)
		switch part.kind {
		case reflect.String:
			s := *(*string)(p)
			if part.last {
				b = append(b, s...)
				break
			}
			for i := range len(s) {
				if s[i] == 0 {
					b = append(b, zero...)
				} else {
					b = append(b, s[i])
				}
			}
			b = append(b, end...)
		case reflect.Array:
			b = append(b, unsafe.Slice((*byte)(p), part.size)...)
		case reflect.Bool:
			if *(*bool)(p) {
				b = append(b, 1)
			} else {
				b = append(b, 0)
			}
		default:
			b = part.appendNumber(b, p)
		}
	}
	return b
}

// width returns how many bytes a number takes.
func (t part) width() int {
	switch t.kind {
	case reflect.Int, reflect.Uint, reflect.Uintptr:
		return 8 // whatever the machine
	}
	return t.size
}

func (t part) appendNumber(b []byte, p unsafe.Pointer) []byte {
	x := t.load(p)
	switch {
	case t.kind <= reflect.Int64:
		x ^= 1 << (8*t.width() - 1)
	case t.kind >= reflect.Float32:
		sign := uint64(1) << (8*t.width() - 1)
		if x == sign {
			x = 0 // -0 == 0
		}
		if x&sign != 0 {
			x = ^x // so that the larger amount comes first
		} else {
			x |= sign
		}
	}
	for i := t.width() - 1; i >= 0; i-- {
		b = append(b, byte(x>>(8*i)))
	}
	return b
}

// load returns the bits of the number at p, extended by its sign.
func (t part) load(p unsafe.Pointer) uint64 {
	v := reflect.NewAt(numbers[t.kind], p).Elem()
	switch {
	case t.kind <= reflect.Int64:
		return uint64(v.Int())
	case t.kind == reflect.Float32:
		return uint64(math.Float32bits(float32(v.Float())))
	case t.kind == reflect.Float64:
		return math.Float64bits(v.Float())
	}
	return v.Uint()
}

var numbers = func() (types [reflect.Float64 + 1]reflect.Type) {
	for _, v := range []any{
		int(0), int8(0), int16(0), int32(0), int64(0),
		uint(0), uint8(0), uint16(0), uint32(0), uint64(0), uintptr(0), float32(0), float64(0),
	} {
		types[reflect.TypeOf(v).Kind()] = reflect.TypeOf(v)
	}
	return types
}()

// Decode returns the key of bytes that Append has made, or an error that wraps
// ErrBytes. It does not keep b.
func (c *Codec[K]) Decode(b []byte) (k K, err error) {
	for _, part := range c.parts {
		p := unsafe.Add(unsafe.Pointer(&k), part.offset)
		if b, err = part.decode(b, p); err != nil {
			return *new(K), err
		}
	}
	if len(b) > 0 {
		return *new(K), fmt.Errorf("%w: %d bytes too many", ErrBytes, len(b))
	}
	return k, nil
}

func (t part) decode(b []byte, p unsafe.Pointer) ([]byte, error) {
	switch t.kind {
	case reflect.String:
		if t.last {
			*(*string)(p) = string(b)
			return nil, nil
		}
		n := bytes.Index(b, end)
		// An end mark may follow a marked zero: 0 0xff, 0 1 is found as it is, since
		// 0xff is not a zero.
		if n < 0 {
			return nil, fmt.Errorf("%w: a string without an end", ErrBytes)
		}
		s := b[:n]
		if bytes.IndexByte(s, 0) >= 0 {
			plain := bytes.ReplaceAll(s, zero, []byte{0})
			if bytes.Count(s, []byte{0}) != bytes.Count(s, zero) {
				return nil, fmt.Errorf("%w: a zero in a string", ErrBytes)
			}
			s = plain
		}
		*(*string)(p) = string(s)
		return b[n+len(end):], nil
	case reflect.Array:
		if len(b) < t.size {
			return nil, fmt.Errorf("%w: too short", ErrBytes)
		}
		copy(unsafe.Slice((*byte)(p), t.size), b)
		return b[t.size:], nil
	case reflect.Bool:
		if len(b) < 1 || b[0] > 1 {
			return nil, fmt.Errorf("%w: not a boolean", ErrBytes)
		}
		*(*bool)(p) = b[0] == 1
		return b[1:], nil
	}
	w := t.width()
	if len(b) < w {
		return nil, fmt.Errorf("%w: too short", ErrBytes)
	}
	var word [8]byte
	copy(word[8-w:], b[:w])
	if err := t.store(p, binary.BigEndian.Uint64(word[:])); err != nil {
		return nil, err
	}
	return b[w:], nil
}

// store stores a number with these bytes at p.
func (t part) store(p unsafe.Pointer, x uint64) error {
	v := reflect.NewAt(numbers[t.kind], p).Elem()
	unused := 64 - 8*t.width()
	switch {
	case t.kind <= reflect.Int64:
		n := int64(x^1<<(8*t.width()-1)) << unused >> unused
		if v.OverflowInt(n) {
			return fmt.Errorf("%w: %d is too large for this machine", ErrBytes, n)
		}
		v.SetInt(n)
	case t.kind >= reflect.Float32:
		sign := uint64(1) << (8*t.width() - 1)
		if x&sign != 0 {
			x &^= sign
		} else if x = ^x << unused >> unused; x == sign {
			return fmt.Errorf("%w: -0", ErrBytes)
		}
		if t.kind == reflect.Float32 {
			*(*float32)(p) = math.Float32frombits(uint32(x))
		} else {
			*(*float64)(p) = math.Float64frombits(x)
		}
	default:
		if v.OverflowUint(x) {
			return fmt.Errorf("%w: %d is too large for this machine", ErrBytes, x)
		}
		v.SetUint(x)
	}
	return nil
}
