package value

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func mustFreeze(t testing.TB, v any) Value {
	t.Helper()
	f, err := Freeze(v)
	require.NoError(t, err)
	return f
}

func TestEqual(t *testing.T) {
	for name, in := range values() {
		v := mustFreeze(t, in)
		require.True(t, Equal(v, mustFreeze(t, values()[name])), name)
		var decoded any
		text, err := v.MarshalJSON()
		require.NoError(t, err)
		decoder := json.NewDecoder(strings.NewReader(string(text)))
		decoder.UseNumber()
		require.NoError(t, decoder.Decode(&decoded))
		// Bytes and times become strings, and json.Number is a float beyond an int64.
		if v.Kind() != Bytes && v.Kind() != Time && name != "uint64" && name != "nil bytes" {
			require.True(t, Equal(v, mustFreeze(t, decoded)) && Equal(mustFreeze(t, decoded), v), name)
		}
		for other, x := range values() {
			w := mustFreeze(t, x)
			require.Equal(t, Equal(v, w), Equal(w, v), "%s, %s", name, other)
			shown, err := json.Marshal(w)
			require.NoError(t, err)
			if string(shown) != string(text) {
				require.False(t, Equal(v, w), "%s, %s", name, other)
			}
		}
	}
	require.True(t, Equal(Value{}, Value{}))
	require.False(t, Equal(Value{}, mustFreeze(t, nil)))
	require.True(t, Equal(mustFreeze(t, 0), mustFreeze(t, math.Copysign(0, -1))))
}
