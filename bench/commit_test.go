package main_test

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/tidwall/btree"

	"github.com/cowstore/cowstore/cow"
)

// BenchmarkCommit rewrites keys one by one: also with a history, and beside a watch on
// another key.
func BenchmarkCommit(b *testing.B) {
	commit := func(b *testing.B, t table, of int) {
		n, next := parts(keys(0, of, 1))
		per(b, n, "commit", func() {
			for _, k := range next() {
				t.set(k, number{})
			}
		})
	}
	onTables(b, []string{"100k", "1M"}, []string{"cowstore", "immutable"}, commit)
	beside := func(what string, prepare func(s *cowStore) (stop func())) {
		b.Run("keys=100k/store=cowstore/"+what, func(b *testing.B) {
			t := newTable("cowstore").filled(size("100k"))
			defer prepare(t.cow)()
			commit(b, t, size("100k"))
		})
	}
	beside("versions=1k", retain)
	b.Run("keys=100k/store=cowstore/by=Begin", func(b *testing.B) {
		t := newTable("cowstore").filled(size("100k"))
		db := t.cow.DB()
		t.set = func(key string, v number) {
			tx := db.Begin()
			t.cow.Edit(tx).Set(key, v)
			_ = tx.Commit()
		}
		commit(b, t, size("100k"))
	})
	beside("watches=1", func(s *cowStore) func() { return watch(s, 1) })
}

// BenchmarkTables rewrites and gets rows of a DB whose tables have 100,000 rows together: of each
// table in turn, or of one, the second or the last.
func BenchmarkTables(b *testing.B) {
	for _, of := range []string{"1", "5", "1k"} {
		var db cow.DB
		tables := make([]*cowStore, size(of))
		for i := range tables {
			tables[i] = cow.NewTable[string](&db, fmt.Sprint(i), cow.Options[number]{})
		}
		all := keys(0, size("100k"), 1)
		must(b, db.Update(func(tx *cow.Tx) error {
			for i, k := range all {
				tables[i%len(tables)].Edit(tx).Set(k, numbered(i))
			}
			return nil
		}))
		n, next := parts(all)
		b.Run("tables="+of+"/do=set", func(b *testing.B) {
			per(b, n, "commit", func() {
				for i, k := range next() { // whose tables are in turn
					must(b, errOf(tables[i%len(tables)].Set(k, number{})))
				}
			})
		})
		if of != "1k" {
			continue
		}
		for name, t := range map[string]*cowStore{"second": tables[1], "last": tables[len(tables)-1]} {
			b.Run("tables="+of+"/do=get-"+name, func(b *testing.B) {
				own := t.Load()
				few := slices.DeleteFunc(slices.Clone(all), func(k string) bool { return !own.Has(k) })
				few = few[:min(len(few), 100)]
				per(b, len(few), "get", func() {
					for _, k := range few {
						v, _ := t.Get(k)
						sink += v.ID
					}
				})
			})
		}
	}
}

func retain(s *cowStore) (stop func()) {
	s.DB().Retain(cow.Retention{Versions: size("1k")})
	return func() {}
}

// watch starts watches on n keys that nobody sets. They end with stop.
func watch(s *cowStore, n int) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	since := s.DB().Load()
	for i := range n {
		wg.Go(func() { _, _ = s.DB().Watch(ctx, since, s.OnKeys(fmt.Sprintf("absent:%d", i))) })
	}
	for s.DB().Stats().Waiting < n {
		time.Sleep(time.Millisecond)
	}
	return func() { cancel(); wg.Wait() }
}

// BenchmarkCommitWatched rewrites the same keys, one by one, beside watches on others.
func BenchmarkCommitWatched(b *testing.B) {
	for _, watches := range []string{"0", "1M"} {
		b.Run("keys=100k/watches="+watches+"/store=cowstore", func(b *testing.B) {
			t, keys := newTable("cowstore").fill(size("100k")), keys(0, size("20k"), 1)
			defer watch(t.cow, size(watches))()
			rewrite := func() {
				for _, k := range keys {
					t.set(k, number{})
				}
			}
			rewrite() // so that each key has a page of its own by now
			per(b, len(keys), "commit", rewrite)
		})
	}
}

