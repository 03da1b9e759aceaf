package index

import (
	"cmp"
	"math"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// inOrder requires that the order of K is that of cmp.Compare.
func inOrder[K cmp.Ordered](t *testing.T, keys ...K) {
	t.Helper()
	compare := orderOf[K]().compare()
	require.NotNil(t, compare)
	type in struct {
		_ any
		X K
	}
	inStruct := orderOf[[1]in]().compare() // by places
	require.NotNil(t, inStruct)
	for _, a := range keys {
		for _, b := range keys {
			require.Equal(t, cmp.Compare(a, b), compare(a, b), "%v and %v", a, b)
			require.Equal(t, cmp.Compare(a, b), inStruct([1]in{{nil, a}}, [1]in{{nil, b}}), "%v and %v", a, b)
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
}

// ascending requires that the order of T has these keys in this order, and n functions.
func ascending[T any](t *testing.T, n int, keys ...T) {
	t.Helper()
	o := orderOf[T]()
	require.Len(t, o.fields, n)
	for i, a := range keys {
		for j, b := range keys {
			require.Equal(t, cmp.Compare(i, j), o.compare()(a, b), "%v and %v", a, b)
		}
	}
}

func TestOrdersOfOtherTypes(t *testing.T) {
	early := time.Unix(1, 0)
	ascending(t, 1, false, true)
	ascending(t, 1, nil, []byte{0}, []byte("a"), []byte("aa"), []byte{0xff})
	ascending(t, 1, [2]byte{0, 9}, [2]byte{1, 0}, [2]byte{255, 0})
	ascending(t, 1, [2]string{"", "b"}, [2]string{"a", ""}, [2]string{"a", "b"})
	ascending(t, 1, early, early.Add(1), early.Add(time.Hour))
	ascending(t, 1, netip.MustParseAddr("9.0.0.1"), netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("::1"))
	ascending(t, 1, netip.MustParseAddrPort("10.0.0.1:9"), netip.MustParseAddrPort("10.0.0.1:10"))
	type pair struct {
		A string
		_ func()
		B [2]int8
	}
	ascending(t, 2, pair{A: "a", B: [2]int8{0, -1}}, pair{A: "a"}, pair{A: "a", B: [2]int8{1, -1}}, pair{A: "b"})
	type deep struct {
		P    pair
		At   time.Time
		From netip.Addr
		Ok   bool
	}
	ascending(t, 4, deep{P: pair{A: "a"}}, deep{P: pair{A: "b"}, Ok: true},
		deep{P: pair{A: "b"}, From: netip.MustParseAddr("9.0.0.1")}, deep{P: pair{A: "b"}, At: early})
	ascending(t, 1, struct{}{})

	none(t, orderOf[any]())
	none(t, orderOf[*int]())
	none(t, orderOf[*time.Time]())
	none(t, orderOf[chan int]())
	none(t, orderOf[[]string]())
	none(t, orderOf[struct{ p *int }]())
	none(t, orderOf[[3]struct{ m map[int]int }]())
	none(t, orderOf[struct{ a netip.AddrPort }]()) // whose method would take reflection to call
	none(t, orderOf[[maxPlaces + 1]int]())
	none(t, orderOf[complex128]())
	none(t, orderOf[[2]downwards]())
	none(t, orderOf[[]downwards]())
}

func none[T any](t *testing.T, n natural[T]) {
	t.Helper()
	require.Nil(t, n.compare(), "%T", *new(T))
}

func TestWhatEqualKeysAre(t *testing.T) {
	require.True(t, orderOf[int]().exact && orderOf[int]().plain && orderOf[int]().equals)
	require.True(t, orderOf[string]().exact && !orderOf[string]().plain && orderOf[string]().equals)
	require.True(t, !orderOf[float32]().exact && orderOf[float32]().plain && orderOf[float32]().equals)
	require.True(t, !orderOf[[2]float64]().exact)
	require.True(t, !orderOf[time.Time]().exact && !orderOf[time.Time]().equals)
	type at struct {
		A string
		T time.Time
	}
	require.True(t, !orderOf[at]().exact && !orderOf[at]().equals && !orderOf[at]().plain)
}

func TestComparingAllocatesNothing(t *testing.T) {
	type key struct {
		A string
		T time.Time
		F netip.Addr
	}
	compare := orderOf[key]().compare()
	byTime := orderOf[time.Time]().compare()
	require.Zero(t, testing.AllocsPerRun(100, func() {
		compare(key{A: "a"}, key{A: "a", F: netip.IPv6Unspecified()})
		byTime(time.Time{}, time.Time{}.Add(1))
	}))
}

// thereAndBack requires that a key comes back from its bytes.
func thereAndBack[T any](t *testing.T, keys ...T) {
	t.Helper()
	compare := orderOf[T]().compare()
	for _, k := range keys {
		b, err := bytesOf(k, compare)
		require.NoError(t, err)
		is, err := fromBytes[T](b)
		require.NoError(t, err)
		require.Zero(t, compare(k, is))
	}
}

func TestKeysComeBackFromBytes(t *testing.T) {
	type key struct {
		Addr netip.Addr
		At   time.Time
		Text string
	}
	thereAndBack(t, key{netip.IPv6Unspecified(), time.Unix(1, 2), "a"}, key{})
	thereAndBack(t, time.Unix(1, 2), time.Time{})
	thereAndBack(t, "", "\x00\xff")
	thereAndBack(t, math.Inf(-1), 0, math.NaN())
	thereAndBack(t, []byte{}, []byte{0, 0xff})
	thereAndBack(t, [2]bool{true, false})

	_, err := bytesOf(struct{ _, hidden time.Time }{hidden: time.Unix(1, 0)}, func(a, b struct{ _, hidden time.Time }) int { return a.hidden.Compare(b.hidden) })
	require.Error(t, err, "JSON does not see it")
	_, err = fromBytes[*int]([]byte("null"))
	require.Error(t, err)
	_, err = fromBytes[string]([]byte{0xff})
	require.NoError(t, err)
	_, err = fromBytes[float64]([]byte{1})
	require.Error(t, err)
}

type downwards uint8

func (a downwards) Compare(b downwards) int { return cmp.Compare(b, a) }
