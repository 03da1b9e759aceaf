package cow_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/snapshot"
)

// A replica is what a consumer of a feed makes of it: maps that it replays every
// commit on.
type replica struct {
	version uint64
	maps    []*snapshot.Map[string, int]
}

func replicaOf(s state) *replica { return &replica{s.version, slices.Clone(s.maps)} }

// replay does to r what a commit did, which must fit.
func (r *replica) replay(l timeline, c *cow.Commit) error {
	if c.Version() != r.version+1 {
		return fmt.Errorf("version %d after %d", c.Version(), r.version)
	}
	r.version = c.Version()
	for i, rows := range l.rows(c) {
		if len(rows) == 0 {
			continue
		}
		m := r.maps[i]
		e := snapshot.Builder[string, int]{}.EditAt(new(snapshot.Editor[string, int]), m, c.Version())
		for _, row := range rows {
			was, had := m.Get(row.Key)
			old, hasOld := row.Old()
			v, has := row.New()
			if had != hasOld || was != old || had != (row.Kind != snapshot.Added) || has != (row.Kind != snapshot.Removed) ||
				e.Has(row.Key) != had || e.Revision(row.Key) == c.Version() {
				return fmt.Errorf("version %d: %v %s from %d, %v, to %d, %v; had %d, %v", c.Version(), row.Kind, row.Key, old, hasOld, v, has, was, had)
			}
			if row.Kind == snapshot.Removed {
				e.Delete(row.Key)
			} else {
				e.Set(row.Key, v)
			}
		}
		if r.maps[i] = e.Seal(); r.maps[i] == m {
			return fmt.Errorf("version %d: nothing to replay", c.Version())
		}
	}
	return nil
}

func (r *replica) state() state { return state{version: r.version, maps: r.maps} }

// A follower is a consumer in a goroutine of its own. What it got is to be read
// when it is blocked or has ended.
type follower struct {
	*replica
	got   []*cow.Commit
	err   error
	ended bool
}

func follow(ctx context.Context, l timeline, from state) *follower {
	f := &follower{replica: replicaOf(from)}
	go func() {
		for c, err := range l.changes(ctx, from.version) {
			if err == nil {
				f.got = append(f.got, c)
				err = f.replay(l, c)
			} else if c != nil {
				err = fmt.Errorf("a commit beside %w", err)
			}
			if err != nil {
				f.err = err
			}
		}
		f.ended = true
	}()
	return f
}

// From any version on, the commits lead through every later one to the current.
func TestAFeedLeadsFromAnyVersionToAllLaterOnes(t *testing.T) {
	commits := 60
	if testing.Short() {
		commits = 35
	}
	forTimelines(t, func(t *testing.T, l timeline) {
		l.retain(cow.Retention{Versions: 100})
		c := newChronicle(t, l, 7)
		for i := range commits {
			n := 1 + i%7
			if i%20 == 10 {
				n = 1500
			}
			c.edits(n, 700, false)
		}
		for from := range c.current() {
			s, err := l.at(from)
			require.NoError(t, err)
			r := replicaOf(s)
			stop := from + 1 + c.r.Uint64N(c.current()-from)
			for range 2 { // stop somewhere, and resume there
				if r.version == c.current() {
					break
				}
				for commit, err := range l.changes(t.Context(), r.version) {
					require.NoError(t, err)
					require.NoError(t, r.replay(l, commit))
					requireState(t, commit.Version(), c.past[commit.Version()], r.state())
					if r.version == stop || r.version == c.current() {
						break
					}
				}
				stop = 0
			}
			require.Equal(t, c.current(), r.version)
		}
	})
}