// BenchmarkClear clears a million rows, with what may hang on them.
func BenchmarkClear(b *testing.B) {
	for with, prepare := range map[string]func(s *cowStore) (stop func()){
		"nothing":  func(*cowStore) func() { return func() {} },
		"index":    func(s *cowStore) func() { cow.NewOrder(s, "order"); return func() {} },
		"versions": retain,
		"watch":    func(s *cowStore) func() { return watch(s, 1) },
	} {
		b.Run("keys=1M/with="+with+"/store=cowstore", func(b *testing.B) {
			once(b, func() {
				var all []time.Duration
				for range 5 {
					s := newTable("cowstore").fill(size("1M")).cow
					stop := prepare(s)
					runtime.GC()
					start := time.Now()
					_, _ = s.Clear()
					all = append(all, time.Since(start))
					stop()
				}
				b.ReportMetric(float64(slices.Sorted(slices.Values(all))[2]), "ns/clear")
			})
		})
	}
}

// BenchmarkCommitLatency rewrites a million keys.
func BenchmarkCommitLatency(b *testing.B) { latency(b, 0, 0.9999, "p99.99-ns") }

// BenchmarkInsertLatency sets a million keys besides a million others.
func BenchmarkInsertLatency(b *testing.B) { latency(b, size("1M"), 1, "max-ns") }

func latency(b *testing.B, from int, q float64, unit string) {
	for _, store := range []string{"cowstore", "immutable"} {
		b.Run("keys=1M/store="+store, func(b *testing.B) {
			n := size("1M")
			t, keys := newTable(store).fill(n), keys(from, from+n, 1)
			runtime.GC()
			slow(b, n, q, unit, func(i int) { t.set(keys[i], number{}) })
		})
	}
}

// BenchmarkCommitBatch rewrites 1,000 keys in one commit.
func BenchmarkCommitBatch(b *testing.B) {
	b.Run("keys=100k/batch=1k/store=cowstore", func(b *testing.B) {
		s := newTable("cowstore").fill(size("100k")).cow
		_, next := parts(keys(0, size("100k"), 1))
		per(b, 1, "commit", func() {
			_ = s.Update(func(e *cow.Editor[string, number]) error {
				for _, k := range next() {
					e.Set(k, number{})
				}
				return nil
			})
		})
	})
	b.Run("keys=100k/batch=1k/store=btree", func(b *testing.B) {
		current := new(btree.Map[string, number])
		table{set: func(key string, v number) { current.Set(key, v) }}.fill(size("100k"))
		_, next := parts(keys(0, size("100k"), 1))
		per(b, 1, "commit", func() {
			current = current.Copy()
			for _, k := range next() {
				current.Set(k, number{})
			}
		})
	})
}

// BenchmarkAt gets versions of a history.
func BenchmarkAt(b *testing.B) {
	b.Run("keys=100k/versions=1k/store=cowstore", func(b *testing.B) {
		s, n, versions, i := newCow(), size("100k"), size("1k"), 0
		retain(s)
		tableOf(s, false).filled(n)
		for _, k := range keys(0, n, 1) {
			s.Set(k, number{})
		}
		from := s.Load().Version() - uint64(versions)
		per(b, 1, "at", func() {
			m, err := s.DB().At(from + uint64(i%versions))
			if err != nil || m.Len() != n {
				b.Fatal("not what was there: ", err)
			}
			i += 7
		})
	})
}

// BenchmarkFork makes branches, of which nothing is kept.
func BenchmarkFork(b *testing.B) {
	onTables(b, []string{"10k", "1M"}, []string{"cowstore"}, func(b *testing.B, t table, _ int) {
		db := t.cow.DB()
		s := db.Load()
		per(b, 1, "fork", func() { sink += db.Fork(s).Load().Version() })
	})
}

// BenchmarkDiff finds ten changes.
func BenchmarkDiff(b *testing.B) {
	onTables(b, []string{"10k", "1M"}, []string{"cowstore"}, func(b *testing.B, t table, n int) {
		older, found := t.cow.Load(), 0
		for i := range 10 {
			t.set(key(i*n/10), number{})
		}
		newer := t.cow.Load()
		per(b, 1, "diff", func() {
			for range newer.Diff(older) {
				found++
			}
		})
		if found != 10*b.N {
			b.Fatalf("%d changes in %d diffs of ten", found, b.N)
		}
	})
}

// BenchmarkScan reads all entries.
func BenchmarkScan(b *testing.B) {
	onTables(b, []string{"100k", "1M"}, []string{"shared", "gomap"}, func(b *testing.B, t table, n int) {
		per(b, n, "entry", func() {
			if t.sum() != uint64(n*(n-1)/2) {
				b.Fatal("not all entries")
			}
		})
	})
}
