package memory

import (
	"encoding/json"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/cowstore/cowstore/memory/filter"
	"github.com/cowstore/cowstore/memory/value"
	"github.com/stretchr/testify/require"
)

// What a Memory does with values of all kinds.

func errOf(_ uint64, err error) error { return err }

func TestPutTakesHandles(t *testing.T) {
	m := New(Options{})
	c := make(chan int, 1)
	v, err := value.FreezeHandles(map[string]any{"c": c, "text": "hello"})
	require.NoError(t, err)
	require.NoError(t, errOf(m.Space("s").Put("k", v)))
	require.NoError(t, errOf(m.Space("s").PutItem("item", Item{Value: v, Metadata: map[string]any{"c": v.Key("c")}})))
	require.ErrorIs(t, errOf(m.Space("s").Put("k", c)), value.ErrUnsupported, "who does not ask for handles gets none")

	stored, ok := m.Space("s").Get("k")
	require.True(t, ok)
	require.Equal(t, map[string]any{"c": c, "text": "hello"}, stored.Any())
	e, ok := m.Space("s").Entry("item")
	require.True(t, ok)
	require.True(t, c == e.Metadata.Key("c").Any())
	hits, err := m.Space("s").Search(Query{Text: "hello", Filter: filter.Meta("c").Eq(v.Key("c"))})
	require.NoError(t, err)
	require.Len(t, hits, 1)
	require.ErrorIs(t, m.Load().Export(io.Discard), value.ErrUnsupported)
}

// Digits that were in text come out again, wherever the text was.
func TestDecodedNumbersKeepTheirDigits(t *testing.T) {
	const text = `[0,-0,-0.0,7,-7,9223372036854775807,-9223372036854775808,18446744073709551615,18446744073709551616,-9223372036854775809,0.5,1e+300,123456789012345678901234567890]`
	m := New(Options{})
	_, err := m.Import(t.Context(), strings.NewReader(`{"space":[],"key":"imported","value":`+text+`}`))
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

// Fractions keep the digits that no float64 has, and compare by them.
func TestFractionsKeepTheirDigits(t *testing.T) {
	in := []json.Number{"-9007199254740993.0", "-9007199254740992.0", "-1e-400", "0.0", "1e-999999999", "1e-401", "1e-400", "4e-324", "5e-324", "0.1", "0.1000000000000000055511151231257827",
		"0.1000000000000000055511151231257828", "12e-1", "1.23456789012345678", "9007199254740992.0", "9007199254740993.0", "9007199254740994", "123456789012345678e-1", "1e300", "1.0000000000000000001e300"}
	m, again := New(Options{}), New(Options{})
	require.NoError(t, errOf(m.Space().Put("numbers", in)))
	var b strings.Builder
	require.NoError(t, m.Load().Export(&b))
	_, err := again.Import(t.Context(), strings.NewReader(b.String()))
	require.NoError(t, err)
	numbers, _ := m.Space().Get("numbers")
	back, _ := again.Space().Get("numbers")
	require.True(t, Equal(numbers, back))
	for i := range in {
		for j := range in {
			for _, a := range []Value{numbers.Index(i), back.Index(i)} {
				require.Equal(t, i == j, Equal(a, back.Index(j)), "%s %s", in[i], in[j])
				require.Equal(t, i < j, filter.Val().Lt(back.Index(j)).Match(&filter.Entry{Value: a}), "%s %s", in[i], in[j])
			}
		}
	}
	require.Equal(t, json.Number("1e-400"), back.Index(6).Any())
	require.Equal(t, 5e-324, back.Index(8).Any())
	require.Equal(t, 0.1, back.Index(9).Any())
	require.Equal(t, 1.2, back.Index(12).Any())
	require.Equal(t, in[13], back.Index(13).Any())
	for text, same := range map[json.Number]any{"1e23": 1e23, "0.1": 0.1, "0.10": 0.1, "-0.0": 0, "9007199254740993.0": int64(9007199254740993), "1e3": uint16(1000), "1e-400": json.Number("0.1e-399"), "0e99999999999999999999": 0} {
		a, err := Freeze(text)
		require.NoError(t, err)
		b, err := Freeze(same)
		require.NoError(t, err)
		require.True(t, Equal(a, b) && Equal(b, a), text)
	}
	for _, text := range []json.Number{"1e400", "-1e400", "1e-9999999999999999999", "0x1p-2", "1_000", "+1", "01", ".5", "1.", "-", "NaN"} {
		_, err := Freeze(text)
		require.ErrorIs(t, err, value.ErrUnsupported)
		_, err = again.Import(t.Context(), strings.NewReader(`{"space":[],"key":"k","value":`+string(text)+`}`))
		require.ErrorIs(t, err, ErrMalformed)
	}
}
