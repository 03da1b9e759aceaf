package bolt_test

import (
	"errors"
	"math/big"
	"net/netip"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/cow/bolt"
)

type price struct {
	Name  string
	Rat   *big.Rat
	Float big.Float
	Int   *big.Int
}

type embeds struct {
	big.Rat
	N int
}

type hiddenKey struct{ n int }

type skipped struct {
	N   int
	Rat *big.Rat `cbor:"-"`
}

func cborOf[V any](t *testing.T, v V) error {
	t.Helper()
	b, err := bolt.CBOR[V]().Append(nil, v)
	if err != nil {
		return err
	}
	back, err := bolt.CBOR[V]().Decode(b)
	require.NoError(t, err)
	require.Equal(t, v, back)
	return nil
}

// What would come back as another value is an error, wherever it lies.
func TestCBORRefusesWhatItWouldChange(t *testing.T) {
	rat := big.NewRat(1, 3)
	for name, err := range map[string]error{
		"big.Rat,":    cborOf(t, rat),
		"big.Rat, ":   cborOf(t, price{Rat: rat}),
		"big.Float,":  cborOf(t, price{Float: *big.NewFloat(0.5)}),
		"big.Rat,  ":  cborOf(t, []any{1, map[string]any{"a": []price{{}, {Rat: rat}}}}),
		"big.Rat,   ": cborOf(t, embeds{Rat: *rat}),
		"hiddenKey":   cborOf(t, map[hiddenKey]int{{1}: 1}),
		"errorString": cborOf(t, any(errors.New("x"))),
		"Location,":   cborOf(t, time.FixedZone("", 1)),
	} {
		require.ErrorContains(t, err, "all of whose fields are unexported", name)
	}
	for name, err := range map[string]error{
		"int and uint": cborOf(t, map[any]string{1: "int", uint(1): "uint"}),
		"two floats":   cborOf(t, any(map[any]int{float32(0.5): 1, 0.5: 2})),
		"in an array":  cborOf(t, map[[1]any]int{{1}: 1, {int8(1)}: 2}),
	} {
		require.ErrorContains(t, err, "two keys that are one", name)
	}

	require.NoError(t, cborOf(t, price{"a", nil, big.Float{}, big.NewInt(7)}))
	require.NoError(t, cborOf(t, map[any]string{"1": "string", uint64(1): "number"}))
	require.NoError(t, cborOf(t, netip.MustParseAddr("::1")))
	require.NoError(t, cborOf(t, url.URL{Scheme: "http", Host: "h"}))
	require.NoError(t, cborOf(t, map[netip.Addr]int{netip.MustParseAddr("::1"): 1, netip.MustParseAddr("::2"): 2}))
	require.NoError(t, cborOf(t, struct{}{}))
	_, err := bolt.CBOR[skipped]().Append(nil, skipped{1, rat})
	require.NoError(t, err)

	var db cow.DB
	prices := cow.NewTable[string](&db, "prices", cow.Options[*price]{Codec: bolt.CBOR[*price]()})
	_, err = bolt.Open(temp(t), &db, bolt.Options{})
	require.NoError(t, err)
	_, err = prices.Set("ada", &price{Rat: rat})
	require.ErrorContains(t, err, `cow: table "prices": ada: bolt: CBOR of *bolt_test.price: it holds a big.Rat`)
	_, err = prices.Set("ada", &price{Name: "x"})
	require.NoError(t, err)
	require.NoError(t, db.Close())
}
