package load

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"

	"github.com/cowstore/cowstore/bench/stores"
)

// What is random is the same in each run. The streams of the seed: what is drawn must not
// depend on how much of something else was.
const (
	seed          = 1
	streamScatter = 1       // which keys are the popular ones
	streamKinds   = 1 << 20 // which operations write; one stream a client
	streamClients = 1 << 30 // the keys that are used; one stream a client
)

// Zipf chooses among n keys as by Zipf's law: the k-th most popular key comes
// up with a probability proportional to 1/k^1.01, close to the 0.99 of YCSB,
// which the generator of math/rand/v2 cannot do. Popularity is scattered: it
// has nothing to do with the order of the keys.
type Zipf struct {
	scatter []int // the key of each rank
}

// Skew is the exponent of the law.
const Skew = 1.01

// NewZipf returns a Zipf of n keys.
func NewZipf(n int) *Zipf {
	return &Zipf{rand.New(rand.NewPCG(seed, streamScatter)).Perm(n)}
}

// Draws is how many choices each client has before it begins with them again. They are
// drawn ahead because a draw takes longer than the lookup that it is for.
const Draws = 1 << 16

// Draw returns the choices of client i: Draws keys.
func (z *Zipf) Draw(i int) []uint32 {
	keys := z.ranks(i)
	for i, rank := range keys {
		keys[i] = uint32(z.scatter[rank])
	}
	return keys
}

// ranks returns the same by rank: 0 for the most popular.
func (z *Zipf) ranks(i int) []uint32 {
	draw := rand.NewZipf(randomOf(i), Skew, 1, uint64(len(z.scatter)-1))
	ranks := make([]uint32, Draws)
	for i := range ranks {
		ranks[i] = uint32(draw.Uint64())
	}
	return ranks
}

// randomOf is the chance of client i.
func randomOf(i int) *rand.Rand { return rand.New(rand.NewPCG(seed, uint64(streamClients+i))) }

// A keyspace is what a store is loaded with and asked for.
type keyspace struct {
	n    int
	zipf *Zipf
	keys []string // copies: a lookup must compare bytes, not find the same pointer

	// record returns record i in a generation. It is in memory of its own, so that
	// no store finds the records laid out better than another does.
	record func(i int, generation uint32) stores.Record
}

// A choice is how keys are chosen.
type choice int

const (
	popular choice = iota // by Zipf's law
	latest                // by Zipf's law too: how many were inserted after it
	uniform               // any: not only popular ones, which stay in the caches
)

// draw returns what a client chooses, always the same.
func (k *keyspace) draw(client int, by choice) []uint32 {
	switch by {
	case popular:
		return k.zipf.Draw(client)
	case latest:
		return k.zipf.ranks(client)
	}
	all, random := make([]uint32, 1<<20), randomOf(client)
	for i := range all {
		all[i] = uint32(random.IntN(k.n))
	}
	return all
}

func newKeyspace(n int, record func(i int, generation uint32) stores.Record) *keyspace {
	k := &keyspace{n: n, zipf: NewZipf(n), keys: make([]string, n), record: record}
	for i := range k.keys {
		r := record(i, 0)
		k.keys[i] = r.Key()
	}
	return k
}

// payloadKeys is a keyspace of n records as YCSB has them, of so many bytes.
func payloadKeys(n, size int) *keyspace {
	return newKeyspace(n, func(i int, generation uint32) stores.Record {
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

// inserts numbers the records that clients insert, and knows how far all of them
// are there: the acknowledged counter of YCSB.
type inserts struct {
	taken atomic.Int64 // the next number
	there atomic.Int64 // all below it have been inserted

	mu    sync.Mutex
	ahead map[int]bool // inserted, but one below is not
}

// newInserts begins after n records.
func newInserts(n int) *inserts {
	x := &inserts{ahead: map[int]bool{}}
	x.taken.Store(int64(n))
	x.there.Store(int64(n))
	return x
}

// next returns the number of a record to insert.
func (x *inserts) next() int { return int(x.taken.Add(1)) - 1 }

// done says that record i can be read.
func (x *inserts) done(i int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.ahead[i] = true
	for at := int(x.there.Load()); x.ahead[at]; at++ {
		delete(x.ahead, at)
		x.there.Store(int64(at) + 1)
	}
}

// latest returns the key of the record that was inserted as the rank-th last; keys
// are those of the records there were at first.
func (x *inserts) latest(keys []string, rank int) string {
	there := int(x.there.Load())
	i := there - 1 - rank%there
	if i < len(keys) {
		return keys[i]
	}
	return payloadKey(i)
}
