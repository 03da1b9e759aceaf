package main_test

import (
	"hash/maphash"
	"math/bits"
)

// What is here is no store, but the least that one takes: loops over bare memory.

var bareSeed = maphash.MakeSeed()

// bareSlots returns how many slots a table of n rows has: twice as many or more.
func bareSlots(n int) int { return 2 << bits.Len(uint(n)) }

// A bareText is a row with its key in it, as rows of a cow.Map have it.
type bareText struct {
	number
	len int
	key [40]byte
}

// A bareTexts is a hash table that nobody writes to any more, of rows that stay where they are: a
// lookup takes the hash, one load of a slot, one of the row, and a look at the key.
type bareTexts []*bareText

func newBareTexts(n int) bareTexts {
	m := make(bareTexts, bareSlots(n))
	for i := range n {
		r, k := &bareText{number: numbered(i)}, key(i)
		r.len = copy(r.key[:], k)
		at := m.at(k)
		for m[at] != nil {
			at = (at + 1) % len(m)
		}
		m[at] = r
	}
	return m
}

func (m bareTexts) at(k string) int { return int(maphash.String(bareSeed, k)) & (len(m) - 1) }

// from looks for k from a slot on.
func (m bareTexts) from(at int, k string) uint64 {
	for r := m[at]; ; r = m[at] {
		if string(r.key[:r.len]) == k {
			return r.ID
		}
		at = (at + 1) & (len(m) - 1)
	}
}

// together looks up keys as GetMany does: all hashes, all slots, and then all rows.
func (m bareTexts) together(keys []string) (sum uint64) {
	var at [100]int
	var rows [100]*bareText
	for i, k := range keys {
		at[i] = m.at(k)
	}
	for i := range keys {
		rows[i] = m[at[i]]
	}
	for i, k := range keys {
		if r := rows[i]; string(r.key[:r.len]) == k {
			sum += r.ID
		} else {
			sum += m.from(at[i], k)
		}
	}
	return sum
}

// newBareTable returns bareTexts for lookups one by one or together.
func newBareTable(together bool) table {
	var m bareTexts
	t := table{bare: func(n int) { m = newBareTexts(n) }, gets: func(keys []string) uint64 {
		return loop(keys, func(k string) uint64 { return m.from(m.at(k), k) })
	}}
	if together {
		t.gets = func(keys []string) (sum uint64) {
			for ; len(keys) > 100; keys = keys[100:] {
				sum += m.together(keys[:100])
			}
			return sum + m.together(keys)
		}
	}
	return t
}

// bareInts returns what bareTexts.together is for keys of uint64.
func bareInts(keys []uint64) func(keys []uint64) uint64 {
	type row struct {
		number
		key uint64
	}
	m := make([]*row, bareSlots(len(keys)))
	slot := func(k uint64) int { return int(maphash.Comparable(bareSeed, k)) & (len(m) - 1) }
	for i, k := range keys {
		at := slot(k)
		for m[at] != nil {
			at = (at + 1) % len(m)
		}
		m[at] = &row{numbered(i), k}
	}
	return func(keys []uint64) (sum uint64) {
		var at [100]int
		var rows [100]*row
		for ; len(keys) > 0; keys = keys[min(len(keys), 100):] {
			some := keys[:min(len(keys), 100)]
			for i, k := range some {
				at[i] = slot(k)
			}
			for i := range some {
				rows[i] = m[at[i]]
			}
			for i, k := range some {
				r := rows[i]
				for r.key != k {
					at[i] = (at[i] + 1) & (len(m) - 1)
					r = m[at[i]]
				}
				sum += r.ID
			}
		}
		return sum
	}
}
