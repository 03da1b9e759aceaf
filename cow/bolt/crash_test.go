package bolt_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.etcd.io/bbolt"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/cow/bolt"
)

var long = flag.Bool("long", false, "run the long forms of the crash tests")

// times returns how often to do something.
func times(short, inLong int) int {
	if *long {
		return inLong
	}
	return short
}

const pageSize = 4096

// images makes updates of many kinds, and returns the file before the first and after
// each.
func images(t testing.TB, n int, retain ...cow.Retention) (files [][]byte) {
	path := temp(t)
	s := open(t, path, bolt.Options{}, retain...)
	read := func() {
		b, err := os.ReadFile(path)
		require.NoError(t, err)
		files = append(files, b)
	}
	r := rand.New(rand.NewPCG(1, uint64(len(retain))))
	for i := range 60 {
		require.NoError(t, s.add(fmt.Sprint("k", i), i, "x"))
	}
	// For which what is written over from now on is kept.
	require.NoError(t, s.db.Pin("p", s.db.Load().Version()))
	read()
	for i := range n {
		switch i % 4 {
		case 0:
			require.NoError(t, s.add(fmt.Sprint("k", r.IntN(60)), r.IntN(1000), "y"))
		case 1:
			require.NoError(t, s.db.Update(func(tx *cow.Tx) error { s.jobs.Edit(tx).Delete(fmt.Sprint("k", r.IntN(60))); return nil }))
			if v := s.db.Load().Version(); v < uint64(61+i) { // it was not there
				require.NoError(t, s.add(fmt.Sprint("k", 60+i), 1))
			}
		case 2: // a large value
			require.NoError(t, s.add(fmt.Sprint("k", r.IntN(60)), 1, strings.Repeat("z", r.IntN(20_000))))
		case 3:
			require.NoError(t, s.db.Update(func(tx *cow.Tx) error {
				for range 40 {
					s.total.Edit(tx).Set(r.IntN(1000), r.IntN(1000))
				}
				return nil
			}))
		}
		read()
	}
	require.NoError(t, s.db.Close())
	read()
	return files
}

func pageOf(file []byte, i int) []byte {
	if (i+1)*pageSize > len(file) {
		return nil
	}
	return file[i*pageSize : (i+1)*pageSize]
}

// Whatever of a transaction has reached the disk when the machine stops: the version
// before it opens, or its own.
func TestCrashStates(t *testing.T) {
	n, total := times(20, 50), crashStates{}
	for _, retain := range [][]cow.Retention{nil, {{Versions: 8}}} {
		files := images(t, n, retain...)
		for i := 1; i <= n; i++ {
			total.between(t, files[i-1], files[i], 1)
		}
	}
	require.Positive(t, total.news)
	t.Logf("%d states, of which %d have the new version", total.all, total.news)
	if *long {
		require.Greater(t, total.all, 100_000)
	}
}

// The same for the first transactions of a new file: with Every, Open writes one too.
func TestCrashStatesOfANewFile(t *testing.T) {
	total := crashStates{}
	for _, o := range []bolt.Options{{}, {Sync: bolt.Every(time.Millisecond)}} {
		path := temp(t)
		read := func() []byte {
			b, err := os.ReadFile(path)
			require.NoError(t, err)
			return b
		}
		require.NoError(t, bolt.Create(path, &newShop().db))
		made := read()
		s := open(t, path, o)
		opened := read()
		if o.Sync != bolt.Always {
			total.between(t, made, opened, 0)
		}
		total.renews = o.Sync != bolt.Always
		require.NoError(t, s.add("k", 1, "first"))
		require.Eventually(t, func() bool { return bolt.Queued(s.file) == 0 }, time.Minute, time.Millisecond)
		total.between(t, opened, read(), 1)
		require.NoError(t, s.db.Close())
	}
	require.Positive(t, total.news)
	t.Logf("%d states, of which %d have the new version", total.all, total.news)
}

