package value

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNumbersKeepTheirDigits(t *testing.T) {
	for in, want := range map[json.Number]string{
		"": "0", "0": "0", "-0": "-0", "12": "12", "-7": "-7", "1.10": "1.10", "1e3": "1e3",
		"9223372036854775808": "9223372036854775808", "18446744073709551616": "18446744073709551616",
		"-9223372036854775809": "-9223372036854775809", "123456789012345678901234567890": "123456789012345678901234567890",
		"3.14159265358979323846": "3.14159265358979323846",
	} {
		v, err := Freeze(struct{ N json.Number }{in})
		require.NoError(t, err, in)
		text, err := v.MarshalJSON()
		require.NoError(t, err, in)
		require.Equal(t, `{"N":`+want+`}`, string(text))
		require.Equal(t, struct{ N json.Number }{in}, v.Any(), in)
		n, err := As[json.Number](v.Key("N"))
		require.NoError(t, err)
		require.Equal(t, in, n)
		require.Positive(t, v.Size())
	}
	for _, in := range []json.Number{"abc", "1e400", "NaN", "Inf", "1 ", " 1", "0x1p-2", "1_000", "+1", "01", "-01", ".5", "1.", "-", "1e"} {
		_, err := Freeze(in)
		require.ErrorIs(t, err, ErrUnsupported, in)
	}
	minus, err := Freeze(json.Number("-0"))
	require.NoError(t, err)
	require.True(t, math.Signbit(minus.Float()))
}

func TestDigitsCompareExactly(t *testing.T) {
	in := []json.Number{"-18446744073709551617", "-18446744073709551616", "-9223372036854775809", "-9223372036854775808", "0",
		"18446744073709551615", "18446744073709551616", "18446744073709551617", "123456789012345678901234567890", "123456789012345678901234567891"}
	for i := range in {
		for j := range in {
			a, err := Freeze(in[i])
			require.NoError(t, err)
			b, err := Freeze(in[j])
			require.NoError(t, err)
			require.Equal(t, i == j, Equal(a, b), "%s %s", in[i], in[j])
			order, ok := Compare(a, b)
			require.True(t, ok)
			require.Equal(t, i < j, order < 0, "%s %s", in[i], in[j])
		}
	}
	a, err := Freeze(json.Number("18446744073709551616"))
	require.NoError(t, err)
	b, err := Freeze(float64(1 << 64))
	require.NoError(t, err)
	require.True(t, Equal(a, b) && Equal(b, a))
	half, err := Freeze(json.Number("0.5"))
	require.NoError(t, err)
	b, err = Freeze(0.5)
	require.NoError(t, err)
	require.True(t, Equal(half, b))
}

// A file of an earlier version may have numbers that JSON has not.
func TestNumbersOfEarlierVersionsAreDecoded(t *testing.T) {
	for text, want := range map[string]float64{"0x1p-2": 0.25, "1_000.0": 1000, "+1.5": 1.5} {
		v, rest, err := Decode(appendBytes([]byte{codeNumber}, text))
		require.NoError(t, err, text)
		require.Empty(t, rest)
		require.Equal(t, want, v.Float(), text)
	}
}
