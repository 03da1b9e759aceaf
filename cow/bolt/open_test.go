package bolt_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/cow/bolt"
)

func TestWhatIsAcknowledgedIsThere(t *testing.T) {
	for _, sync := range []bolt.Sync{bolt.Always, bolt.Every(time.Hour)} {
		for _, retain := range [][]cow.Retention{nil, {{Versions: 3}}, {forever}} {
			path := temp(t)
			var want contents
			var lineage string
			for round := range 4 {
				s := open(t, path, bolt.Options{Sync: sync}, retain...)
				require.False(t, s.file.Renewed())
				require.Empty(t, s.file.Unknown())
				if round > 0 {
					require.Equal(t, want, s.now())
					require.Equal(t, lineage, s.db.Lineage().ID)
				}
				require.EqualValues(t, round*8, s.db.Load().Version())
				for i := range 7 {
					require.NoError(t, s.add(fmt.Sprint(i), round*i, "all", fmt.Sprint("n", i%3)))
				}
				require.NoError(t, s.db.Update(func(tx *cow.Tx) error {
					s.jobs.Edit(tx).Delete(fmt.Sprint(round))
					s.jobs.Edit(tx).Set("", job{Tags: []string{}}) // the empty key
					s.total.Edit(tx).Set(-round, round)
					return nil
				}))
				want, lineage = s.now(), s.db.Lineage().ID
				require.NoError(t, s.db.Close())
			}
		}
	}
}

func TestANewFileHasWhatTheDBHad(t *testing.T) {
	s := newShop()
	require.NoError(t, s.add("a", 1, "x"))
	require.NoError(t, s.add("b", 2, "x"))
	path := temp(t)
	require.NoError(t, s.open(path, bolt.Options{Mode: 0o640}))
	require.NoError(t, s.add("c", 3, "y"))
	want := s.now()
	require.NoError(t, s.db.Close())
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, fs.FileMode(0o640), info.Mode())
	left, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	require.Len(t, left, 1, "a temporary file is left")

	again := open(t, path, bolt.Options{})
	require.Equal(t, want, again.now())
	require.EqualValues(t, 3, again.db.Load().Version())
	require.Equal(t, s.db.Lineage().ID, again.db.Lineage().ID)
}

// What a process left that ended while it made a file is no obstacle, and goes; what is
// named otherwise stays.
func TestLeftoversAreRemoved(t *testing.T) {
	path := temp(t)
	s := open(t, path, bolt.Options{})
	require.NoError(t, s.add("k", 1))
	require.NoError(t, s.db.Close())
	whole, err := os.ReadFile(path)
	require.NoError(t, err)
	leave := func(path string) {
		for i, n := range []int{0, 1, pageSize, len(whole) / 2, len(whole)} {
			require.NoError(t, os.WriteFile(fmt.Sprint(path, ".cowbolt-", 100+i), whole[:n], 0o600))
		}
		require.NoError(t, os.Link(path+".cowbolt-104", path+".cowbolt-105"))
	}
	for _, name := range []string{"db", "new"} { // that is there, and that is not
		path := filepath.Join(filepath.Dir(path), name)
		leave(path)
		if name == "new" { // it was about to be named
			require.NoError(t, os.Link(path+".cowbolt-104", path))
			leave(filepath.Join(filepath.Dir(path), "third"))
		}
		is := open(t, path, bolt.Options{})
		require.Equal(t, s.now(), is.now())
		left, err := filepath.Glob(path + ".*")
		require.NoError(t, err)
		require.Empty(t, left)
		require.NoError(t, is.db.Close())
	}
	third := filepath.Join(filepath.Dir(path), "third")
	mine := third + ".cowbolt-mine"
	require.NoError(t, os.WriteFile(mine, nil, 0o600))
	is := open(t, third, bolt.Options{})
	require.Zero(t, is.db.Load().Version(), "what is not finished does not count")
	left, err := filepath.Glob(third + ".*")
	require.NoError(t, err)
	require.Equal(t, []string{mine}, left)
	require.NoError(t, is.db.Close())
}

