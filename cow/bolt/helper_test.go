package bolt_test

import (
	"maps"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/cow/bolt"
	"github.com/cowstore/cowstore/snapshot"
)

// A job is a value for tests.
type job struct {
	Name string
	Tags []string
	N    int
}

// A shop is a DB with two stored tables and a derived one.
type shop struct {
	db    cow.DB
	jobs  *cow.Table[string, job]
	total *cow.Table[int, int]
	tags  *cow.Table[string, int] // how many jobs have a tag
	file  *bolt.File
}

func newShop() *shop {
	s := new(shop)
	s.jobs = cow.NewTable[string](&s.db, "jobs", cow.Options[job]{Codec: cow.Versioned[job]{}})
	s.total = cow.NewTable[int](&s.db, "total", cow.Options[int]{Codec: cow.Versioned[int]{Of: bolt.CBOR[int]()}})
	s.tags, _ = cow.NewDerived(&s.db, "tags", cow.Options[int]{}, func(tx *cow.Tx, _ *cow.Editor[string, int]) error {
		add := func(j job, n int) {
			for _, tag := range j.Tags {
				_ = s.tags.Edit(tx).Upsert(tag, func(v *int, _ bool) error { *v += n; return nil })
				if v, _ := s.tags.Edit(tx).Get(tag); v == 0 {
					s.tags.Edit(tx).Delete(tag)
				}
			}
		}
		for c := range s.jobs.Edit(tx).Map().Diff(s.jobs.In(tx.Base())) {
			if j, ok := c.Old(); ok {
				add(j, -1)
			}
			if j, ok := c.New(); ok {
				add(j, 1)
			}
		}
		return nil
	})
	return s
}

// open opens a shop, which the end of the test closes.
func open(t testing.TB, path string, o bolt.Options, retain ...cow.Retention) *shop {
	t.Helper()
	s := newShop()
	for _, r := range retain {
		s.db.Retain(r)
	}
	require.NoError(t, s.open(path, o))
	t.Cleanup(func() { _ = s.db.Close() })
	return s
}

func (s *shop) open(path string, o bolt.Options) (err error) {
	s.file, err = bolt.Open(path, &s.db, o)
	return err
}

// add sets a job and counts it.
func (s *shop) add(name string, n int, tags ...string) error {
	return s.db.Update(func(tx *cow.Tx) error {
		was, _ := s.jobs.Edit(tx).Get(name)
		s.jobs.Edit(tx).Set(name, job{name, tags, n})
		return s.total.Edit(tx).Upsert(0, func(v *int, _ bool) error { *v += n - was.N; return nil })
	})
}

// contents are the rows of a shop at one version, with their revisions.
type contents struct {
	jobs      map[string]job
	total     map[int]int
	tags      map[string]int
	revisions map[any]uint64
}

func (s *shop) at(of *cow.Snapshot) contents {
	c := contents{maps.Collect(s.jobs.In(of).All()), maps.Collect(s.total.In(of).All()), maps.Collect(s.tags.In(of).All()), map[any]uint64{}}
	revisions(c.revisions, s.jobs.In(of))
	revisions(c.revisions, s.total.In(of))
	return c
}

func (s *shop) now() contents { return s.at(s.db.Load()) }

func revisions[K comparable, V any](into map[any]uint64, m *snapshot.Map[K, V]) {
	for k := range m.Keys() {
		into[k] = m.Revision(k)
	}
}

func temp(t testing.TB) string { return filepath.Join(t.TempDir(), "db") }

func copyFile(t testing.TB, from, to string) {
	t.Helper()
	b, err := os.ReadFile(from)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(to, b, 0o600))
}

var forever = cow.Retention{Versions: 1 << 30}
