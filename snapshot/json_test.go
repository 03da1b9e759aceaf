package snapshot_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/big"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/snapshot"
)

// sameJSON requires that a map of plain marshals as plain does, into the same bytes
// or an error, however it is asked.
func sameJSON[K comparable, V any](t *testing.T, plain map[K]V) {
	t.Helper()
	m := must(snapshot.Collect(snapshot.Options[V]{}, maps.All(plain)))
	for _, html := range []bool{true, false} {
		encode := func(v any) (string, error) {
			var b bytes.Buffer
			e := json.NewEncoder(&b)
			e.SetEscapeHTML(html)
			e.SetIndent("", " ")
			err := e.Encode(v)
			return b.String(), err
		}
		want, wantErr := encode(map[string]any{"in": plain})
		got, err := encode(map[string]any{"in": m})
		require.Equal(t, wantErr == nil, err == nil, "%v, not %v", err, wantErr)
		require.Equal(t, want, got)
	}
}

type jsonLabel string

func (jsonLabel) MarshalText() ([]byte, error) { return []byte("the same"), nil }

type jsonPair struct{ A, B int }

func (p jsonPair) MarshalText() ([]byte, error) {
	if p.A < 0 {
		return nil, errors.New("below zero")
	}
	return fmt.Appendf(nil, "%d<%d", p.A, p.B), nil
}

// A jsonNote writes to what it refers to when it is marshaled.
type jsonNote struct{ Words []string }

func (n jsonNote) MarshalJSON() ([]byte, error) {
	n.Words[0] = "spoilt"
	return []byte(` { "words" : [ "<3" ] } `), nil
}

// A jsonByPointer has its method at the pointer, which a value in a map does not.
type jsonByPointer struct{ N int }

func (*jsonByPointer) MarshalJSON() ([]byte, error) { return []byte(`"by pointer"`), nil }

func TestAMapMarshalsAsJSONLikeAPlainOne(t *testing.T) {
	sameJSON(t, map[string]int{})
	sameJSON(t, map[string]int{"b": 1, "a": 2, "": 3, "é": 4, "\"": 5, "#": 6, "<a&b>\u2028": 7, "!": 8, "\x01": 9, "\xff": 10})
	// One key: a release of Go asks it for its text, of which all have the same, and another does not.
	sameJSON(t, map[jsonLabel]any{"y": "<b>\xff\u2028"})
	sameJSON(t, map[int]any{10: "ten", 9: "nine", -1: "-"})
	sameJSON(t, map[uint64]any{1<<64 - 1: 1e21, 1: 0.1, 200: true})
	sameJSON(t, map[jsonPair]int{{1, 2}: 3, {0, 9}: 4})
	sameJSON(t, map[string]any{"nil": []byte(nil), "empty": []byte{}, "some": []byte("hello")})
	sameJSON(t, map[string]any{"nil": nil, "deep": map[string]any{"b": []any{1.5, nil, "x"}}, "err": json.Number("1e5")})
	sameJSON(t, map[string]any{"nil": map[int]*jsonPair(nil), "some": map[int]*jsonPair{2: {1, 1}, 10: nil}})
	sameJSON(t, map[string]any{"nil": json.RawMessage(nil), "some": json.RawMessage(` [ 1 , "<" ] `)})
	sameJSON(t, map[string]*jsonByPointer{"a": {1}, "nil": nil})
	sameJSON(t, map[string]any{"a": jsonByPointer{1}})
	sameJSON(t, map[string]*big.Int{"a": big.NewInt(17)})
	sameJSON(t, map[string]any{"a": time.Unix(1, 0).UTC()})

	many := make(map[int]int)
	for i := range 3000 {
		many[i*7919] = i
	}
	sameJSON(t, many)
}

