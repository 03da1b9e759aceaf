package index

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/snapshot"
)

// Of rows that are refused the one with the lowest key is told, whatever came when; and none
// once they are gone.
func TestTheFirstRefusedRowIsTold(t *testing.T) {
	negative := errors.New("negative")
	x := NewCompared("x", func(r snapshot.Row[int, int], add func(int)) error {
		if r.Value() < 0 {
			return negative
		}
		add(r.Value())
		return nil
	}, Options[int]{}, nil)
	add := x.Adder()
	list, m, err := add(nil, snapshot.New[int](snapshot.Options[int]{}))
	require.NoError(t, err)
	base := m
	for n := range 100 {
		e := base.Edit()
		for i := range 50 {
			e.Set((i*37+n)%50, -1)
		}
		e.Set(60, 1)
		changes := snapshot.Builder[int, int]{}.Net(e, nil)
		_, err := Next(Step[int, int]{Base: base, Next: e.Seal(), Changes: changes, Edit: e}, list, nil)
		var of *snapshot.KeyError[int]
		require.ErrorAs(t, err, &of)
		require.ErrorIs(t, err, negative)
		require.Zero(t, of.Key)
	}
	e := base.Edit()
	for i := range 50 {
		e.Set(i, -1)
		require.Equal(t, 0, len(all(x.During(e))), "refused rows are in no index")
	}
	for i := range 50 {
		e.Set(i, i)
		require.Equal(t, i+1, len(all(x.During(e))))
	}
}

func all(s Span[int, int, int]) (keys []int) {
	s.Each(func(i int, _ snapshot.Row[int, int]) bool { keys = append(keys, i); return true })
	return keys
}
