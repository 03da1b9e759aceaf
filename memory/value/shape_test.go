package value

import (
	"encoding/json"
	"errors"
	"log/slog"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

type quotedFields struct {
	ID     int64         `json:"id,string"`
	Size   *uint8        `json:"size,string"`
	None   *int          `json:"none,string"`
	Rate   float32       `json:"rate,string,omitempty"`
	On     bool          `json:",string"`
	Name   string        `json:"name,string"`
	Number json.Number   `json:"number,string"`
	For    time.Duration `json:"for,string"`
	//lint:ignore SA5008 the option has no effect
	When time.Time `json:"when,string"`
	//lint:ignore SA5008 the option has no effect
	List []int `json:"list,string"`
}

// requireSameJSON demands that a value has the JSON of in, and is in again.
func requireSameJSON(t *testing.T, in any) {
	t.Helper()
	v, err := Freeze(in)
	require.NoError(t, err)
	text, err := v.MarshalJSON()
	require.NoError(t, err)
	want, err := json.Marshal(in)
	require.NoError(t, err)
	require.JSONEq(t, string(want), string(text))
	require.Equal(t, in, v.Any())
}

// The option string of a tag makes Strings of numbers, bools and strings.
func TestQuotedFields(t *testing.T) {
	size := uint8(3)
	in := quotedFields{5, &size, nil, 0.25, true, "a \"b\"", "12", time.Second, time.Unix(1, 0).UTC(), []int{1}}
	type marshals struct {
		Level slog.Level `json:",string"`
	}
	for _, in := range []any{in, &in, []quotedFields{in}, struct{ Q quotedFields }{in}, map[string]any{"q": in}, marshals{slog.LevelWarn}} {
		requireSameJSON(t, in)
	}
	v, err := Freeze(in)
	require.NoError(t, err)
	require.Equal(t, "5", v.Key("id").String())
	require.Equal(t, int64(5), v.Key("id").Any())
	require.Equal(t, `"a \"b\""`, v.Key("name").String())
	require.Equal(t, `a "b"`, v.Key("name").Any())
	require.Equal(t, List, v.Key("list").Kind())

	// As of a type like it, also after an export.
	type like quotedFields
	l, err := As[like](v)
	require.NoError(t, err)
	require.Equal(t, like(in), l)
	text, err := v.MarshalJSON()
	require.NoError(t, err)
	v, err = decode(text)
	require.NoError(t, err)
	back, err := As[quotedFields](v)
	require.NoError(t, err)
	require.Equal(t, in, back)
}

type zeroByMethod struct{ N int }

func (z zeroByMethod) IsZero() bool { return z.N == 7 }

func TestOmitZeroAsksTheMethod(t *testing.T) {
	type s struct {
		Z zeroByMethod `json:"z,omitzero"`
		T time.Time    `json:"t,omitzero"`
	}
	for _, in := range []s{{}, {Z: zeroByMethod{7}}, {T: time.Time{}.In(time.FixedZone("x", 60))}} {
		requireSameJSON(t, in)
	}
}

type loud string

func (l loud) MarshalText() ([]byte, error) { return []byte(strings.ToUpper(string(l))), nil }

type pair struct{ A, B int }

func (p pair) MarshalText() ([]byte, error) {
	if p.A < 0 {
		return nil, errors.New("negative")
	}
	return json.Marshal([]int{p.A, p.B})
}

// The keys of a map are named as encoding/json names them.
func TestKeysThatMarshalThemselves(t *testing.T) {
	addr := netip.MustParseAddr("10.0.0.1")
	p := &pair{1, 2}
	for name, in := range map[string]any{
		"levels": map[slog.Level]int{slog.LevelInfo: 1, slog.LevelError + 1: 2}, "addresses": map[netip.Addr][]int{addr: {1}},
		"structs": map[pair]string{{1, 2}: "a", {3, 4}: "b"},
		"inside":  map[string]any{"m": map[slog.Level]any{slog.LevelInfo: map[pair]int{{1, 2}: 3}}},
		"field":   struct{ M map[slog.Level]bool }{map[slog.Level]bool{slog.LevelDebug: true}},
		"nil":     map[netip.Addr]int(nil), "none": map[netip.Addr]int{},
	} {
		t.Run(name, func(t *testing.T) {
			v, err := Freeze(in)
			require.NoError(t, err)
			text, err := v.MarshalJSON()
			require.NoError(t, err)
			want, err := json.Marshal(in)
			require.NoError(t, err)
			require.JSONEq(t, string(want), string(text))
			require.Equal(t, in, v.Any())
		})
	}
	v, err := Freeze(map[slog.Level]int{slog.LevelInfo: 1})
	require.NoError(t, err)
	require.Equal(t, int64(1), v.Key("INFO").Int())
	v, err = Freeze(map[loud]int{"quiet": 1})
	require.NoError(t, err)
	require.Equal(t, int64(1), v.Key("QUIET").Int())
	require.Equal(t, map[loud]int{"quiet": 1}, v.Any())
	v, err = Freeze(map[*pair]int{p: 1})
	require.NoError(t, err)
	require.Equal(t, int64(1), v.Key("[1,2]").Int())
	for k, n := range v.Any().(map[*pair]int) {
		require.Equal(t, *p, *k)
		require.Equal(t, 1, n)
	}
	for name, in := range map[string]any{
		"an error": map[pair]int{{-1, 0}: 1}, "two alike": map[*pair]int{{1, 2}: 1, {1, 2}: 2},
		"structs": map[struct{ A int }]int{{1}: 1}, "bools": map[bool]int{true: 1}, "any": map[any]int{"a": 1},
	} {
		_, err := Freeze(in)
		require.ErrorIs(t, err, ErrUnsupported, name)
	}
}

type keeper struct{ A []int }

var keptKey, keptZero *keeper

func (k *keeper) MarshalText() ([]byte, error) { keptKey = k; return []byte("k"), nil }
func (k *keeper) IsZero() bool                 { keptZero = k; return false }

type keeperByValue struct{ P *int }

var keptPointer *int

func (k keeperByValue) MarshalText() ([]byte, error) { keptPointer = k.P; return []byte("k"), nil }

// Methods that a value is shown by get nothing that is kept.
func TestMethodsKeepNothingOfAValue(t *testing.T) {
	v, err := Freeze(map[*keeper]int{{[]int{1}}: 1})
	require.NoError(t, err)
	keptKey.A[0] = 99
	for k := range v.Any().(map[*keeper]int) {
		require.Equal(t, []int{1}, k.A)
	}
	one := 1
	v, err = Freeze([]map[keeperByValue]int{{{&one}: 1}})
	require.NoError(t, err)
	*keptPointer = 99
	for k := range v.Any().([]map[keeperByValue]int)[0] {
		require.Equal(t, 1, *k.P)
	}
	type pointer struct {
		P *keeper `json:",omitzero"`
	}
	v, err = Freeze(pointer{&keeper{[]int{1}}})
	require.NoError(t, err)
	keptZero.A[0] = 99
	require.Equal(t, []int{1}, v.Any().(pointer).P.A)
	type direct struct {
		K keeper `json:",omitzero"`
	}
	v, err = Freeze(direct{keeper{[]int{1}}})
	require.NoError(t, err)
	keptZero.A[0] = 99
	require.Equal(t, []int{1}, v.Any().(direct).K.A)
	type inside struct {
		I interface{ IsZero() bool } `json:",omitzero"`
	}
	v, err = Freeze([]inside{{&keeper{[]int{1}}}, {(*keeper)(nil)}, {}})
	require.NoError(t, err)
	keptZero.A[0] = 99
	require.Equal(t, []int{1}, v.Any().([]inside)[0].I.(*keeper).A)
	require.Equal(t, []int{1, 0, 0}, []int{v.Index(0).Len(), v.Index(1).Len(), v.Index(2).Len()})
}

type textByte byte

func (b textByte) MarshalText() ([]byte, error) { return []byte{'b', byte(b)}, nil }

type jsonByte byte

func (b *jsonByte) MarshalJSON() ([]byte, error) { return []byte("7"), nil }

// What encoding/json shows in a way of its own is shown so.
func TestShownAsJSONDoes(t *testing.T) {
	type named struct {
		//lint:ignore SA5008 it is not taken
		A int `json:"a\"b"`
		//lint:ignore SA5008 it is not taken
		B int `json:"b\\,omitempty"`
		C int `json:"é-/ ~"`
	}
	for _, in := range []any{[]textByte("mm"), []jsonByte("ab"), map[string]any{"b": []textByte("x")}, []textByte{}, []textByte(nil)} {
		requireSameJSON(t, in)
	}
	// Go 1.27's package reads the first of these names in another way.
	v, err := Freeze(named{A: 1, C: 2})
	require.NoError(t, err)
	text, err := v.MarshalJSON()
	require.NoError(t, err)
	require.JSONEq(t, `{"A":1,"é-/ ~":2}`, string(text))
	require.Equal(t, named{A: 1, C: 2}, v.Any())
	v, err = Freeze([]Value{{}})
	require.NoError(t, err)
	require.True(t, v.Index(0).IsNull(), "an Absent Value inside is Null")
}
