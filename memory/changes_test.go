package memory_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/memory"
)

// changesTo returns the changes of versions above since, up to one.
func changesTo(t testing.TB, seq func(ctx context.Context, since uint64) func(func(memory.Change, error) bool), since, to uint64) []memory.Change {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Second) // of the fake clock
	defer cancel()
	all := []memory.Change{}
	for c, err := range seq(ctx, since) {
		if err != nil {
			require.ErrorIs(t, err, context.DeadlineExceeded)
			require.Zero(t, c)
			break
		}
		if c.Version > to {
			break
		}
		all = append(all, c)
	}
	return all
}

func ofMemory(m *memory.Memory) func(context.Context, uint64) func(func(memory.Change, error) bool) {
	return func(ctx context.Context, since uint64) func(func(memory.Change, error) bool) {
		return m.Changes(ctx, since)
	}
}

func ofSpace(s memory.Space) func(context.Context, uint64) func(func(memory.Change, error) bool) {
	return func(ctx context.Context, since uint64) func(func(memory.Change, error) bool) {
		return s.Changes(ctx, since)
	}
}

// content returns the entries of all spaces, by path and key.
func content(s memory.Snapshot) map[string]memory.Entry {
	all := make(map[string]memory.Entry)
	for path := range s.Spaces(memory.SpacesOptions{}) {
		for e := range s.Space(path...).List(memory.ListOptions{}) {
			all[fmt.Sprintf("%q %q", path, e.Key)] = e
		}
	}
	return all
}

// Replayed from any version, the changes make each later one.
func TestReplayingChangesGivesEachVersion(t *testing.T) {
	for seed := range uint64(2) {
		synctest.Test(t, func(t *testing.T) {
			x := &modelTest{t: t, r: rand.New(rand.NewPCG(seed, 77)), m: memory.New(memory.Options{MaxEntries: 25}), model: model{}, options: map[string]memory.SpaceOptions{}, limit: math.MaxInt, tick: new(uint64)}
			m, r := x.m, x.r
			m.DB().Retain(cow.Retention{Versions: 1000})
			versions := []map[string]memory.Entry{{}} // with what has expired and is not swept
			times := []time.Time{{}}
			for range quicker(150) {
				time.Sleep(time.Second)
				_ = m.Batch(func(b *memory.Batch) error {
					for range 1 + r.IntN(5) {
						p := modelPaths[modelSpaces[r.IntN(len(modelSpaces))]]
						s, key := b.Space(p...), modelKeys[r.IntN(len(modelKeys))]
						switch r.IntN(6) {
						case 0:
							s.Delete(key)
						case 1:
							_ = s.PutVector(key, []float32{1, float32(r.IntN(9))}, nil)
						case 2:
							_ = s.PutItem(key, memory.Item{Value: r.IntN(9), TTL: 5 * time.Second})
						case 3:
							_ = s.Put(key, 1)
							s.Delete(key) // nothing happened
						default:
							_ = s.Put(key, r.IntN(9))
						}
					}
					return nil
				})
				if v := m.Load().Version(); v == uint64(len(versions)) {
					versions = append(versions, content(m.Load()))
					times = append(times, time.Now())
				} else {
					require.Equal(t, uint64(len(versions)-1), v)
				}
			}
			last := uint64(len(versions) - 1)
			require.Greater(t, last, uint64(10))
			for since := uint64(0); since < last; since += 1 + uint64(r.IntN(20)) {
				old, err := m.At(since)
				require.NoError(t, err)
				state := content(old)
				version := since
				var before memory.Change
				for _, c := range changesTo(t, ofMemory(m), since, last) {
					if c.Version == version {
						require.Negative(t, orderOf(before, c), "in order")
					}
					before = c
					for ; version < c.Version; version++ {
						requireSame(t, times[version], versions[version], state, version > since)
					}
					require.True(t, times[version].Equal(c.Time))
					id := fmt.Sprintf("%q %q", c.Space, c.Key)
					is, there := state[id]
					switch c.Kind {
					case memory.Added:
						require.Zero(t, c.Old)
						require.True(t, !there || !is.Expires.IsZero() && !is.Expires.After(c.Time))
						state[id] = c.New
					case memory.Changed:
						require.Equal(t, is, c.Old)
						require.Equal(t, version, c.New.Revision)
						state[id] = c.New
					case memory.Deleted, memory.Evicted, memory.Expired:
						require.Zero(t, c.New)
						expired := !c.Old.Expires.IsZero() && !c.Old.Expires.After(c.Time)
						require.Equal(t, c.Kind == memory.Expired, expired)
						delete(state, id)
					default:
						t.Fatal(c.Kind)
					}
				}
				requireSame(t, time.Now(), content(m.Load()), state, true)
				// Those of a space are its share.
				for _, name := range modelSpaces {
					path := modelPaths[name]
					want := slices.DeleteFunc(changesTo(t, ofMemory(m), since, last), func(c memory.Change) bool { return !slices.Equal(c.Space, path) })
					require.Equal(t, want, changesTo(t, ofSpace(m.Space(path...)), since, last))
				}
			}
		})
	}
}