// A meta page that is lost after Close has a copy, and is not needed: nothing is lost. One
// that is lost before ends the lineage, for whoever follows it, and what is made of the
// file; and that only once.
func TestAMetaPageThatIsLost(t *testing.T) {
	path := temp(t)
	s := open(t, path, bolt.Options{}, forever)
	for i := range 80 {
		require.NoError(t, s.add(fmt.Sprint(i), i))
	}
	cursor, lineage := s.db.Cursor(80), s.db.Lineage().ID
	killed, err := os.ReadFile(path)
	require.NoError(t, err)
	want := s.now()
	require.NoError(t, s.db.Close())
	closed, err := os.ReadFile(path)
	require.NoError(t, err)
	write := func(t *testing.T, file []byte, page int) string {
		file = bytes.Clone(file)
		file[page*pageSize+16+20] ^= 1
		path := temp(t)
		require.NoError(t, os.WriteFile(path, file, 0o600))
		return path
	}
	for page := range 2 {
		s := open(t, write(t, closed, page), bolt.Options{}, forever)
		require.False(t, s.file.Renewed())
		require.Equal(t, want, s.now())
		require.NoError(t, s.db.Close())
	}
	s = open(t, write(t, killed, 1-lastMeta(killed)), bolt.Options{}, forever)
	require.False(t, s.file.Renewed())
	require.Equal(t, want, s.now())
	for _, make := range []func(path string) error{
		func(string) error { return nil },
		bolt.Compact,
	} {
		path := write(t, killed, lastMeta(killed))
		info, err := bolt.Check(path)
		require.NoError(t, err)
		require.True(t, info.Torn && info.Renews)
		require.NoError(t, make(path))
		s := open(t, path, bolt.Options{}, forever)
		require.EqualValues(t, 79, s.db.Load().Version())
		require.True(t, s.file.Renewed())
		require.NotEqual(t, lineage, s.db.Lineage().ID)
		require.NoError(t, s.add("other", 1))
		require.NoError(t, s.add("other", 2))
		for _, err := range s.db.Resume(t.Context(), cursor) {
			require.ErrorIs(t, err, cow.ErrLineage)
		}
		require.NoError(t, s.db.Close())
		s = open(t, path, bolt.Options{}, forever)
		require.False(t, s.file.Renewed(), "once")
		require.NoError(t, s.db.Close())
	}
	// Nor does it end again if it is killed at once.
	path = write(t, killed, lastMeta(killed))
	s = open(t, path, bolt.Options{}, forever)
	require.True(t, s.file.Renewed())
	copied := temp(t)
	copyFile(t, path, copied)
	is := open(t, copied, bolt.Options{}, forever)
	require.False(t, is.file.Renewed())
	require.Equal(t, s.db.Lineage().ID, is.db.Lineage().ID)
}

// Files that have no marks open as they are, and go on; where one of their meta pages is bad
// it is not known whether something is lost, and then the lineage ends.
func TestAMetaPageThatIsLostWithoutMarks(t *testing.T) {
	file, err := os.ReadFile(filepath.Join("testdata", "killed1.db"))
	require.NoError(t, err)
	for _, bad := range []int{-1, 0, 1} {
		b, want := bytes.Clone(file), uint64(4)
		if bad >= 0 {
			b[bad*pageSize+16+20] ^= 1
		}
		if bad == lastMeta(file) {
			want--
		}
		path := temp(t)
		require.NoError(t, os.WriteFile(path, b, 0o600))
		s := open(t, path, bolt.Options{}, forever)
		require.Equal(t, want, s.db.Load().Version())
		require.Equal(t, bad >= 0, s.file.Renewed())
		require.NoError(t, s.add("more", 1))
		require.NoError(t, s.db.Close())
		s = open(t, path, bolt.Options{}, forever)
		require.Equal(t, want+1, s.db.Load().Version())
		require.False(t, s.file.Renewed())
		require.NoError(t, s.db.Close())
	}
}

// crashStates counts the states that were tried, and those that had the new version.
type crashStates struct {
	all, news int
	renews    bool // they begin a new lineage in any case
}

