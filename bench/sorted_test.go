package main_test

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/benbjohnson/immutable"
	"github.com/cilium/statedb"
	"github.com/cilium/statedb/index"
	"github.com/hashicorp/go-memdb"
	"github.com/stretchr/testify/require"
	"github.com/tidwall/btree"
	"github.com/tidwall/buntdb"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/snapshot/view"
)

// words are values of 8 and 64 bytes. The first word is what a read sums up.
type words interface{ [1]int | [8]int }

// A row has its number twice, since the indexers of go-memdb want a field.
type row[K cmp.Ordered, V words] struct {
	Key   K
	By    int
	Value V
}

// A keyKind is a type of keys, and what the peers make of them.
type keyKind[K cmp.Ordered] struct {
	name  string
	make  func(r *rand.Rand) K
	text  func(K) string // in the same order
	index func(K) index.Key
	mem   memdb.Indexer
}

var (
	uint64Keys = keyKind[uint64]{"uint64", (*rand.Rand).Uint64, bigEndian, index.Uint64, &memdb.UintFieldIndex{Field: "Key"}}
	stringKeys = keyKind[string]{"24B", func(r *rand.Rand) string { return fmt.Sprintf("records/%016x", r.Uint64()) },
		func(k string) string { return k }, index.String, &memdb.StringFieldIndex{Field: "Key"}}
)

func bigEndian(n uint64) string { return string(binary.BigEndian.AppendUint64(nil, n)) }

// newRows returns n rows by random keys. The numbers of the rows have another order, and the
// keys are fresh copies each time.
func newRows[K cmp.Ordered, V words](n int, key keyKind[K]) []row[K, V] {
	r, rows := rand.New(rand.NewPCG(8, 8)), make([]row[K, V], n)
	for i := range rows {
		rows[i].Key, rows[i].By = key.make(r), i*7919%n
		rows[i].Value[0] = rows[i].By
	}
	return rows
}

// A sorted is a store of rows with one order, by an I. A read returns the sum of the numbers
// of the rows, and a write is a commit of its own. What is not measured is nil.
type sorted[K cmp.Ordered, V words, I cmp.Ordered] struct {
	set, del func(r row[K, V])
	get      func(keys []K) int
	from     func(lo I, n int) int // n rows from lo on
	between  func(lo, hi I) int    // rows from lo on that are below hi
	each     func() int            // all rows in any order
}

// A sortedKind makes stores that are filled with rows, and says what they are measured at.
type sortedKind[K cmp.Ordered, V words, I cmp.Ordered] struct {
	store, does string
	make        func(b *testing.B, rows []row[K, V]) sorted[K, V, I]
}

// upTo sums up the numbers of n rows, or of all. It is inlined, as loop is.
func upTo[A, B any](rows iter.Seq2[A, B], n int, number func(A, B) int) (sum int) {
	for a, b := range rows {
		sum += number(a, b)
		if n--; n == 0 {
			break
		}
	}
	return sum
}

// Loops sum up the numbers of n rows, or of all, in code for types that are known, as users write it.
// In code for any types, iterators and their bodies are objects on the heap, and a row takes longer.
type loops[K cmp.Ordered, V words, I cmp.Ordered] struct {
	shared, isolated func(r cow.Range[K, V, I], n int) int
	views            func(r cow.Range[K, V, I], v cow.Views[K, V, numberView[V]], n int) int
	sortedMap        func(m *immutable.SortedMap[K, V], lo K, hi *K, n int) int
	state            func(all iter.Seq2[*row[K, V], statedb.Revision], n int) int
}

var numberWordByKey = loops[uint64, [1]int, uint64]{
	func(r cow.Range[uint64, [1]int, uint64], n int) (sum int) {
		r.All()(func(_ uint64, row cow.Row[uint64, [1]int]) bool { sum += row.Shared()[0]; n--; return n > 0 })
		return sum
	},
	func(r cow.Range[uint64, [1]int, uint64], n int) (sum int) {
		r.All()(func(_ uint64, row cow.Row[uint64, [1]int]) bool { sum += row.Value()[0]; n--; return n > 0 })
		return sum
	},
	func(r cow.Range[uint64, [1]int, uint64], v cow.Views[uint64, [1]int, numberView[[1]int]], n int) (sum int) {
		r.All()(func(_ uint64, row cow.Row[uint64, [1]int]) bool { sum += v.Row(row).number(); n--; return n > 0 })
		return sum
	},
	func(m *immutable.SortedMap[uint64, [1]int], lo uint64, hi *uint64, n int) (sum int) {
		at := m.Iterator()
		for at.Seek(lo); n > 0 && !at.Done(); n-- {
			k, v, _ := at.Next()
			if hi != nil && k >= *hi {
				break
			}
			sum += v[0]
		}
		return sum
	},
	nil,
}

