package main_test

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow"
)

// sums are those of the numbers of the first so many rows.
func sums[K cmp.Ordered, V words](rows []row[K, V]) []int {
	sums := make([]int, len(rows)+1)
	for i, r := range rows {
		sums[i+1] = sums[i] + r.Value[0]
	}
	return sums
}

// eachSorted measures what stores do, each thing in one store after the other. The order is
// that of bound. Reads share a store; what writes has one of its own.
func eachSorted[K cmp.Ordered, V words, I cmp.Ordered](outer *testing.B, keys string, key keyKind[K], bound func(r row[K, V]) I, kinds ...sortedKind[K, V, I]) {
	n, some, batch := size(keys), size("100k"), size("1k")
	rows, sought := newRows[K, V](n+batch, key), newRows[K, V](n+batch, key)[:n]
	rows, more := rows[:n:n], rows[n:]
	r := rand.New(rand.NewPCG(9, 9))
	r.Shuffle(n, func(i, j int) { sought[i], sought[j] = sought[j], sought[i] })
	soughtKeys, at := make([]K, n), make([]int, 1_000)
	for i := range sought {
		soughtKeys[i] = sought[i].Key
	}
	for i := range at {
		at[i] = r.IntN(n - 100)
	}
	inOrder := slices.SortedFunc(slices.Values(rows), func(p, q row[K, V]) int { return cmp.Compare(bound(p), bound(q)) })
	ordered, random := sums(inOrder), sums(sought)
	var lowest I
	part := func(i int) (from, to int) { from = i % (n / batch) * batch; return from, from + batch }
	place := func(i int) int { return at[i%len(at)] }
	lo := func(i int) I { return bound(inOrder[place(i)]) }
	type store = *sorted[K, V, I]

	type read struct {
		n    int // of each time
		unit string
		sum  func(s store, i int) int
		want func(i int) int
	}
	next := func(n int) read {
		return read{1, "range", func(s store, i int) int { return s.from(lo(i), n) }, func(i int) int { return ordered[place(i)+n] - ordered[place(i)] }}
	}
	reads := map[string]read{
		"scan":     {some, "row", func(s store, _ int) int { return s.from(lowest, some) }, func(int) int { return ordered[some] }},
		"each":     {n, "row", func(s store, _ int) int { return s.each() }, func(int) int { return ordered[n] }},
		"range":    {1, "range", func(s store, i int) int { return s.between(lo(i), bound(inOrder[place(i)+100])) }, next(100).want},
		"from-10":  next(10),
		"from-100": next(100),
		"get": {batch, "get", func(s store, i int) int { from, to := part(i); return s.get(soughtKeys[from:to]) },
			func(i int) int { from, to := part(i); return random[to] - random[from] }},
	}
	built := map[string]store{}
	measure := func(b *testing.B, do string, k sortedKind[K, V, I]) {
		got, want, i := 0, ordered[n], 0
		if read, ok := reads[do]; ok {
			if built[k.store] == nil {
				s := k.make(outer, rows)
				built[k.store] = &s
			}
			s := built[k.store]
			per(b, read.n, read.unit, func() { got += read.sum(s, i); i++ })
			want = 0
			for i := range b.N {
				want += read.want(i)
			}
			require.Equal(b, want, got, "the sum of what was read")
			return
		}
		var s sorted[K, V, I]
		if do == "build" {
			per(b, n, "row", func() { s = k.make(b, rows) })
		} else {
			s = k.make(b, rows)
		}
		switch do {
		case "insert":
			all := func(f func(row[K, V])) {
				for i := range more {
					f(more[i])
				}
			}
			per(b, batch, "commit", func() {
				all(s.set)
				b.StopTimer()
				all(s.del)
				b.StartTimer()
			})
			all(s.set)
			want += sums(more)[batch]
		case "insert-delete":
			per(b, 2*batch, "commit", func() {
				for _, r := range more {
					s.set(r)
					s.del(r)
				}
			})
		case "replace":
			now := slices.Clone(rows)
			per(b, batch, "commit", func() {
				from, to := part(i)
				for j := from; j < to; j++ {
					now[j].By += 2 * n // where no other row is
					now[j].Value[0] = now[j].By
					s.set(now[j])
				}
				i++
			})
			want = sums(now)[n]
		}
		require.Equal(b, want, s.from(lowest, math.MaxInt), "the sum of what was written")
	}
	for _, do := range strings.Fields("scan range from-10 from-100 each get build insert insert-delete replace") {
		for _, k := range kinds {
			if slices.Contains(strings.Fields(k.does), do) {
				name := fmt.Sprintf("keys=%s/key=%s/value=%dB/do=%s/store=%s", keys, key.name, 8*len(rows[0].Value), do, k.store)
				outer.Run(name, func(b *testing.B) { measure(b, do, k) })
			}
		}
	}
}