func orderOf(a, b memory.Change) int {
	if c := slices.Compare(a.Space, b.Space); c != 0 {
		return c
	}
	if a.Key < b.Key {
		return -1
	}
	return 1
}

// requireSame compares what is replayed with a version, but for what has expired.
func requireSame(t testing.TB, now time.Time, want, is map[string]memory.Entry, compare bool) {
	t.Helper()
	if !compare {
		return
	}
	is = maps.Clone(is)
	maps.DeleteFunc(is, func(_ string, e memory.Entry) bool { return !e.Expires.IsZero() && !e.Expires.After(now) })
	require.Equal(t, slices.Sorted(maps.Keys(want)), slices.Sorted(maps.Keys(is)))
	for id := range want {
		require.Equal(t, want[id], is[id])
	}
}

func TestChangesTellWhyAnEntryIsGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := memory.New(memory.Options{MaxEntries: 3})
		m.DB().Retain(cow.Retention{Versions: 100})
		s := m.Space("s")
		kinds := func() (all []string) {
			t.Helper()
			v := m.Load().Version()
			for _, c := range changesTo(t, ofMemory(m), v-1, v) {
				all = append(all, fmt.Sprint(c.Space, " ", c.Key, " ", c.Kind))
			}
			return all
		}
		require.NoError(t, errOf(s.Put("a", 1)))
		require.Equal(t, []string{"[s] a added"}, kinds())
		require.NoError(t, errOf(s.Put("a", 1)))
		require.Equal(t, []string{"[s] a changed"}, kinds())
		s.Delete("a")
		require.Equal(t, []string{"[s] a deleted"}, kinds())
		fill(t, m, "s", 3)
		s.Get("0001")
		require.NoError(t, errOf(m.Space("t").Put("b", 1)))
		require.Equal(t, []string{"[s] 0000 evicted", "[t] b added"}, kinds())
		s.Clear()
		require.Equal(t, []string{"[s] 0001 deleted", "[s] 0002 deleted"}, kinds())
		require.NoError(t, errOf(s.PutItem("c", memory.Item{Value: 1, TTL: time.Second})))
		time.Sleep(time.Minute)
		m.Sweep(t.Context())
		require.Equal(t, []string{"[s] c expired"}, kinds())
		require.NoError(t, errOf(s.PutItem("c", memory.Item{Value: 1, TTL: time.Second})))
		time.Sleep(time.Minute)
		require.NoError(t, errOf(s.Put("c", 1)))
		require.Equal(t, []string{"[s] c added"}, kinds(), "what was there had expired")
		require.NoError(t, errOf(s.PutItem("d", memory.Item{Value: 1, TTL: time.Second})))
		time.Sleep(time.Minute)
		s.Clear()
		require.Equal(t, []string{"[s] c deleted", "[s] d expired"}, kinds())
		require.Equal(t, "unknown", memory.ChangeKind(0).String())
		require.Equal(t, "unknown", memory.ChangeKind(99).String())
	})
}

