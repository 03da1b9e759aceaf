package main_test

import (
	"hash/maphash"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/benbjohnson/immutable"
	iradix "github.com/hashicorp/go-immutable-radix/v2"
	"github.com/puzpuzpuz/xsync/v4"

	"github.com/cowstore/cowstore/bench/memories"
	"github.com/cowstore/cowstore/bench/stores"
	"github.com/cowstore/cowstore/cow"
)

// number is a value without references: no store clones it.
type number struct {
	ID               uint64
	Created, Updated int64
	Score            float64
}

func numbered(i int) number { return number{ID: uint64(i)} }

type cowStore = cow.Table[string, number]

func newCow() *cowStore { return cow.New[string](cow.Options[number]{}) }

// A table is a store of numbers.
type table struct {
	set  func(key string, v number)
	gets func(keys []string) (sum uint64) // by loop
	cow  *cowStore                        // of this project
	bare func(n int)                      // sets the first n keys, where none can be set
	load func() any                       // the current version, where there are such
	sum  func() uint64                    // of the IDs of all entries, where that is measured
}

// loop sums up the IDs of keys. It is inlined, and what it calls too: no call is timed
// with each key.
func loop[K any, N int | uint64](keys []K, id func(key K) N) (sum N) {
	for _, k := range keys {
		sum += id(k)
	}
	return sum
}

func newTable(store string) table {
	var mu sync.Mutex // of writers
	switch store {
	case "cowstore", "shared":
		return tableOf(newCow(), store == "shared")
	case "gomap": // which nothing can be asked to beat: no lock, one goroutine
		m := map[string]number{}
		return table{
			set:  func(key string, v number) { m[key] = v },
			gets: func(keys []string) uint64 { return loop(keys, func(k string) uint64 { return m[k].ID }) },
			sum: func() (sum uint64) {
				for _, v := range m {
					sum += v.ID
				}
				return sum
			},
		}
	case "bare", "bare-together":
		return newBareTable(store == "bare-together")
	case "many":
		t := tableOf(newCow(), false)
		t.gets = func(keys []string) (sum uint64) {
			for _, v := range t.cow.GetMany(keys) {
				sum += v.ID
			}
			return sum
		}
		return t
	case "map":
		t := tableOf(newCow(), false)
		t.gets = func(keys []string) uint64 {
			m := t.cow.Load()
			return loop(keys, func(k string) uint64 { v, _ := m.Get(k); return v.ID })
		}
		return t
	case "xsync":
		m := xsync.NewMap[string, number]()
		return table{
			set: m.Store,
			gets: func(keys []string) uint64 {
				return loop(keys, func(k string) uint64 { v, _ := m.Load(k); return v.ID })
			},
		}
	case "syncmap":
		var m sync.Map
		return table{
			set: func(key string, v number) { m.Store(key, v) },
			gets: func(keys []string) uint64 {
				return loop(keys, func(k string) uint64 { v, _ := m.Load(k); return v.(number).ID })
			},
		}
	case "rwmutex":
		var mu sync.RWMutex
		m := map[string]number{}
		return table{
			set: func(key string, v number) { mu.Lock(); defer mu.Unlock(); m[key] = v },
			gets: func(keys []string) uint64 {
				return loop(keys, func(k string) uint64 {
					mu.RLock()
					id := m[k].ID
					mu.RUnlock()
					return id
				})
			},
		}
	case "immutable": // the textbook design: an immutable.Map behind a pointer
		var current atomic.Pointer[immutable.Map[string, number]]
		current.Store(immutable.NewMap[string, number](stores.Seeded{Seed: maphash.MakeSeed()}))
		return table{
			set: func(key string, v number) { mu.Lock(); defer mu.Unlock(); current.Store(current.Load().Set(key, v)) },
			gets: func(keys []string) uint64 {
				return loop(keys, func(k string) uint64 { v, _ := current.Load().Get(k); return v.ID })
			},
			load: func() any { return current.Load() },
		}
	case "radix":
		var current atomic.Pointer[iradix.Tree[number]]
		current.Store(iradix.New[number]())
		return table{
			set: func(key string, v number) {
				mu.Lock()
				defer mu.Unlock()
				next, _, _ := current.Load().Insert([]byte(key), v)
				current.Store(next)
			},
			gets: func(keys []string) uint64 {
				return loop(keys, func(k string) uint64 { v, _ := current.Load().Get([]byte(k)); return v.ID })
			},
		}
	}
	panic(store)
}

