package bolt_test

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/cow/bolt"
)

// A DB in a file, which is closed, cut off, opened again and compacted in between, against
// one in memory alone that gets the same updates and keeps all versions.
func TestModel(t *testing.T) {
	for seed := range uint64(times(2, 40)) {
		modelRun(t, seed)
	}
}

// A tagged shop has an index of jobs by tag.
type tagged struct {
	*shop
	byTag *cow.Index[string, job, string]
}

func modelOpen(t *testing.T, path string, o bolt.Options, retain cow.Retention) *tagged {
	s := &tagged{shop: newShop()}
	var err error
	s.byTag, err = cow.NewMultiIndex(s.jobs, "tag", func(r cow.Row[string, job], add func(string)) {
		for _, tag := range r.Value().Tags {
			add(tag)
		}
	}, cow.IndexOptions[string]{})
	require.NoError(t, err)
	s.db.Retain(retain)
	if path != "" {
		require.NoError(t, s.open(path, o))
	}
	return s
}

func modelRun(t *testing.T, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 0))
	path := temp(t)
	retain := forever
	model := modelOpen(t, "", bolt.Options{}, forever)
	var o bolt.Options
	options := func() bolt.Options {
		o = bolt.Options{}
		if r.IntN(2) == 0 {
			o.Sync = bolt.Every(time.Duration(1+r.IntN(3)) * time.Millisecond)
		}
		return o
	}
	s := modelOpen(t, path, options(), retain)
	both := func(f func(s *tagged) error) {
		want := f(model)
		err := f(s)
		require.Equal(t, want == nil, err == nil, "%v and not %v", err, want)
	}
	cursor, at := s.db.Cursor(0), uint64(0)
	erased, pinned := uint64(0), false
	for range times(150, 600) {
		key, n, tag := fmt.Sprint("k", r.IntN(12)), r.IntN(100), fmt.Sprint("t", r.IntN(4))
		switch r.IntN(16) {
		case 0, 1, 2, 3:
			both(func(s *tagged) error { return s.add(key, n, tag, "all") })
		case 4:
			both(func(s *tagged) error {
				return s.db.Update(func(tx *cow.Tx) error { s.jobs.Edit(tx).Delete(key); return nil })
			})
		case 5: // many rows at once
			base := r.IntN(500)
			both(func(s *tagged) error {
				return s.db.Update(func(tx *cow.Tx) error {
					for i := range 30 {
						s.total.Edit(tx).Set(base+i, n)
						s.jobs.Edit(tx).Set(fmt.Sprint("m", (base+i)%40), job{Tags: []string{strings.Repeat("l", i*20)}})
					}
					return nil
				})
			})
		case 6: // a failure leaves nothing
			both(func(s *tagged) error {
				return s.db.Update(func(tx *cow.Tx) error { s.jobs.Edit(tx).Set(key, job{}); return errTest })
			})
		case 7: // a fork, and a merge of what it changed
			both(func(s *tagged) error {
				base := s.db.Load()
				fork := s.db.Fork(base)
				_, err := s.total.Of(fork).Set(n, n)
				require.NoError(t, err)
				_, err = s.jobs.Of(fork).Set(fmt.Sprint("fork", n%5), job{Tags: []string{tag}})
				require.NoError(t, err)
				if err := s.add(key, n, tag); err != nil {
					return err
				}
				_, err = s.db.Merge(base, fork.Load())
				return err
			})
		case 8: // those who watch the row, or its tag, see it
			seen, tag := s.db.Load(), fmt.Sprint("of ", s.db.Load().Version())
			woken := make(chan error, 2)
			for _, of := range []cow.Watched{s.jobs.OnKeys(key), s.byTag.OnKeys(tag)} {
				go func() {
					now, err := s.db.Watch(t.Context(), seen, of)
					if err == nil && len(s.with(now, tag)) != 1 {
						err = errTest
					}
					woken <- err
				}()
			}
			both(func(s *tagged) error { return s.add(key, n, tag) })
			require.NoError(t, <-woken)
			require.NoError(t, <-woken)
		case 9:
			retain = []cow.Retention{forever, {Versions: 1 + r.IntN(40)}, {Versions: 1}}[r.IntN(3)]
			s.db.Retain(retain)
		case 10, 11: // close and open
			require.NoError(t, s.db.Close())
			switch r.IntN(4) {
			case 0:
				require.NoError(t, bolt.Compact(path))
			case 1:
				info, err := bolt.Check(path)
				require.NoError(t, err)
				require.Equal(t, model.db.Load().Version(), info.Version)
				rows := map[string]uint64{}
				for _, table := range info.Tables {
					rows[table.Name] = table.Rows
				}
				require.Equal(t, map[string]uint64{"jobs": uint64(model.jobs.Len()), "total": uint64(model.total.Len())}, rows)
			}
			s = modelOpen(t, path, options(), retain)
			require.False(t, s.file.Renewed())
		case 12: // follow from where one was
			now, oldest := s.db.Load().Version(), oldestOf(&s.db)
			if at < now {
				for c, err := range s.db.Resume(t.Context(), cursor) {
					if err != nil {
						require.ErrorIs(t, err, cow.ErrCompacted)
						require.Less(t, at, oldest)
						break
					}
					at++
					require.Equal(t, at, c.Version())
					require.Equal(t, model.changes(t, at), collected(s.jobs.Rows(c)), "version %d", at)
					if at == now {
						break
					}
				}
			}
			cursor, at = s.db.Cursor(now), now
		case 13: // the machine stops
			release := bolt.Pause(s.file)
			cut := temp(t)
			copyFile(t, path, cut)
			release()
			is := modelOpen(t, cut, bolt.Options{}, retain)
			if o.Sync != bolt.Always { // what it has is as it was then, and it says that there may have been more
				was, err := model.db.At(is.db.Load().Version())
				require.NoError(t, err)
				if was.Version() >= erased {
					require.Equal(t, model.at(was), is.now())
				}
				require.True(t, is.file.Renewed())
				require.NoError(t, is.db.Close())
				break
			}
			require.False(t, is.file.Renewed())
			require.NoError(t, s.db.Close())
			s, path = is, cut
		case 14: // a key was never there, in either
			both(func(s *tagged) error {
				_, err := s.db.Erase(t.Context(), func(tx *cow.Tx) error {
					s.jobs.Erase(tx, key)
					if n%3 == 0 {
						s.jobs.Erase(tx, fmt.Sprint("m", n%40))
						s.total.Erase(tx, n)
					}
					return nil
				})
				return err
			})
			erased = s.db.Load().Version()
			for v := range s.db.Versions() {
				at, err := s.db.At(v)
				require.NoError(t, err)
				require.False(t, s.jobs.In(at).Has(key))
			}
		case 15:
			name := fmt.Sprint("p", r.IntN(3))
			version := oldestOf(&s.db)
			version += uint64(r.IntN(int(s.db.Load().Version() - version + 1)))
			if pinned {
				require.True(t, s.db.Unpin(name) == model.db.Unpin(name))
			} else {
				both(func(s *tagged) error { return s.db.Pin(name, version) })
			}
			pinned = !pinned
		}
		require.Equal(t, model.now(), s.now())
		for _, tag := range []string{tag, "all"} {
			require.Equal(t, model.with(model.db.Load(), tag), s.with(s.db.Load(), tag))
		}
		require.Equal(t, model.db.Load().Version(), s.db.Load().Version())
	}
	for v := range s.db.Versions() {
		is, err := s.db.At(v)
		require.NoError(t, err)
		was, err := model.db.At(v)
		require.NoError(t, err)
		require.Equal(t, model.at(was), s.at(is), "version %d", v)
		for _, tag := range []string{"t0", "t1", "all"} {
			require.Equal(t, model.with(was, tag), s.with(is, tag))
		}
	}
	for name, is := range s.db.Pins() {
		was, err := model.db.At(is.Version())
		require.NoError(t, err)
		require.Equal(t, model.at(was), s.at(is), "pin %s", name)
	}
	require.NoError(t, s.db.Close())
	_, err := bolt.Check(path)
	require.NoError(t, err)
}

func oldestOf(db *cow.DB) uint64 {
	for v := range db.Versions() {
		return v
	}
	return 0
}

// changes returns what a version changed of the jobs.
func (s *tagged) changes(t *testing.T, version uint64) map[string]string {
	was, err := s.db.At(version - 1)
	require.NoError(t, err)
	is, err := s.db.At(version)
	require.NoError(t, err)
	return collected(s.jobs.In(is).Diff(s.jobs.In(was)))
}

func collected(changes iter.Seq[cow.Change[string, job]]) map[string]string {
	all := map[string]string{}
	for c := range changes {
		was, old := c.Old()
		is, new := c.New()
		if c.Kind == cow.Erased && !new {
			continue // it changed no version
		}
		all[c.Key] = fmt.Sprint(was, old, is, new)
	}
	return all
}

// with returns the jobs with a tag, by the index.
func (s *tagged) with(at *cow.Snapshot, tag string) map[string]job {
	all := map[string]job{}
	for _, row := range s.byTag.In(s.jobs.In(at)).Equal(tag).All() {
		all[row.Key()] = row.Value()
	}
	return all
}
