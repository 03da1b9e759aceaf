package memorytest

import (
	"slices"
)

// Where most tests store.
var space = []string{"agent", "session"}

// basicChecks are of one caller.
var basicChecks = []check{
	{"basic/what was put is got", func(p *probe) {
		p.absent(space, "k", "before Put")
		p.put(space, "k", "v")
		p.holds(space, "k", "v", "after Put")
		p.put(space, "k", map[string]any{"a": "w"})
		p.holds(space, "k", map[string]any{"a": "w"}, "after another Put")
		p.absent(space, "K", "another key")
	}},
	{"basic/Delete", func(p *probe) {
		d := need[Deleter](p)
		p.put(space, "k", "v")
		p.put(space, "other", "w")
		must.NoError(p, d.Delete(space, "k"))
		p.absent(space, "k", "after Delete")
		p.holds(space, "other", "w", "of another key")
		p.put(space, "k", "again")
		p.holds(space, "k", "again", "after Put again")
	}},
	{"basic/List", func(p *probe) {
		l := need[Lister](p)
		p.lists(l, space)
		p.put(space, "b", 1)
		p.put(space, "a", 1)
		p.put(space, "b", 2)
		p.lists(l, space, "a", "b")
		if d, ok := p.b.(Deleter); ok {
			must.NoError(p, d.Delete(space, "b"))
			p.lists(l, space, "a")
		}
	}},
	{"basic/Insert", func(p *probe) {
		in := need[Inserter](p)
		for i, want := range []string{"first", "first"} {
			done, err := in.Insert(space, "k", []string{"first", "second"}[i])
			must.NoError(p, err)
			must.Equal(p, i == 0, done)
			p.holds(space, "k", want, "after Insert")
		}
	}},
	{"basic/Modify", func(p *probe) {
		m := need[Modifier](p)
		p.put(space, "k", "v")
		must.NoError(p, m.Modify(space, "k", func(v any) (any, error) { return v.(string) + "+", nil }))
		p.holds(space, "k", "v+", "after Modify")
		must.Error(p, m.Modify(space, "absent", func(v any) (any, error) { return "stored", nil }), "Modify of what is absent")
		p.absent(space, "absent", "after Modify")
	}},
	{"basic/Take", func(p *probe) {
		t := need[Taker](p)
		p.put(space, "k", "v")
		v, found, err := t.Take(space, "k")
		must.NoError(p, err)
		must.True(p, found)
		p.same("v", v, "what Take returned")
		p.absent(space, "k", "after Take")
		_, found, err = t.Take(space, "k")
		must.NoError(p, err)
		must.False(p, found, "taken twice")
	}},
	{"basic/Batch", func(p *probe) {
		b := need[Batcher](p)
		p.put(space, "a", "old")
		must.NoError(p, b.Batch(func(tx Backend) error {
			if err := tx.Put(space, "a", "new"); err != nil {
				return err
			}
			if err := tx.Put([]string{"other"}, "b", "new"); err != nil {
				return err
			}
			v, found, err := tx.Get(space, "a")
			must.NoError(p, err)
			must.True(p, found)
			p.same("new", v, "a Batch sees what it put")
			return nil
		}))
		p.holds(space, "a", "new", "after Batch")
		p.holds([]string{"other"}, "b", "new", "after Batch")
	}},
}

// lists checks the keys of a space.
func (p *probe) lists(l interface {
	List(space []string) ([]string, error)
}, space []string, want ...string) {
	p.Helper()
	got, err := l.List(space)
	must.NoError(p, err)
	got = slices.Clone(got)
	slices.Sort(got)
	slices.Sort(want)
	must.True(p, slices.Equal(want, got), "keys of %q: got %q, want %q", space, got, want)
}
