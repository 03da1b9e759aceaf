package cow_test

import (
	"errors"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow"
)

type number struct{ N int }

// texts encodes numbers as decimal text.
type texts struct{}

func (texts) Append(b []byte, v number) ([]byte, error) {
	return strconv.AppendInt(b, int64(v.N), 10), nil
}
func (texts) Decode(b []byte) (number, error) {
	n, err := strconv.Atoi(string(b))
	return number{n}, err
}

// A program that reads the next version comes before one that writes it.
func TestVersionedOfTwoPrograms(t *testing.T) {
	first := cow.Versioned[number]{}
	other := func(version byte, b []byte) (number, error) {
		switch version {
		case 0:
			return first.Decode(append([]byte{0}, b...))
		case 1:
			return texts{}.Decode(b)
		}
		return number{}, errors.New("unknown")
	}
	both := cow.Versioned[number]{Other: other, Newest: 1}
	second := cow.Versioned[number]{Of: texts{}, Version: 1, Other: other}
	encode := func(c cow.Versioned[number]) []byte {
		b, err := c.Append([]byte("x"), number{7})
		require.NoError(t, err)
		return b[1:]
	}
	for _, writer := range []cow.Versioned[number]{first, both, second} {
		for _, reader := range []cow.Versioned[number]{both, second} {
			v, err := reader.Decode(encode(writer))
			require.NoError(t, err)
			require.Equal(t, number{7}, v)
		}
	}
	_, err := first.Decode(encode(second))
	require.ErrorContains(t, err, "newer program")
	_, err = cow.Versioned[number]{Of: texts{}, Version: 1}.Decode(encode(first))
	require.ErrorContains(t, err, "no Other")
	_, err = cow.Versioned[number]{Newest: 1}.Decode(encode(second))
	require.ErrorContains(t, err, "no Other")
	all := func(byte, []byte) (number, error) { return number{7}, nil }
	for newest, ok := range map[byte]bool{0: false, 3: false, 4: true, 255: true} {
		_, err = cow.Versioned[number]{Version: 1, Other: all, Newest: newest}.Decode([]byte{4})
		require.Equal(t, ok, err == nil, "a newer program wrote what Other was not made for")
	}
	_, err = second.Decode([]byte{9})
	require.Error(t, err)
	_, err = first.Decode(nil)
	require.Error(t, err)
}
