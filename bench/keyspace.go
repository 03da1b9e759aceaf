package main

import (
	"context"
	"runtime"

	"github.com/cowstore/cowstore/bench/stores"
)

// A keyspace is what a store is loaded with and asked for.
type keyspace struct {
	n    int
	seed uint64
	zipf *zipf
	keys []string // copies: a lookup must compare bytes, not find the same pointer

	// record returns record i in a generation. It is in memory of its own, so that
	// no store finds the records laid out better than another does.
	record func(i int, generation uint32) stores.Record
}

func newKeyspace(n int, seed uint64, record func(i int, generation uint32) stores.Record) *keyspace {
	k := &keyspace{n: n, seed: seed, zipf: newZipf(n, seed), keys: make([]string, n), record: record}
	for i := range k.keys {
		r := record(i, 0)
		k.keys[i] = r.Key()
	}
	return k
}

// recordKeys is a keyspace of records that there are already.
func recordKeys(records []stores.Record, seed uint64) *keyspace {
	return newKeyspace(len(records), seed, func(i int, generation uint32) stores.Record {
		return records[i].Reindexed(generation)
	})
}

// payloadKeys is a keyspace of n records as YCSB has them, of so many bytes.
func payloadKeys(n, size int, seed uint64) *keyspace {
	return newKeyspace(n, seed, func(i int, generation uint32) stores.Record {
		return payload(i, size, generation)
	})
}

// payload returns record i of a keyspace of payloads, or the one that is the i-th
// to be inserted after those.
func payload(i, size int, generation uint32) stores.Record {
	r := stores.NewPayload("user", userName(i), size)
	if generation != 0 {
		r = r.Reindexed(generation)
	}
	return r
}

// payloadKey returns the key of payload i.
func payloadKey(i int) string { return "user." + userName(i) }

// userName returns the name of record i: 20 digits that have nothing to do with
// the order of the records, as in YCSB.
func userName(i int) string {
	h := (uint64(i) + 1) * 0x9e3779b97f4a7c15 // a bijection, so that no two are the same
	var name [20]byte
	for at := len(name) - 1; at >= 0; at-- {
		name[at] = byte('0' + h%10)
		h /= 10
	}
	return string(name[:])
}

// load stores all records. It returns what they take of the heap, in bytes an
// entry; what records share with one another is not counted.
func (k *keyspace) load(ctx context.Context, s stores.Store) (heap float64) {
	before := live()
	const chunk = 100_000 // so that the records exist only once, where a store copies them
	for from := 0; from < k.n && ctx.Err() == nil; from += chunk {
		pairs := make([]stores.Pair, 0, min(chunk, k.n-from))
		for i := from; i < min(from+chunk, k.n); i++ {
			r := k.record(i, 0)
			pairs = append(pairs, stores.Pair{Key: r.Key(), Record: r})
		}
		s.Update(pairs)
	}
	heap = (live() - before) / float64(k.n)
	runtime.KeepAlive(s)
	return max(heap, 0)
}

// bytesPerGet returns what a lookup allocates. Nothing else may be running.
func (k *keyspace) bytesPerGet(s stores.Store) float64 {
	lookups := min(1<<13, k.n)
	reader, found := stores.NewReader(s), stores.Lookup{}
	bytes, _ := allocated(func() {
		for _, key := range k.keys[:lookups] {
			reader.Get(key, &found)
		}
	})
	return bytes / float64(lookups)
}