var numberWordByNumber = loops[uint64, [1]int, int]{
	func(r cow.Range[uint64, [1]int, int], n int) (sum int) {
		r.All()(func(_ int, row cow.Row[uint64, [1]int]) bool { sum += row.Shared()[0]; n--; return n > 0 })
		return sum
	},
	func(r cow.Range[uint64, [1]int, int], n int) (sum int) {
		r.All()(func(_ int, row cow.Row[uint64, [1]int]) bool { sum += row.Value()[0]; n--; return n > 0 })
		return sum
	},
	func(r cow.Range[uint64, [1]int, int], v cow.Views[uint64, [1]int, numberView[[1]int]], n int) (sum int) {
		r.All()(func(_ int, row cow.Row[uint64, [1]int]) bool { sum += v.Row(row).number(); n--; return n > 0 })
		return sum
	},
	nil,
	func(all iter.Seq2[*row[uint64, [1]int], statedb.Revision], n int) (sum int) {
		all(func(r *row[uint64, [1]int], _ statedb.Revision) bool { sum += r.Value[0]; n--; return n > 0 })
		return sum
	},
}

var numberWordsByKey = loops[uint64, [8]int, uint64]{
	func(r cow.Range[uint64, [8]int, uint64], n int) (sum int) {
		r.All()(func(_ uint64, row cow.Row[uint64, [8]int]) bool { sum += row.Shared()[0]; n--; return n > 0 })
		return sum
	},
	func(r cow.Range[uint64, [8]int, uint64], n int) (sum int) {
		r.All()(func(_ uint64, row cow.Row[uint64, [8]int]) bool { sum += row.Value()[0]; n--; return n > 0 })
		return sum
	},
	func(r cow.Range[uint64, [8]int, uint64], v cow.Views[uint64, [8]int, numberView[[8]int]], n int) (sum int) {
		r.All()(func(_ uint64, row cow.Row[uint64, [8]int]) bool { sum += v.Row(row).number(); n--; return n > 0 })
		return sum
	},
	func(m *immutable.SortedMap[uint64, [8]int], lo uint64, hi *uint64, n int) (sum int) {
		at := m.Iterator()
		for at.Seek(lo); n > 0 && !at.Done(); n-- {
			k, v, _ := at.Next()
			if hi != nil && k >= *hi {
				break
			}
			sum += v[0]
		}
		return sum
	},
	nil,
}

var numberWordsByNumber = loops[uint64, [8]int, int]{
	func(r cow.Range[uint64, [8]int, int], n int) (sum int) {
		r.All()(func(_ int, row cow.Row[uint64, [8]int]) bool { sum += row.Shared()[0]; n--; return n > 0 })
		return sum
	},
	func(r cow.Range[uint64, [8]int, int], n int) (sum int) {
		r.All()(func(_ int, row cow.Row[uint64, [8]int]) bool { sum += row.Value()[0]; n--; return n > 0 })
		return sum
	},
	func(r cow.Range[uint64, [8]int, int], v cow.Views[uint64, [8]int, numberView[[8]int]], n int) (sum int) {
		r.All()(func(_ int, row cow.Row[uint64, [8]int]) bool { sum += v.Row(row).number(); n--; return n > 0 })
		return sum
	},
	nil,
	func(all iter.Seq2[*row[uint64, [8]int], statedb.Revision], n int) (sum int) {
		all(func(r *row[uint64, [8]int], _ statedb.Revision) bool { sum += r.Value[0]; n--; return n > 0 })
		return sum
	},
}

