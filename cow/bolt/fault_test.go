package bolt_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.etcd.io/bbolt"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/cow/bolt"
)

// requireReleased requires that nobody has the file at path, nor maps it.
func requireReleased(t *testing.T, path string) {
	t.Helper()
	maps, err := os.ReadFile("/proc/self/maps")
	if err == nil {
		require.False(t, strings.Contains(string(maps), path), "it is mapped")
	}
	s := newShop()
	require.NoError(t, s.open(path, bolt.Options{}), "in this process")
	require.NoError(t, s.db.Close())
	requireFree(t, path)
}

// requireFree requires that another process gets the lock of a file, where there are children.
var requireFree = func(*testing.T, string) {}

// Whatever fault a transaction meets, and wherever, nothing of the file is left in the
// process after Close, and reads go on.
func TestAFaultLeavesNoLock(t *testing.T) {
	boom := func(*bbolt.Tx) error { panic("boom") }
	cut := func(size int64) func(t *testing.T, s *shop, path string) error {
		return func(t *testing.T, s *shop, path string) error {
			if err := os.Truncate(path, size); err != nil {
				t.Skip(err) // a file that is mapped
			}
			return bolt.Transact(s.file, false, func(tx *bbolt.Tx) error {
				return tx.Bucket([]byte("meta")).Put([]byte("more"), nil)
			})
		}
	}
	faults := map[string]func(t *testing.T, s *shop, path string) error{
		"a panic": func(t *testing.T, s *shop, path string) error { return bolt.Transact(s.file, true, boom) },
		"a panic, and then a fault": func(t *testing.T, s *shop, path string) error {
			return bolt.Transact(s.file, true, func(*bbolt.Tx) error {
				if err := os.Truncate(path, 0); err != nil {
					t.Skip(err)
				}
				panic("boom")
			})
		},
		"both meta pages are bad": func(t *testing.T, s *shop, path string) error {
			f, err := os.OpenFile(path, os.O_RDWR, 0)
			require.NoError(t, err)
			defer f.Close()
			_, err = f.WriteAt(make([]byte, 2*pageSize), 0)
			require.NoError(t, err)
			return bolt.Transact(s.file, false, func(*bbolt.Tx) error { return nil })
		},
		"it is closed": func(t *testing.T, s *shop, path string) error {
			require.NoError(t, bolt.Under(s.file).Close())
			return bolt.Transact(s.file, false, func(tx *bbolt.Tx) error {
				return tx.Bucket([]byte("meta")).Put([]byte("more"), nil)
			})
		},
	}
	sizes := []int64{pageSize + 100, 0, 2 * pageSize, 9 * pageSize, 1, 1 * pageSize, 3 * pageSize, 5 * pageSize}
	for _, size := range sizes[:times(2, len(sizes))] {
		faults[fmt.Sprint("it is cut off to ", size)] = cut(size)
	}
	for what, fault := range faults {
		t.Run(what, func(t *testing.T) {
			before := runtime.NumGoroutine()
			path := temp(t)
			s := open(t, path, bolt.Options{})
			for i := range 20 {
				require.NoError(t, s.add(fmt.Sprint(i), i, strings.Repeat("x", 2500)))
			}
			want := s.now()
			good, err := os.ReadFile(path)
			require.NoError(t, err)
			require.Error(t, fault(t, s, path))
			_ = bolt.Transact(s.file, false, func(*bbolt.Tx) error { return errTest }) // nor does it wait for one
			_ = s.add("more", 1)
			_ = s.db.Close()
			require.Equal(t, want.jobs["7"], s.now().jobs["7"])
			requireGoroutines(t, before)
			require.NoError(t, os.WriteFile(path, good, 0o600)) // its owner puts it back
			requireReleased(t, path)
		})
	}
}

