package snapshot

import (
	"math/rand/v2"
	"testing"
)

// FuzzMap makes the decisions of a model test out of bytes: the first says
// which model and which hash, the others what it does.
func FuzzMap(f *testing.F) {
	// In testdata are some finds of the fuzzer and, with names, programs written
	// for it. These are long and do a little of everything.
	random := rand.New(rand.NewPCG(1, 2))
	for kind := range byte(4) {
		for hash := range byte(len(fuzzHashes)) {
			program := make([]byte, 1000)
			for i := range program {
				program[i] = byte(random.Uint32())
			}
			program[0] = kind<<4 | hash
			f.Add(program)
		}
	}
	f.Fuzz(func(t *testing.T, program []byte) {
		if len(program) == 0 || len(program) > 1<<12 {
			return
		}
		kind, hash := program[0]>>4, int(program[0]&0xf)%len(fuzzHashes)
		in := decisions(program[1:])
		switch kind % 4 {
		case 0:
			runFuzz(t, &in, fuzzHashes[hash], stringKeys[string](100), intValues)
		case 1:
			runFuzz(t, &in, fuzzHashes[hash], stringKeys[label](100), structValues)
		case 2:
			runFuzz(t, &in, fuzzHashes[hash], keysOf(250, func(i int) int { return i }), stringValues)
		case 3:
			runFuzz(t, &in, fuzzHashes[hash], keysOf(100, anyKey), structValues)
		}
	})
}

// fuzzHashes are nil, for the good one, and bad ones in a fixed order.
var fuzzHashes = []func(uint64) uint64{
	nil, badHashes["constant"], badHashes["top6"], badHashes["low32"], badHashes["8bits"], badHashes["neighbors"],
}

// decisions are taken from bytes, and 0 when there are none left.
type decisions []byte

func (d *decisions) choose(n int) int {
	if len(*d) == 0 || n < 2 {
		return 0
	}
	x := int((*d)[0])
	*d = (*d)[1:]
	if n > 256 && len(*d) > 0 {
		x |= int((*d)[0]) << 8
		*d = (*d)[1:]
	}
	return x % n
}

func runFuzz[K comparable, V any](t *testing.T, in *decisions, bad func(uint64) uint64, keys []K, v values[V]) {
	m := New[K](Options[V]{})
	// The process has its own seed, and a find must be one in every process.
	m.cfg.hash = fixedHash(keys)
	if bad != nil {
		spoilHash(m, bad)
	}
	w := newWorld(t, m, keys, v, in.choose)
	for len(*in) > 0 {
		w.step()
	}
	w.checkAll()
}

// fixedHash returns a good hash function for the keys, the same in every
// process, that gives others what those have in common.
func fixedHash[K comparable](keys []K) func(K) uint64 {
	numbers := make(map[K]uint64, len(keys))
	for i, k := range keys {
		x := uint64(i+1) * 0x9e37_79b9_7f4a_7c15
		x = (x ^ x>>30) * 0xbf58_476d_1ce4_e5b9
		x = (x ^ x>>27) * 0x94d0_49bb_1331_11eb
		numbers[k] = x ^ x>>31
	}
	return func(k K) uint64 { return numbers[k] }
}
