package memorytest

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
)

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

// conditionalChecks hold that a write by revision is one step, and that no
// revision comes back.
var conditionalChecks = []check{
	{"conditional write/revisions", func(p *probe) {
		c := need[Conditional](p)
		must.Zero(p, p.revision(c, "k"), "revision of what is absent")
		p.setIf(c, "k", 1, "wrong", false)
		p.absent(space, "k", "after SetIf with a wrong revision")
		p.setIf(c, "k", 0, "v", true)
		p.setIf(c, "k", 0, "w", false)
		first := p.revision(c, "k")
		must.NotZero(p, first)
		p.put(space, "other", "x")
		p.setIf(c, "k", first, "v2", true)
		second := p.revision(c, "k")
		must.NotContains(p, []uint64{0, first}, second)
		p.setIf(c, "k", first, "stale", false)
		p.put(space, "k", "v2")
		must.NotContains(p, []uint64{0, first, second}, p.revision(c, "k"), "Put is a change")
		p.setIf(c, "k", second, "stale", false)
		done, err := c.DeleteIf(space, "k", second)
		must.NoError(p, err)
		must.False(p, done, "DeleteIf with a stale revision")
		p.holds(space, "k", "v2", "at the end")
		done, err = c.DeleteIf(space, "k", p.revision(c, "k"))
		must.NoError(p, err)
		must.True(p, done)
		p.absent(space, "k", "after DeleteIf")
		must.Zero(p, p.revision(c, "k"))
	}},
	{"conditional write/Modify is a change", func(p *probe) {
		c, m := need[Conditional](p), need[Modifier](p)
		p.put(space, "n", 1)
		before := p.revision(c, "n")
		must.NoError(p, m.Modify(space, "n", increment))
		p.setIf(c, "n", before, 100, false)
		p.holds(space, "n", 2, "the increment")
	}},
	{"conditional write/Batch is a change", func(p *probe) {
		c, b := need[Conditional](p), need[Batcher](p)
		p.put(space, "n", 1)
		before := p.revision(c, "n")
		must.NoError(p, b.Batch(incrementIn("n", nil)))
		p.setIf(c, "n", before, 100, false)
		p.holds(space, "n", 2, "the increment")
	}},
	{"conditional write/increments by SetIf", func(p *probe) {
		c := need[Conditional](p)
		p.put(space, "n", 0)
		p.together(workers, func(int) error {
			for range each {
				for done := false; !done; {
					// The revision first: if there is a change between the two, it is
					// that revision which is stale.
					revision, err := c.Revision(space, "n")
					if err != nil {
						return err
					}
					v, _, err := p.b.Get(space, "n")
					if err != nil {
						return err
					}
					if done, err = c.SetIf(space, "n", revision, number(v)+1); err != nil {
						return err
					}
				}
			}
			return nil
		})
		p.holds(space, "n", workers*each, "increments")
	}},
	{"conditional write/of many SetIf with revision 0 one wins", func(p *probe) {
		c := need[Conditional](p)
		for round := range rounds {
			p.oneWins(p.together, 4, fmt.Sprint("k", round), func(key string, i int) (bool, error) { return c.SetIf(space, key, 0, i) })
		}
	}},
	{"conditional write/of many SetIf with one revision one wins", func(p *probe) {
		c := need[Conditional](p)
		for round := range rounds {
			key := fmt.Sprint("k", round)
			p.put(space, key, -1)
			revision := p.revision(c, key)
			p.oneWins(p.together, 4, key, func(key string, i int) (bool, error) { return c.SetIf(space, key, revision, i) })
		}
	}},
	{"conditional write/of many SetIf that waited for a lock one wins", func(p *probe) {
		c := need[Conditional](p)
		p.put(space, "k", "old")
		revision := p.revision(c, "k")
		p.oneWins(p.queued, workers, "k", func(key string, i int) (bool, error) { return c.SetIf(space, key, revision, i) })
	}},
	{"conditional write/of many SetIf of a value that takes time to copy one wins", func(p *probe) {
		c := need[Conditional](p)
		p.put(space, "k", "old")
		revision := p.revision(c, "k")
		p.oneWinsOfHooked(func(key string, v hooked) (bool, error) { return c.SetIf(space, key, revision, v) })
	}},
	{"conditional write/of SetIf and DeleteIf with one revision one wins", func(p *probe) {
		c := need[Conditional](p)
		for round := range rounds {
			key := fmt.Sprint("k", round)
			p.put(space, key, "old")
			revision := p.revision(c, key)
			var set, deleted atomic.Bool
			p.together(4, func(i int) error {
				if i%2 == 0 {
					done, err := c.SetIf(space, key, revision, "new")
					if done && set.Swap(true) {
						return fmt.Errorf("two SetIf with revision %d", revision)
					}
					return err
				}
				done, err := c.DeleteIf(space, key, revision)
				if done && deleted.Swap(true) {
					return fmt.Errorf("two DeleteIf with revision %d", revision)
				}
				return err
			})
			must.NotEqual(p, set.Load(), deleted.Load(), "one of the two")
			if set.Load() {
				p.holds(space, key, "new", "after SetIf")
			} else {
				p.absent(space, key, "after DeleteIf")
			}
		}
	}},
}

