package index

import (
	"cmp"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// inOrder requires that the order of K is that of cmp.Compare.
func inOrder[K cmp.Ordered](t *testing.T, keys ...K) {
	t.Helper()
	compare := orderOf[K]()
	require.NotNil(t, compare)
	for _, a := range keys {
		for _, b := range keys {
			require.Equal(t, cmp.Compare(a, b), compare(a, b), "%v and %v", a, b)
		}
	}
}

func TestEveryOrderedTypeHasAnOrder(t *testing.T) {
	type named string
	type number int16
	inOrder(t, "", "a", "aa", "b")
	inOrder[named](t, "", "a", "b")
	inOrder[number](t, -300, 0, 300)
	inOrder(t, -1, 0, 1<<30)
	inOrder[int8](t, -128, 0, 127)
	inOrder[int16](t, -300, 0, 300)
	inOrder[int32](t, -1<<20, 0, 1<<20)
	inOrder[int64](t, -1<<40, 0, 1<<40)
	inOrder[uint](t, 0, 1, 1<<31)
	inOrder[uint8](t, 0, 127, 255)
	inOrder[uint16](t, 0, 255, 256)
	inOrder[uint32](t, 0, 255, 1<<31)
	inOrder[uint64](t, 0, 255, 1<<63)
	inOrder[uintptr](t, 0, 255, 1<<31)
	inOrder(t, float32(-1.5), 0, 1.5, float32(math.NaN()))
	inOrder(t, -1.5, 0, 1.5, math.NaN(), math.Inf(1))
	require.Nil(t, orderOf[bool]())
	require.Nil(t, orderOf[struct{ x int }]())
}