var textWordByKey = loops[string, [1]int, string]{
	func(r cow.Range[string, [1]int, string], n int) (sum int) {
		r.All()(func(_ string, row cow.Row[string, [1]int]) bool { sum += row.Shared()[0]; n--; return n > 0 })
		return sum
	},
	func(r cow.Range[string, [1]int, string], n int) (sum int) {
		r.All()(func(_ string, row cow.Row[string, [1]int]) bool { sum += row.Value()[0]; n--; return n > 0 })
		return sum
	},
	func(r cow.Range[string, [1]int, string], v cow.Views[string, [1]int, numberView[[1]int]], n int) (sum int) {
		r.All()(func(_ string, row cow.Row[string, [1]int]) bool { sum += v.Row(row).number(); n--; return n > 0 })
		return sum
	},
	func(m *immutable.SortedMap[string, [1]int], lo string, hi *string, n int) (sum int) {
		at := m.Iterator()
		for at.Seek(lo); n > 0 && !at.Done(); n-- {
			k, v, _ := at.Next()
			if hi != nil && k >= *hi {
				break
			}
			sum += v[0]
		}
		return sum
	},
	nil,
}

var textWordByNumber = loops[string, [1]int, int]{
	func(r cow.Range[string, [1]int, int], n int) (sum int) {
		r.All()(func(_ int, row cow.Row[string, [1]int]) bool { sum += row.Shared()[0]; n--; return n > 0 })
		return sum
	},
	func(r cow.Range[string, [1]int, int], n int) (sum int) {
		r.All()(func(_ int, row cow.Row[string, [1]int]) bool { sum += row.Value()[0]; n--; return n > 0 })
		return sum
	},
	func(r cow.Range[string, [1]int, int], v cow.Views[string, [1]int, numberView[[1]int]], n int) (sum int) {
		r.All()(func(_ int, row cow.Row[string, [1]int]) bool { sum += v.Row(row).number(); n--; return n > 0 })
		return sum
	},
	nil,
	func(all iter.Seq2[*row[string, [1]int], statedb.Revision], n int) (sum int) {
		all(func(r *row[string, [1]int], _ statedb.Revision) bool { sum += r.Value[0]; n--; return n > 0 })
		return sum
	},
}

var textWordsByKey = loops[string, [8]int, string]{
	func(r cow.Range[string, [8]int, string], n int) (sum int) {
		r.All()(func(_ string, row cow.Row[string, [8]int]) bool { sum += row.Shared()[0]; n--; return n > 0 })
		return sum
	},
	func(r cow.Range[string, [8]int, string], n int) (sum int) {
		r.All()(func(_ string, row cow.Row[string, [8]int]) bool { sum += row.Value()[0]; n--; return n > 0 })
		return sum
	},
	func(r cow.Range[string, [8]int, string], v cow.Views[string, [8]int, numberView[[8]int]], n int) (sum int) {
		r.All()(func(_ string, row cow.Row[string, [8]int]) bool { sum += v.Row(row).number(); n--; return n > 0 })
		return sum
	},
	func(m *immutable.SortedMap[string, [8]int], lo string, hi *string, n int) (sum int) {
		at := m.Iterator()
		for at.Seek(lo); n > 0 && !at.Done(); n-- {
			k, v, _ := at.Next()
			if hi != nil && k >= *hi {
				break
			}
			sum += v[0]
		}
		return sum
	},
	nil,
}

var textWordsByNumber = loops[string, [8]int, int]{
	func(r cow.Range[string, [8]int, int], n int) (sum int) {
		r.All()(func(_ int, row cow.Row[string, [8]int]) bool { sum += row.Shared()[0]; n--; return n > 0 })
		return sum
	},
	func(r cow.Range[string, [8]int, int], n int) (sum int) {
		r.All()(func(_ int, row cow.Row[string, [8]int]) bool { sum += row.Value()[0]; n--; return n > 0 })
		return sum
	},
	func(r cow.Range[string, [8]int, int], v cow.Views[string, [8]int, numberView[[8]int]], n int) (sum int) {
		r.All()(func(_ int, row cow.Row[string, [8]int]) bool { sum += v.Row(row).number(); n--; return n > 0 })
		return sum
	},
	nil,
	func(all iter.Seq2[*row[string, [8]int], statedb.Revision], n int) (sum int) {
		all(func(r *row[string, [8]int], _ statedb.Revision) bool { sum += r.Value[0]; n--; return n > 0 })
		return sum
	},
}

type numberView[V words] struct{ ref view.Ref[V] }