// tableOf is this project, read by Get or by Shared.
func tableOf(s *cowStore, shared bool) table {
	t := table{
		set:  func(key string, v number) { s.Set(key, v) },
		gets: func(keys []string) uint64 { return loop(keys, func(k string) uint64 { v, _ := s.Get(k); return v.ID }) },
		cow:  s,
		load: func() any { return s.Load() },
	}
	if shared {
		t.sum = func() (sum uint64) {
			for _, v := range s.Load().Shared().All() {
				sum += v.ID
			}
			return sum
		}
		t.gets = func(keys []string) uint64 {
			return loop(keys, func(k string) uint64 { v, _ := s.Load().Shared().Get(k); return v.ID })
		}
	}
	return t
}

// fillStore sets the keys from to to in one update.
func fillStore[V any](s *cow.Table[string, V], from, to int, value func(i int) V) {
	_ = s.Update(func(e *cow.Editor[string, V]) error {
		e.SetAll(func(yield func(string, V) bool) {
			for i := from; i < to && yield(key(i), value(i)); i++ {
			}
		})
		return nil
	})
}

// fill sets n keys, each to its number.
func (t table) fill(n int) table {
	if t.cow != nil {
		fillStore(t.cow, 0, n, numbered)
		return t
	}
	if t.bare != nil {
		t.bare(n)
		return t
	}
	for i := range n {
		t.set(key(i), numbered(i))
	}
	return t
}

// filled is fill, and sets one in twenty of the keys again, one by one.
func (t table) filled(n int) table {
	t.fill(n)
	for i := 0; i < n && t.set != nil; i += 20 {
		t.set(key(i), numbered(i))
	}
	return t
}

// onTables runs f on tables of each store that are filled with n keys, of each size.
func onTables(b *testing.B, sizes, stores []string, f func(b *testing.B, t table, n int)) {
	for _, of := range sizes {
		for _, store := range stores {
			b.Run("keys="+of+"/store="+store, func(b *testing.B) { f(b, newTable(store).filled(size(of)), size(of)) })
		}
	}
}

// BenchmarkGet looks up keys by copies of them: all, those that were set again, or as many
// others.
func BenchmarkGet(b *testing.B) {
	// The heap is large before the first store is made, which would have new memory, in small
	// pages at first, where the others get what was in use.
	runtime.KeepAlive(newTable("cowstore").filled(size("1M")))
	for _, of := range []string{"1k", "100k", "1M"} {
		get := func(name, store string, from, step int) {
			b.Run("keys="+of+"/store="+name, func(b *testing.B) {
				t, keys, want := newTable(store).filled(size(of)), keys(from, size(of), step), 0
				for i := from; i < size(of); i += step {
					want += i
				}
				if t.gets(keys) != uint64(want) {
					b.Fatal("a lookup misses")
				}
				n, next := parts(keys)
				per(b, n, "get", func() { sink += t.gets(next()) })
			})
		}
		for _, store := range []string{"cowstore", "shared", "gomap", "bare", "immutable", "radix"} {
			get(store, store, 0, 1)
		}
		get("cowstore-again", "cowstore", 0, 1)
		get("cowstore/of=written", "cowstore", 0, 20)
		get("cowstore/of=others", "cowstore", 10, 20)
	}
}

// BenchmarkGetMany looks up some keys at each call, by copies of them: by one call, or one by one.
func BenchmarkGetMany(b *testing.B) {
	some := func(of, call string, stores ...string) {
		for _, store := range stores {
			b.Run("keys="+of+"/call="+call+"/store="+store, func(b *testing.B) {
				n, call := size(of), min(size(call), size(of))
				t, keys, at := newTable(store).fill(n), keys(0, n, 1), 0
				if t.gets(keys) != uint64(n*(n-1)/2) {
					b.Fatal("a lookup misses")
				}
				per(b, call, "get", func() {
					if at += call; at > n {
						at = call
					}
					sink += t.gets(keys[at-call : at])
				})
			})
		}
	}
	for _, of := range []string{"1k", "10k", "100k", "1M", "4M", "10M"} {
		some(of, "100", "many", "map", "cowstore", "gomap", "bare-together", "xsync", "syncmap")
	}
	some("1M", "16", "many", "gomap")
	some("1M", "1k", "many", "gomap")
}

