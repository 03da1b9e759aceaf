package wire

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWhatIsAppendedIsRead(t *testing.T) {
	b := binary.AppendUvarint(nil, math.MaxUint64)
	b = binary.AppendVarint(b, math.MinInt64)
	b = Append(b, "text")
	b = Append(b, []byte{})
	b = binary.LittleEndian.AppendUint64(b, 7)
	read := func(b []byte) error {
		r := NewReader(b)
		if u, v, s, e, n := r.Uvarint(), r.Varint(), r.Text(), r.Bytes(), r.Uint64(); r.Err() == nil {
			require.EqualValues(t, uint64(math.MaxUint64), u)
			require.EqualValues(t, int64(math.MinInt64), v)
			require.Equal(t, "text", s)
			require.Empty(t, e)
			require.EqualValues(t, 7, n)
		}
		return r.End()
	}
	require.NoError(t, read(b))
	for n := range b {
		require.ErrorIs(t, read(b[:n]), ErrTooShort, n)
	}
	require.ErrorContains(t, read(append(b, 0)), "1 bytes too many")

	r := NewReader(binary.AppendUvarint(nil, math.MaxUint64)) // a length that is not there
	require.Nil(t, r.Bytes())
	require.ErrorIs(t, r.Err(), ErrTooShort)
	require.Zero(t, r.Uvarint())
	require.Zero(t, r.Uint64())
	require.ErrorIs(t, r.End(), ErrTooShort)
}