func TestWhatJSONDoesNotHaveIsAnError(t *testing.T) {
	sameJSON(t, map[struct{ A, B int }]int{{1, 2}: 1})
	sameJSON(t, map[bool]int{true: 1})
	sameJSON(t, map[jsonPair]int{{-1, 0}: 1})
	sameJSON(t, map[string]any{"a": make(chan int)})
	sameJSON(t, map[string]any{"inf": math.Inf(1)})

	cycle := map[string]any{}
	cycle["self"] = cycle
	sameJSON(t, map[string]any{"a": cycle})

	var unsupported *json.UnsupportedTypeError
	keys := must(snapshot.Collect(snapshot.Options[int]{Name: "users"}, maps.All(map[bool]int{true: 1})))
	_, err := json.Marshal(keys)
	require.ErrorContains(t, err, "users: json: unsupported ") // type or value: that depends on the release of Go

	values := must(snapshot.Collect(snapshot.Options[any]{Name: "users"}, maps.All(map[string]any{"ada": func() {}})))
	_, err = json.Marshal(values)
	require.ErrorAs(t, err, &unsupported)
	var of *snapshot.KeyError[string]
	require.ErrorAs(t, err, &of)
	require.EqualError(t, of, "users: ada: json: unsupported type: func()")
	row, _ := values.Row("ada")
	for _, v := range []any{row, slices.Collect(values.Diff(nil))} {
		_, err = json.Marshal(v)
		require.ErrorContains(t, err, "users: ada: json: unsupported type: func()")
	}
}

func TestMarshalingAMapGivesItsValuesAway(t *testing.T) {
	m := must(snapshot.Collect(snapshot.Options[any]{}, maps.All(map[int]any{1: jsonNote{[]string{"fine"}}})))
	row, _ := m.Row(1)
	for _, v := range []any{m, row, slices.Collect(m.Diff(nil))} {
		text, err := json.Marshal(v)
		require.NoError(t, err)
		require.Contains(t, string(text), `{"words":["\u003c3"]}`)
	}
	v, _ := m.Get(1)
	require.Equal(t, jsonNote{[]string{"fine"}}, v)
}

func jsonOf(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	require.NoError(t, err)
	return string(text)
}

func TestNothingMarshalsAsJSON(t *testing.T) {
	require.Equal(t, "null", jsonOf(t, (*snapshot.Map[string, int])(nil)))
	require.Equal(t, "{}", jsonOf(t, new(snapshot.Map[string, int])))
	require.Equal(t, "null", jsonOf(t, snapshot.Row[string, int]{}))
	text, err := (*snapshot.Map[string, int])(nil).MarshalJSON()
	require.NoError(t, err)
	require.Equal(t, "{}", string(text))
}

func TestChangesMarshalAsJSON(t *testing.T) {
	old := must(snapshot.Collect(snapshot.Options[any]{}, maps.All(map[string]any{"a": 1, "b": nil, "c": 3})))
	e := old.Edit()
	e.Set("b", "<2>")
	e.Set("d", nil)
	e.Delete("c")
	pending, _ := e.Map().Row("b")
	builder := snapshot.Builder[string, any]{}
	pending = builder.Deref(e.Map(), e.Version()).Row(builder.Ref(pending))
	m := e.Seal()
	got := make(map[string]string)
	for c := range m.Diff(old) {
		got[c.Key] = jsonOf(t, c)
	}
	require.Equal(t, map[string]string{
		"b": `{"key":"b","kind":"changed","old":null,"new":"\u003c2\u003e"}`,
		"c": `{"key":"c","kind":"removed","old":3}`,
		"d": `{"key":"d","kind":"added","new":null}`,
	}, got)

	row, _ := m.Row("b")
	require.Equal(t, `{"key":"b","revision":2,"value":"\u003c2\u003e"}`, jsonOf(t, row))
	require.Equal(t, `{"key":"b","value":"\u003c2\u003e"}`, jsonOf(t, pending))

	pairs := must(snapshot.Collect(snapshot.Options[int]{}, maps.All(map[struct{ A, B int }]int{{1, 2}: 3})))
	pair, _ := pairs.Row(struct{ A, B int }{1, 2})
	require.Equal(t, `{"key":{"A":1,"B":2},"revision":1,"value":3}`, jsonOf(t, pair))
}

func TestKindsAreTexts(t *testing.T) {
	kinds := []snapshot.Kind{snapshot.Added, snapshot.Changed, snapshot.Removed, snapshot.Erased}
	text := jsonOf(t, kinds)
	require.Equal(t, `["added","changed","removed","erased"]`, text)
	var back []snapshot.Kind
	require.NoError(t, json.Unmarshal([]byte(text), &back))
	require.Equal(t, kinds, back)
	for _, k := range []snapshot.Kind{0, snapshot.Erased + 1} {
		_, err := k.MarshalText()
		require.Error(t, err)
	}
	k := snapshot.Added
	for _, text := range []string{"", "unknown", "Added"} {
		require.Error(t, k.UnmarshalText([]byte(text)))
	}
	require.Equal(t, snapshot.Added, k)
}
