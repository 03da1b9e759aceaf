package memorytest

import (
	"runtime"
)

// failureChecks hold that a function that does not return properly has no effect,
// and does not keep others out.
func failureChecks() []check {
	ends := []struct {
		name string
		end  func() error
	}{
		{"an error", func() error { return errRefused }},
		{"a panic", func() error { panic("by the test") }},
		{"runtime.Goexit", func() error { runtime.Goexit(); return nil }},
	}
	value := func() any { return map[string]any{"a": "x", "in": map[string]any{"b": "y"}, "list": []any{"z"}} }
	spaces := [][]string{{"one"}, {"two"}}
	var all []check
	for _, e := range ends {
		all = append(all, check{"half an update/Modify that ends with " + e.name, func(p *probe) {
			m := need[Modifier](p)
			p.put(space, "k", value())
			err := p.finish(start(func() error {
				return m.Modify(space, "k", func(v any) (any, error) {
					spoil(v)
					return v, e.end()
				})
			}))
			must.Error(p, err)
			p.alive()
			p.holds(space, "k", value(), "half an update is stored")
		}}, check{"half an update/Batch that ends with " + e.name, func(p *probe) {
			b := need[Batcher](p)
			for _, s := range spaces {
				p.put(s, "k", value())
				p.put(s, "deleted", value())
			}
			err := p.finish(start(func() error {
				return b.Batch(func(tx Backend) error {
					for i, s := range spaces {
						v, _, err := tx.Get(s, "k")
						if err != nil {
							return err
						}
						spoil(v)
						for _, key := range []string{"k", "new"} {
							if err := tx.Put(s, key, "half"); err != nil {
								return err
							}
						}
						if d, ok := tx.(Deleter); ok {
							if err := d.Delete(s, "deleted"); err != nil {
								return err
							}
						}
						if i == 1 {
							return e.end()
						}
					}
					return nil
				})
			}))
			must.Error(p, err)
			p.alive()
			for _, s := range spaces {
				p.holds(s, "k", value(), "half an update is stored")
				p.holds(s, "deleted", value(), "half an update is stored")
				p.absent(s, "new", "half an update is stored")
				if l, ok := p.b.(Lister); ok {
					p.lists(l, s, "k", "deleted")
				}
			}
		}})
	}
	return all
}

// alive checks that others can read and write.
func (p *probe) alive() {
	p.Helper()
	p.succeed(start(func() error {
		if _, _, err := p.b.Get(space, "alive"); err != nil {
			return err
		}
		return p.b.Put(space, "alive", true)
	}))
}
