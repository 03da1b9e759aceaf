//go:build linux

package bolt_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/cow/bolt"
	"github.com/cowstore/cowstore/memory"
)

// A pinnedShop is what the pins of a shop should be.
type pinnedShop struct {
	version  uint64
	contents contents
}

func (s *shop) pins() map[string]pinnedShop {
	all := map[string]pinnedShop{}
	for name, is := range s.db.Pins() {
		all[name] = pinnedShop{is.Version(), s.at(is)}
	}
	return all
}

// requirePins requires that these are the pins, in the DB and to At.
func requirePins(t *testing.T, want map[string]pinnedShop, s *shop) {
	t.Helper()
	require.Equal(t, want, s.pins())
	for name, p := range want {
		at, err := s.db.At(p.version)
		require.NoError(t, err, name)
		require.Equal(t, p.version, at.Version())
		require.Equal(t, p.contents, s.at(at))
	}
}

var oddNames = []string{"", "a", "b", "\x00", "\xff\xfe", "pins", " ", "a/b", "é", strings.Repeat("long", 20_000), "k", "c", "d"}

// Whatever is pinned, moved, let go of, forgotten and written over, each time that the file is
// opened the pins are as they were, and so they are in its copies.
func TestPinsSurvive(t *testing.T) {
	for seed := range uint64(times(1, 300)) {
		for _, retain := range []cow.Retention{{}, {Versions: 4}, forever} {
			pinsRun(t, seed, retain)
		}
	}
}

func pinsRun(t *testing.T, seed uint64, retain cow.Retention) {
	r := rand.New(rand.NewPCG(seed, 7))
	path := temp(t)
	o := bolt.Options{}
	if seed%3 == 2 {
		o.Sync = bolt.Every(1)
	}
	want := map[string]pinnedShop{}
	for round := range 4 {
		s := newShop()
		s.db.Retain(retain)
		if round == 0 && seed%2 == 1 { // the file is made of what there is
			pinsSteps(t, r, s, want)
		}
		require.NoError(t, s.open(path, o))
		require.False(t, s.file.Renewed())
		requirePins(t, want, s)
		pinsSteps(t, r, s, want)
		requirePins(t, want, s)
		version := s.db.Load().Version()

		backup := path + ".backup"
		var to *os.File
		to, err := os.Create(backup)
		require.NoError(t, err)
		_, err = s.file.Backup(to)
		require.NoError(t, err)
		require.NoError(t, to.Close())
		require.NoError(t, s.db.Close())
		info, err := bolt.Check(path)
		require.NoError(t, err)
		versions := map[string]uint64{}
		for name, p := range want {
			versions[name] = p.version
		}
		require.Equal(t, fmt.Sprint(versions), fmt.Sprint(info.Pins)) // of which none is nil

		salvaged, restored, older := path+".salvaged", path+".restored", path+".older"
		left, err := bolt.Salvage(salvaged, path)
		require.NoError(t, err)
		require.Empty(t, left)
		require.NoError(t, bolt.Restore(restored, path, version))
		require.NoError(t, bolt.Restore(older, path, info.Oldest))
		for _, copied := range []string{backup, salvaged, restored, older} {
			c := newShop()
			c.db.Retain(retain)
			require.NoError(t, c.open(copied, bolt.Options{}))
			has := maps.Clone(want)
			if copied == older {
				maps.DeleteFunc(has, func(_ string, p pinnedShop) bool { return p.version > info.Oldest })
			}
			requirePins(t, has, c)
			require.NoError(t, c.db.Close())
			require.NoError(t, os.Remove(copied))
		}
		if round == 2 {
			require.NoError(t, bolt.Compact(path))
		}
	}
	// When all are let go of, the file has no trace of them.
	s := open(t, path, o)
	for name := range want {
		require.True(t, s.db.Unpin(name))
		require.False(t, s.db.Unpin(name))
	}
	require.NoError(t, s.db.Close())
	info, err := bolt.Check(path)
	require.NoError(t, err)
	require.Nil(t, info.Pins)
}

