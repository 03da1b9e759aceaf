package cow_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/cow/internal/sink"
)

// A stubborn codec has numbers that it does not decode.
type stubborn struct{ bad map[int]func() error }

func (stubborn) Append(b []byte, v int) ([]byte, error) {
	return strconv.AppendInt(b, int64(v), 10), nil
}

func (c stubborn) Decode(b []byte) (int, error) {
	n, err := strconv.Atoi(string(b))
	if f := c.bad[n]; f != nil {
		err = f()
	}
	return n, err
}

type toySink struct{}

func (toySink) Room(context.Context, int) error { return nil }
func (toySink) Propose(*sink.Commit) error      { return errors.New("no") }
func (toySink) Trim(uint64)                     {}
func (toySink) Close() error                    { return nil }

// Rows are decoded by many goroutines: what one finds is the error, and the DB is as it
// was.
func TestRowsAreDecodedTogether(t *testing.T) {
	rows := inShort(45_000, 100_000)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	contents := sink.Contents{Lineage: restored, Version: 7, Rows: func(yield func(sink.Row, error) bool) {
		for i := range rows {
			if !yield(sink.Row{Key: fmt.Append(nil, i), Value: fmt.Append(nil, i), Revision: uint64(1 + i%7)}, nil) {
				return
			}
		}
	}}
	attach := func(bad map[int]func() error) (*cow.Table[string, int], error) {
		db := new(cow.DB)
		table := cow.NewTable[string](db, "t", cow.Options[int]{Codec: stubborn{bad}})
		err := sink.For(db).Attach(toySink{}, contents, nil)
		return table, err
	}
	table, err := attach(nil)
	require.NoError(t, err)
	require.Equal(t, rows, table.Len())
	for k, v := range table.All() {
		require.Equal(t, strconv.Itoa(v), k)
		require.EqualValues(t, 1+v%7, table.Load().Revision(k))
	}

	one, two := errors.New("one"), errors.New("two")
	fails := func(err error) func() error { return func() error { return err } }
	for _, at := range []int{0, 20_000, 40_000, rows - 1} {
		_, err = attach(map[int]func() error{at: fails(one)})
		require.ErrorIs(t, err, one)
		table, err = attach(map[int]func() error{at: func() error { panic(one) }})
		require.ErrorIs(t, err, one)
		require.Zero(t, table.Len())
	}
	_, err = attach(map[int]func() error{9_000: fails(one), 30_000: fails(two)})
	require.ErrorIs(t, err, one, "the first of a batch")
	_, err = attach(map[int]func() error{9_000: func() error { runtime.Goexit(); return nil }})
	require.ErrorContains(t, err, "runtime.Goexit")
}
