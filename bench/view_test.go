package main_test

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/cilium/statedb"
	"github.com/cilium/statedb/index"
	"github.com/hashicorp/go-memdb"

	"github.com/cowstore/cowstore/bench/stores"
	"github.com/cowstore/cowstore/cow"
)

// newRecords returns n records of strings, a slice and a map.
func newRecords(n int) []stores.Pair {
	pairs := make([]stores.Pair, n)
	for i := range pairs {
		r := stores.Record{
			Package: fmt.Sprintf("net/http/pkg%04d", i%300), Name: fmt.Sprintf("Symbol%05d", i), Kind: "func",
			Signature: "func(w ResponseWriter, r *Request) error", Doc: strings.Repeat("x", 200),
			Tags: []string{"00000001", "exported", "func"}, Meta: map[string]string{"indexed": "00000001", "file": "server.go", "since": "1.0"},
		}
		pairs[i] = stores.Pair{Key: r.Key(), Record: r.Reindexed(1)}
	}
	return pairs
}

// BenchmarkGetRecord looks up records on all processors, and looks at fields of each. The
// time is that of a lookup by one of them.
func BenchmarkGetRecord(b *testing.B) {
	for _, k := range stores.Kinds() {
		if !slices.Contains([]string{"views", "shared", "rwmutex-copy", "rwmutex", "cowstore", "compiled"}, k.ID) {
			continue
		}
		b.Run("keys=18k/store="+k.ID, func(b *testing.B) {
			n := size("18k")
			s, pairs, keys := k.New(), newRecords(n), make([]string, n)
			s.Update(pairs)
			for i := range keys {
				keys[i*7919%n] = pairs[i].Key
			}
			bytes := per(b, n, "get", func() {
				parallel(n, func(at int) {
					reader, found := stores.NewReader(s), stores.Lookup{}
					for _, part := range [...][]string{keys[at:], keys[:at]} {
						for _, key := range part {
							reader.Get(key, &found)
						}
					}
					if !found.Intact(keys[(at+n-1)%n]) {
						b.Error("a record is not whole")
					}
				})
			})
			b.ReportMetric(bytes/float64(runtime.GOMAXPROCS(0)), "B/get")
		})
	}
}

// BenchmarkListRecords lists records: by views, by copies, and in peers that share them.
func BenchmarkListRecords(b *testing.B) {
	n := size("10k")
	pairs := newRecords(n)
	list := func(store string, length func() int) {
		b.Run("keys=10k/store="+store, func(b *testing.B) {
			per(b, 1, "list", func() {
				if length() != n*len("Symbol00000server.goexportedfunc") {
					b.Fatal("not all records")
				}
			})
		})
	}
	of := func(r *stores.Record) int { return len(r.Name) + len(r.Meta["file"]) + len(r.Tags[1]) + len(r.Kind) }

	s := cow.New[string](cow.Options[stores.Record]{})
	must(b, s.Update(func(e *cow.Editor[string, stores.Record]) error {
		for _, p := range pairs {
			e.Set(p.Key, p.Record)
		}
		return nil
	}))
	list("views", func() (length int) {
		for _, r := range cow.NewViews[stores.RecordView](s).All() {
			file, _ := r.Meta().Get("file")
			length += len(r.Name()) + len(file) + len(r.Tags().At(1)) + len(r.Kind())
		}
		return length
	})
	list("cowstore", func() (length int) {
		for _, r := range s.All() {
			length += of(&r)
		}
		return length
	})

	mem, err := memdb.NewMemDB(&memdb.DBSchema{Tables: map[string]*memdb.TableSchema{"records": {Name: "records", Indexes: map[string]*memdb.IndexSchema{
		"id": {Name: "id", Unique: true, Indexer: &memdb.StringFieldIndex{Field: "Key"}},
	}}}})
	must(b, err)
	state := statedb.New(statedb.WithMetrics(&statedb.NopMetrics{}))
	id := statedb.Index[*stores.Pair, string]{
		Name:       "id",
		FromObject: func(p *stores.Pair) index.KeySet { return index.NewKeySet(index.String(p.Key)) },
		FromKey:    index.String,
		Unique:     true,
	}
	t, err := statedb.NewTableAny(state, "records", func() []string { return nil }, func(*stores.Pair) []string { return nil }, id)
	must(b, err)
	memTx, stateTx := mem.Txn(true), state.WriteTxn(t)
	for i := range pairs {
		must(b, memTx.Insert("records", &pairs[i]))
		_, _, err := t.Insert(stateTx, &pairs[i])
		must(b, err)
	}
	memTx.Commit()
	stateTx.Commit()
	list("memdb", func() (length int) {
		rows, err := mem.Txn(false).Get("records", "id")
		must(b, err)
		for r := rows.Next(); r != nil; r = rows.Next() {
			length += of(&r.(*stores.Pair).Record)
		}
		return length
	})
	list("statedb", func() (length int) {
		for r := range t.All(state.ReadTxn()) {
			length += of(&r.Record)
		}
		return length
	})
}