func pinsSteps(t *testing.T, r *rand.Rand, s *shop, want map[string]pinnedShop) {
	for range 40 {
		name := oddNames[r.IntN(len(oddNames))]
		switch current := s.db.Load().Version(); r.IntN(10) {
		case 0, 1, 2, 3:
			require.NoError(t, s.add(fmt.Sprint(r.IntN(6)), r.IntN(100), []string{"x", "y", "z"}[r.IntN(3)]))
		case 4:
			_, err := s.jobs.Delete(fmt.Sprint(r.IntN(6)))
			require.NoError(t, err)
		case 5: // many, so that they go from the log to the tables
			for range 20 {
				require.NoError(t, s.add(fmt.Sprint(r.IntN(6)), r.IntN(100)))
			}
		case 6, 7:
			version := current
			if current > 0 && r.IntN(2) == 0 {
				version = r.Uint64N(current + 1)
			}
			at, err := s.db.At(version)
			if err != nil {
				require.ErrorIs(t, s.db.Pin(name, version), cow.ErrCompacted)
				continue
			}
			is := pinnedShop{version, s.at(at)}
			if err := s.db.Pin(name, version); err != nil { // the file does not go back so far
				require.ErrorIs(t, err, cow.ErrCompacted)
				require.NotNil(t, s.file)
				continue
			}
			want[name] = is
		case 8:
			_, had := want[name]
			require.Equal(t, had, s.db.Unpin(name))
			delete(want, name)
		default:
			if r.IntN(3) == 0 {
				require.NoError(t, s.db.Compact(current))
			}
			require.ErrorIs(t, s.db.Pin(name, current+1), cow.ErrUnpublished)
		}
	}
}

// A pin of the published version is whole even if what comes after it is on its way to disk
// already, where it takes the place of what is pinned.
func TestAPinComesWhileTheNextVersionIsWritten(t *testing.T) {
	for _, retainMeanwhile := range []bool{false, true} {
		path := temp(t)
		s := open(t, path, bolt.Options{})
		require.NoError(t, s.add("a", 1, "x"))
		require.NoError(t, s.add("b", 2, "y"))
		require.NoError(t, s.db.Pin("before", 2))
		require.NoError(t, s.add("c", 3))
		want := s.pins()
		now := pinnedShop{3, s.now()}

		for bolt.Queued(s.file) > 0 { // what is acknowledged leaves the queue a moment later
			runtime.Gosched()
		}
		release := bolt.Pause(s.file)
		done := make(chan error, 3)
		go func() { done <- s.add("a", 10) }()
		for !bolt.Writing(s.file) {
			runtime.Gosched()
		}
		if retainMeanwhile {
			s.db.Retain(forever)
		}
		for _, name := range []string{"now", "too"} {
			go func() { done <- s.db.Pin(name, 3) }()
			want[name] = now
		}
		for !bolt.Pinning(s.file) {
			runtime.Gosched()
		}
		require.Len(t, s.pins(), 1, "it is not durable yet")
		release()
		for range 3 {
			require.NoError(t, <-done)
		}
		_, err := s.jobs.Delete("b")
		require.NoError(t, err)
		if retainMeanwhile {
			at, err := s.db.At(3)
			require.NoError(t, err)
			require.Equal(t, now.contents, s.at(at))
		}
		require.NoError(t, s.db.Close())
		again := open(t, path, bolt.Options{})
		requirePins(t, want, again)
		require.NoError(t, again.db.Close())
	}
}

