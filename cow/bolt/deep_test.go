package bolt_test

import (
	"bytes"
	"path/filepath"
	"testing"
	"time"

	"github.com/fxamacker/cbor/v2"
	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/cow/bolt"
	"github.com/cowstore/cowstore/snapshot/depth"
	"github.com/cowstore/cowstore/snapshot/snapshottest/deeptest"
)

// A dated has two levels of CBOR for one of its own: a time has a tag.
type dated struct {
	At   time.Time
	Next *dated
}

func datedOf(levels int) (d *dated) {
	for range levels {
		d = &dated{time.Unix(1, 2).UTC(), d}
	}
	return d
}

func TestDeepValues(t *testing.T) {
	if !deeptest.Apart(t) {
		return
	}
	for name, v := range deeptest.Values(deeptest.Levels()) {
		deeptest.Doing("%s", name)
		_, err := bolt.CBOR[any]().Append(nil, v)
		require.ErrorIs(t, err, cow.ErrTooDeep)
	}
	link := deeptest.LinkOf(deeptest.Levels())
	_, err := bolt.CBOR[map[*deeptest.Link]int]().Append(nil, map[*deeptest.Link]int{link: 1})
	require.ErrorIs(t, err, cow.ErrTooDeep)
	loop := &deeptest.Link{}
	loop.Next = loop
	_, err = bolt.CBOR[*deeptest.Link]().Append(nil, loop)
	require.ErrorIs(t, err, cow.ErrTooDeep)

	deeptest.Doing("a file")
	path := filepath.Join(t.TempDir(), "db")
	var db, again cow.DB
	o := cow.Options[*deeptest.Link]{Codec: bolt.CBOR[*deeptest.Link]()}
	users := cow.NewTable[string](&db, "users", o)
	_, err = bolt.Open(path, &db, bolt.Options{})
	require.NoError(t, err)
	_, err = users.Set("ada", link)
	require.ErrorIs(t, err, cow.ErrTooDeep)
	require.ErrorContains(t, err, `table "users": ada: `)
	_, err = users.Set("bob", deeptest.LinkOf(1000))
	require.NoError(t, err)
	require.NoError(t, db.Close())
	users = cow.NewTable[string](&again, "users", o)
	_, err = bolt.Open(path, &again, bolt.Options{})
	require.NoError(t, err)
	require.Equal(t, 1, users.Len())
	require.NoError(t, again.Close())
}

// What is stored can be read again: a file whose rows cannot be decoded does not open.
func TestTenThousandLevelsAreStored(t *testing.T) {
	for name, v := range deeptest.Values(depth.Limit) {
		b, err := bolt.CBOR[any]().Append(nil, v)
		if err != nil {
			require.ErrorIs(t, err, cow.ErrTooDeep, name)
			require.Contains(t, []string{"a list and a map", "a list, in a list"}, name, "of more levels")
			continue
		}
		_, err = bolt.CBOR[any]().Decode(b)
		require.NoError(t, err, name)
	}
	b, err := bolt.CBOR[*dated]().Append(nil, datedOf(depth.Limit))
	require.NoError(t, err)
	back, err := bolt.CBOR[*dated]().Decode(b)
	require.NoError(t, err)
	n := 0
	for ; back != nil; back = back.Next {
		require.Equal(t, time.Unix(1, 2).UTC(), back.At.UTC())
		n++
	}
	require.Equal(t, depth.Limit, n)
	_, err = bolt.CBOR[*dated]().Append(nil, datedOf(depth.Limit+1))
	require.ErrorIs(t, err, cow.ErrTooDeep)
	raw := cbor.RawMessage(append(bytes.Repeat([]byte{0x81}, 3*depth.Limit), 0))
	_, err = bolt.CBOR[cbor.RawMessage]().Append([]byte("before"), raw)
	require.ErrorIs(t, err, cow.ErrTooDeep, "it could not be decoded")
	_, err = bolt.CBOR[cbor.RawMessage]().Append([]byte("before"), raw[depth.Limit:])
	require.NoError(t, err)
	for _, begin := range []byte{0x81, 0xc1, 0xa1, 0x9f} { // a list, a tag, a map, a list without its length
		b := bytes.Repeat([]byte{begin}, 10*depth.Limit)
		_, err := bolt.CBOR[any]().Decode(append(b, 0))
		require.Error(t, err)
	}
}
