package cow

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/snapshot"
)

// A lease is a value that may expire.
type lease struct {
	User  string
	Until time.Time
}

func leases() Options[lease] {
	return Options[lease]{Expires: func(l lease) time.Time { return l.Until }}
}

func in(d time.Duration) lease { return lease{Until: time.Now().Add(d)} }

// A row that has expired is there until it is swept, which is an update like any other.
func TestExpiredRowsAreSwept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := new(DB)
		other := NewTable[int](db, "other", Options[string]{})
		rows := NewTable[string](db, "leases", leases())
		byUser, err := NewIndex(rows, "user", func(r Row[string, lease]) string { return r.Value().User }, IndexOptions[string]{})
		require.NoError(t, err)
		db.Retain(Retention{Versions: 10})
		rows.Set("never", lease{User: "ada"})
		rows.Set("late", in(time.Hour))
		before, _ := rows.Set("soon", in(time.Minute))
		other.Set(1, "a")
		require.False(t, db.Load().Due())
		n, err := db.Sweep(t.Context())
		require.NoError(t, err)
		require.Zero(t, n)
		require.EqualValues(t, 4, db.Load().Version(), "nothing to sweep is no update")

		time.Sleep(time.Minute - 1)
		require.False(t, db.Load().Due())
		time.Sleep(time.Nanosecond)
		require.True(t, db.Load().Due())
		require.True(t, rows.Has("soon"), "until it is swept")
		other.Set(2, "b")
		require.True(t, db.Load().Due(), "still")
		watched, stop := db.Notify(db.Load(), rows.OnKeys("soon"))
		defer stop()

		n, err = db.Sweep(t.Context())
		require.NoError(t, err)
		require.Equal(t, 1, n)
		require.EqualValues(t, 6, db.Load().Version())
		require.False(t, db.Load().Due())
		require.Equal(t, 2, rows.Len())
		require.Equal(t, 1, byUser.In(rows.Load()).Equal("").Len())
		<-watched
		for c, err := range db.Commits(5) {
			require.NoError(t, err)
			for change := range rows.Rows(c) {
				require.Equal(t, snapshot.Removed, change.Kind)
				require.Equal(t, "soon", change.Key)
			}
		}
		was, err := db.At(before)
		require.NoError(t, err)
		require.True(t, rows.In(was).Has("soon"))
		require.True(t, was.Due())
		at, row, ok := rows.Expiry().In(rows.Load()).First()
		require.True(t, ok)
		require.Equal(t, "late", row.Key())
		require.Equal(t, row.Value().Until.UnixNano(), at)

		// A program sweeps in an update of its own.
		time.Sleep(time.Hour)
		require.NoError(t, db.Update(func(tx *Tx) error {
			require.Equal(t, 1, rows.Expiry().During(rows.Edit(tx)).Through(time.Now().UnixNano()).Limit(5).Delete())
			return nil
		}))
		require.False(t, db.Load().Due())
		require.Equal(t, 1, rows.Len())
	})
}

// A thousand rows go at once, and others come in between.
func TestSweepsGoInSteps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := new(DB)
		a, b := NewTable[string](db, "a", leases()), NewTable[string](db, "b", leases())
		require.NoError(t, db.Update(func(tx *Tx) error {
			for i := range 700 {
				a.Edit(tx).Set(fmt.Sprint(i), in(time.Second))
				b.Edit(tx).Set(fmt.Sprint(i), in(time.Second))
				b.Edit(tx).Set(fmt.Sprint(-i-1), in(time.Second))
			}
			return nil
		}))
		time.Sleep(time.Second)
		version := db.Load().Version()
		n, err := db.Sweep(t.Context())
		require.NoError(t, err)
		require.Equal(t, 2100, n)
		require.Equal(t, version+3, db.Load().Version())
		require.Zero(t, db.Load().Len())

		// An error keeps what was swept before it.
		refused := errors.New("refused")
		follower := func(tx *Tx, e *Editor[string, int]) error {
			if b.During(tx).Len() < 700 && b.In(tx.Base()).Len() > 0 {
				return refused
			}
			return nil
		}
		_, err = NewDerived(db, "derived", Options[int]{}, follower)
		require.NoError(t, err)
		require.NoError(t, db.Update(func(tx *Tx) error {
			for i := range 1000 {
				a.Edit(tx).Set(fmt.Sprint(i), in(time.Second))
				b.Edit(tx).Set(fmt.Sprint(i), in(time.Second))
			}
			return nil
		}))
		time.Sleep(time.Second)
		n, err = db.Sweep(t.Context())
		require.ErrorIs(t, err, refused)
		require.Equal(t, 1000, n)
		require.Equal(t, 1000, db.Load().Len())
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(refused)
		n, err = db.Sweep(ctx)
		require.Zero(t, n)
		require.ErrorIs(t, err, refused)
	})
}

func TestSweepEvery(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rows := New[string](leases())
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- rows.DB().SweepEvery(ctx, time.Minute) }()
		rows.Set("soon", in(time.Second))
		rows.Set("late", in(90*time.Second))
		time.Sleep(61 * time.Second)
		require.Equal(t, 1, rows.Len())
		time.Sleep(time.Minute)
		require.Zero(t, rows.Len())
		require.EqualValues(t, 4, rows.DB().Load().Version())
		cancel()
		require.ErrorIs(t, <-ended, context.Canceled)
		require.PanicsWithValue(t, "cow: SweepEvery with a duration of 0s, which is not positive: to sweep once, call Sweep", func() { _ = rows.DB().SweepEvery(ctx, 0) })
	})
}

