package memorytest

import (
	"fmt"
	"sync/atomic"
)

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

func (p *probe) revision(c Conditional, key string) uint64 {
	p.Helper()
	r, err := c.Revision(space, key)
	must.NoError(p, err)
	return r
}

func (p *probe) setIf(c Conditional, key string, revision uint64, v any, want bool) {
	p.Helper()
	done, err := c.SetIf(space, key, revision, v)
	must.NoError(p, err)
	must.Equal(p, want, done, "SetIf with revision %d", revision)
}
