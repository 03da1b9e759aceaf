package value

import (
	"bytes"
	"encoding/json"
	"fmt"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/memory/internal/jsontext"
	"github.com/cowstore/cowstore/snapshot/snapshottest/deeptest"
)

// A hides holds what JSON does not show.
type hides struct {
	N      int
	hidden any
}

// A shows is shown as JSON that is nested deeply.
type shows int

func (s shows) MarshalJSON() ([]byte, error) {
	return []byte(strings.Repeat("[", int(s)) + strings.Repeat("]", int(s))), nil
}

// walk calls all that walks a Value.
func walk(t *testing.T, v Value) {
	w, err := Freeze(v.Any())
	require.NoError(t, err)
	require.True(t, Equal(v, w))
	Compare(v, w)
	require.Less(t, len(fmt.Sprintf("%v %+v %#v %s %d", v, v, v, v, v)), 3000)
	v.LogValue()
	v.Short(100)
	require.Positive(t, v.Size())
	for range v.Texts() {
	}
	require.NoError(t, v.CheckJSON())
	for range v.All() {
	}
	for range v.Values() {
	}
	v.Path(strings.Repeat("0.", 2000) + "0")
	text, err := v.MarshalJSON()
	require.NoError(t, err)
	require.NoError(t, jsontext.Valid(text))
	_, err = decode(text)
	require.NoError(t, err)
	_, err = Parse(text, 1<<40)
	require.NoError(t, err)
	b, err := Append(nil, v)
	require.NoError(t, err)
	_, _, err = Decode(b)
	require.NoError(t, err)
	_, _ = As[any](v)
	_, _ = As[deeptest.Lists](v)
	_, _ = As[*deeptest.Link](v)
	_, _ = As[map[string]any](v)
}

func TestDeepValues(t *testing.T) {
	deeptest.RequireAll(t, strings.Fields(`Append As Compare Decode Equal Error.Error Freeze FreezeHandles Parse
		Value.All Value.Any Value.CheckJSON Value.Format Value.LogValue Value.MarshalJSON Value.Path Value.Short Value.Size
		Value.Texts Value.Values`), map[string]string{
		"it returns what is there": `Value.Bool Value.Bytes Value.Clone Value.Exists Value.Float Value.Index Value.Int Value.IsNull
			Value.Key Value.Kind Value.Len Value.Step Value.String Value.Time`,
		"it is of a text, or a kind":        "Clip Kind.String",
		"it is one error and what it wraps": "Error.Unwrap copyError.Error copyError.Unwrap",
	})
	if !deeptest.Apart(t) {
		return
	}
	debug.SetMaxStack(16 << 20) // for ten thousand pointers
	for name, v := range deeptest.Values(deeptest.Levels()) {
		deeptest.Doing("%s", name)
		for _, freeze := range []func(any) (Value, error){Freeze, FreezeHandles} {
			for _, in := range []any{v, []any{1, v}, map[string]any{"k": v}, hides{1, v}} {
				got, err := freeze(in)
				if _, ok := in.(hides); ok {
					require.NoError(t, err)
					require.IsType(t, in, got.Any())
					walk(t, got)
					continue
				}
				require.ErrorIs(t, err, ErrTooDeep)
				require.Less(t, len(err.Error()), 400)
			}
		}
	}
	for name, v := range deeptest.Values(maxDepth / 2) {
		deeptest.Doing("%s, less deep", name)
		got, err := Freeze(v)
		if name == "a map by number" {
			require.NoError(t, err)
		}
		if err == nil {
			walk(t, got)
		}
	}
	_, err := Freeze(shows(deeptest.Levels()))
	require.ErrorIs(t, err, ErrUnsupported, "encoding/json does not read it")
	_, err = Freeze(shows(maxDepth + 1))
	require.ErrorIs(t, err, ErrTooDeep)

	text, _ := shows(100 * maxDepth).MarshalJSON()
	require.Error(t, jsontext.Valid(text))
	_, err = Parse(text, 1<<40)
	require.Error(t, err)
	require.Error(t, jsontext.EachElement(text, func(text []byte) error { return jsontext.Valid(text) }))
	text, _ = shows(maxDepth + 1).MarshalJSON()
	_, err = Parse(text, 1<<40)
	require.ErrorIs(t, err, ErrTooDeep)
	text = append(append([]byte(`{"a":`), text...), '}')
	require.NoError(t, jsontext.EachMember(text, func(string, []byte) error { return nil }))
	require.Error(t, json.Unmarshal(text[1:], new(any)))
	for _, code := range [][]byte{{codeList, 1}, {codeMap, 1, 0}} {
		_, _, err = Decode(append(bytes.Repeat(code, deeptest.Levels()), codeNull))
		require.ErrorIs(t, err, ErrTooDeep)
	}
}