// Nor does an Open that fails leave anything.
func TestAnOpenThatFailsLeavesNoLock(t *testing.T) {
	path := temp(t)
	s := open(t, path, bolt.Options{})
	for i := range 20 {
		require.NoError(t, s.add(fmt.Sprint(i), i, strings.Repeat("x", 2500)))
	}
	require.NoError(t, s.db.Close())
	good, err := os.ReadFile(path)
	require.NoError(t, err)
	before := runtime.NumGoroutine()
	sizes := []int{100, len(good) / 2, 0, pageSize + 100, 1, pageSize, 2 * pageSize, 3 * pageSize}
	for _, size := range sizes[:times(2, len(sizes))] {
		require.NoError(t, os.WriteFile(path, good[:size], 0o600))
		require.Error(t, newShop().open(path, bolt.Options{}))
		require.NoError(t, os.WriteFile(path, good, 0o600))
		requireReleased(t, path)
	}
	for p := 0; p < len(good)/pageSize; p += times(37, 1) {
		bad := bytes.Clone(good)
		clear(pageOf(bad, p))
		require.NoError(t, os.WriteFile(path, bad, 0o600))
		s := newShop()
		if s.open(path, bolt.Options{}) == nil {
			require.NoError(t, s.db.Close())
		}
		require.NoError(t, os.WriteFile(path, good, 0o600))
		requireReleased(t, path)
	}
	for _, s := range []*shop{newShop(), newShop()} {
		require.ErrorIs(t, s.open(path, bolt.Options{Progress: func(uint64, uint64) { panic(errTest) }}), errTest)
		require.NoError(t, s.add("mine", 1))
		require.ErrorIs(t, s.open(path, bolt.Options{}), bolt.ErrNotEmpty)
		requireReleased(t, path)
	}
	requireGoroutines(t, before)
}

// If bbolt panics in its Open, which is kept from it what it would stumble over, the lock
// is given back all the same.
func TestAPanicOfOpenLeavesNoLock(t *testing.T) {
	path := temp(t)
	s := open(t, path, bolt.Options{})
	require.NoError(t, s.add("a", 1))
	require.NoError(t, s.db.Close())
	good, err := os.ReadFile(path)
	require.NoError(t, err)
	free := binary.NativeEndian.Uint64(good[lastMeta(good)*pageSize+16+32:])
	require.NoError(t, writeAt(path, int64(free)*pageSize, make([]byte, pageSize)))
	require.ErrorIs(t, bolt.Lock(path), bolt.ErrDamaged)
	require.NoError(t, os.WriteFile(path, good, 0o600))
	requireFree(t, path)
	open(t, path, bolt.Options{})
}

// A change is what somebody does to a file that a DB has open.
type change struct {
	what string
	do   func(path string) error
}

// gone are changes after which the file, or a part of it, is not at its path.
var gone = []change{
	{"removed", os.Remove},
	{"moved away", func(path string) error { return os.Rename(path, path+"moved") }},
	{"its directory is removed", func(path string) error { return os.RemoveAll(filepath.Dir(path)) }},
	{"its directory is moved", func(path string) error { return os.Rename(filepath.Dir(path), filepath.Dir(path)+"moved") }},
	{"replaced by a copy", func(path string) error {
		return errors.Join(copyTo(path, path+"copy"), os.Rename(path+"copy", path))
	}},
	{"removed, and a copy takes its place", func(path string) error {
		return errors.Join(copyTo(path, path+"copy"), os.Remove(path), os.Rename(path+"copy", path))
	}},
	{"its directory is replaced by a copy", func(path string) error {
		dir := filepath.Dir(path)
		return errors.Join(os.Mkdir(dir+"copy", 0o700), copyTo(path, filepath.Join(dir+"copy", "db")),
			os.Rename(dir, dir+"moved"), os.Rename(dir+"copy", dir))
	}},
	{"replaced by a link to a copy", func(path string) error {
		return errors.Join(copyTo(path, path+"copy"), os.Remove(path), os.Symlink(path+"copy", path))
	}},
	{"replaced by a directory", func(path string) error { return errors.Join(os.Remove(path), os.Mkdir(path, 0o700)) }},
	{"cut off to nothing", func(path string) error { return os.Truncate(path, 0) }},
	{"cut off to a meta page", func(path string) error { return os.Truncate(path, pageSize) }},
	{"cut off in a meta page", func(path string) error { return os.Truncate(path, pageSize+20) }},
	{"cut off to both meta pages", func(path string) error { return os.Truncate(path, 2*pageSize) }},
	{"cut off by a byte", func(path string) error { return resize(path, -1) }},
	{"cut off by a page", func(path string) error { return resize(path, -pageSize) }},
}

