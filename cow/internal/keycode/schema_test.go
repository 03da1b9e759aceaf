package keycode

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A codedKey is a type of keys, and some keys in words, with their bytes.
type codedKey struct {
	name, schema string
	keys         map[string][]byte
	show         func(b []byte) (string, error)
}

func coded[K comparable](name string, keys ...K) codedKey {
	c, err := New[K]()
	if err != nil {
		panic(err)
	}
	show := func(k K) string { return strings.ReplaceAll(fmt.Sprintf("%+v", k), " _:{}", "") } // without blank fields
	is := codedKey{name, c.Schema(), make(map[string][]byte), func(b []byte) (string, error) {
		k, err := c.Decode(b)
		return show(k), err
	}}
	for _, k := range keys {
		is.keys[show(k)] = c.Append(nil, k)
	}
	return is
}

type (
	pair     struct{ A, B int }
	swapped  struct{ B, A int }
	embedded struct {
		pair
		C int
	}
	named struct {
		pair pair
		C    int
	}
	numeral int
)

var codedKeys = []codedKey{
	coded("int", -1, 0, 1, 1<<30), coded[int8]("int8", -1, 0, 1), coded[int16]("int16", -1, 1), coded[int32]("int32", -1, 1),
	coded[int64]("int64", -1, 0, 1), coded[uint]("uint", 0, 1<<31), coded[uint8]("uint8", 0, 255), coded[uint16]("uint16", 1),
	coded[uint32]("uint32", 1), coded[uint64]("uint64", 0, 1), coded[uintptr]("uintptr", 3), coded[float32]("float32", -0.5, 0),
	coded("float64", -0.5, 0, 1e300), coded("bool", false, true), coded("string", "", "12345678", "1234567\x00"),
	coded("[8]byte", [8]byte{}, [8]byte{0x80, 7: 1}), coded("[2]int", [2]int{1, 2}), coded("[1]int", [1]int{1}),
	coded("[2][1]int", [2][1]int{{1}, {2}}), coded("[2]string", [2]string{"a", "b"}), coded("[1]string", [1]string{"12345678"}),
	coded("numeral", numeral(-1), numeral(2)), coded("pair", pair{1, 2}), coded("swapped", swapped{1, 2}),
	coded("embedded", embedded{pair{1, 2}, 3}), coded("named", named{pair{1, 2}, 3}),
	coded("flat", struct{ A, B, C int }{1, 2, 3}), coded("of an array", struct{ A [2]int }{[2]int{1, 2}}),
	coded("of one", struct{ A int }{1}), coded("renamed", struct{ A, C int }{1, 2}), coded("hidden", struct{ A, b int }{1, 2}),
	coded("other kinds", struct {
		A int
		B uint
	}{1, 2}),
	coded("int32s", struct{ A, B, C, D int32 }{1, 2, 3, 4}),
	coded("with a blank", struct {
		A int
		_ struct{}
		B int
	}{A: 1, B: 2}),
	coded("texts", struct{ A, B string }{"a", "b"}), coded("texts swapped", struct{ B, A string }{"a", "b"}),
	coded("text and bytes", struct {
		A string
		B [2]byte
	}{"a", [2]byte{1, 2}}),
}

// Keys of each type, read as all others: where the schemas are the same, so are the keys.
func TestAllKeysAgainstEachOther(t *testing.T) {
	same := 0
	for _, was := range codedKeys {
		for _, is := range codedKeys {
			if was.schema != is.schema {
				continue
			}
			if was.name != is.name {
				same++
			}
			for want, b := range was.keys {
				got, err := is.show(b)
				require.NoError(t, err, "%s -> %s", was.name, is.name)
				require.Equal(t, want, got, "%s -> %s", was.name, is.name)
			}
		}
	}
	require.Equal(t, 6+6+2+2, same, "int, int64 and numeral; uint, uint64 and uintptr; pair with a blank; embedded and named")
}

func TestSchemas(t *testing.T) {
	for want, is := range map[string]interface{ Schema() string }{
		"struct{A string; n int8; B [2]string; f float32; h [4]uint8; o bool; C string}": new(Codec[key]),
		"int64":                       new(Codec[numeral]),
		"[2]struct{A int64; B int64}": new(Codec[[2]pair]),
		"struct{}":                    new(Codec[struct{}]),
	} {
		require.Equal(t, want, is.Schema())
	}
}
