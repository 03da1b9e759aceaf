package cow

import (
	"context"
	"maps"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow/internal/sink"
)

// A sink that is proposed nothing.
type idleSink struct{ sink.Sink }

func (idleSink) Room(context.Context, int) error { return nil }
func (idleSink) Trim(uint64)                     {}

// A key that is not equal to itself is an error, and what the update did besides
// did not happen.
func TestAKeyThatIsNotEqualToItself(t *testing.T) {
	nan := math.NaN()
	s := NewOne[any](Options[int]{})
	s.Retain(Retention{Versions: 100})
	for i := range 40 {
		_, err := s.Set(float64(i), i)
		require.NoError(t, err)
	}
	require.ErrorIs(t, s.Update(func(e *Editor[any, int]) error {
		e.Set(1.0, 99)
		e.Set(nan, 1)
		return nil
	}), ErrKey)
	_, err := s.Insert(nan, 1)
	require.ErrorIs(t, err, ErrKey)
	_, err = s.Upsert(nan, func(*int, bool) error { return nil })
	require.ErrorIs(t, err, ErrKey)
	rows := maps.All(map[any]int{nan: 1})
	require.ErrorIs(t, s.Sync(rows, func(a, b int) bool { return true }), ErrKey)
	require.ErrorIs(t, s.Replace(rows), ErrKey)
	v := s.Load().Version()
	require.Equal(t, uint64(40), v)
	for i := range 40 {
		_, err := s.Set(float64(1000+i), i)
		require.NoError(t, err)
	}
	old, err := s.At(v)
	require.NoError(t, err)
	require.Equal(t, 40, old.Len())
	require.Len(t, maps.Collect(old.All()), 40)

	db := new(DB)
	a, b := NewTable[int](db, "a", Options[int]{}), NewTable[any](db, "b", Options[int]{})
	require.ErrorIs(t, db.Update(func(tx *Tx) error {
		a.Edit(tx).Set(1, 1)
		b.Edit(tx).Set(nan, 1)
		return nil
	}), ErrKey)
	require.Zero(t, db.Load().Version())
}

// Nor is an update with such a key proposed to a sink.
func TestAKeyThatIsNotEqualToItselfIsNotStored(t *testing.T) {
	db := new(DB)
	a := NewTable[int](db, "a", Options[int]{Codec: bareCodec{}})
	var b *Table[any, int]
	b, _ = NewDerived(db, "b", Options[int]{}, func(tx *Tx, _ *Editor[any, int]) error {
		if a.Edit(tx).Len() > 0 {
			b.Edit(tx).Set(math.NaN(), 1)
		}
		return nil
	})
	l := sink.For(db)
	require.NoError(t, l.Attach(idleSink{}, l.Contents(), func(func(*sink.Commit, error) bool) {}))
	require.ErrorIs(t, db.Update(func(tx *Tx) error { a.Edit(tx).Set(1, 1); return nil }), ErrKey)
	require.Zero(t, db.Load().Version())
}