func TestFollowersGetTheNextCommit(t *testing.T) {
	for _, retained := range []bool{false, true} {
		inBubbles(t, func(t *testing.T, l timeline) {
			c := newChronicle(t, l, 3)
			c.edits(9, 50, false)
			if retained {
				l.retain(cow.Retention{Versions: 1})
			}
			ctx, cancel := context.WithCancelCause(t.Context())
			before := runtime.NumGoroutine()
			var all []*follower
			for range 5 {
				all = append(all, follow(ctx, l, l.load()))
			}
			synctest.Wait()
			require.LessOrEqual(t, runtime.NumGoroutine(), before+5)
			require.Equal(t, 5, l.stats().Waiting)
			for range 600 {
				time.Sleep(time.Second)
				c.edits(3, 50, false)
				now := time.Now()
				c.edits(3, 50, true)
				synctest.Wait()
				for _, f := range all {
					require.NoError(t, f.err)
					require.False(t, f.ended)
					requireState(t, c.current(), c.past[c.current()], f.state())
					require.True(t, now.Equal(f.got[len(f.got)-1].Time()))
				}
			}
			cancel(errTest)
			synctest.Wait()
			require.Zero(t, l.stats().Waiting)
			for _, f := range all {
				require.Len(t, f.got, int(c.current()-1))
				require.True(t, f.ended)
				require.Same(t, errTest, f.err)
			}
		})
	}
}

// A context that has ended ends a feed even if there are commits.
func TestAFeedEndsWithItsContext(t *testing.T) {
	inBubbles(t, func(t *testing.T, l timeline) {
		l.retain(cow.Retention{Versions: 100})
		for i := range 5 {
			l.set(t, "a", i)
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		defer cancel(nil)
		n := 0
		for c, err := range l.changes(ctx, 1) {
			n++
			if n == 3 {
				require.Same(t, errTest, err)
				require.Nil(t, c)
				continue
			}
			require.NoError(t, err)
			if n == 2 {
				cancel(errTest)
			}
		}
		require.Equal(t, 3, n)
		timeout, stop := context.WithTimeout(t.Context(), time.Hour)
		defer stop()
		begin := time.Now()
		for _, err := range l.changes(timeout, 5) {
			require.ErrorIs(t, err, context.DeadlineExceeded)
		}
		require.Equal(t, time.Hour, time.Since(begin))
	})
}

// Without Retain there are 256 commits to be late by, with it as many as it
// says.
func TestAFollowerThatIsTooSlowIsTold(t *testing.T) {
	for _, limit := range []int{0, 1, 10} {
		inBubbles(t, func(t *testing.T, l timeline) {
			l.set(t, "a", 0)
			room := 256
			if limit > 0 {
				room = limit
				l.retain(cow.Retention{Versions: limit})
			}
			late := func(n int) error {
				next, stop := iter.Pull2(l.changes(t.Context(), l.load().version))
				defer stop()
				go func() {
					time.Sleep(time.Second)
					l.set(t, "a", 1)
				}()
				_, err, _ := next()
				require.NoError(t, err)
				for i := range n {
					l.set(t, "a", i)
				}
				c, err, _ := next()
				if err != nil {
					_, _, more := next()
					require.False(t, more)
					return err
				}
				require.Equal(t, l.load().version-uint64(n)+1, c.Version())
				return nil
			}
			require.NoError(t, late(room))
			require.ErrorIs(t, late(room+1), cow.ErrCompacted)
			require.NoError(t, late(room), "a new one begins anew")
			require.Equal(t, room, l.stats().Retained)
		})
	}
}

func TestAFeedFromThePastThatIsNotThere(t *testing.T) {
	inBubbles(t, func(t *testing.T, l timeline) {
		for i := range 5 {
			l.set(t, "a", i)
		}
		first := func(since uint64) (c *cow.Commit, err error) {
			for c, err = range l.changes(t.Context(), since) {
				break
			}
			return c, err
		}
		// Nothing was kept before the first iteration, which makes no difference
		// to one that has not begun.
		l.changes(t.Context(), 5)
		require.Zero(t, l.stats().Retained)
		l.set(t, "a", 5)
		require.Zero(t, l.stats().Retained)
		for since := range uint64(6) {
			_, err := first(since)
			require.ErrorIs(t, err, cow.ErrCompacted)
		}
		l.set(t, "a", 6)
		c, err := first(6)
		require.NoError(t, err)
		require.Equal(t, uint64(7), c.Version())
		_, err = first(5)
		require.ErrorIs(t, err, cow.ErrCompacted)

		// One from the future may be of another past.
		_, err = first(8)
		require.ErrorIs(t, err, cow.ErrUnpublished)
		f := follow(t.Context(), l, l.load())
		l.set(t, "a", 7)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		g := follow(ctx, l, l.load())
		synctest.Wait()
		require.Len(t, f.got, 1)

		// Retain without limits ends them all at the next commit.
		l.retain(cow.Retention{})
		l.set(t, "a", 8)
		synctest.Wait()
		for _, f := range []*follower{f, g} {
			require.True(t, f.ended)
			require.ErrorIs(t, f.err, cow.ErrCompacted)
		}
		require.Empty(t, g.got)

		// And so it does if history is on again before they look.
		l.retain(cow.Retention{Versions: 100})
		l.set(t, "a", 8)
		h := follow(ctx, l, l.load())
		synctest.Wait()
		l.retain(cow.Retention{})
		l.set(t, "a", 9)
		l.retain(cow.Retention{Versions: 100})
		l.set(t, "a", 10)
		synctest.Wait()
		require.ErrorIs(t, h.err, cow.ErrCompacted)
		require.Empty(t, h.got)
	})
}

// The last commit is there for those who wait for it, however large.
func TestALargeCommitReachesItsFollowers(t *testing.T) {
	rows := 20_000
	inBubbles(t, func(t *testing.T, l timeline) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		f := follow(ctx, l, l.load())
		for round := 1; round <= 3; round++ {
			synctest.Wait()
			require.NoError(t, l.update(func(edit func(int) *cow.Editor[string, int]) error {
				for i := range rows {
					edit(i%l.tables).Set(fmt.Sprint("a key of some length ", i), i+round)
				}
				return nil
			}))
			synctest.Wait()
			require.NoError(t, f.err)
			require.Len(t, f.got, round)
			n := 0
			for _, rows := range l.rows(f.got[round-1]) {
				n += len(rows)
			}
			require.Equal(t, rows, n)
		}
		require.Greater(t, l.stats().HeldBytes, 1<<20, "more than is kept otherwise")
		require.Equal(t, 1, l.stats().Retained)
	})
}

