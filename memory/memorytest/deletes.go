package memorytest

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
)

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