// BenchmarkOrdered reads and writes rows that are in the order of their keys.
func BenchmarkOrdered(b *testing.B) {
	for _, keys := range []string{"100k", "1M"} {
		onKeys(b, keys, uint64Keys, numberWordByKey)
		onKeys(b, keys, uint64Keys, numberWordsByKey)
		onKeys(b, keys, stringKeys, textWordByKey)
		onKeys(b, keys, stringKeys, textWordsByKey)
	}
}

func onKeys[K cmp.Ordered, V words](b *testing.B, keys string, key keyKind[K], read loops[K, V, K]) {
	order := func(t *cow.Table[K, V]) *cow.Index[K, V, K] { return cow.NewOrder(t, "order") }
	const reads, writes, build = "scan range from-100 get ", "insert insert-delete replace ", "build"
	kinds := []sortedKind[K, V, K]{
		cowSorted("cowstore", reads+writes+build, read, order),
		{"btree", reads + writes + build, newSortedBTree[K, V]},
		{"sortedmap", reads + writes, newSortedMap(read)},
		{"pointers", strings.ReplaceAll(reads, "get", ""), newPointers[K, V]},
		buntSorted[K, V, K](reads+writes, "", key.text, key.text),
	}
	if keys == "100k" {
		kinds = append(kinds,
			cowSorted("views", reads, read, order),
			cowSorted("cowstore-isolated", reads, read, order),
			cowSorted("cowstore-setall", build, read, order),
			cowSorted("cowstore-indexed-last", build, read, order))
	}
	eachSorted(b, keys, key, func(r row[K, V]) K { return r.Key }, kinds...)
}

// BenchmarkIndexed reads and writes rows that are in the order of an index by their numbers.
func BenchmarkIndexed(b *testing.B) {
	for _, keys := range []string{"100k", "1M"} {
		onNumbers(b, keys, uint64Keys, numberWordByNumber)
		onNumbers(b, keys, uint64Keys, numberWordsByNumber)
		onNumbers(b, keys, stringKeys, textWordByNumber)
		onNumbers(b, keys, stringKeys, textWordsByNumber)
	}
}

func onNumbers[K cmp.Ordered, V words](b *testing.B, keys string, key keyKind[K], read loops[K, V, int]) {
	order := func(t *cow.Table[K, V]) *cow.Index[K, V, int] {
		x, err := cow.NewIndex(t, "by", func(r cow.Row[K, V]) int { return r.Shared()[0] }, cow.IndexOptions[K]{})
		must(b, err)
		return x
	}
	const reads, writes = "scan from-10 from-100 each get ", "build insert insert-delete replace"
	kinds := []sortedKind[K, V, int]{
		cowSorted("cowstore", reads+writes, read, order),
		memSorted[K, V](reads+writes, key),
		stateSorted(reads+writes, read, key),
	}
	if keys == "100k" {
		kinds = append(kinds,
			cowSorted("views", reads, read, order),
			cowSorted("cowstore-isolated", reads, read, order),
			buntSorted[K, V, int]("replace", "by", key.text, func(n int) string { return bigEndian(uint64(n)) }))
	}
	eachSorted(b, keys, key, func(r row[K, V]) int { return r.By }, kinds...)
}