// A commit shows the net change of each key, once.
func TestACommitShowsNetChanges(t *testing.T) {
	forTimelines(t, func(t *testing.T, l timeline) {
		l.retain(cow.Retention{Versions: 10})
		require.NoError(t, l.update(func(edit func(int) *cow.Editor[string, int]) error {
			for i, k := range []string{"same", "twice", "gone", "back", "left"} {
				edit(0).Set(k, i)
			}
			return nil
		}))
		require.NoError(t, l.update(func(edit func(int) *cow.Editor[string, int]) error {
			e := edit(0)
			e.Set("passing", 1)
			e.Delete("passing")
			e.Set("same", 0) // an equal value
			e.Set("twice", 10)
			e.Set("twice", 11)
			e.Set("gone", 12)
			e.Delete("gone")
			e.Delete("back")
			e.Set("back", 3)
			e.Set("new", 1)
			e.Set("new", 2)
			return nil
		}))
		for c, err := range l.changes(t.Context(), 1) {
			require.NoError(t, err)
			var got []string
			for _, row := range l.rows(c)[0] {
				old, hadOld := row.Old()
				v, hasNew := row.New()
				got = append(got, fmt.Sprint(row.Kind, " ", row.Key, " ", old, hadOld, " ", v, hasNew))
			}
			slices.Sort(got)
			require.Equal(t, []string{
				"added new 0 false 2 true", "changed back 3 true 3 true", "changed same 0 true 0 true",
				"changed twice 1 true 11 true", "removed gone 2 true 0 false",
			}, got)
			break
		}
	})
}