// An entry that a batch deletes while another is evicted is deleted, not evicted.
func TestDeletedAndEvictedInOneBatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := memory.New(memory.Options{MaxEntries: 4})
		m.DB().Retain(cow.Retention{Versions: 100})
		fill(t, m, "s", 4)
		require.NoError(t, m.Batch(func(b *memory.Batch) error {
			b.Space("s").Delete("0003")
			_ = b.Space("s").Put("x", 1)
			return b.Space("s").Put("y", 1)
		}))
		kinds := make(map[memory.ChangeKind]int)
		for _, c := range changesTo(t, ofMemory(m), 1, 2) {
			kinds[c.Kind]++
		}
		require.Equal(t, map[memory.ChangeKind]int{memory.Added: 2, memory.Deleted: 1, memory.Evicted: 1}, kinds)
	})
}

func TestChangesWaitAndEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := memory.New(memory.Options{})
		why := errors.New("why")
		ctx, cancel := context.WithCancelCause(t.Context())
		var seen []string
		done := make(chan error)
		go func() {
			for c, err := range m.Space("s").Changes(ctx, 0) {
				if err != nil {
					done <- err
					return
				}
				seen = append(seen, c.Key)
			}
		}()
		synctest.Wait()
		require.Equal(t, 1, m.DB().Stats().Waiting)
		require.NoError(t, errOf(m.Space("t").Put("other", 1)))
		require.NoError(t, errOf(m.Space("s").Put("a", 1)))
		synctest.Wait()
		require.Equal(t, []string{"a"}, seen)
		require.NoError(t, m.Batch(func(b *memory.Batch) error {
			_ = b.Space("s").Put("c", 1)
			return b.Space("s").Put("b", 1)
		}))
		synctest.Wait()
		require.Equal(t, []string{"a", "b", "c"}, seen)
		cancel(why)
		require.Equal(t, why, <-done)
		require.Zero(t, m.DB().Stats().Waiting)

		m.DB().Retain(cow.Retention{Versions: 1})
		for c, err := range m.Changes(t.Context(), 0) {
			require.ErrorIs(t, err, cow.ErrCompacted)
			require.Zero(t, c)
		}
	})
}

func TestWatchWakesForItsSpaceAndKeysAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := memory.New(memory.Options{MaxEntries: 50})
		m.Space("x").Configure(memory.SpaceOptions{TTL: time.Second})
		for _, p := range [][]string{{}, {"s"}, {"s", "below"}, {"s\x00"}, {"x"}} {
			require.NoError(t, errOf(m.Space(p...).PutItem("a", memory.Item{Value: 1, Vector: []float32{1}})))
		}
		type watch struct {
			path []string
			keys []string
		}
		all := []watch{{path: []string{}}, {path: []string{"s"}}, {path: []string{"s", "below"}}, {path: []string{"s\x00"}}, {path: []string{"none"}},
			{[]string{"s"}, []string{"a"}}, {[]string{"s"}, []string{"b", "c"}}, {[]string{"s", "below"}, []string{"a"}}, {[]string{}, []string{"a", "b"}}, {path: []string{"x"}}}
		for name, c := range map[string]struct {
			write func()
			wakes []int
		}{
			"Put":              {func() { _, _ = m.Space("s").Put("a", 1) }, []int{1, 5}},
			"Put below":        {func() { _, _ = m.Space("s", "below").Put("a", 1) }, []int{2, 7}},
			"Put in the root":  {func() { _, _ = m.Space().Put("b", 1) }, []int{0, 8}},
			"Put of a new key": {func() { _, _ = m.Space("s").Put("c", 1) }, []int{1, 6}},
			"PutVector":        {func() { _, _ = m.Space("s").PutVector("a", []float32{2}, nil) }, []int{1, 5}},
			"Delete":           {func() { m.Space("s").Delete("a") }, []int{1, 5}},
			"a new space":      {func() { _, _ = m.Space("none").Put("a", 1) }, []int{4}},
			"nothing":          {func() { m.Space("s").Delete("nothing"); _, _ = m.Space("s").Insert("c", 1) }, []int{}},
			"a failing batch": {func() {
				_ = m.Batch(func(b *memory.Batch) error { _ = b.Space("s").Put("a", 1); return errors.New("no") })
			}, []int{}},
			"several": {func() {
				_ = m.Batch(func(b *memory.Batch) error {
					_ = b.Space("s").Put("z", 1)
					return b.Space("s\x00").Put("z", 1)
				})
			}, []int{1, 3}},
			"Sweep": {func() { time.Sleep(time.Hour); m.Sweep(t.Context()) }, []int{9}},
		} {
			_, _ = m.Space("s").Put("a", 1)
			_, _ = m.Space("s").Put("c", 1)
			_, _ = m.Space().Put("a", 1)
			_, _ = m.Space("x").Put("a", 1)
			m.Space("none").Clear()
			since := m.Load()
			ctx, cancel := context.WithCancel(t.Context())
			woken := make(chan int, len(all))
			for i, w := range all {
				go func() {
					if s, err := m.Space(w.path...).Watch(ctx, since, w.keys...); err == nil {
						if s.Version() <= since.Version() {
							i = -1
						}
						woken <- i
					} else if s != (memory.Snapshot{}) {
						woken <- -2
					}
				}()
			}
			synctest.Wait()
			require.Empty(t, woken, name)
			require.Equal(t, len(all), m.DB().Stats().Waiting)
			c.write()
			synctest.Wait()
			is := []int{}
			for len(woken) > 0 {
				is = append(is, <-woken)
			}
			slices.Sort(is)
			require.Equal(t, c.wakes, is, name)
			cancel()
			synctest.Wait()
			require.Empty(t, woken)
			require.Zero(t, m.DB().Stats().Waiting)
		}
	})
}

