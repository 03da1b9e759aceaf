package keycode

import (
	"bytes"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// A key with parts of every sort.
type key struct {
	A string
	n int8
	_ int
	B [2]string
	f float32
	h [4]byte
	o bool
	C string
}

// inOrder requires that the keys, which ascend, have bytes that do, and come back.
func inOrder[K comparable](t *testing.T, keys ...K) {
	t.Helper()
	c, err := New[K]()
	require.NoError(t, err)
	for i, k := range keys {
		b := c.Append(nil, k)
		back, err := c.Decode(b)
		require.NoError(t, err)
		require.Equal(t, k, back)
		if i > 0 {
			require.Negative(t, bytes.Compare(c.Append(nil, keys[i-1]), b), "%v and %v", keys[i-1], k)
		}
	}
}

func TestBytesAreInTheOrderOfTheKeys(t *testing.T) {
	inOrder(t, "", "\x00", "\x00\x00", "\x00\x01", "\x00\xff", "a", "a\x00", "ab", "\xff")
	inOrder(t, math.MinInt64, -1, int64(0), 1, math.MaxInt64)
	inOrder(t, int8(-128), -1, 0, 127)
	inOrder(t, -5, 0, 5)
	inOrder(t, uint16(0), 1, 256, math.MaxUint16)
	inOrder(t, math.Inf(-1), -1.5, 0, 1e-300, 2, math.Inf(1))
	inOrder(t, false, true)
	inOrder(t, [2]string{"", ""}, [2]string{"", "a"}, [2]string{"\x00", ""}, [2]string{"\x00\xff", ""}, [2]string{"a", ""}, [2]string{"a", "\x00"})
	inOrder(t, key{}, key{C: "c"}, key{o: true}, key{h: [4]byte{0, 1}}, key{f: 1}, key{B: [2]string{"", "\x00"}},
		key{n: 1}, key{A: "\x00", n: -3}, key{A: "a", n: -3, f: -1})
}

func TestKeysThatAreEqualHaveEqualBytes(t *testing.T) {
	c, err := New[float64]()
	require.NoError(t, err)
	require.Equal(t, c.Append(nil, 0), c.Append(nil, math.Copysign(0, -1)))
}

func TestTypesThatAreNoKeys(t *testing.T) {
	_, err := New[any]()
	require.ErrorContains(t, err, "keys of type interface {} cannot be encoded")
	_, err = New[struct{ P *int }]()
	require.ErrorContains(t, err, "P: keys of type *int cannot be encoded")
	_, err = New[[1 << 20]int]()
	require.ErrorContains(t, err, "too large")
}

// Whatever the bytes are, they are those of a key or an error.
func FuzzDecode(f *testing.F) {
	c, err := New[key]()
	require.NoError(f, err)
	f.Add(c.Append(nil, key{A: "\x00a", n: -1, f: 1.5, o: true, C: "c"}))
	f.Add([]byte{})
	f.Add([]byte{0, 1, 0x80, 0, 2, 0, 1})
	f.Fuzz(func(t *testing.T, b []byte) {
		k, err := c.Decode(b)
		if err != nil {
			require.ErrorIs(t, err, ErrBytes)
			return
		}
		if k == k {
			require.Equal(t, b, c.Append(nil, k), "each key has one form")
		}
	})
}
