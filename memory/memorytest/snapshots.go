package memorytest

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
)

// snapshotChecks hold that a snapshot stays as it is.
var snapshotChecks = []check{
	{"snapshot/stays after Put", func(p *probe) {
		p.staysAfter(func() { p.put(space, "k", "new"); p.put(space, "another", "new") })
	}},
	{"snapshot/stays after Insert", func(p *probe) {
		in := need[Inserter](p)
		p.staysAfter(func() {
			_, err := in.Insert(space, "another", "new")
			must.NoError(p, err)
		})
	}},
	{"snapshot/stays after Modify", func(p *probe) {
		m := need[Modifier](p)
		p.staysAfter(func() {
			must.NoError(p, m.Modify(space, "k", func(v any) (any, error) {
				spoil(v)
				return v, nil
			}))
		})
	}},
	{"snapshot/stays after Delete", func(p *probe) {
		d := need[Deleter](p)
		p.staysAfter(func() { must.NoError(p, d.Delete(space, "k")) })
	}},
	{"snapshot/stays after Take", func(p *probe) {
		t := need[Taker](p)
		p.staysAfter(func() {
			_, _, err := t.Take(space, "k")
			must.NoError(p, err)
		})
	}},
	{"snapshot/stays after SetIf and DeleteIf", func(p *probe) {
		c := need[Conditional](p)
		p.staysAfter(func() {
			p.setIf(c, "k", p.revision(c, "k"), "new", true)
			done, err := c.DeleteIf(space, "k", p.revision(c, "k"))
			must.NoError(p, err)
			must.True(p, done)
		})
	}},
	{"snapshot/stays after Batch", func(p *probe) {
		b := need[Batcher](p)
		p.staysAfter(func() {
			must.NoError(p, b.Batch(func(tx Backend) error {
				return errors.Join(tx.Put(space, "k", "new"), tx.Put(space, "another", "new"))
			}))
		})
	}},
	{"snapshot/every one of many stays", func(p *probe) {
		s := need[Snapshotter](p)
		type taken struct {
			view Snapshot
			want map[string]int
		}
		model := map[string]int{}
		var all []taken
		for n := range 60 {
			view, err := s.Snapshot()
			must.NoError(p, err)
			all = append(all, taken{view, maps.Clone(model)})
			key := strconv.Itoa(n * 7 % 10)
			if d, ok := p.b.(Deleter); ok && n%4 == 3 && model[key] != 0 {
				must.NoError(p, d.Delete(space, key))
				delete(model, key)
			} else {
				p.put(space, key, n+1)
				model[key] = n + 1
			}
			for i, a := range all {
				p.shows(a.view, a.want, fmt.Sprintf("snapshot %d after change %d", i, n))
			}
		}
	}},
	{"snapshot/stays while others write", func(p *probe) {
		s := need[Snapshotter](p)
		p.put(space, "n", 0)
		var written []string
		for i := range 5 {
			written = append(written, strconv.Itoa(i))
		}
		p.whileWriting(func(n int) error {
			return errors.Join(p.b.Put(space, "n", n), p.b.Put(space, written[n%len(written)], n))
		}, func() error {
			view, err := s.Snapshot()
			if err != nil {
				return err
			}
			first, _, err := view.Get(space, "n")
			keys, err2 := view.List(space)
			keys = slices.Sorted(slices.Values(keys))
			for range 3 {
				again, _, err3 := view.Get(space, "n")
				keysAgain, err4 := view.List(space)
				if err := errors.Join(err, err2, err3, err4); err != nil {
					return err
				}
				keysAgain = slices.Sorted(slices.Values(keysAgain))
				if number(first) != number(again) || !slices.Equal(keys, keysAgain) {
					return fmt.Errorf("a snapshot showed %v and %q, and later %v and %q", first, keys, again, keysAgain)
				}
			}
			return nil
		})
	}},
}

// staysAfter checks that a snapshot is the same before and after a change.
func (p *probe) staysAfter(change func()) {
	p.Helper()
	s := need[Snapshotter](p)
	value := func() any { return map[string]any{"a": "x", "in": map[string]any{"list": []any{"y"}}} }
	p.put(space, "k", value())
	p.put(space, "kept", value())
	view, err := s.Snapshot()
	must.NoError(p, err)
	check := func() {
		p.Helper()
		for _, key := range []string{"k", "kept"} {
			v, found, err := view.Get(space, key)
			must.NoError(p, err)
			must.True(p, found, "%q is gone from a snapshot", key)
			p.same(value(), v, "a snapshot changed")
		}
		_, found, err := view.Get(space, "another")
		must.NoError(p, err)
		must.False(p, found, "a snapshot shows what is newer")
		p.lists(view, space, "k", "kept")
	}
	check()
	change()
	check()
}

// shows checks all of a snapshot.
func (p *probe) shows(view Snapshot, want map[string]int, message string) {
	p.Helper()
	p.lists(view, space, slices.Collect(maps.Keys(want))...)
	for key, n := range want {
		v, found, err := view.Get(space, key)
		must.NoError(p, err)
		must.True(p, found, "%s: %q is gone", message, key)
		p.same(n, v, message)
	}
}