// So it is if the transaction takes rows out of the log, and the file is mapped anew.
func TestAPinOrAnEraseComesWhileTheLogIsFolded(t *testing.T) {
	for _, erase := range []bool{false, true} {
		path := temp(t)
		s := open(t, path, bolt.Options{}, forever)
		for i := range 30 {
			require.NoError(t, s.add(fmt.Sprint("k", i%5), i, "x"))
		}
		want := pinnedShop{30, s.now()}
		s.db.Retain(cow.Retention{})
		for bolt.Queued(s.file) > 0 {
			runtime.Gosched()
		}
		release := bolt.Pause(s.file)
		done := make(chan error, 2)
		go func() { done <- s.add("k0", 10, strings.Repeat("x", 1<<20)) }()
		for !bolt.Writing(s.file) {
			runtime.Gosched()
		}
		go func() { done <- s.db.Pin("p", 30) }()
		for !bolt.Pinning(s.file) {
			runtime.Gosched()
		}
		if erase {
			delete(want.contents.jobs, "k1")
			delete(want.contents.revisions, "k1")
			want.contents.tags["x"]--
			go func() {
				_, err := s.db.Erase(t.Context(), func(tx *cow.Tx) error { s.jobs.Erase(tx, "k1"); return nil })
				done <- err
			}()
			for bolt.Waiting(s.file) < 2 {
				runtime.Gosched()
			}
		}
		release()
		require.NoError(t, <-done)
		require.NoError(t, <-done)
		if erase {
			require.NoError(t, <-done)
		}
		require.NoError(t, s.db.Close())
		again := open(t, path, bolt.Options{})
		requirePins(t, map[string]pinnedShop{"p": want}, again)
		require.NoError(t, again.db.Close())
	}
}

// Pins that are made beside many writers are of whole versions, and are so in the file.
func TestPinsBesideWriters(t *testing.T) {
	for _, mode := range []bolt.Sync{bolt.Always, bolt.Every(1)} {
		path := temp(t)
		b, err := openBank(path, mode)
		require.NoError(t, err)
		b.db.Retain(cow.Retention{})
		stop := make(chan struct{})
		var writers sync.WaitGroup
		for w := range 8 {
			writers.Go(func() {
				for n := 1; ; n++ {
					select {
					case <-stop:
						return
					default:
						_, err := b.move(fmt.Sprint("w", w), n)
						require.NoError(t, err)
					}
				}
			})
		}
		want := map[string][3]any{}
		of := func(b *bank, s *cow.Snapshot) [3]any {
			return [3]any{s.Version(), mapOf(b.from.In(s)), mapOf(b.to.In(s))}
		}
		for i := 0; len(want) < 20; i++ {
			name := fmt.Sprint(i % 30)
			if err := b.db.Pin(name, b.db.Load().Version()); err != nil {
				require.ErrorIs(t, err, cow.ErrCompacted, "it is past")
				continue
			}
			for n, s := range b.db.Pins() {
				if n == name {
					want[name] = of(b, s)
				}
			}
			if i%7 == 3 {
				for n := range want {
					require.True(t, b.db.Unpin(n))
					delete(want, n)
					break
				}
			}
		}
		close(stop)
		writers.Wait()
		require.NoError(t, b.db.Close())
		again, err := openBank(path, mode)
		require.NoError(t, err)
		is := map[string][3]any{}
		for name, s := range again.db.Pins() {
			is[name] = of(again, s)
		}
		require.Equal(t, want, is)
		require.NoError(t, again.db.Close())
		_, err = bolt.Check(path)
		require.NoError(t, err)
	}
}

// Thousands of pins, each of another version, are there again, and what they share is kept once.
func TestManyPins(t *testing.T) {
	n := times(600, 3000)
	path := temp(t)
	s := newShop()
	for i := range n {
		require.NoError(t, s.add(fmt.Sprint(i%100), i))
		require.NoError(t, s.db.Pin(fmt.Sprint(i), uint64(i+1)))
	}
	require.NoError(t, s.open(path, bolt.Options{}))
	for range 3 {
		require.NoError(t, s.add("a", 1))
		require.NoError(t, s.db.Close())
		info, err := os.Stat(path)
		require.NoError(t, err)
		require.Less(t, info.Size(), int64(20<<20), "two rows for each, and not all of them")
		s = open(t, path, bolt.Options{})
		pins := 0
		for name, is := range s.db.Pins() {
			pins++
			j, ok := s.jobs.In(is).Get(fmt.Sprint((is.Version() - 1) % 100))
			require.True(t, ok)
			require.Equal(t, name, fmt.Sprint(j.N))
			require.EqualValues(t, min(is.Version(), 100), s.jobs.In(is).Len())
		}
		require.Equal(t, n, pins)
	}
	require.NoError(t, s.db.Close())
}

