package main_test

import (
	"runtime"
	"testing"
	"time"

	"github.com/cilium/statedb"
	"github.com/cilium/statedb/index"
	"github.com/hashicorp/go-memdb"
	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/bench/load"
	"github.com/cowstore/cowstore/cow"
)

// A notifier gives channels that are closed when a person was written, and writes others.
type notifier struct {
	watch func(id string) (changed <-chan struct{}, stop func())
	set   func(p person)
}

// everybody returns people as rows to be kept.
func everybody() (all []*person) {
	for _, p := range people {
		all = append(all, &p)
	}
	return all
}

var notifiers = map[string]func(b *testing.B) notifier{
	"cowstore": func(b *testing.B) notifier {
		t := cow.New[string](cow.Options[person]{})
		require.NoError(b, t.Replace(people))
		db := t.DB()
		return notifier{
			watch: func(id string) (<-chan struct{}, func()) { return db.Notify(db.Load(), t.OnKeys(id)) },
			set:   func(p person) { _, _ = t.Set(p.ID, p) },
		}
	},
	"memdb": func(b *testing.B) notifier {
		db, err := memdb.NewMemDB(&memdb.DBSchema{Tables: map[string]*memdb.TableSchema{"people": {Name: "people", Indexes: map[string]*memdb.IndexSchema{
			"id": {Name: "id", Unique: true, Indexer: &memdb.StringFieldIndex{Field: "ID"}},
		}}}})
		require.NoError(b, err)
		set := func(all ...*person) {
			tx := db.Txn(true)
			for _, p := range all {
				_ = tx.Insert("people", p)
			}
			tx.Commit()
		}
		set(everybody()...)
		return notifier{
			watch: func(id string) (<-chan struct{}, func()) {
				changed, _, _ := db.Txn(false).FirstWatch("people", "id", id)
				return changed, func() {}
			},
			set: func(p person) { set(&p) },
		}
	},
	"statedb": func(b *testing.B) notifier {
		db := statedb.New(statedb.WithMetrics(&statedb.NopMetrics{}))
		byID := statedb.Index[*person, string]{
			Name:       "id",
			FromObject: func(p *person) index.KeySet { return index.NewKeySet(index.String(p.ID)) },
			FromKey:    index.String,
			Unique:     true,
		}
		t, err := statedb.NewTableAny(db, "people", func() []string { return nil }, func(*person) []string { return nil }, byID)
		require.NoError(b, err)
		set := func(all ...*person) {
			tx := db.WriteTxn(t)
			for _, p := range all {
				_, _, _ = t.Insert(tx, p)
			}
			tx.Commit()
		}
		set(everybody()...)
		return notifier{
			watch: func(id string) (<-chan struct{}, func()) {
				_, _, changed, _ := t.GetWatch(db.ReadTxn(), byID.Query(id))
				return changed, func() {}
			},
			set: func(p person) { set(&p) },
		}
	},
}

// BenchmarkNotify makes channels for select that wait for one row each, and sets other rows
// beside them.
func BenchmarkNotify(b *testing.B) {
	for _, store := range []string{"cowstore", "memdb", "statedb"} {
		for _, watches := range []string{"0", "10k"} {
			b.Run("keys=100k/watches="+watches+"/store="+store, func(b *testing.B) {
				s, n := notifiers[store](b), size(watches)
				set := func(from, to int) {
					for i := from; i < to; i++ {
						s.set(newPerson(i, 1))
					}
				}
				first := size("100k") - size("1k")
				set(first, size("100k"))
				runtime.GC()
				changed, stops := make([]<-chan struct{}, n), make([]func(), n)
				var took time.Duration
				bytes, _ := load.Allocated(func() {
					start := time.Now()
					for i := range n {
						changed[i], stops[i] = s.watch(key(i))
					}
					took = time.Since(start)
				})
				per(b, size("1k"), "commit", func() { set(first, size("100k")) })
				if n > 0 {
					b.ReportMetric(float64(took)/float64(n), "ns/watch")
					b.ReportMetric(bytes/float64(n), "B/watch")
				}
				for _, stop := range stops {
					stop()
				}
			})
		}
	}
}
