package cow_test

import (
	"encoding/json"
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

// JSON has no bytes that are not UTF-8: what would come back as another text is refused.
func TestVersionedKeepsTexts(t *testing.T) {
	for _, v := range []any{"a\xff", map[string]any{"a": []any{"\xc3\x28"}}, map[string]int{"\xff": 1, "\xfe": 2}} {
		_, err := cow.Versioned[any]{}.Append(nil, v)
		require.ErrorContains(t, err, "is not valid UTF-8")
	}
	for _, v := range []any{"\ufffd", `\ufffd`, map[string]any{`\ufffd`: "\\\ufffd"}, "\u2028<>&"} {
		b, err := cow.Versioned[any]{}.Append(nil, v)
		require.NoError(t, err)
		back, err := cow.Versioned[any]{}.Decode(b)
		require.NoError(t, err)
		require.Equal(t, v, back)
	}
	raw := json.RawMessage(`"\ufffd"`) // as it was written
	b, err := cow.Versioned[json.RawMessage]{}.Append(nil, raw)
	require.NoError(t, err)
	back, err := cow.Versioned[json.RawMessage]{}.Decode(b)
	require.NoError(t, err)
	require.Equal(t, raw, back)
}