func (numberView[V]) ViewOf(r view.Ref[V]) numberView[V] { return numberView[V]{r} }
func (v numberView[V]) number() int                      { return (*view.Shared(v.ref))[0] }

// cowSorted is this project, filled and read in several ways.
func cowSorted[K cmp.Ordered, V words, I cmp.Ordered](store, does string, read loops[K, V, I], order func(t *cow.Table[K, V]) *cow.Index[K, V, I]) sortedKind[K, V, I] {
	return sortedKind[K, V, I]{store, does, func(b *testing.B, rows []row[K, V]) sorted[K, V, I] {
		var x *cow.Index[K, V, I]
		t := cow.NewTable[K](new(cow.DB), "rows", cow.Options[V]{})
		pairs := func(yield func(K, V) bool) {
			for i := 0; i < len(rows) && yield(rows[i].Key, rows[i].Value); i++ {
			}
		}
		if store != "cowstore-indexed-last" {
			x = order(t)
		}
		if store == "cowstore-setall" {
			must(b, t.Update(func(e *cow.Editor[K, V]) error { e.SetAll(pairs); return nil }))
		} else {
			must(b, t.Replace(pairs))
		}
		if x == nil {
			x = order(t)
		}
		var sum func(r cow.Range[K, V, I], n int) int
		s := sorted[K, V, I]{
			set:     func(r row[K, V]) { _, _ = t.Set(r.Key, r.Value) },
			del:     func(r row[K, V]) { _, _ = t.Delete(r.Key) },
			from:    func(lo I, n int) int { return sum(x.In(t.Load()).From(lo), n) },
			between: func(lo, hi I) int { return sum(x.In(t.Load()).From(lo).To(hi), math.MaxInt) },
		}
		switch store {
		case "views":
			v := cow.NewViews[numberView[V]](t)
			sum = func(r cow.Range[K, V, I], n int) int { return read.views(r, v, n) }
			s.get = func(keys []K) int { return loop(keys, func(k K) int { w, _ := v.Get(k); return w.number() }) }
			s.each = func() int {
				return upTo(v.All(), math.MaxInt, func(_ K, w numberView[V]) int { return w.number() })
			}
		case "cowstore-isolated":
			sum = read.isolated
			s.get = func(keys []K) int { return loop(keys, func(k K) int { v, _ := t.Get(k); return v[0] }) }
			s.each = func() int { return upTo(t.All(), math.MaxInt, func(_ K, v V) int { return v[0] }) }
		default:
			sum = read.shared
			s.get = func(keys []K) int {
				return loop(keys, func(k K) int { v, _ := t.Load().Shared().Get(k); return v[0] })
			}
			s.each = func() (sum int) {
				for row := range t.Load().Rows() {
					sum += row.Shared()[0]
				}
				return sum
			}
		}
		return s
	}}
}

// newSortedBTree is a B-tree that its writer copies with each commit.
func newSortedBTree[K cmp.Ordered, V words](_ *testing.B, rows []row[K, V]) sorted[K, V, K] {
	var mu sync.Mutex
	var current atomic.Pointer[btree.Map[K, V]]
	var own btree.Map[K, V]
	write := func(f func()) { mu.Lock(); defer mu.Unlock(); f(); current.Store(own.Copy()) }
	write(func() {
		for i := range rows {
			own.Set(rows[i].Key, rows[i].Value)
		}
	})
	return sorted[K, V, K]{
		set: func(r row[K, V]) { write(func() { own.Set(r.Key, r.Value) }) },
		del: func(r row[K, V]) { write(func() { own.Delete(r.Key) }) },
		get: func(keys []K) int { return loop(keys, func(k K) int { v, _ := current.Load().Get(k); return v[0] }) },
		from: func(lo K, n int) (sum int) {
			current.Load().Ascend(lo, func(_ K, v V) bool { sum += v[0]; n--; return n > 0 })
			return sum
		},
		between: func(lo, hi K) (sum int) {
			current.Load().Ascend(lo, func(k K, v V) bool {
				if k < hi {
					sum += v[0]
				}
				return k < hi
			})
			return sum
		},
	}
}