// deleteChecks hold that what was deleted stays deleted, and that of many who take
// something one gets it.
var deleteChecks = []check{
	{"resurrection/Delete during Modify", func(p *probe) {
		m, d := need[Modifier](p), need[Deleter](p)
		p.removeDuringModify(m, func() (bool, error) { return true, d.Delete(space, "n") })
	}},
	{"resurrection/Take during Modify", func(p *probe) {
		m, t := need[Modifier](p), need[Taker](p)
		var taken any
		modified := p.removeDuringModify(m, func() (found bool, err error) {
			taken, found, err = t.Take(space, "n")
			return found, err
		})
		if modified {
			p.same(2, taken, "an increment that was said to be done is lost")
		} else {
			p.same(1, taken, "what was taken")
		}
	}},
	{"resurrection/DeleteIf during Modify", func(p *probe) {
		m, c := need[Modifier](p), need[Conditional](p)
		p.put(space, "n", 1)
		revision := p.revision(c, "n")
		var once sync.Once
		var j *job
		var deleted atomic.Bool
		err := m.Modify(space, "n", func(v any) (any, error) {
			once.Do(func() {
				j, _ = p.during(func() error {
					done, err := c.DeleteIf(space, "n", revision)
					deleted.Store(done)
					return err
				})
			})
			return increment(v)
		})
		p.succeed(j)
		must.NotEqual(p, err == nil, deleted.Load(), "either the entry was modified or it was deleted: %v", err)
		if deleted.Load() {
			p.absent(space, "n", "after DeleteIf")
		} else {
			p.holds(space, "n", 2, "after Modify")
		}
	}},
	{"resurrection/Delete during Batch", func(p *probe) {
		b, d := need[Batcher](p), need[Deleter](p)
		p.put(space, "n", 1)
		var once sync.Once
		var j *job
		// Whether the Batch is before the Delete or after it, nothing is left. It may
		// also fail.
		_ = b.Batch(func(tx Backend) error {
			v, found, err := tx.Get(space, "n")
			once.Do(func() { j, _ = p.during(func() error { return d.Delete(space, "n") }) })
			if err != nil || !found {
				return err
			}
			return tx.Put(space, "n", number(v)+1)
		})
		p.succeed(j)
		p.absent(space, "n", "a Batch stored again what was deleted while it ran")
	}},
	{"resurrection/Modify after Delete", func(p *probe) {
		m, d := need[Modifier](p), need[Deleter](p)
		p.put(space, "n", 1)
		must.NoError(p, d.Delete(space, "n"))
		must.Error(p, m.Modify(space, "n", increment))
		p.absent(space, "n", "after Delete and Modify")
	}},
	{"resurrection/Modify after Take", func(p *probe) {
		m, t := need[Modifier](p), need[Taker](p)
		p.put(space, "n", 1)
		_, _, err := t.Take(space, "n")
		must.NoError(p, err)
		must.Error(p, m.Modify(space, "n", increment))
		p.absent(space, "n", "after Take and Modify")
	}},
	{"resurrection/Delete among many Modify", func(p *probe) {
		m, d := need[Modifier](p), need[Deleter](p)
		for round := range rounds {
			key := fmt.Sprint("n", round)
			p.put(space, key, 0)
			p.together(4, func(i int) error {
				if i == 0 {
					return d.Delete(space, key)
				}
				for range 3 {
					_ = m.Modify(space, key, increment) // an error once it is deleted
				}
				return nil
			})
			p.absent(space, key, "Modify stored again what was deleted")
		}
	}},
	{"resurrection/SetIf after Delete", func(p *probe) {
		c, d := need[Conditional](p), need[Deleter](p)
		p.put(space, "k", "v")
		before := p.revision(c, "k")
		must.NoError(p, d.Delete(space, "k"))
		must.Zero(p, p.revision(c, "k"), "revision of what is absent")
		p.setIf(c, "k", before, "stale", false)
		p.absent(space, "k", "after Delete and SetIf")
		done, err := c.DeleteIf(space, "k", before)
		must.NoError(p, err)
		must.False(p, done, "deleted twice")
	}},
	{"resurrection/SetIf after Delete and Put", func(p *probe) {
		c, d := need[Conditional](p), need[Deleter](p)
		p.put(space, "k", "v")
		before := p.revision(c, "k")
		must.NoError(p, d.Delete(space, "k"))
		p.put(space, "k", "v")
		must.NotEqual(p, before, p.revision(c, "k"), "a revision came back")
		p.setIf(c, "k", before, "stale", false)
		done, err := c.DeleteIf(space, "k", before)
		must.NoError(p, err)
		must.False(p, done, "DeleteIf with a revision from before Delete")
		p.holds(space, "k", "v", "after SetIf and DeleteIf with a revision from before Delete")
	}},
	{"resurrection/Insert after Delete", func(p *probe) {
		in, d := need[Inserter](p), need[Deleter](p)
		p.put(space, "k", "old")
		must.NoError(p, d.Delete(space, "k"))
		done, err := in.Insert(space, "k", "new")
		must.NoError(p, err)
		must.True(p, done, "what is deleted is absent")
		p.holds(space, "k", "new", "after Insert")
	}},
	{"take/of many one wins", func(p *probe) {
		t := need[Taker](p)
		for round := range rounds {
			p.oneTakes(t, p.together, 4, fmt.Sprint("k", round))
		}
	}},
	{"take/of many that waited for a lock one wins", func(p *probe) {
		p.oneTakes(need[Taker](p), p.queued, workers, "k")
	}},
	{"take/of many that take a value that takes time to copy one wins", func(p *probe) {
		t := need[Taker](p)
		// All copy before one removes, if they can.
		meet := meeting(workers, p.grace)
		number, stop := hook(func(int) {})
		defer stop()
		p.accepted("a struct with methods", false, p.b.Put(space, "k", hooked{ID: 1, Hook: number}))
		var calls, winners atomic.Int32
		hooks.Store(number, func(int) { meet(int(calls.Add(1))) })
		p.together(workers, func(int) error {
			_, found, err := t.Take(space, "k")
			if found {
				winners.Add(1)
			}
			return err
		})
		must.Equal(p, int32(1), winners.Load(), "winners")
	}},
}