// resized are changes that the length of the file shows.
var resized = []change{
	{"longer by a byte", func(path string) error { return resize(path, 1) }},
	{"longer by much", func(path string) error { return resize(path, 1<<24) }},
}

// written are changes that the time of the file shows.
var written = []change{
	{"written over by itself", func(path string) error { return copyTo(path, path) }},
	{"a byte is written", func(path string) error { return writeAt(path, 5*pageSize, []byte{1}) }},
	{"a meta page is bad", func(path string) error { return writeAt(path, 16, make([]byte, 64)) }},
	{"the other meta page is bad", func(path string) error { return writeAt(path, pageSize+16, make([]byte, 64)) }},
}

func copyTo(from, to string) error {
	b, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, b, 0o600)
}

func resize(path string, by int64) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	return os.Truncate(path, info.Size()+by)
}

func writeAt(path string, at int64, b []byte) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(b, at)
	return errors.Join(err, f.Close())
}

// onceOpen makes a shop of a file in a directory of its own.
func onceOpen(t *testing.T, o bolt.Options) (s *shop, path string) {
	if runtime.GOOS == "windows" {
		t.Skip("a file that is open and mapped is left alone here")
	}
	path = filepath.Join(t.TempDir(), "dir", "db")
	require.NoError(t, os.Mkdir(filepath.Dir(path), 0o700))
	s = open(t, path, o, forever)
	for i := range 50 {
		require.NoError(t, s.add(fmt.Sprint(i), i, strings.Repeat("x", 500)))
	}
	return s, path
}

// Whatever happens to a file while a DB has it open, no update is acknowledged after it, nor
// said to be possible; reads go on, and Close lets go. With Every that holds of what is
// gone: the rest shows when it is written.
func TestAFileThatIsChanged(t *testing.T) {
	for mode, all := range map[bolt.Sync][]change{
		bolt.Always:           slices.Concat(gone, resized, written),
		bolt.Every(time.Hour): gone,
	} {
		for _, c := range all {
			t.Run(fmt.Sprint(time.Duration(mode), " ", c.what), func(t *testing.T) {
				before := runtime.NumGoroutine()
				s, path := onceOpen(t, bolt.Options{Sync: mode})
				seen := s.now()
				later(t, path)
				require.NoError(t, c.do(path))
				err := s.add("lost", 1)
				require.ErrorIs(t, err, bolt.ErrChanged)
				require.ErrorContains(t, err, path)
				require.NotErrorIs(t, err, cow.ErrUnknownOutcome, "it was not begun")
				require.ErrorIs(t, s.add("more", 1), bolt.ErrChanged, "it is sticky")
				require.Equal(t, seen, s.now(), "reads go on")
				require.ErrorIs(t, s.db.Close(), bolt.ErrChanged)
				err = s.add("more", 1)
				require.ErrorIs(t, err, cow.ErrClosed)
				require.ErrorIs(t, err, bolt.ErrChanged, "it says why too")
				requireGoroutines(t, before)
			})
		}
	}
}

// later waits until the system gives what is written now another time than the file has.
func later(t *testing.T, path string) {
	was, err := os.Stat(path)
	require.NoError(t, err)
	other := filepath.Join(t.TempDir(), "now")
	require.Eventually(t, func() bool {
		require.NoError(t, os.WriteFile(other, nil, 0o600))
		is, err := os.Stat(other)
		require.NoError(t, err)
		return !is.ModTime().Equal(was.ModTime())
	}, time.Minute, time.Millisecond)
}

// The same in the middle of a transaction, which may then be in the file or not.
func TestAFileThatIsChangedWhileItIsWritten(t *testing.T) {
	meta := change{"the last meta page is bad", func(path string) error {
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return writeAt(path, int64(lastMeta(b))*pageSize+16, make([]byte, 64))
	}}
	for _, c := range slices.Concat(gone, resized, []change{meta}) {
		t.Run(c.what, func(t *testing.T) {
			s, path := onceOpen(t, bolt.Options{})
			err := bolt.Transact(s.file, true, func(tx *bbolt.Tx) error {
				require.NoError(t, tx.Bucket([]byte("meta")).Put([]byte("more"), nil))
				return c.do(path)
			})
			require.ErrorIs(t, err, bolt.ErrChanged)
			require.False(t, bolt.Unwritten(err))
			_ = s.db.Close()
		})
	}
}