// requireAlone requires that nothing is beside a file.
func requireAlone(t *testing.T, path string) {
	t.Helper()
	left, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	require.Len(t, left, 1)
}

// Many that make one file at once: one has it, and the others know.
func TestOneMakesAFile(t *testing.T) {
	for range times(10, 200) {
		path := temp(t)
		shops := make([]*shop, 8)
		errs := make([]error, len(shops))
		together(len(shops), func(i int) {
			shops[i] = newShop()
			errs[i] = shops[i].open(path, bolt.Options{})
		})
		opened := 0
		for i, err := range errs {
			if err == nil {
				opened++
				require.NoError(t, shops[i].add("k", i))
				defer shops[i].db.Close()
			} else {
				require.ErrorIs(t, err, bolt.ErrLocked)
			}
		}
		require.Equal(t, 1, opened)
		requireAlone(t, path)
	}
}

func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "db")
	write := func(name, text string) string {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
		return filepath.Join(dir, name)
	}
	s := open(t, path, bolt.Options{})
	require.NoError(t, s.add("a", 1))

	other := newShop()
	require.ErrorIs(t, other.open(path, bolt.Options{}), bolt.ErrLocked)
	require.NoError(t, s.db.Close())
	require.NoError(t, other.add("b", 1))
	require.ErrorIs(t, other.open(path, bolt.Options{}), bolt.ErrNotEmpty)
	require.NoError(t, other.add("b", 2), "on an error nothing is changed")

	require.ErrorIs(t, newShop().open(write("empty", ""), bolt.Options{}), bolt.ErrFormat)
	require.ErrorIs(t, newShop().open(write("text", strings.Repeat("text", 10_000)), bolt.Options{}), bolt.ErrFormat)
	require.ErrorIs(t, newShop().open(filepath.Join(dir, "no", "db"), bolt.Options{}), fs.ErrNotExist)
	require.Error(t, newShop().open(dir, bolt.Options{}))

	whole, err := os.ReadFile(path)
	require.NoError(t, err)
	require.ErrorIs(t, newShop().open(write("half", string(whole[:len(whole)/2])), bolt.Options{}), bolt.ErrDamaged)

	var plain cow.DB
	cow.NewTable[string](&plain, "plain", cow.Options[int]{})
	_, err = bolt.Open(path, &plain, bolt.Options{})
	require.ErrorContains(t, err, `table "plain"`)

	// It is as it was.
	require.NoError(t, newShop().open(path, bolt.Options{}))
}

func TestTablesComeAndGo(t *testing.T) {
	path := temp(t)
	make := func(names ...string) (*cow.DB, *bolt.File, []*cow.Table[string, int]) {
		var db cow.DB
		db.Retain(forever)
		var tables []*cow.Table[string, int]
		for _, name := range names {
			tables = append(tables, cow.NewTable[string](&db, name, cow.Options[int]{Codec: cow.Versioned[int]{}}))
		}
		f, err := bolt.Open(path, &db, bolt.Options{KeepUnknown: true})
		require.NoError(t, err)
		return &db, f, tables
	}
	set := func(of *cow.Table[string, int], n int) {
		_, err := of.Set("k", n)
		require.NoError(t, err)
	}
	get := func(of *cow.Table[string, int], want int) {
		n, ok := of.Get("k")
		require.True(t, ok)
		require.Equal(t, want, n)
	}
	db, _, tables := make("a", "b")
	set(tables[0], 1)
	set(tables[1], 2)
	set(tables[0], 3)
	require.NoError(t, db.Close())

	var fewer cow.DB
	cow.NewTable[string](&fewer, "c", cow.Options[int]{Codec: cow.Versioned[int]{}})
	_, err := bolt.Open(path, &fewer, bolt.Options{})
	require.ErrorIs(t, err, cow.ErrSchema)
	require.ErrorContains(t, err, `["a" "b"]`)
	require.Zero(t, fewer.Load().Version())

	db, f, tables := make("c", "b")
	require.Equal(t, []string{"a"}, f.Unknown())
	require.EqualValues(t, 3, db.Load().Version())
	get(tables[1], 2)
	set(tables[0], 4)
	set(tables[1], 5)
	require.Panics(t, func() { cow.NewTable[string](db, "late", cow.Options[int]{}) })
	require.NoError(t, db.Close())

	db, f, tables = make("a", "b", "c")
	require.Empty(t, f.Unknown())
	get(tables[0], 3)
	get(tables[1], 5)
	get(tables[2], 4)
	s, err := db.At(2)
	require.NoError(t, err)
	n, _ := tables[0].In(s).Get("k")
	require.Equal(t, 1, n)
	require.NoError(t, db.Close())
}