func TestRowsOfACommitOfSomethingElse(t *testing.T) {
	const message = "cow: Rows of a Commit of another DB: it must be of the table's own, or of a fork"
	s := cow.NewOne[string](cow.Options[int]{})
	db := new(cow.DB)
	table := cow.NewTable[string](db, "t", cow.Options[int]{})
	require.Equal(t, message, panicOf(func() { s.Rows(new(cow.Commit)) }))
	require.Equal(t, message, panicOf(func() { table.Rows(new(cow.Commit)) }))
	of := func(seq iter.Seq2[*cow.Commit, error], write func()) *cow.Commit {
		write()
		next, stop := iter.Pull2(seq)
		defer stop()
		c, err, _ := next()
		require.NoError(t, err)
		return c
	}
	s.Retain(cow.Retention{Versions: 1})
	db.Retain(cow.Retention{Versions: 1})
	ofStore := of(s.Changes(t.Context(), 0), func() { s.Set("a", 1) })
	ofDB := of(db.Changes(t.Context(), 0), func() {
		_ = db.Update(func(tx *cow.Tx) error { table.Edit(tx).Set("a", 1); return nil })
	})
	require.Equal(t, message, panicOf(func() { s.Rows(ofDB) }))
	require.Equal(t, message, panicOf(func() { table.Rows(ofStore) }))
	require.Equal(t, message, panicOf(func() { cow.NewOne[string](cow.Options[int]{}).Rows(ofStore) }))
	require.Len(t, slices.Collect(s.Fork(s.Load()).Rows(ofStore)), 1)
	for range table.Rows(ofDB) {
		break // early
	}
}

func TestAFeedInsideAnUpdatePanics(t *testing.T) {
	noDeadlock(t)
	s := cow.NewOne[string](cow.Options[int]{})
	s.Set("a", 1)
	require.NoError(t, s.Update(func(e *cow.Editor[string, int]) error {
		requireNested(t, "an iteration over Changes", func() {
			for range s.Changes(t.Context(), 0) {
			}
		})
		return nil
	}))
	s.Retain(cow.Retention{Versions: 2})
	s.Set("a", 2)
	require.NoError(t, s.Update(func(e *cow.Editor[string, int]) error {
		requireNested(t, "an iteration over Changes", func() {
			for _, err := range s.Changes(t.Context(), 1) {
				require.NoError(t, err) // version 2 is there; 3 it would wait for
			}
		})
		return nil
	}))
}

// Fast and slow consumers beside writers: whoever falls behind is told, and
// begins again with a snapshot. In the end all have the same.
func TestReplicasBesideWritersConverge(t *testing.T) {
	noDeadlock(t)
	const writers, followers = 4, 4
	each := 1500
	if raceEnabled {
		each = 300
	}
	for _, limit := range []int{0, 5, 1 << 20} {
		forTimelines(t, func(t *testing.T, l timeline) {
			if limit > 0 {
				l.retain(cow.Retention{Versions: limit})
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var all sync.WaitGroup
			errs := make([]error, followers)
			restarts := make([]int, followers)
			replicas := make([]*replica, followers)
			end := uint64(writers * each)
			for i := range followers {
				all.Go(func() {
					for ; ; restarts[i]++ {
						r := replicaOf(l.load())
						replicas[i] = r
						if r.version == end {
							return
						}
						for c, err := range l.changes(ctx, r.version) {
							if err != nil {
								errs[i] = err
								break
							}
							if errs[i] = r.replay(l, c); errs[i] != nil || r.version == end {
								return
							}
							if i == 0 && c.Version()%64 == 0 {
								time.Sleep(time.Millisecond) // the slow one
							}
						}
						if !errors.Is(errs[i], cow.ErrCompacted) {
							return
						}
						errs[i] = nil
					}
				})
			}
			together(writers, func(w int) {
				r := rand.New(rand.NewPCG(uint64(w), 0))
				for i := range each {
					_ = l.update(func(edit func(int) *cow.Editor[string, int]) error {
						e := edit(r.IntN(l.tables))
						if k := fmt.Sprint(r.IntN(100)); !e.Delete(k) || r.IntN(2) == 0 {
							e.Set(k, i)
						}
						e.Set("always", i)
						return nil
					})
				}
			})
			all.Wait()
			now := l.load()
			require.Equal(t, end, now.version)
			for i, r := range replicas {
				require.NoError(t, errs[i])
				if limit > int(end) {
					require.Zero(t, restarts[i])
				}
				require.Equal(t, end, r.version)
				for table, m := range now.maps {
					want := page{map[string]cell{}, m.Version()}
					for row := range m.Rows() {
						want.cells[row.Key()] = cell{row.Value(), row.Revision()}
					}
					requireMap(t, want, r.maps[table])
				}
			}
		})
	}
}