// What does not show by its time shows by the meta pages.
func TestMetaPagesThatAreChanged(t *testing.T) {
	// another makes of the file before the last transaction one with another last transaction.
	another := func(t *testing.T, before []byte) []byte {
		path := temp(t)
		require.NoError(t, os.WriteFile(path, before, 0o600))
		db, err := bbolt.Open(path, 0, nil)
		require.NoError(t, err)
		require.NoError(t, db.Update(func(tx *bbolt.Tx) error { return tx.Bucket([]byte("meta")).Put([]byte("more"), nil) }))
		require.NoError(t, db.Close())
		b, err := os.ReadFile(path)
		require.NoError(t, err)
		return b
	}
	for what, change := range map[string]func(t *testing.T, before, file []byte) []byte{
		"both are bad": func(_ *testing.T, _, file []byte) []byte {
			clear(file[16:80])
			clear(file[pageSize+16 : pageSize+80])
			return file
		},
		"the last is bad": func(_ *testing.T, before, file []byte) []byte {
			p := lastMeta(file)
			clear(file[p*pageSize+16 : p*pageSize+80])
			return file
		},
		"the one before":     func(_ *testing.T, before, file []byte) []byte { return before },
		"another of the day": func(t *testing.T, before, _ []byte) []byte { return another(t, before) },
		"a later one":        func(t *testing.T, _, file []byte) []byte { return another(t, file) },
	} {
		t.Run(what, func(t *testing.T) {
			s, path := onceOpen(t, bolt.Options{})
			before, err := os.ReadFile(path)
			require.NoError(t, err)
			require.NoError(t, s.add("seen", 1))
			seen := s.now()
			file, err := os.ReadFile(path)
			require.NoError(t, err)
			was, err := os.Stat(path)
			require.NoError(t, err)
			file = change(t, before, file)
			require.Len(t, file, int(was.Size()))
			require.NoError(t, writeAt(path, 0, file))
			require.NoError(t, os.Chtimes(path, time.Time{}, was.ModTime()))
			require.ErrorIs(t, s.add("lost", 1), bolt.ErrChanged)
			require.ErrorIs(t, s.add("more", 1), bolt.ErrChanged)
			require.Equal(t, seen, s.now())
			require.ErrorIs(t, s.db.Close(), bolt.ErrChanged)
		})
	}
}

// lastMeta returns which meta page is of the last transaction.
func lastMeta(file []byte) int {
	txid := func(p int) uint64 { return binary.NativeEndian.Uint64(file[p*pageSize+16+48:]) }
	if txid(1) > txid(0) {
		return 1
	}
	return 0
}

// What is no change: the file grows, is looked at, linked, moved and moved back, and gets
// another mode.
func TestAFileThatIsNotChanged(t *testing.T) {
	s, path := onceOpen(t, bolt.Options{})
	for i, do := range []func(path string) error{
		func(path string) error { _, err := os.ReadFile(path); return err },
		func(path string) error { return os.Link(path, path+"link") },
		func(path string) error { return os.Remove(path + "link") },
		func(path string) error {
			return errors.Join(os.Rename(path, path+"moved"), os.Rename(path+"moved", path))
		},
		func(path string) error {
			return errors.Join(os.Rename(path, path+"moved"), os.Symlink(path+"moved", path))
		},
		func(path string) error { return os.Chmod(path, 0o640) },
		func(path string) error {
			_, err := bolt.Check(path)
			require.ErrorIs(t, err, bolt.ErrLocked)
			return nil
		},
	} {
		require.NoError(t, do(path))
		require.NoError(t, s.add(fmt.Sprint(i), i, strings.Repeat("large", 100_000)))
	}
	require.NoError(t, s.db.Close())
}
