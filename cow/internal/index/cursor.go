package index

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"reflect"

	"github.com/cowstore/cowstore/cow/internal/keycode"
	"github.com/cowstore/cowstore/snapshot/depth"
)

// Why a text is no cursor.
var (
	errText  = errors.New("it is not the text of one")
	errOther = errors.New("it is one of another index")
)

// A cursor is the sum of the index it is of, an index key and the key of a row:
// base64.RawURLEncoding of four bytes, the length of the bytes of the index key as an uvarint,
// those bytes, and those of the row's key.

// Cursor returns the place of the row of key under i as text, or an error if keys of these
// types cannot be written.
func (x *Def[K, V, I]) Cursor(i I, key K) (string, error) {
	index, err := bytesOf(i, x.Compare)
	if err != nil {
		return "", fmt.Errorf("cow: a cursor of index %.100q: %w", x.Name, err)
	}
	row, err := bytesOf(key, x.compareKeys)
	if err != nil {
		return "", fmt.Errorf("cow: a cursor of index %.100q: %w", x.Name, err)
	}
	b := binary.BigEndian.AppendUint32(nil, x.sum())
	b = binary.AppendUvarint(b, uint64(len(index)))
	return base64.RawURLEncoding.EncodeToString(append(append(b, index...), row...)), nil
}

// sum tells cursors of other indexes apart.
func (x *Def[K, V, I]) sum() uint32 {
	return crc32.ChecksumIEEE(fmt.Appendf(nil, "%q %q %v %v", builder[K, V]{}.Name(x.empty), x.Name, reflect.TypeFor[I](), reflect.TypeFor[K]()))
}

// Resume narrows s to what comes after a cursor in the order of the span.
func (s *Span[K, V, I]) Resume(cursor string) error {
	x := s.index
	b, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil || len(b) < 4 || base64.RawURLEncoding.EncodeToString(b) != cursor {
		return errText
	}
	if binary.BigEndian.Uint32(b) != x.sum() {
		return errOther
	}
	b = b[4:]
	size, n := binary.Uvarint(b)
	if n <= 0 || size > uint64(len(b)-n) {
		return errText
	}
	i, err := fromBytes[I](b[n : n+int(size)])
	if err != nil {
		return err
	}
	key, err := fromBytes[K](b[n+int(size):])
	if err != nil {
		return err
	}
	// Functions that compare need not be ready for what somebody made up.
	if !Compares(func() { x.Compare(i, i); x.compareKeys(key, key) }) {
		return errText
	}
	if s.reverse {
		s.Before(i, key)
		return nil
	}
	s.After(i, key)
	return nil
}

// bytesOf returns a key as bytes: those of package keycode or, of another type, JSON that the
// same key comes back from.
func bytesOf[T any](v T, compare func(a, b T) int) ([]byte, error) {
	if c, err := keycode.New[T](); err == nil {
		return c.Append(nil, v), nil
	}
	b, err := depth.Marshal(0, v)
	if err != nil {
		return nil, err
	}
	if back, err := fromBytes[T](b); err != nil {
		return nil, err
	} else if c := 1; !Compares(func() { c = compare(back, v) }) || c != 0 {
		return nil, fmt.Errorf("JSON does not bring a key of type %T back", v)
	}
	return b, nil
}

// fromBytes is the way back. Of bytes that bytesOf would not have made it returns an error.
func fromBytes[T any](b []byte) (v T, err error) {
	if c, err := keycode.New[T](); err == nil {
		if v, err = c.Decode(b); err == nil && !bytes.Equal(c.Append(nil, v), b) {
			err = keycode.ErrBytes
		}
		return v, err
	}
	if err = json.Unmarshal(b, &v); err == nil && bytes.Equal(b, []byte("null")) {
		err = errText // what a function that compares need not be ready for
	}
	return v, err
}
