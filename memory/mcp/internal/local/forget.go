package local

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/cowstore/cowstore/cow"
)

func (c *call) forget() (any, error) {
	type result struct {
		Forgotten bool   `json:"forgotten"`
		Relations int    `json:"relations,omitempty"`
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
	message := "There was nothing of that name; what the past had of it is gone."
	done, err := c.update(l, func(w *write) (any, error) {
		r := result{Message: message}
		if args.Entity != nil {
			r.Forgotten, r.Relations = w.deleteEntity(c.Namespace, key)
		} else {
			r.Forgotten = w.delete(space, key)
		}
		if r.Forgotten {
			r.Message = "Forgotten, and the past with it. The file has no trace of it once the server has ended and `cowmemory compact` was run."
		}
		return r, nil
	})
	if err != nil {
		return nil, err
	}
	// Results that were kept may tell it; and of a request that was cut off before this, it
	// is done now.
	err = l.m.DB().UpdateContext(c.ctx, func(tx *cow.Tx) error {
		l.erase(l.receipts.Edit(tx), c.Namespace, c.ID)
		return nil
	})
	if err != nil {
		return nil, err
	}
	erasure, err := l.m.Space(space...).Erase(key)
	if err != nil {
		return nil, err
	}
	c.folded.clear()
	names := c.forksAmong(erasure.Forks)
	if len(names) == 0 || args.Fork != "" {
		return done, nil
	}
	var r result
	if err := json.Unmarshal(done, &r); err != nil {
		return nil, fmt.Errorf("the result of forget: %w", err)
	}
	r.Message += fmt.Sprintf(" These forks still have it, drop them too: %s.", strings.Join(names, ", "))
	return r, nil
}
