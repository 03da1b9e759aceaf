package local

import "fmt"

// forget removes a note, or an entity with its relations. It is a write like any other, which
// undo takes back.
func (c *call) forget() (any, error) {
	type result struct {
		Forgotten bool   `json:"forgotten"`
		Relations int    `json:"relations,omitempty"`
		Revision  uint64 `json:"revision,omitempty"` // for undo, which forks have not
		Message   string `json:"message"`
	}
	args, err := decode[struct {
		where
		target
	}](c)
	if err != nil {
		return nil, err
	}
	l, end, err := c.at(args.where)
	if err != nil {
		return nil, err
	}
	defer end()
	space, key, err := args.target.in(c.Namespace)
	if err != nil {
		return nil, err
	}
	return c.update(l, func(w *write) (any, error) {
		var r result
		if args.Entity != nil {
			_, r.Relations = w.deleteEntity(c.Namespace, key)
		} else {
			w.delete(space, key)
		}
		r.Forgotten = w.changed > 0
		switch {
		case !r.Forgotten:
			r.Message = "There is nothing of that name; nothing has changed."
		case args.Fork != "":
			r.Message = fmt.Sprintf("Forgotten in the fork %q; to take that back, drop the fork.", args.Fork)
		default:
			r.Revision = w.batch.Version()
			r.Message = "Forgotten. It stays in the history; undo with this revision brings it back."
		}
		return r, nil
	})
}
