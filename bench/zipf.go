package main

import "math/rand/v2"

// The streams of the seed: what is random in a run must not depend on how much
// of something else was drawn.
const (
	streamSample  = 0       // which records are used
	streamScatter = 1       // which keys are the popular ones
	streamKinds   = 1 << 20 // which operations write; one stream a client
	streamNotes   = 1 << 40 // what agents know; one stream a note
	streamClients = 1 << 30 // the keys that are used; one stream a client, and one before them for a writer
)

// A zipf chooses among n keys as by Zipf's law: the k-th most popular key comes
// up with a probability proportional to 1/k^1.01, close to the 0.99 of YCSB,
// which the generator of math/rand/v2 cannot do. Popularity is scattered: it
// has nothing to do with the order of the keys.
type zipf struct {
	seed    uint64
	scatter []int // the key of each rank
}

const skew = 1.01

func newZipf(n int, seed uint64) *zipf {
	return &zipf{seed, rand.New(rand.NewPCG(seed, streamScatter)).Perm(n)}
}

// draw returns the first count choices of a stream. They are drawn ahead because
// a draw takes longer than the lookup that it is for.
func (z *zipf) draw(stream uint64, count int) []uint32 {
	keys := z.ranks(stream, count)
	for i, rank := range keys {
		keys[i] = uint32(z.scatter[rank])
	}
	return keys
}

// ranks returns the same by rank: 0 for the most popular.
func (z *zipf) ranks(stream uint64, count int) []uint32 {
	draw := rand.NewZipf(rand.New(rand.NewPCG(z.seed, stream)), skew, 1, uint64(len(z.scatter)-1))
	ranks := make([]uint32, count)
	for i := range ranks {
		ranks[i] = uint32(draw.Uint64())
	}
	return ranks
}
