package main_test

import (
	"context"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/cilium/statedb"
	"github.com/cilium/statedb/index"
	"github.com/hashicorp/go-memdb"
	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/bench/load"
	"github.com/cowstore/cowstore/cow"
)

// A notifier waits for rows to be written, and writes rows.
type notifier struct {
	row, prefix func(of string) (changed <-chan struct{}, stop func()) // channels for select
	wait        func(ctx context.Context, id string)                   // until the row is written, or ctx ends
	set         func(p person)
}

// everybody returns people as rows to be kept.
func everybody() (all []*person) {
	for _, p := range people {
		all = append(all, &p)
	}
	return all
}

var notifiers = map[string]func(b *testing.B, inOrder bool) notifier{
	"cowstore": func(b *testing.B, inOrder bool) notifier {
		t := cow.New[string](cow.Options[person]{})
		require.NoError(b, t.Replace(people))
		db := t.DB()
		s := notifier{
			row:  func(id string) (<-chan struct{}, func()) { return db.Notify(db.Load(), t.OnKeys(id)) },
			wait: func(ctx context.Context, id string) { _, _ = db.Watch(ctx, db.Load(), t.OnKeys(id)) },
			set:  func(p person) { _, _ = t.Set(p.ID, p) },
		}
		if inOrder {
			order := cow.NewOrder(t, "order")
			s.prefix = func(of string) (<-chan struct{}, func()) {
				return db.Notify(db.Load(), order.OnRange(order.In(nil).Prefix(of)))
			}
		}
		return s
	},
	"memdb": func(b *testing.B, _ bool) notifier {
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
			row: func(id string) (<-chan struct{}, func()) {
				changed, _, _ := db.Txn(false).FirstWatch("people", "id", id)
				return changed, func() {}
			},
			prefix: func(of string) (<-chan struct{}, func()) {
				rows, _ := db.Txn(false).Get("people", "id_prefix", of)
				return rows.WatchCh(), func() {}
			},
			wait: func(ctx context.Context, id string) {
				changed, _, _ := db.Txn(false).FirstWatch("people", "id", id)
				ws := memdb.NewWatchSet()
				ws.Add(changed)
				_ = ws.WatchCtx(ctx)
			},
			set: func(p person) { set(&p) },
		}
	},
	"statedb": func(b *testing.B, _ bool) notifier {
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
			row: func(id string) (<-chan struct{}, func()) {
				_, _, changed, _ := t.GetWatch(db.ReadTxn(), byID.Query(id))
				return changed, func() {}
			},
			wait: func(ctx context.Context, id string) {
				_, _, changed, _ := t.GetWatch(db.ReadTxn(), byID.Query(id))
				ws := statedb.NewWatchSet()
				ws.Add(changed)
				_, _ = ws.Wait(ctx, 0)
			},
			set: func(p person) { set(&p) },
		}
	},
}

// BenchmarkNotify sets rows beside watches on others: channels for select that wait for one
// row each or for the rows of a prefix, and goroutines that wait. A channel of statedb for a
// prefix is closed by writes to others, too.
func BenchmarkNotify(b *testing.B) {
	for _, c := range []struct{ form, watches, stores string }{
		{"row", "0 10k", "cowstore memdb statedb"},
		{"wait", "10k", "cowstore memdb statedb"},
		{"prefix", "0 10k", "cowstore memdb"},
		{"prefix", "1k", "cowstore"},
	} {
		for _, watches := range strings.Fields(c.watches) {
			for _, store := range strings.Fields(c.stores) {
				b.Run("keys=100k/form="+c.form+"/watches="+watches+"/store="+store, func(b *testing.B) {
					notify(b, notifiers[store](b, c.form == "prefix"), c.form, size(watches))
				})
			}
		}
	}
}

func notify(b *testing.B, s notifier, form string, n int) {
	rows := make([]person, size("1k")) // that no watch is on
	for i := range rows {
		rows[i] = newPerson(size("100k")+i, 1)
	}
	set := func() {
		for i := range rows {
			s.set(rows[i])
		}
	}
	set()
	runtime.GC()
	ctx, cancel := context.WithCancel(b.Context())
	defer cancel()
	watch := map[string]func(of string) (<-chan struct{}, func()){
		"row": s.row, "prefix": s.prefix,
		"wait": func(id string) (<-chan struct{}, func()) {
			ended := make(chan struct{})
			go func() { s.wait(ctx, id); close(ended) }()
			return ended, func() { cancel(); <-ended }
		},
	}[form]
	changed, stops := make([]<-chan struct{}, n), make([]func(), n)
	var took time.Duration
	bytes, _ := load.Allocated(func() {
		start := time.Now()
		for i := range n {
			changed[i], stops[i] = watch(key(i))
		}
		took = time.Since(start)
	})
	set() // goroutines wait by now
	per(b, len(rows), "commit", set)
	if n > 0 && form != "wait" {
		b.ReportMetric(float64(took)/float64(n), "ns/watch")
		b.ReportMetric(bytes/float64(n), "B/watch")
	}
	for i := range n {
		select {
		case <-changed[i]:
			b.Fatal("a watch on another row was woken")
		default:
		}
	}
	start := time.Now()
	for _, stop := range stops {
		stop()
	}
	if n > 0 && form != "wait" {
		b.ReportMetric(float64(time.Since(start))/float64(n), "ns/stop")
	}
}
