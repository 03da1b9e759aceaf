package main

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"time"

	"github.com/cowstore/cowstore/cow"
)

// commits returns the time of a one-key commit, in ns, of all keys once.
func commits(s *cow.Store[string, number], keys []string) func() float64 {
	return func() float64 {
		return float64(timed(func() {
			for _, k := range keys {
				s.Set(k, number{})
			}
		})) / float64(len(keys))
	}
}

// history compares commits and versions with a history of a thousand versions.
func (b *bars) history() {
	const n, versions = 100_000, 1_000
	plain, kept := cow.New[string](cow.Options[number]{}), cow.New[string](cow.Options[number]{})
	kept.Retain(cow.Retention{Versions: versions})
	fillStore(plain, 0, n)
	fillStore(kept, 0, n)
	rewrite(n, cowGet{plain}, cowGet{kept})
	keys := barKeys(0, n)
	s := interleave(b.rounds, commits(plain, keys), commits(kept, keys))
	b.add("one-key commit with 1,000 versions of history vs without at 100k", "ns", s[1], s[0], 1.15)
	current := kept.Load().Version()
	s = interleave(b.rounds, func() float64 {
		const reads = 200
		return float64(timed(func() {
			for i := range reads {
				m, err := kept.At(current - versions + uint64(i)*versions/reads)
				if err != nil {
					panic(err)
				}
				sink += uint64(m.Len())
			}
		})) / reads
	})
	b.add("At of one of 1,000 versions at 100k", "ns", s[0], s[0], 0)
	runtime.KeepAlive(plain)

	held := func(keep func(i int)) []float64 {
		before := live()
		for i := range versions {
			keep(i)
		}
		return []float64{(live() - before) / versions}
	}
	kept = cow.New[string](cow.Options[number]{})
	fillStore(kept, 0, n)
	rewrite(n, cowGet{kept})
	kept.Retain(cow.Retention{Versions: versions})
	ours := held(func(i int) { kept.Set(keys[i], number{}) })
	runtime.KeepAlive(kept)
	big := newOneBigMap()
	fill(big, n)
	rewrite(n, big)
	older := make([]any, versions)
	peers := held(func(i int) { big.set(keys[i], number{}); older[i] = big.current.Load() })
	runtime.KeepAlive(older)
	runtime.KeepAlive(big)
	runtime.KeepAlive(keys)
	b.add("bytes of a version in the history vs one more immutable.Map at 100k", "B", ours, peers, 0.65)
}

// fork compares forks of a large store and of a small one.
func (b *bars) fork() {
	forks := func(n int) func() float64 {
		s := cow.New[string](cow.Options[number]{})
		fillStore(s, 0, n)
		rewrite(n, cowGet{s})
		m := s.Load()
		return func() float64 {
			const each = 20_000
			return float64(timed(func() {
				for range each {
					sink += s.Fork(m).Load().Version()
				}
			})) / each
		}
	}
	s := interleave(b.rounds, forks(1_000_000), forks(10_000))
	b.add("fork at 1M vs at 10k", "ns", s[0], s[1], 3)
}

// watches compares commits beside watches on other keys with commits beside
// none.
func (b *bars) watches() {
	const n, each = 100_000, 20_000
	commit := func(watches int) (objects, ns float64) {
		s := cow.New[string](cow.Options[number]{})
		fillStore(s, 0, n)
		ctx, cancel := context.WithCancel(b.ctx)
		var wg sync.WaitGroup
		since := s.Load()
		for i := range watches {
			wg.Go(func() { _, _ = s.Watch(ctx, since, s.OnKeys(fmt.Sprintf("absent:%d", i))) })
		}
		for s.Stats().Waiting < watches && ctx.Err() == nil {
			time.Sleep(time.Millisecond)
		}
		set := func() {
			for i := range each {
				s.Set(barKey(i), number{})
			}
		}
		set() // so that each key has a page of its own by now
		var d time.Duration
		runtime.GC()
		_, objects = allocated(func() { d = timed(set) })
		cancel()
		wg.Wait()
		return objects / each, float64(d) / each
	}
	none, noneTime := commit(0)
	for _, watches := range []int{10_000, 1_000_000} {
		some, someTime := commit(watches)
		at := " beside " + count(watches) + " watches on other keys vs none"
		// Other goroutines allocate a little meanwhile: a hundredth of an object.
		b.add("allocations of a commit"+at, "", []float64{some}, []float64{none}, 1.01)
		b.add("time of a commit"+at, "ns", []float64{someTime}, []float64{noneTime}, 0)
	}

	plain, watched := cow.New[string](cow.Options[number]{}), cow.New[string](cow.Options[number]{})
	fillStore(plain, 0, n)
	fillStore(watched, 0, n)
	rewrite(n, cowGet{plain}, cowGet{watched})
	ctx, cancel := context.WithCancel(b.ctx)
	var wg sync.WaitGroup
	since := watched.Load()
	wg.Go(func() { _, _ = watched.Watch(ctx, since, watched.OnKeys("absent")) })
	for watched.Stats().Waiting == 0 && ctx.Err() == nil {
		time.Sleep(time.Millisecond)
	}
	keys := barKeys(0, n)
	s := interleave(b.rounds, commits(plain, keys), commits(watched, keys))
	cancel()
	wg.Wait()
	b.add("time of a commit beside a watch on another key vs none at 100k", "ns", s[1], s[0], 1.1)
}