// What a pin takes is what was written over since, and what an Unpin leaves is free.
func TestWhatAPinTakes(t *testing.T) {
	path := temp(t)
	s := open(t, path, bolt.Options{})
	big := strings.Repeat("x", 10_000)
	fill := func(n int) {
		require.NoError(t, s.db.Update(func(tx *cow.Tx) error {
			for i := range n {
				s.jobs.Edit(tx).Set(fmt.Sprint(i), job{Name: big, N: rand.Int()})
			}
			return nil
		}))
	}
	used := func() int64 {
		require.NoError(t, s.db.Close())
		info, err := bolt.Check(path)
		require.NoError(t, err)
		is, err := os.Stat(path)
		require.NoError(t, err)
		s = open(t, path, bolt.Options{})
		return is.Size() - int64(info.Free)
	}
	const rows = 1_000_000
	fill(100)
	before := used()
	require.NoError(t, s.db.Pin("p", s.db.Load().Version()))
	require.Less(t, used()-before, int64(rows/4), "a pin of what is there takes nothing")
	for range 5 {
		fill(100)
	}
	require.Greater(t, used()-before, int64(rows*3/4))
	require.Less(t, used()-before, int64(rows*7/4), "the rows of that version, once")
	require.True(t, s.db.Unpin("p"))
	require.Less(t, used()-before, int64(rows/4))
}

// After Compact, what was erased is in the file no more than in the pins.
func TestErasedBesidePins(t *testing.T) {
	path := temp(t)
	s := open(t, path, bolt.Options{}, forever)
	require.NoError(t, s.add("a", 1, "kept by the pin"))
	require.NoError(t, s.db.Pin("p", 1))
	require.NoError(t, s.add("a", 2, "of a version between"))
	require.NoError(t, s.add("a", 3, "current"))
	require.NoError(t, s.db.Compact(s.db.Load().Version()))
	require.NoError(t, s.db.Close())
	require.NoError(t, bolt.Compact(path))
	file, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Contains(t, string(file), "kept by the pin")
	require.Contains(t, string(file), "current")
	require.NotContains(t, string(file), "of a version between")

	s = open(t, path, bolt.Options{}, forever)
	require.True(t, s.db.Unpin("p"))
	require.NoError(t, s.db.Close())
	require.NoError(t, bolt.Compact(path))
	file, err = os.ReadFile(path)
	require.NoError(t, err)
	require.NotContains(t, string(file), "kept by the pin")
}

// A pin that cannot be made durable is none, and one that is stays where it cannot be let go of.
func TestPinsOfAClosedDB(t *testing.T) {
	path := temp(t)
	s := open(t, path, bolt.Options{})
	require.NoError(t, s.add("a", 1))
	require.NoError(t, s.db.Pin("p", 1))
	want := s.pins()
	require.NoError(t, s.db.Close())
	require.ErrorIs(t, s.db.Pin("q", 1), cow.ErrClosed)
	require.False(t, s.db.Unpin("p"))
	requirePins(t, want, s)
	again := open(t, path, bolt.Options{})
	requirePins(t, want, again)
	require.NoError(t, again.db.Close())
}