// oneTakes checks that of n that take a key at once, in the given way, one finds it.
func (p *probe) oneTakes(t Taker, atOnce func(n int, f func(i int) error), n int, key string) {
	p.Helper()
	p.put(space, key, "v")
	var winners atomic.Int32
	atOnce(n, func(int) error {
		v, found, err := t.Take(space, key)
		if found {
			winners.Add(1)
			if v != "v" {
				return fmt.Errorf("took %#v", v)
			}
		}
		return err
	})
	must.Equal(p, int32(1), winners.Load(), "winners")
	p.absent(space, key, "after Take")
}

var errNotFound = errors.New("the other operation did not find it")

// removeDuringModify has an entry removed in the middle of Modify. It reports whether
// Modify was said to be done.
func (p *probe) removeDuringModify(m Modifier, remove func() (bool, error)) (modified bool) {
	p.Helper()
	p.put(space, "n", 1)
	var once sync.Once
	var j *job
	var removed bool // before Modify could go on
	err := m.Modify(space, "n", func(v any) (any, error) {
		once.Do(func() {
			j, removed = p.during(func() error {
				found, err := remove()
				if err == nil && !found {
					err = errNotFound
				}
				return err
			})
		})
		return increment(v)
	})
	p.succeed(j)
	p.absent(space, "n", "Modify stored again what was removed while it ran")
	if removed {
		must.Error(p, err, "Modify says that it is done, after the entry was removed")
	}
	return err == nil
}