// A Watch that comes late returns at once.
func TestWatchFindsWhatHasHappened(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := memory.New(memory.Options{MaxEntries: 2})
		require.NoError(t, errOf(m.Space("s").Put("a", 1)))
		since := m.Load()
		fill(t, m, "t", 2) // evicts a
		_, err := m.Space("s").Watch(t.Context(), since, "a")
		require.NoError(t, err)
		_, err = m.Space("s").Watch(t.Context(), since)
		require.NoError(t, err)
		_, err = m.Space("t").Watch(t.Context(), memory.Snapshot{})
		require.NoError(t, err)
	})
}

// What is put and taken away again within a batch was never there.
func TestNothingNetWakesNoWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := memory.New(memory.Options{})
		require.NoError(t, errOf(m.Space("s").PutVector("a", []float32{1}, nil)))
		since := m.Load()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		go func() {
			_ = m.Batch(func(b *memory.Batch) error {
				s := b.Space("s")
				_ = s.PutVector("b", []float32{1}, nil)
				_ = s.PutVector("c", []float32{1, 2}, nil) // another dimension: fails, and settles
				s.Delete("b")
				return b.Space("t").Put("a", 1)
			})
		}()
		_, err := m.Space("s").Watch(ctx, since)
		require.ErrorIs(t, err, context.DeadlineExceeded)
	})
}

func TestChangesResumeFromACursor(t *testing.T) {
	m := memory.New(memory.Options{})
	m.DB().Retain(cow.Retention{Versions: 10})
	_, _ = m.Space("s").Put("a", 1)
	_, _ = m.Space("s").Put("b", 2)
	next := func(cursor string) (c memory.Change, err error) {
		for c, err = range m.Resume(t.Context(), cursor) {
			break
		}
		return c, err
	}
	first, err := next(m.DB().Cursor(0))
	require.NoError(t, err)
	require.Equal(t, "a", first.Key)
	second, err := next(m.DB().Cursor(first.Version))
	require.NoError(t, err)
	require.Equal(t, "b", second.Key)
	_, err = next(m.Fork(m.Load()).DB().Cursor(1))
	require.ErrorIs(t, err, cow.ErrLineage)
	_, err = next("yesterday")
	require.ErrorIs(t, err, cow.ErrCursor)
	_, err = next(m.DB().Cursor(7))
	require.ErrorIs(t, err, cow.ErrUnpublished)
}
