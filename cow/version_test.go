package cow_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow"
)

// A bank is accounts in two tables, between which money is moved, and a third
// table with the version that moved some last.
type bank struct {
	// move runs one update. end says how it ends after half of the work; a
	// version of 0 means that it published nothing.
	move func(from, to, amount int, end func() error) (version uint64)
	// read returns the version of one snapshot and what is in it.
	read func() (version uint64, check func() (sum, stamp int))
	wait func(after uint64) (version uint64)
	ops  int64 // reads of the store in one check
}

const accounts = 8 // a table

func dbBank(t *testing.T) bank {
	db := new(cow.DB)
	a := cow.NewTable[string](db, "a", cow.Options[int]{})
	b := cow.NewTable[int](db, "b", cow.Options[[]int]{})
	stamps := cow.NewTable[string](db, "stamps", cow.Options[int]{})
	return bank{
		ops: 2*accounts + 2,
		move: func(from, to, amount int, end func() error) (version uint64) {
			err := db.Update(func(tx *cow.Tx) error {
				err := a.Edit(tx).Upsert(strconv.Itoa(from), func(v *int, _ bool) error { *v -= amount; return nil })
				if err := errors.Join(err, end()); err != nil {
					return err
				}
				version = tx.Version()
				stamps.Edit(tx).Set("last", int(version))
				return b.Edit(tx).Upsert(to, func(v *[]int, found bool) error {
					if !found {
						*v = []int{0}
					}
					(*v)[0] += amount
					return nil
				})
			})
			if err != nil {
				return 0
			}
			return version
		},
		read: func() (uint64, func() (sum, stamp int)) {
			s := db.Load()
			return s.Version(), func() (sum, stamp int) {
				ma, mb := a.In(s), b.In(s).Shared()
				for i := range accounts {
					v, _ := ma.Get(strconv.Itoa(i))
					sum += v
					if v, ok := mb.Get(i); ok {
						sum += v[0]
					}
				}
				stamp, _ = stamps.In(s).Get("last")
				return sum, stamp
			}
		},
		wait: func(after uint64) uint64 {
			s, err := db.Wait(t.Context(), after)
			if err != nil {
				t.Error(err)
			}
			return s.Version()
		},
	}
}

func aloneBank(t *testing.T) bank {
	s := cow.NewOne[string](cow.Options[int]{})
	return bank{
		ops: 2*accounts + 2,
		move: func(from, to, amount int, end func() error) (version uint64) {
			err := s.Update(func(e *cow.Editor[string, int]) error {
				err := e.Upsert(strconv.Itoa(from), func(v *int, _ bool) error { *v -= amount; return nil })
				if err := errors.Join(err, end()); err != nil {
					return err
				}
				version = e.Version()
				e.Set("last", int(version))
				return e.Upsert(strconv.Itoa(accounts+to), func(v *int, _ bool) error { *v += amount; return nil })
			})
			if err != nil {
				return 0
			}
			return version
		},
		read: func() (uint64, func() (sum, stamp int)) {
			m := s.Load()
			return m.Version(), func() (sum, stamp int) {
				for i := range 2 * accounts {
					v, _ := m.Get(strconv.Itoa(i))
					sum += v
				}
				stamp, _ = m.Get("last")
				return sum, stamp
			}
		},
		wait: func(after uint64) uint64 {
			m, err := s.Wait(t.Context(), after)
			if err != nil {
				t.Error(err)
			}
			return m.Version()
		},
	}
}

// Under load, versions are dense, no money appears or is lost in any
// snapshot, and whoever begins after somebody else has returned sees no less
// than that one saw.
func TestVersionsUnderLoad(t *testing.T) {
	for name, open := range map[string]func(*testing.T) bank{"alone": aloneBank, "DB": dbBank} {
		t.Run(name, func(t *testing.T) {
			noDeadlock(t)
			checkVersions(t, open(t))
		})
	}
}

func checkVersions(t *testing.T, b bank) {
	const writers, readers = 3, 3
	moves, reads := 60_000, 200_000 // each
	if raceEnabled {
		moves, reads = 1500, 6000
	}
	var seen atomic.Uint64 // the highest version that anybody saw or published and told of
	tell := func(version uint64) {
		for {
			highest := seen.Load()
			if version <= highest || seen.CompareAndSwap(highest, version) {
				return
			}
		}
	}
	published := make([][]uint64, writers)
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			random := rand.New(rand.NewPCG(3, uint64(w)))
			for i := range moves {
				before := seen.Load()
				version := uint64(0)
				end := func() error { return nil }
				switch i % 16 {
				case 1:
					end = func() error { return errTest }
				case 2:
					end = func() error { panic(errTest) }
				}
				_ = panicOf(func() {
					version = b.move(random.IntN(accounts), random.IntN(accounts), random.IntN(100), end)
				})
				if fails := i%16 == 1 || i%16 == 2; fails != (version == 0) {
					t.Errorf("update %d: version %d", i, version)
				}
				if version == 0 {
					continue
				}
				if version <= before {
					t.Errorf("published version %d after %d was seen", version, before)
				}
				if now, _ := b.read(); now < version {
					t.Errorf("read version %d after publishing %d", now, version)
				}
				tell(version)
				published[w] = append(published[w], version)
			}
		})
	}
	var ops atomic.Int64
	for range readers {
		all.Go(func() {
			_, old := b.read()
			oldSum, oldStamp := old()
			for i := range reads {
				before := seen.Load()
				version, check := b.read()
				if version < before {
					t.Errorf("read version %d after %d was seen", version, before)
				}
				tell(version)
				if sum, stamp := check(); sum != 0 || uint64(stamp) != version {
					t.Errorf("sum %d and version %d in version %d", sum, stamp, version)
				}
				if i%1000 == 0 {
					if sum, stamp := old(); sum != oldSum || stamp != oldStamp {
						t.Errorf("an old snapshot changed: sum %d, version %d", sum, stamp)
					}
					old = check
					oldSum, oldStamp = old()
				}
				if t.Failed() {
					return
				}
			}
			ops.Add(int64(reads) * b.ops)
		})
	}
	last := uint64(0)
	for i := range moves {
		if i%16 != 1 && i%16 != 2 {
			last += writers
		}
	}
	all.Go(func() {
		for version := uint64(0); version < last; {
			before := seen.Load()
			next := b.wait(version)
			if next <= version || next < before {
				t.Errorf("waited for more than %d, saw %d, got %d", version, before, next)
				return
			}
			tell(next)
			version = next
		}
	})
	all.Wait()

	var versions []uint64
	for _, p := range published {
		require.True(t, slices.IsSorted(p))
		versions = append(versions, p...)
	}
	slices.Sort(versions)
	require.Len(t, versions, int(last))
	for i, v := range versions {
		require.Equal(t, uint64(i+1), v)
	}
	version, check := b.read()
	require.Equal(t, last, version)
	sum, stamp := check()
	require.Zero(t, sum)
	require.Equal(t, last, uint64(stamp))
	if !raceEnabled {
		require.Greater(t, ops.Load(), int64(10_000_000))
	}
}
