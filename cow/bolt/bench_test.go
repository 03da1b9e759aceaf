package bolt_test

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.etcd.io/bbolt"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/cow/bolt"
)

// newDoc returns a value of about 100 bytes.
func newDoc(n int) job {
	return job{"a title of some length", []string{"a body that makes it", "about a hundred bytes as JSON"}, n}
}

// benchRows is how many rows the stores have before they are written to.
const benchRows = 100_000

type docs struct {
	db    cow.DB
	table *cow.Table[string, job]
}

func newDocs(b *testing.B, path string, codec cow.Codec[job], o bolt.Options, retain cow.Retention) *docs {
	d := new(docs)
	d.table = cow.NewTable[string](&d.db, "docs", cow.Options[job]{Codec: codec})
	d.db.Retain(retain)
	_, err := bolt.Open(path, &d.db, o)
	require.NoError(b, err)
	return d
}

// close closes the DB. There is no Cleanup that does, which would hold it.
func (d *docs) close(b *testing.B) { require.NoError(b, d.db.Close()) }

func (d *docs) fill(b *testing.B, rows int) {
	for from := 0; from < rows; from += 20_000 {
		require.NoError(b, d.db.Update(func(tx *cow.Tx) error {
			e := d.table.Edit(tx)
			for i := from; i < min(rows, from+20_000); i++ {
				e.Set(string(key8(uint64(i))), newDoc(i))
			}
			return nil
		}))
	}
}

func key8(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }

func newBbolt(b *testing.B, rows int) *bbolt.DB {
	db, err := bbolt.Open(filepath.Join(b.TempDir(), "bbolt"), 0o600, nil)
	require.NoError(b, err)
	b.Cleanup(func() { _ = db.Close() })
	for from := 0; from < rows; from += 20_000 {
		require.NoError(b, db.Update(func(tx *bbolt.Tx) error {
			t, err := tx.CreateBucketIfNotExists([]byte("docs"))
			if err != nil {
				return err
			}
			for i := from; i < min(rows, from+20_000); i++ {
				text, _ := json.Marshal(newDoc(i))
				if err := t.Put(key8(uint64(i)), text); err != nil {
					return err
				}
			}
			return nil
		}))
	}
	return db
}

func putBbolt(tx *bbolt.Tx, i uint64) error {
	text, err := json.Marshal(newDoc(int(i)))
	if err != nil {
		return err
	}
	return tx.Bucket([]byte("docs")).Put(key8(i), text)
}

// commits lets writers make b.N commits.
func commits(b *testing.B, writers int, commit func(key uint64) error) {
	b.ResetTimer()
	var n atomic.Int64
	together(writers, func(int) {
		for n.Add(1) <= int64(b.N) {
			if err := commit(rand.Uint64N(benchRows)); err != nil {
				b.Error(err)
			}
		}
	})
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "commits/s")
}

// Durable commits of one row among 100,000, against bbolt at its best setting.
func BenchmarkCommit(b *testing.B) {
	for _, writers := range []int{1, 64} {
		name := func(s string) string { return fmt.Sprintf("%s/writers=%d", s, writers) }
		for what, retain := range map[string]cow.Retention{"cow": {}, "cow+Retain": {Versions: 1000}} {
			b.Run(name(what), func(b *testing.B) {
				d := newDocs(b, filepath.Join(b.TempDir(), "db"), cow.Versioned[job]{}, bolt.Options{}, retain)
				defer d.close(b)
				d.fill(b, benchRows)
				commits(b, writers, func(key uint64) error {
					_, err := d.table.Set(string(key8(key)), newDoc(int(key)))
					return err
				})
			})
		}
		b.Run(name("bbolt.Update"), func(b *testing.B) {
			db := newBbolt(b, benchRows)
			commits(b, writers, func(key uint64) error {
				return db.Update(func(tx *bbolt.Tx) error { return putBbolt(tx, key) })
			})
		})
		if writers == 1 {
			continue
		}
		for _, size := range []int{32, 64} {
			for _, delay := range []time.Duration{100 * time.Microsecond, time.Millisecond} {
				b.Run(fmt.Sprintf("%s/size=%d/delay=%v", name("bbolt.Batch"), size, delay), func(b *testing.B) {
					db := newBbolt(b, benchRows)
					db.MaxBatchSize, db.MaxBatchDelay = size, delay
					commits(b, writers, func(key uint64) error {
						return db.Batch(func(tx *bbolt.Tx) error { return putBbolt(tx, key) })
					})
				})
			}
		}
	}
}

// Loading a million rows, against walking them in bbolt with decoding.
func BenchmarkLoad(b *testing.B) {
	const rows = 1_000_000
	b.Run("cow", func(b *testing.B) {
		path := filepath.Join(b.TempDir(), "db")
		func() {
			d := newDocs(b, path, cow.Versioned[job]{}, bolt.Options{}, cow.Retention{})
			d.fill(b, rows)
			d.close(b)
		}()
		for b.Loop() {
			d := newDocs(b, path, cow.Versioned[job]{}, bolt.Options{}, cow.Retention{})
			require.Equal(b, rows, d.table.Len())
			b.StopTimer()
			d.close(b)
			d = nil
			runtime.GC()
			b.StartTimer()
		}
	})
	b.Run("bbolt", func(b *testing.B) {
		db := newBbolt(b, rows)
		for b.Loop() {
			n := 0
			require.NoError(b, db.View(func(tx *bbolt.Tx) error {
				return tx.Bucket([]byte("docs")).ForEach(func(k, v []byte) error {
					var d job
					n++
					return json.Unmarshal(v, &d)
				})
			}))
			require.Equal(b, rows, n)
		}
	})
}

// The tail of Get beside 64 writers that commit, and beside 64 goroutines that spin.
func BenchmarkGetBeside(b *testing.B) {
	for _, beside := range []string{"commits", "spinning"} {
		b.Run(beside, func(b *testing.B) {
			d := newDocs(b, filepath.Join(b.TempDir(), "db"), cow.Versioned[job]{}, bolt.Options{}, cow.Retention{})
			defer d.close(b)
			d.fill(b, benchRows)
			var stop atomic.Bool
			var writers sync.WaitGroup
			for range 64 {
				writers.Go(func() {
					for x := uint64(1); !stop.Load(); x = x*6364136223846793005 + 1 {
						if beside == "commits" {
							_, _ = d.table.Set(string(key8(x>>32%benchRows)), newDoc(int(x>>40)))
						}
					}
				})
			}
			var took []time.Duration
			for b.Loop() {
				key := string(key8(rand.Uint64N(benchRows)))
				start := time.Now()
				_, _ = d.table.Get(key)
				if len(took) < 1<<22 {
					took = append(took, time.Since(start))
				}
			}
			stop.Store(true)
			writers.Wait()
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)*999/1000].Nanoseconds()), "p99.9-ns")
		})
	}
}
