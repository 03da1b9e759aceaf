package memorytest

import (
	"slices"
)

// callerChecks hold that a caller who modifies what it stored modifies nothing that
// is stored.
func callerChecks() []check {
	ways := []struct {
		name  string
		store func(p *probe, v any) error // once it returns, the value is the caller's
	}{
		{"Put", func(p *probe, v any) error { return p.b.Put(space, "k", v) }},
		{"Insert", func(p *probe, v any) error {
			done, err := need[Inserter](p).Insert(space, "k", v)
			must.True(p, done || err != nil)
			return err
		}},
		{"SetIf", func(p *probe, v any) error {
			done, err := need[Conditional](p).SetIf(space, "k", 0, v)
			must.True(p, done || err != nil)
			return err
		}},
		{"Modify", func(p *probe, v any) error {
			m := need[Modifier](p)
			p.put(space, "k", "old")
			return m.Modify(space, "k", func(any) (any, error) { return v, nil })
		}},
		{"Batch", func(p *probe, v any) error {
			return need[Batcher](p).Batch(func(tx Backend) error { return tx.Put(space, "k", v) })
		}},
	}
	var all []check
	for _, way := range ways {
		for _, k := range kinds() {
			all = append(all, check{"caller mutation/" + way.name + "/" + k.name, func(p *probe) {
				k.allowed(p)
				v := k.fresh()
				p.accepted(k.name, k.must, way.store(p, v))
				p.same(k.fresh(), v, "the backend modified the caller's value")
				spoil(v)
				p.holds(space, "k", k.fresh(), "the caller modified what it had stored")
			}})
		}
	}
	return all
}

// readerChecks hold that a reader who modifies what it was given modifies nothing
// that is stored, nor what others were given.
func readerChecks() []check {
	ways := []struct {
		name string
		read func(p *probe, k kind) // of space, "k"
	}{
		{"Get", func(p *probe, k kind) {
			first, second := p.get(space, "k"), p.get(space, "k")
			spoil(first)
			p.same(k.fresh(), second, "one reader modified what another was given")
		}},
		{"Modify that fails", func(p *probe, k kind) {
			err := need[Modifier](p).Modify(space, "k", func(v any) (any, error) {
				spoil(v)
				return nil, errRefused
			})
			must.ErrorIs(p, err, errRefused)
		}},
		{"Modify", func(p *probe, k kind) {
			var kept any
			err := need[Modifier](p).Modify(space, "k", func(v any) (any, error) {
				kept = v
				return v, nil
			})
			must.NoError(p, err)
			spoil(kept)
		}},
		{"Batch", func(p *probe, k kind) {
			var kept any
			err := need[Batcher](p).Batch(func(tx Backend) error {
				v, _, err := tx.Get(space, "k")
				if err != nil {
					return err
				}
				spoil(v)
				kept, _, err = tx.Get(space, "k")
				return err
			})
			must.NoError(p, err)
			spoil(kept)
		}},
		{"Snapshot", func(p *probe, k kind) {
			view, err := need[Snapshotter](p).Snapshot()
			must.NoError(p, err)
			for range 2 {
				v, found, err := view.Get(space, "k")
				must.NoError(p, err)
				must.True(p, found)
				p.same(k.fresh(), v, "a reader modified a snapshot")
				spoil(v)
			}
		}},
	}
	var all []check
	for _, way := range ways {
		for _, k := range kinds() {
			all = append(all, check{"reader mutation/" + way.name + "/" + k.name, func(p *probe) {
				k.allowed(p)
				p.accepted(k.name, k.must, p.b.Put(space, "k", k.fresh()))
				way.read(p, k)
				p.holds(space, "k", k.fresh(), "a reader modified what is stored")
			}})
		}
	}
	for _, k := range kinds() {
		all = append(all, check{"reader mutation/Take/" + k.name, func(p *probe) {
			k.allowed(p)
			t := need[Taker](p)
			v := k.fresh()
			p.accepted(k.name, k.must, p.b.Put(space, "k", v))
			var view Snapshot
			if s, ok := p.b.(Snapshotter); ok {
				var err error
				view, err = s.Snapshot()
				must.NoError(p, err)
			}
			taken, found, err := t.Take(space, "k")
			must.NoError(p, err)
			must.True(p, found)
			p.same(k.fresh(), taken, "what Take returned")
			spoil(taken)
			p.same(k.fresh(), v, "who took it modified the value of who had put it")
			if view != nil {
				kept, _, err := view.Get(space, "k")
				must.NoError(p, err)
				p.same(k.fresh(), kept, "who took it modified a snapshot")
			}
		}})
	}
	return append(all, check{"reader mutation/List", func(p *probe) {
		l := need[Lister](p)
		p.put(space, "a", 1)
		p.put(space, "b", 1)
		for range 2 {
			keys, err := l.List(space)
			must.NoError(p, err)
			slices.Sort(keys)
			must.Equal(p, []string{"a", "b"}, keys, "a reader modified the keys")
			spoil(keys)
		}
		p.holds(space, "a", 1, "after the keys were modified")
	}}, check{"caller mutation/the path of a space", func(p *probe) {
		path := []string{"agent", "one"}
		p.put(path, "k", "v")
		path[1] = "two"
		p.holds([]string{"agent", "one"}, "k", "v", "the caller modified the path")
		p.absent(path, "k", "the caller modified the path")
		if l, ok := p.b.(Lister); ok {
			p.lists(l, []string{"agent", "one"}, "k")
			p.lists(l, path)
		}
	}})
}
