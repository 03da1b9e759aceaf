package memorytest

import (
	"fmt"
	"reflect"
	"sync"
	"sync/atomic"
)

const (
	workers = 8   // goroutines at once
	each    = 100 // what each of them does
	rounds  = 500 // how often a race is run that no hook decides
)

// number returns a count that was stored as an int.
func number(v any) int {
	switch v := v.(type) {
	case int:
		return v
	case float64:
		return int(v)
	}
	if r := reflect.ValueOf(v); r.IsValid() && r.CanInt() {
		return int(r.Int())
	}
	return -1
}

func increment(v any) (any, error) { return number(v) + 1, nil }

// insertChecks hold that of many who check and then insert one wins, and that its
// value is stored.
var insertChecks = []check{
	{"check then insert/of many Insert one wins", func(p *probe) {
		in := need[Inserter](p)
		for round := range rounds {
			p.oneWins(p.together, 4, fmt.Sprint("k", round), func(key string, i int) (bool, error) { return in.Insert(space, key, i) })
		}
	}},
	{"check then insert/of many Insert that waited for a lock one wins", func(p *probe) {
		in := need[Inserter](p)
		p.oneWins(p.queued, workers, "k", func(key string, i int) (bool, error) { return in.Insert(space, key, i) })
	}},
	{"check then insert/of many Insert of a value that takes time to copy one wins", func(p *probe) {
		in := need[Inserter](p)
		p.oneWinsOfHooked(func(key string, v hooked) (bool, error) { return in.Insert(space, key, v) })
	}},
	{"check then insert/of many Batch one wins", func(p *probe) {
		b := need[Batcher](p)
		meet := meeting(workers, p.grace)
		p.oneWins(p.together, workers, "k", func(key string, i int) (won bool, err error) {
			err = b.Batch(func(tx Backend) error {
				_, found, err := tx.Get(space, key)
				meet(i)
				if won = !found; err != nil || found {
					return err
				}
				return tx.Put(space, key, i)
			})
			return won, err
		})
	}},
}

// oneWins checks that of n that store their numbers by a key at once, in the given
// way, one says that it did, and did.
func (p *probe) oneWins(atOnce func(n int, f func(i int) error), n int, key string, store func(key string, i int) (bool, error)) {
	p.Helper()
	var winners, winner atomic.Int32
	atOnce(n, func(i int) error {
		won, err := store(key, i)
		if won {
			winners.Add(1)
			winner.Store(int32(i))
		}
		return err
	})
	must.Equal(p, int32(1), winners.Load(), "winners")
	p.holds(space, key, int(winner.Load()), "what the winner stored")
}

// oneWinsOfHooked is oneWins with values that wait for each other in the middle of
// what the backend does.
func (p *probe) oneWinsOfHooked(store func(key string, v hooked) (bool, error)) {
	p.Helper()
	meet := meeting(workers, p.grace)
	number, stop := hook(meet)
	defer stop()
	p.accepted("a struct with methods", false, p.b.Put(space, "other", hooked{}))
	var winners, winner atomic.Int32
	p.together(workers, func(i int) error {
		won, err := store("k", hooked{ID: i, Hook: number})
		if won {
			winners.Add(1)
			winner.Store(int32(i))
		}
		return err
	})
	must.Equal(p, int32(1), winners.Load(), "winners")
	p.holds(space, "k", hooked{ID: int(winner.Load()), Hook: number}, "what the winner stored")
}

// updateChecks hold that no update is lost that was said to be done.
var updateChecks = []check{
	{"lost update/increments by Modify", func(p *probe) {
		m := need[Modifier](p)
		p.put(space, "n", 0)
		p.together(workers, func(int) error {
			for range each {
				if err := m.Modify(space, "n", increment); err != nil {
					return err
				}
			}
			return nil
		})
		p.holds(space, "n", workers*each, "increments")
	}},
	{"lost update/Modify during Modify", func(p *probe) {
		m := need[Modifier](p)
		p.put(space, "n", 0)
		p.doDuringModify(m, "n", func() error { return m.Modify(space, "n", increment) })
		p.holds(space, "n", 2, "two increments")
	}},
	{"lost update/Put during Modify", func(p *probe) {
		m := need[Modifier](p)
		p.put(space, "n", 0)
		p.doDuringModify(m, "n", func() error { return p.b.Put(space, "n", 100) })
		must.Contains(p, []int{100, 101}, number(p.get(space, "n")), "the increment stored what was before the Put")
	}},
	{"lost update/increments by Batch", func(p *probe) {
		b := need[Batcher](p)
		p.put(space, "n", 0)
		p.together(workers, func(int) error {
			for range each {
				if err := b.Batch(incrementIn("n", nil)); err != nil {
					return err
				}
			}
			return nil
		})
		p.holds(space, "n", workers*each, "increments")
	}},
	{"lost update/Batch during Batch", func(p *probe) {
		b := need[Batcher](p)
		p.put(space, "n", 0)
		var once sync.Once
		var j *job
		must.NoError(p, b.Batch(incrementIn("n", func() {
			once.Do(func() { j, _ = p.during(func() error { return b.Batch(incrementIn("n", nil)) }) })
		})))
		p.succeed(j)
		p.holds(space, "n", 2, "two increments")
	}},
}

// doDuringModify increments what the key has, and does f after it was read and
// before it is stored. Both must succeed.
func (p *probe) doDuringModify(m Modifier, key string, f func() error) {
	p.Helper()
	var once sync.Once
	var j *job
	must.NoError(p, m.Modify(space, key, func(v any) (any, error) {
		once.Do(func() { j, _ = p.during(f) })
		return increment(v)
	}))
	p.succeed(j)
}

// incrementIn returns what increments a key in a Batch, and calls between after it was
// read.
func incrementIn(key string, between func()) func(tx Backend) error {
	return func(tx Backend) error {
		v, _, err := tx.Get(space, key)
		if err != nil {
			return err
		}
		if between != nil {
			between()
		}
		return tx.Put(space, key, number(v)+1)
	}
}
