package bolt_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.etcd.io/bbolt"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/cow/bolt"
	"github.com/cowstore/cowstore/cow/internal/keycode"
	"github.com/cowstore/cowstore/cow/internal/sink"
	"github.com/cowstore/cowstore/memory"
)

// The files in testdata/0939e04, and what was in them, were written by this test at that
// commit: files of format 1, without a schema. They must open, and go on. So must the memory in
// testdata/6f4239a, whose schema has the first format of entries.
const fixtures = "testdata/0939e04"

var writeFixtures = flag.Bool("write-0939e04", false, "write testdata/0939e04, at that commit")

// An album is a DB with tables of several kinds of keys and codecs. The files have tables of
// more kinds of keys, which are kept as they are: TestKeysOf0939e04 reads those.
type album struct {
	db    cow.DB
	names []string
	steps []func(tx *cow.Tx, n int)
	shows []func(s *cow.Snapshot) []string
}

type point struct{ X, Y int }

type place struct {
	point
	Name string
	_    int
	at   [2]uint8
	up   bool
}

type note struct {
	Title string `json:"title,omitempty"`
	Tags  []string
	By    *point
	Meta  map[string]any
	When  time.Time
}

func addTable[K comparable, V any](a *album, name string, codec cow.Codec[V], key func(n int) K, value func(n int) V) {
	t := cow.NewTable[K](&a.db, name, cow.Options[V]{Codec: codec})
	a.names = append(a.names, name)
	a.steps = append(a.steps, func(tx *cow.Tx, n int) {
		e := t.Edit(tx)
		e.Set(key(n%5), value(n))
		if n%3 == 2 {
			e.Delete(key((n + 3) % 5))
		}
	})
	a.shows = append(a.shows, func(s *cow.Snapshot) (lines []string) {
		m := t.In(s)
		for k, v := range m.All() {
			text, _ := json.Marshal(v)
			lines = append(lines, fmt.Sprintf("%s %#v = %s @%d", name, k, text, m.Revision(k)))
		}
		slices.Sort(lines)
		return lines
	})
}

func newAlbum() *album {
	a := new(album)
	number := cow.Versioned[int]{}
	self := func(n int) int { return n }
	addTable(a, "int", number, func(n int) int { return n - 2 }, self)
	addTable(a, "string", number, func(n int) string { return strings.Repeat("k\x00", n) }, self)
	addTable(a, "nested/struct", number, func(n int) place {
		return place{point: point{n, 1}, Name: fmt.Sprint("\x00", n), at: [2]uint8{1, byte(n)}, up: n > 2}
	}, self)
	text := func(n int) string { return fmt.Sprint("text ", n) }
	addTable(a, "CBOR", bolt.CBOR[string](), self, text)
	addTable(a, "versioned CBOR", cow.Versioned[string]{Of: bolt.CBOR[string](), Version: 3}, self, text)
	addTable(a, "versions", versions{}, self, text)
	made := func(n int) *note {
		return &note{text(n), []string{"a", text(n)}, &point{n, n}, map[string]any{"n": n}, time.Unix(int64(n), 5).UTC()}
	}
	addTable(a, "JSON struct", cow.Versioned[*note]{}, text, made)
	addTable(a, "CBOR struct", bolt.CBOR[*note](), text, made)
	return a
}

// A versions is a codec whose rows have one of two versions.
type versions struct{}

func (versions) Append(b []byte, v string) ([]byte, error) {
	return cow.Versioned[string]{Version: byte(len(v) % 2)}.Append(b, v)
}

func (versions) Decode(b []byte) (string, error) {
	return cow.Versioned[string]{Version: 1, Other: func(_ byte, b []byte) (s string, err error) {
		return s, json.Unmarshal(b, &s)
	}}.Decode(b)
}

func (a *album) step(t testing.TB, n int) {
	require.NoError(t, a.db.Update(func(tx *cow.Tx) error {
		for _, step := range a.steps {
			step(tx, n)
		}
		return nil
	}))
}

