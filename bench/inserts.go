package main

import (
	"sync"
	"sync/atomic"
)

// inserts numbers the records that clients insert, and knows how far all of them
// are there: the acknowledged counter of YCSB.
type inserts struct {
	taken atomic.Int64 // the next number
	there atomic.Int64 // all below it have been inserted

	mu    sync.Mutex
	ahead map[int]bool // inserted, but one below is not
}

// restart begins after n records.
func (x *inserts) restart(n int) {
	x.taken.Store(int64(n))
	x.there.Store(int64(n))
	x.ahead = map[int]bool{}
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