// A pinned version of a Memory is found by words and vectors as it was, after a restart too.
func TestPinsOfAMemory(t *testing.T) {
	path := temp(t)
	load := func() (*cow.DB, *memory.Memory) {
		db := new(cow.DB)
		m := memory.On(db, memory.Options{})
		_, err := bolt.Open(path, db, bolt.Options{})
		require.NoError(t, err)
		return db, m
	}
	db, m := load()
	put := func(from, to int, text string) {
		for i := from; i < to; i++ {
			_, err := m.Space("notes").PutItem(fmt.Sprint(i), memory.Item{
				Value:  fmt.Sprintf("%s number %d", text, i),
				Vector: []float32{float32(i), float32(len(text)), 3},
			})
			require.NoError(t, err)
		}
	}
	found := func() map[string][]string {
		all := map[string][]string{}
		for name, s := range m.DB().Pins() {
			notes := m.In(s).Space("notes")
			var is []string
			for _, word := range []string{"horse", "cow", "goat"} {
				hits, err := notes.Search(memory.Query{Text: word, K: 100})
				require.NoError(t, err)
				for _, h := range hits {
					is = append(is, fmt.Sprint(word, h.Key, h.Value, h.Revision, h.Score))
				}
			}
			hits, err := notes.Search(memory.Query{Vector: []float32{7, 3, 3}, K: 10})
			require.NoError(t, err)
			for _, h := range hits {
				is = append(is, fmt.Sprint(h.Key, h.Value, h.Revision, h.Score))
			}
			all[name] = append(is, fmt.Sprint(notes.Len(), s.Version()))
		}
		return all
	}
	require.NoError(t, m.DB().Pin("nothing", 0))
	put(0, 30, "horse")
	require.NoError(t, m.DB().Pin("horses", m.Load().Version()))
	put(0, 20, "cow")
	for i := range 5 {
		_, err := m.Space("notes").Delete(fmt.Sprint(i))
		require.NoError(t, err)
	}
	require.NoError(t, m.DB().Pin("cows", m.Load().Version()))
	_, err := m.Space("notes").Clear()
	require.NoError(t, err)
	put(10, 40, "goat")
	want := found()
	require.Len(t, want, 3)
	for range 2 {
		require.NoError(t, db.Close())
		db, m = load()
		require.Equal(t, want, found())
		put(0, 5, "goat")
	}
	require.NoError(t, db.Close())
}

// A table that the program does not have is in the pins of the file as it was.
func TestPinsOfUnknownTables(t *testing.T) {
	path := temp(t)
	s := open(t, path, bolt.Options{})
	require.NoError(t, s.add("a", 1))
	require.NoError(t, s.db.Pin("p", 1))
	require.NoError(t, s.add("a", 2))
	want := s.pins()
	require.NoError(t, s.db.Close())

	var other cow.DB
	jobs := cow.NewTable[string](&other, "jobs", cow.Options[job]{Codec: cow.Versioned[job]{}})
	_, err := bolt.Open(path, &other, bolt.Options{KeepUnknown: true})
	require.NoError(t, err)
	require.NoError(t, other.Pin("q", 2))
	_, err = jobs.Set("a", job{N: 3})
	require.NoError(t, err)
	require.NoError(t, other.Close())

	again := open(t, path, bolt.Options{})
	got := again.pins()
	require.Equal(t, want["p"], got["p"])
	require.Equal(t, map[int]int{0: 2}, got["q"].contents.total)
	require.Equal(t, slices.Sorted(maps.Keys(got)), []string{"p", "q"})
	require.NoError(t, again.db.Close())
}

// Damage to what is kept for a pin is found, and Salvage takes the rest.
func TestDamagedPins(t *testing.T) {
	path := temp(t)
	s := open(t, path, bolt.Options{})
	require.NoError(t, s.db.Update(func(tx *cow.Tx) error {
		for i := range 100 {
			s.jobs.Edit(tx).Set(fmt.Sprint(i), job{Name: "pinned-row", N: i})
		}
		return nil
	}))
	require.NoError(t, s.db.Pin("p", 1))
	require.NoError(t, s.db.Update(func(tx *cow.Tx) error {
		for i := range 100 {
			s.jobs.Edit(tx).Set(fmt.Sprint(i), job{Name: "later", N: i})
		}
		return nil
	}))
	now := s.now()
	require.NoError(t, s.db.Close())
	require.NoError(t, bolt.Compact(path))
	file, err := os.ReadFile(path)
	require.NoError(t, err)
	at := strings.Index(string(file), "pinned-row")
	require.Positive(t, at)
	file[at] ^= 1
	require.NoError(t, os.WriteFile(path, file, 0o600))
	_, err = bolt.Check(path)
	require.ErrorIs(t, err, bolt.ErrDamaged)
	require.ErrorIs(t, newShop().open(path, bolt.Options{}), bolt.ErrDamaged)
	left, err := bolt.Salvage(path+".saved", path)
	require.NoError(t, err)
	require.NotEmpty(t, left)
	again := open(t, path+".saved", bolt.Options{})
	require.Equal(t, now, again.now())
	require.Len(t, again.pins()["p"].contents.jobs, 99)
	require.NoError(t, again.db.Close())
}