// between requires that whatever has reached the disk of what a transaction has changed
// opens as before or as after.
func (c *crashStates) between(t *testing.T, before, after []byte, versions uint64) {
	version, old, err := bolt.Scan(before)
	require.NoError(t, err)
	next, new, err := bolt.Scan(after)
	require.NoError(t, err)
	require.Equal(t, version+versions, next)
	if versions > 0 {
		require.NotEqual(t, old, new)
	}
	var changed []int
	meta := -1
	const marks = pageSize - 24 // of a meta page: written last of all
	for p := range len(after) / pageSize {
		switch {
		case bytes.Equal(pageOf(before, p), pageOf(after, p)):
		case p < 2 && bytes.Equal(pageOf(before, p)[:marks], pageOf(after, p)[:marks]):
		case p < 2:
			require.Equal(t, -1, meta, "two meta pages are written")
			meta = p
		default:
			changed = append(changed, p)
		}
	}
	require.GreaterOrEqual(t, meta, 0)
	require.NotEmpty(t, changed)
	check := func(image []byte, both bool) {
		c.all++
		v, digest, err := bolt.Scan(image)
		require.NoError(t, err)
		renews, err := bolt.Renews(image)
		require.NoError(t, err)
		if versions > 0 {
			require.Equal(t, c.renews, renews, "nothing is lost that was acknowledged")
		}
		if both && v == next && digest == new {
			c.news++
		} else {
			require.Equal(t, version, v)
			require.Equal(t, old, digest)
		}
		if c.all%500 == 0 {
			requireOpens(t, image, v)
		}
	}
	// A file that has grown has its size before anything else: it is synced first.
	image := func() []byte {
		b := make([]byte, len(after))
		copy(b, before)
		return b
	}
	for range times(30, 1200) {
		b := image()
		for _, p := range changed {
			switch rand.IntN(3) {
			case 0:
				copy(pageOf(b, p), pageOf(after, p))
			case 1: // a part of it
				from := 512 * rand.IntN(8)
				to := from + 512*(1+rand.IntN(8-from/512))
				copy(pageOf(b, p)[from:to], pageOf(after, p)[from:to])
			}
		}
		check(b, false)
	}
	for range times(4, 100) {
		b := image()
		for _, p := range changed {
			copy(pageOf(b, p), pageOf(after, p))
		}
		from, to := rand.IntN(100), rand.IntN(100)
		if rand.IntN(4) == 0 {
			to = pageSize
		}
		copy(pageOf(b, meta)[min(from, to):max(from, to)], pageOf(after, meta)[min(from, to):])
		check(b, true)
	}
	if versions == 0 || c.renews {
		return
	}
	// Then it is acknowledged. Whatever is lost of its meta page, that is known; the other page
	// may be lost.
	for page, renews := range map[int]bool{meta: true, 1 - meta: false} {
		for range times(4, 100) {
			b := bytes.Clone(after)
			switch is := pageOf(b, page)[16:80]; rand.IntN(4) {
			case 0:
				clear(pageOf(b, page))
			case 1:
				is[rand.IntN(len(is))] ^= 1 << rand.IntN(8)
			case 2:
				for i := range is {
					is[i] = byte(rand.IntN(256))
				}
			case 3:
				copy(pageOf(b, page), pageOf(before, page)) // as it was earlier
			}
			is, err := bolt.Renews(b)
			require.NoError(t, err)
			require.Equal(t, renews, is)
			v, _, err := bolt.Scan(b)
			require.NoError(t, err)
			require.Equal(t, renews, v == version)
		}
	}
}

// requireOpens requires that a file opens with that version, can be written, and is
// sound for bbolt as well.
func requireOpens(t *testing.T, file []byte, version uint64) {
	t.Helper()
	path := temp(t)
	require.NoError(t, os.WriteFile(path, file, 0o600))
	s := open(t, path, bolt.Options{})
	require.Equal(t, version, s.db.Load().Version())
	require.NoError(t, s.add("another", 1))
	want := s.now()
	require.NoError(t, s.db.Close())
	info, err := bolt.Check(path)
	require.NoError(t, err)
	require.Equal(t, version+1, info.Version)
	s = open(t, path, bolt.Options{})
	require.Equal(t, want, s.now())
	require.NoError(t, s.db.Close())
	b, err := bbolt.Open(path, 0, &bbolt.Options{ReadOnly: true})
	require.NoError(t, err)
	require.NoError(t, b.View(func(tx *bbolt.Tx) error {
		for err := range tx.Check() {
			return err
		}
		return nil
	}))
	require.NoError(t, b.Close())
}

// A closed file that is damaged anywhere is found to be so, or has everything.
func TestDamageIsFoundOrHarmless(t *testing.T) {
	files := images(t, 12, cow.Retention{Versions: 8})
	t.Run("as it was closed", func(t *testing.T) { requireFoundOrHarmless(t, files[len(files)-1], files[:len(files)-1]) })
	t.Run("compact", func(t *testing.T) { // nearly all of it is in use
		path := temp(t)
		require.NoError(t, os.WriteFile(path, files[len(files)-1], 0o600))
		require.NoError(t, bolt.Compact(path))
		file, err := os.ReadFile(path)
		require.NoError(t, err)
		requireFoundOrHarmless(t, file, nil)
	})
}

