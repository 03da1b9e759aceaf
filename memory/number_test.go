package memory

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNumbersKeepTheirDigits(t *testing.T) {
	for in, want := range map[json.Number]string{
		"": "0", "0": "0", "-0": "-0", "12": "12", "-7": "-7", "1.10": "1.10", "1e3": "1e3", "0x1p-2": "0.25",
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
		require.Positive(t, v.size())
	}
	for _, in := range []json.Number{"abc", "1e400", "NaN", "Inf", "1 "} {
		_, err := Freeze(in)
		require.ErrorIs(t, err, ErrUnsupported, in)
	}
	minus, err := Freeze(json.Number("-0"))
	require.NoError(t, err)
	require.True(t, math.Signbit(minus.Float()))
}

// Digits that were in text come out again, wherever the text was.
func TestDecodedNumbersKeepTheirDigits(t *testing.T) {
	const text = `[0,-0,-0.0,7,-7,9223372036854775807,-9223372036854775808,18446744073709551615,18446744073709551616,-9223372036854775809,0.5,1e+300,123456789012345678901234567890]`
	m := New(Options{})
	_, err := m.Import(strings.NewReader(`{"space":[],"key":"imported","value":` + text + `}`))
	require.NoError(t, err)
	require.NoError(t, errOf(m.Space().Put("raw", json.RawMessage(text))))
	for _, key := range []string{"imported", "raw"} {
		v, _ := m.Space().Get(key)
		got, err := v.MarshalJSON()
		require.NoError(t, err)
		require.Equal(t, strings.Replace(text, "-0.0", "-0", 1), string(got), key)
	}
	v, _ := m.Space().Get("imported")
	require.Equal(t, []any{0, math.Copysign(0, -1), math.Copysign(0, -1), 7, -7}, v.Any().([]any)[:5])
	require.Equal(t, []any{uint64(math.MaxUint64), json.Number("18446744073709551616"), json.Number("-9223372036854775809"), 0.5}, v.Any().([]any)[7:11])
	require.True(t, math.Signbit(v.Index(1).Float()))
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
			require.Equal(t, i < j, Val().Lt(b).match(a, Value{}), "%s %s", in[i], in[j])
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

// Fractions keep the digits that no float64 has, and compare by them.
func TestFractionsKeepTheirDigits(t *testing.T) {
	in := []json.Number{"-9007199254740993.0", "-9007199254740992.0", "-1e-400", "0.0", "1e-999999999", "1e-401", "1e-400", "4e-324", "5e-324", "0.1", "0.1000000000000000055511151231257827",
		"0.1000000000000000055511151231257828", "12e-1", "1.23456789012345678", "9007199254740992.0", "9007199254740993.0", "9007199254740994", "123456789012345678e-1", "1e300", "1.0000000000000000001e300"}
	m, again := New(Options{}), New(Options{})
	require.NoError(t, errOf(m.Space().Put("numbers", in)))
	var b strings.Builder
	require.NoError(t, m.Load().Export(&b))
	_, err := again.Import(strings.NewReader(b.String()))
	require.NoError(t, err)
	numbers, _ := m.Space().Get("numbers")
	back, _ := again.Space().Get("numbers")
	require.True(t, Equal(numbers, back))
	for i := range in {
		for j := range in {
			for _, a := range []Value{numbers.Index(i), back.Index(i)} {
				require.Equal(t, i == j, Equal(a, back.Index(j)), "%s %s", in[i], in[j])
				require.Equal(t, i < j, Val().Lt(back.Index(j)).match(a, Value{}), "%s %s", in[i], in[j])
			}
		}
	}
	require.Equal(t, json.Number("1e-400"), back.Index(6).Any())
	require.Equal(t, 5e-324, back.Index(8).Any())
	require.Equal(t, 0.1, back.Index(9).Any())
	require.Equal(t, 1.2, back.Index(12).Any())
	require.Equal(t, in[13], back.Index(13).Any())
	for text, same := range map[json.Number]any{"1e23": 1e23, "0.1": 0.1, "0.10": 0.1, "-0.0": 0, "9007199254740993.0": int64(9007199254740993), "1e3": uint16(1000), "0x1p-2": 0.25, "1e-400": json.Number("0.1e-399"), "0e99999999999999999999": 0} {
		a, err := Freeze(text)
		require.NoError(t, err)
		b, err := Freeze(same)
		require.NoError(t, err)
		require.True(t, Equal(a, b) && Equal(b, a), text)
	}
	for _, text := range []json.Number{"1e400", "-1e400", "1e-9999999999999999999"} {
		_, err := Freeze(text)
		require.ErrorIs(t, err, ErrUnsupported)
		_, err = again.Import(strings.NewReader(`{"space":[],"key":"k","value":` + string(text) + `}`))
		require.ErrorIs(t, err, ErrMalformed)
	}
}
