package local

import (
	"github.com/cowstore/cowstore/memory"
	"github.com/cowstore/cowstore/memory/mcp/internal/store"
)

// undo undoes what one commit did in a namespace, but for what was erased since. What an entry got
// as a vector since does not count as a change.
func (c *call) undo() (any, error) {
	type result struct {
		Revision uint64   `json:"revision"`
		Undone   []change `json:"undone"`
		More     string   `json:"more,omitempty"`
	}
	args, err := decode[struct {
		where
		Revision uint64
	}](c)
	if err == nil {
		err = c.mean(args.where)
	}
	if err == nil && args.Revision > c.m.DB().Load().Version() {
		err = store.Errorf(store.NotFound, "there is no revision %d yet", args.Revision)
	}
	if err != nil {
		return nil, err
	}
	if done, err := c.receipt(c.ID); done != nil || err != nil {
		return done, err // before the past is asked, which may be gone by now
	}
	var swaps []swap
	undone := []change{}
	erased := false
	for commit, err := range c.commits(c.ctx, args.Revision-1, args.Revision) {
		if err != nil {
			return nil, err
		}
		before, err := c.m.At(args.Revision - 1)
		if err != nil {
			return nil, err
		}
		for ch := range c.m.Rows(commit) {
			if !inside(ch, c.Namespace) || ch.Kind == memory.Expired {
				continue
			}
			if ch.Kind == memory.Erased {
				erased = true
				continue
			}
			s := swap{space: ch.Space, key: ch.Key, from: ch.New, to: ch.Old}
			s.vector, _ = before.Space(ch.Space...).Vector(ch.Key)
			swaps = append(swaps, s)
			if ch.Space[1] != in {
				undone = append(undone, newChange(ch))
			}
		}
	}
	if len(swaps) == 0 && erased {
		return nil, store.Errorf(store.Gone, "revision %d erased something, which nothing brings back", args.Revision)
	}
	if len(swaps) == 0 {
		return nil, store.Errorf(store.NotFound, "revision %d changed nothing that can be undone here", args.Revision)
	}
	return c.update(&c.line, func(w *write) (any, error) {
		if err := w.apply(swaps); err != nil {
			return nil, err
		}
		if w.changed == 0 {
			return nil, store.Errorf(store.Conflict, "nothing is left of revision %d: it is undone already, or what it wrote is gone; nothing was done", args.Revision)
		}
		r := result{Revision: w.batch.Version(), Undone: undone}
		if n := c.fit(undone, 100); n < len(undone) {
			r.Undone, r.More = undone[:n], "and more"
		}
		return r, nil
	})
}
