package memorytest

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"
)

// tornChecks hold that a reader sees all of an update or nothing of it.
var tornChecks = []check{
	{"torn read/during Modify", func(p *probe) {
		m := need[Modifier](p)
		p.put(space, "k", pair(0))
		var once sync.Once
		var j *job
		err := m.Modify(space, "k", func(v any) (any, error) {
			// The reader comes between the writes to two fields that must agree.
			top := v.(map[string]any)
			in := top["in"].(map[string]any)
			top["a"], in["a"] = 1, 1
			once.Do(func() { j, _ = p.during(func() error { return p.agree(space, "k") }) })
			top["b"], in["b"] = 1, 1
			return top, nil
		})
		p.succeed(j)
		if err != nil {
			p.Errorf("Modify: %v", err)
		}
		p.holds(space, "k", pair(1), "after Modify")
	}},
	{"torn read/during Batch", func(p *probe) {
		b := need[Batcher](p)
		one, two := []string{"one"}, []string{"two"}
		p.put(one, "n", 0)
		p.put(two, "n", 0)
		var once sync.Once
		var gets, lists, snapshots *job
		err := b.Batch(func(tx Backend) error {
			for _, key := range []string{"n", "new"} {
				if err := tx.Put(one, key, 1); err != nil {
					return err
				}
			}
			once.Do(func() {
				gets = start(func() error { return p.inStep(p.b.Get) })
				lists = start(p.listsInStep)
				snapshots = start(func() error {
					s, ok := p.b.(Snapshotter)
					if !ok {
						return nil
					}
					v, err := s.Snapshot()
					if err != nil {
						return err
					}
					return p.equal(v.Get)
				})
				_ = gets.within(p.grace) && lists.within(p.grace) && snapshots.within(p.grace)
			})
			for _, key := range []string{"n", "new"} {
				if err := tx.Put(two, key, 1); err != nil {
					return err
				}
			}
			return nil
		})
		for _, j := range []*job{gets, lists, snapshots} {
			p.succeed(j)
		}
		if err != nil {
			p.Errorf("Batch: %v", err)
		}
		p.holds(one, "n", 1, "after Batch")
		p.holds(two, "n", 1, "after Batch")
	}},
	{"torn read/two fields of a value", func(p *probe) {
		p.put(space, "k", pair(0))
		p.whileWriting(func(n int) error {
			if m, ok := p.b.(Modifier); ok && n%2 == 0 {
				return m.Modify(space, "k", func(v any) (any, error) {
					top := v.(map[string]any)
					in := top["in"].(map[string]any)
					top["a"], in["a"] = n, n
					top["b"], in["b"] = n, n
					return top, nil
				})
			}
			return p.b.Put(space, "k", pair(n))
		}, func() error { return p.agree(space, "k") })
	}},
	{"torn read/two spaces by Get", func(p *probe) {
		p.writeInStep(func() error { return p.inStep(p.b.Get) })
	}},
	{"torn read/two spaces by Batch", func(p *probe) {
		b := need[Batcher](p)
		p.writeInStep(func() error {
			var err error
			return errors.Join(b.Batch(func(tx Backend) error {
				err = p.equal(tx.Get)
				return nil
			}), err)
		})
	}},
	{"torn read/two spaces by Snapshot", func(p *probe) {
		s := need[Snapshotter](p)
		p.writeInStep(func() error {
			view, err := s.Snapshot()
			if err != nil {
				return err
			}
			return p.equal(view.Get)
		})
	}},
}

// pair returns a value with fields that must agree.
func pair(n int) map[string]any {
	return map[string]any{"a": n, "b": n, "in": map[string]any{"a": n, "b": n}}
}

// agree checks that the fields of a pair agree.
func (p *probe) agree(space []string, key string) error {
	v, found, err := p.b.Get(space, key)
	if err != nil || !found {
		return errors.Join(fmt.Errorf("found: %v", found), err)
	}
	top, ok := v.(map[string]any)
	if !ok {
		return fmt.Errorf("got %#v", v)
	}
	in, ok := top["in"].(map[string]any)
	if n := number(top["a"]); !ok || number(top["b"]) != n || number(in["a"]) != n || number(in["b"]) != n {
		return fmt.Errorf("torn read: the fields of %v must agree", top)
	}
	return nil
}

type getter = func(space []string, key string) (any, bool, error)

// numbers returns the counts of two spaces, read in that order.
func numbers(get getter, first, second string) (int, int, error) {
	v, _, err := get([]string{first}, "n")
	w, _, err2 := get([]string{second}, "n")
	return number(v), number(w), errors.Join(err, err2)
}

// inStep checks by two reads that two counts that grow in step do.
func (p *probe) inStep(get getter) error {
	two, one, err := numbers(get, "two", "one")
	if err == nil && two > one {
		err = fmt.Errorf("torn read: %d in one space, and later still %d in the other", two, one)
	}
	if err != nil {
		return err
	}
	if one, two, err = numbers(get, "one", "two"); err == nil && one > two {
		err = fmt.Errorf("torn read: %d in one space, and later still %d in the other", one, two)
	}
	return err
}

// equal checks by reads of one moment that two counts that grow in step are equal.
func (p *probe) equal(get getter) error {
	one, two, err := numbers(get, "one", "two")
	if err == nil && one != two {
		err = fmt.Errorf("torn read: at one moment %d in one space and %d in the other", one, two)
	}
	return err
}

// listsInStep checks by two reads that a key that is new in two spaces in one step
// is.
func (p *probe) listsInStep() error {
	l, ok := p.b.(Lister)
	if !ok {
		return nil
	}
	first, err := l.List([]string{"one"})
	second, err2 := l.List([]string{"two"})
	if err := errors.Join(err, err2); err != nil {
		return err
	}
	if len(first) > len(second) {
		return fmt.Errorf("torn read: %q in one space, and later still %q in the other", first, second)
	}
	return nil
}

// writeInStep has two counts grow in step, by Batch, while readers check them.
func (p *probe) writeInStep(read func() error) {
	p.Helper()
	b := need[Batcher](p)
	p.put([]string{"one"}, "n", 0)
	p.put([]string{"two"}, "n", 0)
	p.whileWriting(func(n int) error {
		return b.Batch(func(tx Backend) error {
			return errors.Join(tx.Put([]string{"one"}, "n", n), tx.Put([]string{"two"}, "n", n))
		})
	}, read)
}

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