// show shows every version: when it was published, and its rows with their revisions.
func (a *album) show() string {
	var b strings.Builder
	for v, at := range a.db.Versions() {
		s, err := a.db.At(v)
		fmt.Fprintln(&b, "version", v, at.UTC(), err)
		for _, show := range a.shows {
			fmt.Fprintln(&b, strings.Join(show(s), "\n"))
		}
	}
	return b.String()
}

// known leaves out the lines of other tables.
func (a *album) known(shown string) string {
	var lines []string
	for line := range strings.Lines(shown) {
		_, _, version := strings.Cut(line, " UTC ")
		known := version && strings.HasPrefix(line, "version ")
		for _, name := range a.names {
			known = known || strings.HasPrefix(line, name+" ")
		}
		if known {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "")
}

const albumSteps = 14

var fixtureKinds = map[string]struct {
	retain cow.Retention
	sync   bolt.Sync
	torn   bool // it was not closed
}{
	"past":         {retain: cow.Retention{Versions: 5}},
	"nopast":       {},
	"killed":       {retain: cow.Retention{Versions: 5}, torn: true},
	"every":        {retain: cow.Retention{Versions: 5}, sync: bolt.Every(time.Millisecond)},
	"every-killed": {retain: cow.Retention{Versions: 5}, sync: bolt.Every(time.Millisecond), torn: true},
}

func TestFilesOf0939e04(t *testing.T) {
	for name, is := range fixtureKinds {
		t.Run(name, func(t *testing.T) {
			if *writeFixtures {
				path := temp(t)
				a := newAlbum()
				a.db.Retain(is.retain)
				f, err := bolt.Open(path, &a.db, bolt.Options{Sync: is.sync})
				require.NoError(t, err)
				for n := range albumSteps {
					a.step(t, n)
				}
				require.Eventually(t, func() bool { return bolt.Queued(f) == 0 }, time.Minute, time.Millisecond)
				want := a.db.Cursor(albumSteps) + "\n" + a.show()
				if !is.torn {
					require.NoError(t, a.db.Close())
				}
				b, err := os.ReadFile(path)
				require.NoError(t, err)
				pack(t, name+".db", b)
				pack(t, name+".txt", []byte(want))
				_ = a.db.Close()
				return
			}
			path := temp(t)
			require.NoError(t, os.WriteFile(path, unpack(t, name+".db"), 0o600))
			cursor, want, _ := strings.Cut(string(unpack(t, name+".txt")), "\n")
			before, err := bolt.Check(path)
			require.NoError(t, err)

			a := newAlbum()
			a.db.Retain(is.retain)
			f, err := bolt.Open(path, &a.db, bolt.Options{Sync: is.sync, KeepUnknown: true})
			require.NoError(t, err)
			require.Len(t, f.Unknown(), 13)
			require.Equal(t, is.torn && is.sync != bolt.Always, f.Renewed())
			if !f.Renewed() {
				require.Equal(t, cursor, a.db.Cursor(albumSteps))
			}
			got := a.known(a.show())
			want = a.known(want)
			if is.retain == (cow.Retention{}) { // the time of the only version is that of Open
				_, got, _ = strings.Cut(got, "\n")
				_, want, _ = strings.Cut(want, "\n")
			}
			require.Equal(t, want, got)

			a.step(t, albumSteps)
			want = a.show()
			require.NoError(t, a.db.Close())
			a = newAlbum()
			a.db.Retain(is.retain)
			_, err = bolt.Open(path, &a.db, bolt.Options{KeepUnknown: true})
			require.NoError(t, err)
			got = a.show()
			if is.retain == (cow.Retention{}) {
				_, got, _ = strings.Cut(got, "\n")
				_, want, _ = strings.Cut(want, "\n")
			}
			require.Equal(t, want, got)
			require.NoError(t, a.db.Close())
			after, err := bolt.Check(path)
			require.NoError(t, err)
			for i, table := range after.Tables {
				require.Equal(t, slices.Contains(a.names, table.Name), table.Schema != "", table.Name)
				require.Equal(t, before.Tables[i].Name, table.Name)
				if table.Schema == "" && is.retain == (cow.Retention{}) {
					require.Equal(t, before.Tables[i], table, "it is untouched")
				}
			}
		})
	}
}

// Keys of every kind are what they were, and have the bytes that they had.
func TestKeysOf0939e04(t *testing.T) {
	path := temp(t)
	require.NoError(t, os.WriteFile(path, unpack(t, "nopast.db"), 0o600))
	db, err := bbolt.Open(path, 0o600, nil)
	require.NoError(t, err)
	defer db.Close()
	shown := string(unpack(t, "nopast.txt"))
	keysOf[int](t, db, "int", shown)
	keysOf[uint64](t, db, "uint64", shown)
	keysOf[float32](t, db, "float32", shown)
	keysOf[bool](t, db, "bool", shown)
	keysOf[string](t, db, "string", shown)
	keysOf[[3]byte](t, db, "[3]byte", shown)
	keysOf[point](t, db, "struct", shown)
	keysOf[place](t, db, "nested/struct", shown)
}

func keysOf[K any](t *testing.T, db *bbolt.DB, name, shown string) {
	code, err := keycode.New[K]()
	require.NoError(t, err)
	n := 0
	require.NoError(t, db.View(func(tx *bbolt.Tx) error {
		return tx.ForEach(func(bucket []byte, rows *bbolt.Bucket) error {
			if bucket[0] != 't' || string(bucket[5:]) != name {
				return nil
			}
			return rows.ForEach(func(b, _ []byte) error {
				k, err := code.Decode(b[1:])
				require.NoError(t, err, name)
				require.Contains(t, shown, fmt.Sprintf("\n%s %#v = ", name, k))
				require.Equal(t, b, code.Append([]byte{'k'}, k), name)
				n++
				return nil
			})
		})
	}))
	require.NotZero(t, n, name)
	require.Equal(t, strings.Count(shown, "\n"+name+" "), n, name)
}

// A memory on a DB, beside a table of the application.
func TestTheMemoryOf0939e04(t *testing.T) {
	open := func(path string) (*memory.Memory, *cow.Table[string, int]) {
		db := new(cow.DB)
		m := memory.On(db, memory.Options{})
		turns := cow.NewTable[string](db, "turns", cow.Options[int]{Codec: cow.Versioned[int]{}})
		db.Retain(cow.Retention{Versions: 10})
		_, err := bolt.Open(path, db, bolt.Options{})
		require.NoError(t, err)
		return m, turns
	}
	step := func(m *memory.Memory, turns *cow.Table[string, int], n int) {
		require.NoError(t, m.DB().Update(func(tx *cow.Tx) error {
			if err := turns.Edit(tx).Upsert("ada", func(v *int, _ bool) error { *v++; return nil }); err != nil {
				return err
			}
			return m.BatchIn(tx, func(b *memory.Batch) error {
				if n%4 == 3 {
					b.Space("notes", "x").Delete(fmt.Sprint(n - 2))
					return nil
				}
				return b.Space("notes", "x").PutItem(fmt.Sprint(n), memory.Item{
					Value:    map[string]any{"text": fmt.Sprintf("note %d of a horse", n), "n": n},
					Vector:   []float32{float32(n), 2, 3},
					Metadata: map[string]any{"even": n%2 == 0},
				})
			})
		}))
	}
	show := func(m *memory.Memory, turns *cow.Table[string, int]) string {
		var b strings.Builder
		for v, at := range m.DB().Versions() {
			s, err := m.At(v)
			require.NoError(t, err)
			fmt.Fprintln(&b, "version", v, at.UTC())
			require.NoError(t, s.Export(&b))
		}
		for k, v := range turns.All() {
			fmt.Fprintln(&b, k, v, turns.Load().Revision(k))
		}
		words, err := m.Space("notes", "x").Search(memory.Query{Text: "horses", K: 5})
		require.NoError(t, err)
		for _, h := range words { // whose scores are not the file's
			fmt.Fprintln(&b, h.Key, h.Value, h.Revision)
		}
		near, err := m.Space("notes", "x").Search(memory.Query{Vector: []float32{1, 2, 3}, K: 5})
		require.NoError(t, err)
		for _, h := range near {
			fmt.Fprintln(&b, h.Key, h.Score, h.Value, h.Revision)
		}
		return b.String()
	}
	path := temp(t)
	if *writeFixtures {
		m, turns := open(path)
		_, err := m.Space("options").Configure(memory.SpaceOptions{MaxEntries: 7})
		require.NoError(t, err)
		for n := range 20 {
			step(m, turns, n)
		}
		_, err = m.Space("notes", "y").PutItem("gone", memory.Item{Value: 1})
		require.NoError(t, err)
		_, err = m.Space("notes", "y").Clear()
		require.NoError(t, err)
		want := show(m, turns)
		require.NoError(t, m.DB().Close())
		b, err := os.ReadFile(path)
		require.NoError(t, err)
		pack(t, "memory.db", b)
		pack(t, "memory.txt", []byte(want))
		return
	}
	for _, name := range []string{"memory", "../6f4239a/memory"} {
		require.NoError(t, os.WriteFile(path, unpack(t, name+".db"), 0o600))
		want := string(unpack(t, name+".txt"))
		for n := range 3 {
			m, turns := open(path)
			require.Equal(t, want, show(m, turns))
			step(m, turns, n)
			want = show(m, turns)
			require.NoError(t, m.DB().Close())
		}
	}
}

// What a file may have of entries: those of the format before, and no other.
func TestSchemasOfEntries(t *testing.T) {
	db := new(cow.DB)
	memory.On(db, memory.Options{})
	tables, err := sink.For(db).Tables()
	require.NoError(t, err)
	i := slices.IndexFunc(tables, func(t sink.Table) bool { return t.Name == "memory.entries" })
	is, err := tables[i].Schema("")
	require.NoError(t, err)
	require.Contains(t, is, "memory entry 2")
	for _, was := range []string{"memory entry 1", "memory entry 2"} {
		next, err := tables[i].Schema(strings.Replace(is, "memory entry 2", was, 1))
		require.NoError(t, err, was)
		require.Equal(t, is, next, was)
	}
	for _, other := range []string{"memory entry 0", "memory entry 3", "memory entry 10", "memory entry", "JSON"} {
		_, err := tables[i].Schema(strings.Replace(is, "memory entry 2", other, 1))
		require.ErrorIs(t, err, cow.ErrSchema, other)
	}
	_, err = tables[i].Schema(strings.Replace(is, "string", "int64", 1))
	require.ErrorIs(t, err, cow.ErrSchema, "keys of another kind")
}

// pack writes a file of fixtures, and unpack returns what is in one.
func pack(t testing.TB, name string, b []byte) {
	var z bytes.Buffer
	w, err := gzip.NewWriterLevel(&z, gzip.BestCompression)
	require.NoError(t, err)
	_, err = w.Write(b)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	require.NoError(t, os.MkdirAll(fixtures, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(fixtures, name+".gz"), z.Bytes(), 0o644))
}

func unpack(t testing.TB, name string) []byte {
	f, err := os.Open(filepath.Join(fixtures, name+".gz"))
	require.NoError(t, err)
	defer f.Close()
	r, err := gzip.NewReader(f)
	require.NoError(t, err)
	b, err := io.ReadAll(r)
	require.NoError(t, err)
	return b
}