// newPointers is no store, but what reading rows by pointers in their order takes at least: one
// call and one load of each, of what lies where it was made.
func newPointers[K cmp.Ordered, V words](_ *testing.B, rows []row[K, V]) sorted[K, V, K] {
	all := make([]*row[K, V], len(rows))
	for i := range rows {
		all[i] = new(rows[i])
	}
	slices.SortFunc(all, func(p, q *row[K, V]) int { return cmp.Compare(p.Key, q.Key) })
	each := func(lo K, yield func(r *row[K, V]) bool) {
		at, _ := slices.BinarySearchFunc(all, lo, func(r *row[K, V], k K) int { return cmp.Compare(r.Key, k) })
		for _, r := range all[at:] {
			if !yield(r) {
				return
			}
		}
	}
	return sorted[K, V, K]{
		from: func(lo K, n int) (sum int) {
			each(lo, func(r *row[K, V]) bool { sum += r.Value[0]; n--; return n > 0 })
			return sum
		},
		between: func(lo, hi K) (sum int) {
			each(lo, func(r *row[K, V]) bool {
				if r.Key < hi {
					sum += r.Value[0]
				}
				return r.Key < hi
			})
			return sum
		},
	}
}

type comparer[K cmp.Ordered] struct{}

func (comparer[K]) Compare(a, b K) int { return cmp.Compare(a, b) }

// newSortedMap is an immutable.SortedMap behind a pointer.
func newSortedMap[K cmp.Ordered, V words](read loops[K, V, K]) func(_ *testing.B, rows []row[K, V]) sorted[K, V, K] {
	return func(_ *testing.B, rows []row[K, V]) sorted[K, V, K] {
		var mu sync.Mutex
		var current atomic.Pointer[immutable.SortedMap[K, V]]
		build := immutable.NewSortedMapBuilder[K, V](comparer[K]{})
		for i := range rows {
			build.Set(rows[i].Key, rows[i].Value)
		}
		current.Store(build.Map())
		return sorted[K, V, K]{
			set:     func(r row[K, V]) { mu.Lock(); defer mu.Unlock(); current.Store(current.Load().Set(r.Key, r.Value)) },
			del:     func(r row[K, V]) { mu.Lock(); defer mu.Unlock(); current.Store(current.Load().Delete(r.Key)) },
			get:     func(keys []K) int { return loop(keys, func(k K) int { v, _ := current.Load().Get(k); return v[0] }) },
			from:    func(lo K, n int) int { return read.sortedMap(current.Load(), lo, nil, n) },
			between: func(lo, hi K) int { return read.sortedMap(current.Load(), lo, &hi, math.MaxInt) },
		}
	}
}

// buntSorted is a BuntDB in memory, in the order of keys, or of an index by values. A key and
// a value are the bytes of theirs, the highest first.
func buntSorted[K cmp.Ordered, V words, I cmp.Ordered](does, order string, key func(K) string, bound func(I) string) sortedKind[K, V, I] {
	type each = func(key, value string) bool
	return sortedKind[K, V, I]{"buntdb", does, func(b *testing.B, rows []row[K, V]) sorted[K, V, I] {
		db, err := buntdb.Open(":memory:")
		require.NoError(b, err)
		b.Cleanup(func() { _ = db.Close() })
		if order != "" {
			require.NoError(b, db.CreateIndex(order, "*", buntdb.IndexBinary))
		}
		set := func(rows ...row[K, V]) {
			must(b, db.Update(func(tx *buntdb.Tx) (err error) {
				for _, r := range rows {
					value := make([]byte, 0, 64)
					for i := range len(r.Value) {
						value = binary.BigEndian.AppendUint64(value, uint64(r.Value[i]))
					}
					_, _, err = tx.Set(key(r.Key), string(value), nil)
				}
				return err
			}))
		}
		set(rows...)
		number := func(value string) int { return int(binary.BigEndian.Uint64([]byte(value[:8]))) }
		read := func(n int, f func(tx *buntdb.Tx, each each) error) (sum int) {
			must(b, db.View(func(tx *buntdb.Tx) error {
				return f(tx, func(_, value string) bool { sum += number(value); n--; return n > 0 })
			}))
			return sum
		}
		return sorted[K, V, I]{
			set: func(r row[K, V]) { set(r) },
			del: func(r row[K, V]) {
				must(b, db.Update(func(tx *buntdb.Tx) error { _, err := tx.Delete(key(r.Key)); return err }))
			},
			get: func(keys []K) int {
				return loop(keys, func(k K) (n int) {
					_ = db.View(func(tx *buntdb.Tx) error { v, err := tx.Get(key(k)); n = number(v); return err })
					return n
				})
			},
			from: func(lo I, n int) int {
				return read(n, func(tx *buntdb.Tx, f each) error { return tx.AscendGreaterOrEqual(order, bound(lo), f) })
			},
			between: func(lo, hi I) int {
				return read(math.MaxInt, func(tx *buntdb.Tx, f each) error { return tx.AscendRange(order, bound(lo), bound(hi), f) })
			},
		}
	}}
}