func TestKeysOfManyTypes(t *testing.T) {
	path := temp(t)
	var want map[place]int
	for round := range 3 {
		var db cow.DB
		table := cow.NewTable[place](&db, "t", cow.Options[int]{Codec: cow.Versioned[int]{}})
		_, err := bolt.Open(path, &db, bolt.Options{})
		require.NoError(t, err)
		if round > 0 {
			require.Len(t, want, 3*round)
			for k, v := range want {
				is, ok := table.Get(k)
				require.True(t, ok)
				require.Equal(t, v, is)
			}
		}
		want = map[place]int{}
		require.NoError(t, db.Update(func(tx *cow.Tx) error {
			for i, a := range []string{"", "\x00", "a\x00b"} {
				table.Edit(tx).Set(place{point: point{X: -round}, Name: a, at: [2]uint8{0, byte(i)}, up: i == 1}, i)
			}
			return nil
		}))
		for k, v := range table.All() {
			want[k] = v
		}
		require.NoError(t, db.Close())
	}
}

func TestWhatDoesNotFitIsTheErrorOfItsUpdate(t *testing.T) {
	s := open(t, temp(t), bolt.Options{})
	require.ErrorContains(t, s.add(strings.Repeat("k", 32<<10), 1), "a key of 32768 bytes")
	require.NoError(t, s.add(strings.Repeat("k", 32<<10-1), 1))
	require.NoError(t, s.add("large", 1, strings.Repeat("v", 1<<20)))
	require.EqualValues(t, 2, s.db.Load().Version())
}

func TestProgress(t *testing.T) {
	path := temp(t)
	s := open(t, path, bolt.Options{}, cow.Retention{Versions: 2})
	const rows = 132_000
	require.NoError(t, s.db.Update(func(tx *cow.Tx) error {
		for i := range rows {
			s.total.Edit(tx).Set(i, i)
		}
		return nil
	}))
	for i := range 3 {
		require.NoError(t, s.add("a", i))
	}
	require.NoError(t, s.db.Close())
	var done []uint64
	s = open(t, path, bolt.Options{Progress: func(d, total uint64) {
		require.EqualValues(t, rows+3, total) // two of them commits; one is folded
		done = append(done, d)
	}}, cow.Retention{Versions: 2})
	require.Equal(t, []uint64{1 << 16, 2 << 16, rows + 3}, done)
	require.Equal(t, rows, s.total.Len())
}

var errTest = errors.New("test")

func TestAnErrorOfACodecLeavesTheDBAsItWas(t *testing.T) {
	path := temp(t)
	s := open(t, path, bolt.Options{})
	require.NoError(t, s.add("a", 1))
	require.NoError(t, s.db.Close())
	var db cow.DB
	table := cow.NewTable[string](&db, "jobs", cow.Options[int]{
		Codec:  cow.Versioned[int]{},
		Accept: []string{`value: {"N":"int","Name":"string","Tags":["[]","string"]}, now int`},
	})
	_, err := bolt.Open(path, &db, bolt.Options{KeepUnknown: true})
	require.ErrorContains(t, err, `table "jobs": a: json`)
	_, err = table.Set("mine", 1)
	require.NoError(t, err)
}
