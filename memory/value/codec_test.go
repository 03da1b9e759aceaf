package value

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// What is decoded is equal to what was encoded, and has the same JSON.
func TestEncodedValuesComeBack(t *testing.T) {
	in := values()
	in["deep"] = map[string]any{"a": []any{1, "x", nil, map[string]any{"b": time.Unix(1, 2), "c": []byte{0, 255}}}}
	in["absent"] = Value{}
	in["digits"] = json.Number("123456789012345678901234567890.5")
	for name, x := range in {
		v := mustFreeze(t, x)
		b, err := Append([]byte("before"), v)
		require.NoError(t, err, name)
		got, rest, err := Decode(append(b, "rest"...)[len("before"):])
		require.NoError(t, err, name)
		require.Equal(t, "rest", string(rest), name)
		require.True(t, Equal(v, got), "%s: %v, not %v", name, got.Any(), v.Any())
		text, err := v.MarshalJSON()
		require.NoError(t, err, name)
		again, err := got.MarshalJSON()
		require.NoError(t, err, name)
		require.Equal(t, string(text), string(again), name)
	}
	h, err := FreezeHandles([]any{make(chan int)})
	require.NoError(t, err)
	_, err = Append(nil, h)
	require.ErrorIs(t, err, ErrUnsupported)
}

func FuzzDecode(f *testing.F) {
	for _, x := range []any{nil, 1, "text", []any{1.5, uint8(3)}, map[string]any{"k": []byte("b")}, json.Number("1e30"), time.Unix(0, 5)} {
		v, err := Freeze(x)
		require.NoError(f, err)
		b, err := Append(nil, v)
		require.NoError(f, err)
		f.Add(b)
	}
	f.Add([]byte{codeList, 255, 255, 255, 255, 15})
	f.Fuzz(func(t *testing.T, b []byte) {
		v, _, err := Decode(b)
		if err != nil {
			return
		}
		again, err := Append(nil, v)
		require.NoError(t, err)
		got, rest, err := Decode(again)
		require.NoError(t, err)
		require.Empty(t, rest)
		require.True(t, Equal(v, got))
	})
}