// memSorted is a go-memdb with an index by number.
func memSorted[K cmp.Ordered, V words](does string, key keyKind[K]) sortedKind[K, V, int] {
	return sortedKind[K, V, int]{"memdb", does, func(b *testing.B, rows []row[K, V]) sorted[K, V, int] {
		db, err := memdb.NewMemDB(&memdb.DBSchema{Tables: map[string]*memdb.TableSchema{"rows": {Name: "rows", Indexes: map[string]*memdb.IndexSchema{
			"id": {Name: "id", Unique: true, Indexer: key.mem},
			"by": {Name: "by", Unique: true, Indexer: &memdb.IntFieldIndex{Field: "By"}},
		}}}})
		require.NoError(b, err)
		set := func(rows ...row[K, V]) {
			tx := db.Txn(true)
			defer tx.Commit()
			for _, r := range rows {
				must(b, tx.Insert("rows", &r)) // which is kept
			}
		}
		set(rows...)
		sum := func(it memdb.ResultIterator, err error, n int) (sum int) {
			must(b, err)
			for r := it.Next(); r != nil; r = it.Next() {
				sum += r.(*row[K, V]).Value[0]
				if n--; n == 0 {
					break
				}
			}
			return sum
		}
		return sorted[K, V, int]{
			set: func(r row[K, V]) { set(r) },
			del: func(r row[K, V]) { tx := db.Txn(true); defer tx.Commit(); must(b, tx.Delete("rows", &r)) },
			get: func(keys []K) int {
				return loop(keys, func(k K) int { r, _ := db.Txn(false).First("rows", "id", k); return r.(*row[K, V]).Value[0] })
			},
			from: func(lo, n int) int { it, err := db.Txn(false).LowerBound("rows", "by", lo); return sum(it, err, n) },
			each: func() int { it, err := db.Txn(false).Get("rows", "id"); return sum(it, err, math.MaxInt) },
		}
	}}
}

// stateSorted is a statedb with an index by number.
func stateSorted[K cmp.Ordered, V words](does string, read loops[K, V, int], key keyKind[K]) sortedKind[K, V, int] {
	type object = *row[K, V]
	return sortedKind[K, V, int]{"statedb", does, func(b *testing.B, rows []row[K, V]) sorted[K, V, int] {
		db := statedb.New(statedb.WithMetrics(&statedb.NopMetrics{}))
		byKey := statedb.Index[object, K]{Name: "id", FromKey: key.index, Unique: true, FromObject: func(r object) index.KeySet { return index.NewKeySet(key.index(r.Key)) }}
		by := statedb.Index[object, int]{Name: "by", FromKey: index.Int, Unique: true, FromObject: func(r object) index.KeySet { return index.NewKeySet(index.Int(r.By)) }}
		t, err := statedb.NewTableAny(db, "rows", func() []string { return nil }, func(object) []string { return nil }, byKey, by)
		require.NoError(b, err)
		set := func(rows ...row[K, V]) {
			tx := db.WriteTxn(t)
			defer tx.Commit()
			for _, r := range rows {
				_, _, _ = t.Insert(tx, &r) // which is kept
			}
		}
		set(rows...)
		return sorted[K, V, int]{
			set: func(r row[K, V]) { set(r) },
			del: func(r row[K, V]) { tx := db.WriteTxn(t); defer tx.Commit(); _, _, _ = t.Delete(tx, &r) },
			get: func(keys []K) int {
				return loop(keys, func(k K) int { r, _, _ := t.Get(db.ReadTxn(), byKey.Query(k)); return r.Value[0] })
			},
			from: func(lo, n int) int { return read.state(t.LowerBound(db.ReadTxn(), by.Query(lo)), n) },
			each: func() int { return read.state(t.All(db.ReadTxn()), math.MaxInt) },
		}
	}}
}