// Whatever happens to rows, at each moment a version is due if a row of it has expired.
func TestDueIsWhenARowHasExpired(t *testing.T) {
	steps := 3000
	for seed := range uint64(4) {
		synctest.Test(t, func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 1))
			db := new(DB)
			tables := []*Table[string, lease]{NewTable[string](db, "a", leases()), NewTable[string](db, "b", leases())}
			plain := NewTable[string](db, "c", Options[int]{})
			db.Retain(Retention{Versions: 50})
			due := func(s *Snapshot) bool {
				for _, a := range tables {
					for _, l := range a.In(s).All() {
						if !l.Until.IsZero() && !l.Until.After(time.Now()) {
							return true
						}
					}
				}
				return false
			}
			var held []*Snapshot
			for range steps {
				a := tables[r.IntN(2)].Of(db)
				key := fmt.Sprint(r.IntN(8))
				switch r.IntN(12) {
				case 0, 1, 2:
					a.Set(key, in(time.Duration(r.Int64N(int64(math.Pow(10, 3+float64(r.IntN(12))))))))
				case 3:
					a.Set(key, lease{})
				case 4:
					a.Delete(key)
				case 5:
					plain.Of(db).Set(key, r.Int())
				case 6:
					_, err := db.Sweep(t.Context())
					require.NoError(t, err)
					require.False(t, due(db.Load()))
				case 7:
					require.NoError(t, db.Update(func(tx *Tx) error {
						for _, a := range tables {
							a.Edit(tx).Set(key, in(time.Duration(r.IntN(1e9))))
						}
						return nil
					}))
				case 8:
					time.Sleep(time.Duration(r.Int64N(int64(math.Pow(10, 3+float64(r.IntN(12)))))))
				case 9:
					held = append(held, db.Load())
				case 10:
					if v := db.Load().Version(); v > 0 && r.IntN(3) == 0 {
						if s, err := db.At(v - min(v, r.Uint64N(20))); err == nil {
							held = append(held, s)
							db = db.Fork(s)
							db.Retain(Retention{Versions: 50})
							require.True(t, db.Load().Due() || !due(db.Load()))
							plain.Of(db).Set(key, 1)
							tables[0].Of(db).Set(key, in(time.Hour))
							tables[1].Of(db).Set(key, in(time.Hour))
						}
					}
				default:
					time.Sleep(time.Duration(r.IntN(5000)))
				}
				require.Equal(t, due(db.Load()), db.Load().Due())
				if len(held) > 0 {
					s := held[r.IntN(len(held))]
					require.True(t, s.Due() || !due(s), "of a past version")
				}
			}
		})
	}
}

// Who loads the current version, and finds nothing due in it, sees no row that had expired by
// then: whatever is written and swept meanwhile.
func TestNothingExpiredIsShownBesideWrites(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rows := New[string](leases())
		db := rows.DB()
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		defer cancel()
		for w := range 2 {
			go func() {
				r := rand.New(rand.NewPCG(1, uint64(w)))
				for ctx.Err() == nil {
					rows.Set(fmt.Sprint(r.IntN(100)), in(time.Duration(r.IntN(3e7))))
					if r.IntN(10) == 0 {
						_, _ = db.Sweep(ctx)
					}
					time.Sleep(time.Duration(r.IntN(1e5)))
				}
			}()
		}
		asked := 0
		for ctx.Err() == nil {
			now := time.Now()
			if s := db.Load(); !s.Due() {
				for _, l := range rows.In(s).All() {
					require.True(t, l.Until.After(now))
				}
				asked++
			}
			time.Sleep(1e4)
		}
		require.Positive(t, asked)
		time.Sleep(time.Millisecond) // until the writers have ended
	})
}

func TestTimesAtTheEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rows := New[string](leases())
		for name, until := range map[string]time.Time{
			"before": time.Unix(0, math.MinInt64).Add(-time.Hour), "first": time.Unix(0, math.MinInt64), "epoch": time.Unix(0, 0),
			"last": time.Unix(0, math.MaxInt64), "after": time.Unix(0, math.MaxInt64).Add(1), "year 1": {}, "year 0": time.Time{}.Add(-1),
		} {
			rows.Set(name, lease{Until: until})
		}
		require.True(t, rows.DB().Load().Due())
		n, err := rows.DB().Sweep(t.Context())
		require.NoError(t, err)
		require.Equal(t, 4, n)
		require.ElementsMatch(t, []string{"last", "after", "year 1"}, keysOf(rows))
		rows.Set("epoch", lease{Until: time.Unix(0, 0)})
		require.True(t, rows.DB().Load().Due())
		_, err = rows.DB().Sweep(t.Context())
		require.NoError(t, err)
		require.Equal(t, 3, rows.Len())
	})
}

func keysOf(rows *Table[string, lease]) (keys []string) {
	for k := range rows.Load().Keys() {
		keys = append(keys, k)
	}
	return keys
}

// What cannot expire says how it could.
func TestMisuseOfExpiry(t *testing.T) {
	require.PanicsWithValue(t, "cow: Expiry of the table, whose rows do not expire: make it with Options.Expires", func() {
		New[int](Options[int]{}).Expiry()
	})
	db := new(DB)
	require.PanicsWithValue(t, `cow: table "x" is derived, and so has no Expires: let rows expire that it follows from`, func() {
		_, _ = NewDerived(db, "x", leases(), func(*Tx, *Editor[string, lease]) error { return nil })
	})
	require.PanicsWithValue(t, "cow: Options.Expires needs keys that have an order of their own, and interface {} has none: see NewIndex for those that have", func() {
		New[any](Options[int]{Expires: func(int) time.Time { return time.Time{} }})
	})
	require.Empty(t, db.catalog().all())
	var zero Table[string, lease]
	require.Panics(t, func() { zero.Expiry() })
	require.False(t, (*Snapshot)(nil).Due())
}