// requireFoundOrHarmless damages a file, in which older states of it were once.
func requireFoundOrHarmless(t *testing.T, good []byte, older [][]byte) {
	version, digest, err := bolt.Scan(good)
	require.NoError(t, err)
	found, harmless := 0, 0
	file := bytes.Clone(good)
	with := func(what string, edit func(b []byte)) {
		edit(file)
		defer copy(file, good)
		v, d, err := bolt.Scan(file)
		switch {
		case err == nil:
			harmless++
			if v != version || d != digest {
				require.Fail(t, "another content", what)
			}
		case errors.Is(err, bolt.ErrDamaged), errors.Is(err, bolt.ErrFormat):
			found++
		default:
			require.NoError(t, err, what)
		}
		switch {
		case err != nil && found%times(500, 5000) == 0:
			path := temp(t)
			require.NoError(t, os.WriteFile(path, file, 0o600))
			require.Error(t, newShop().open(path, bolt.Options{}), what)
			_, err = bolt.Check(path)
			require.Error(t, err, what)
		case err == nil && harmless%times(500, 5000) == 0:
			requireOpens(t, file, v)
		}
	}
	high := len(good) / pageSize
	bits := len(good) * 8
	flip := func(bit int) {
		with(fmt.Sprintf("bit %d of page %d", bit%(8*pageSize), bit/8/pageSize), func(b []byte) { b[bit/8] ^= 1 << (bit % 8) })
	}
	if *long {
		for bit := range bits {
			flip(bit)
		}
	} else {
		for range 1500 {
			flip(rand.IntN(bits))
		}
		for p := range high { // what says what the page is
			for bit := rand.IntN(12); bit < 8*48; bit += 12 {
				flip(p*pageSize*8 + bit)
			}
		}
	}
	for p := range high {
		with(fmt.Sprintf("page %d is zero", p), func(b []byte) { clear(pageOf(b, p)) })
		for q := rand.IntN(times(4, 1)); q < p; q += times(4, 1) {
			with(fmt.Sprintf("pages %d and %d are swapped", p, q), func(b []byte) {
				was := bytes.Clone(pageOf(b, p))
				copy(pageOf(b, p), pageOf(b, q))
				copy(pageOf(b, q), was)
			})
		}
		// A write that never arrived.
		for i, old := range older {
			if is := pageOf(old, p); is != nil {
				with(fmt.Sprintf("page %d is as it was %d transactions ago", p, len(older)-i), func(b []byte) { copy(pageOf(b, p), is) })
			}
		}
		for range 20 {
			with(fmt.Sprintf("page %d has a wrong word", p), func(b []byte) {
				at := p*pageSize + 4*rand.IntN(pageSize/4)
				binary.LittleEndian.PutUint32(b[at:], rand.Uint32()>>rand.IntN(32))
			})
		}
	}
	require.Positive(t, found)
	require.Positive(t, harmless)
	t.Logf("%d found, %d harmless", found, harmless)
}

// Damage is named by its table and key.
func TestDamageIsNamed(t *testing.T) {
	path := temp(t)
	s := open(t, path, bolt.Options{})
	require.NoError(t, s.add("somebody", 1, "findme"))
	require.NoError(t, s.db.Close())
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	bad := bytes.ReplaceAll(b, []byte("findme"), []byte("findMe"))
	require.NotEqual(t, b, bad)
	path = filepath.Join(t.TempDir(), "bad")
	require.NoError(t, os.WriteFile(path, bad, 0o600))
	for _, open := range []func() error{
		func() error { return newShop().open(path, bolt.Options{}) },
		func() error { _, err := bolt.Check(path); return err },
	} {
		err := open()
		var d *bolt.Damage
		require.ErrorAs(t, err, &d)
		require.ErrorIs(t, err, bolt.ErrDamaged)
		require.Equal(t, "jobs", d.Table)
		require.Equal(t, "somebody", string(d.Key))
		require.ErrorContains(t, err, path)
		require.ErrorContains(t, err, `table "jobs": key "somebody": its checksum is wrong`)
	}
}

// A page that is sound, but as it was before, is found by the hash of its table.
func TestAnEarlierPageIsFound(t *testing.T) {
	path := temp(t)
	s := open(t, path, bolt.Options{})
	for i := range 5 { // pages of 4096 bytes, each with a few rows
		require.NoError(t, s.add(fmt.Sprint("k", i), 0, strings.Repeat("x", 1500)))
	}
	require.NoError(t, s.add("k2", 0, "earlier"))
	before, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, s.add("k2", 0, "later"))
	require.NoError(t, s.db.Close())
	after, err := os.ReadFile(path)
	require.NoError(t, err)
	find := func(file []byte, text string) (pages []int) {
		for p := 2; p < len(file)/pageSize; p++ {
			if bytes.Contains(pageOf(file, p), []byte(text)) {
				pages = append(pages, p)
			}
		}
		return pages
	}
	found := 0
	for _, from := range find(before, `"earlier"`) {
		for _, to := range find(after, `"later"`) {
			b := bytes.Clone(after)
			copy(pageOf(b, to), pageOf(before, from))
			copy(pageOf(b, to)[:8], pageOf(after, to)[:8]) // its id
			_, _, err := bolt.Scan(b)
			require.ErrorIs(t, err, bolt.ErrDamaged)
			if strings.Contains(err.Error(), " written: ") {
				found++
			}
		}
	}
	require.Positive(t, found, "the test shows nothing")
}