// BenchmarkGetManyInts is BenchmarkGetMany for keys of uint64.
func BenchmarkGetManyInts(b *testing.B) {
	for _, of := range []string{"1k", "100k", "1M", "4M", "10M"} {
		manyInts(b, of)
	}
}

func manyInts(b *testing.B, of string) {
	n := size(of)
	keys := make([]uint64, n)
	r := rand.New(rand.NewPCG(1, 1))
	for i := range keys {
		keys[i] = r.Uint64()
	}
	const call = 100
	looks := func(store string, gets func(keys []uint64) uint64) {
		b.Run("keys="+of+"/call=100/store="+store, func(b *testing.B) {
			if gets(keys) != uint64(n*(n-1)/2) {
				b.Fatal("a lookup misses")
			}
			at := 0
			per(b, call, "get", func() {
				if at += call; at > n {
					at = call
				}
				sink += gets(keys[at-call : at])
			})
		})
	}
	s := cow.New[uint64](cow.Options[number]{})
	_ = s.Update(func(e *cow.Editor[uint64, number]) error {
		for i, k := range keys {
			e.Set(k, numbered(i))
		}
		return nil
	})
	m := map[uint64]number{}
	for i, k := range keys {
		m[k] = numbered(i)
	}
	together := bareInts(keys)
	r.Shuffle(n, func(i, j int) { keys[i], keys[j] = keys[j], keys[i] }) // or rows would lie in their order
	looks("many", func(keys []uint64) (sum uint64) {
		for _, v := range s.GetMany(keys) {
			sum += v.ID
		}
		return sum
	})
	looks("bare-together", together)
	looks("gomap", func(keys []uint64) uint64 { return loop(keys, func(k uint64) uint64 { return m[k].ID }) })
}

// BenchmarkMixed looks up nine keys and sets one, again and again, on all processors. The time is
// that of one of these, by one of them.
func BenchmarkMixed(b *testing.B) {
	onTables(b, []string{"1k", "100k"}, []string{"cowstore", "rwmutex", "xsync", "syncmap"}, func(b *testing.B, t table, n int) {
		keys, rounds := keys(0, n, 1), max(1, 100_000/n)
		per(b, rounds*n, "call", func() {
			parallel(n, func(at int) {
				for range rounds {
					for i := 0; i < n; i += 10 {
						ten := (at/10*10 + i) % n
						sum := t.gets(keys[ten : ten+9])
						t.set(keys[ten+9], number{ID: sum})
					}
				}
			})
		})
	})
}

// BenchmarkGetParallel looks up keys on all processors, each with its own first. The time
// is that of a lookup by one of them.
func BenchmarkGetParallel(b *testing.B) {
	onTables(b, []string{"1k", "100k", "1M"}, []string{"cowstore", "rwmutex"}, func(b *testing.B, t table, n int) {
		keys, rounds := keys(0, n, 1), max(1, 100_000/n)
		per(b, rounds*n, "get", func() {
			parallel(n, func(at int) {
				for range rounds {
					if t.gets(keys[at:])+t.gets(keys[:at]) != uint64(n*(n-1)/2) {
						b.Error("a lookup misses")
					}
				}
			})
		})
	})
}

// BenchmarkGetClone gets a JSON-like value that belongs to the caller.
func BenchmarkGetClone(b *testing.B) {
	b.Run("fields=10/store=cowstore", func(b *testing.B) {
		s := cow.New[string](cow.Options[map[string]any]{})
		s.Set("k", tenFields(1))
		per(b, 1, "get", func() {
			v, _ := s.Get("k")
			sink += uint64(len(v))
		})
	})
	b.Run("fields=10/store=by-hand", func(b *testing.B) {
		m := map[string]any{"k": tenFields(1)}
		per(b, 1, "get", func() { sink += uint64(len(memories.CopyOf(m["k"]).(map[string]any))) })
	})
}
