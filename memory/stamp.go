package memory

import "sync/atomic"

// A stamp says when an entry was last used, in ticks: the batches of a Memory and
// all its forks, which share entries and so their stamps, and, where a limit is small, the
// reads. It is all of an entry that ever changes. Its lowest bit says that it is of a read.
type stamp struct{ v atomic.Uint64 }

// stampEvery is how many ticks a stamp of a read is good for. A key that many
// read is so written to once in a while, and else only looked at, and its cache
// line stays with all of them.
const stampEvery = 8

// used stamps an entry that was read, or that a batch is about to store. A reader that
// comes late with its tick changes nothing.
func (s *stamp) used(tick uint64) {
	for is := s.v.Load(); is < tick<<1 && !s.v.CompareAndSwap(is, tick<<1); is = s.v.Load() {
	}
}

// read stamps an entry that was read.
func (s *stamp) read(tick uint64) {
	if is := s.v.Load(); is&1 == 0 || tick >= is>>1+stampEvery {
		s.v.Store(tick<<1 | 1)
	}
}

// last returns until when an entry may have been used. A stamp of a read stands for
// later ones too.
func (s *stamp) last() uint64 {
	is := s.v.Load()
	return is>>1 + is&1*stampEvery
}

// stamp says that an entry was used, where that matters.
func (t *tables) stamp(e *entry) {
	switch {
	case !t.stamps.Load():
	case t.exact.Load():
		e.used.used(t.ticks.Add(1))
	default:
		e.used.read(t.ticks.Load())
	}
}
