package cow_test

import (
	"maps"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow"
)

// A key that is not equal to itself is an error, and what the update did besides
// did not happen.
func TestAKeyThatIsNotEqualToItself(t *testing.T) {
	nan := math.NaN()
	s := cow.New[float64](cow.Options[any]{})
	s.Retain(cow.Retention{Versions: 100})
	for i := range 40 {
		s.Set(float64(i), i)
	}
	require.ErrorIs(t, s.Update(func(e *cow.Editor[float64, any]) error {
		e.Set(1, 99)
		e.Set(nan, 1)
		return nil
	}), cow.ErrKey)
	require.ErrorIs(t, errOf(s.Insert(nan, 1)), cow.ErrKey)
	require.ErrorIs(t, errOf(s.Upsert(nan, func(*any, bool) error { return nil })), cow.ErrKey)
	v := s.Load().Version()
	require.Equal(t, uint64(40), v)
	for i := range 40 {
		s.Set(float64(1000+i), i)
	}
	old, err := s.At(v)
	require.NoError(t, err)
	require.Equal(t, 40, old.Len())
	require.Len(t, maps.Collect(old.All()), 40)

	db := new(cow.DB)
	a, b := cow.NewTable[string](db, "a", cow.Options[int]{}), cow.NewTable[float64](db, "b", cow.Options[any]{})
	require.ErrorIs(t, db.Update(func(tx *cow.Tx) error {
		a.Edit(tx).Set("k", 1)
		b.Edit(tx).Set(nan, 1)
		return nil
	}), cow.ErrKey)
	require.Zero(t, db.Load().Version())
}
