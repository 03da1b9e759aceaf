package local

func (c *call) createRelations() (any, error) {
	type result struct {
		Relations []relation `json:"relations"`
	}
	args, err := decode[struct{ Relations []relation }](c)
	if err == nil {
		err = checkItems(len(args.Relations))
	}
	for _, r := range args.Relations {
		if err == nil {
			err = r.check()
		}
	}
	if err == nil {
		err = c.room()
	}
	if err != nil {
		return nil, err
	}
	return c.update(&c.line, func(w *write) (any, error) {
		made := []relation{}
		for _, r := range args.Relations {
			if _, ok := w.in([]string{c.Namespace, out}).Get(r.outKey()); ok {
				continue
			}
			r.created = now()
			if err := w.putRelation(c.Namespace, r); err != nil {
				return nil, err
			}
			made = append(made, r)
		}
		return result{made}, nil
	})
}

func (c *call) deleteRelations() (any, error) {
	args, err := decode[struct{ Relations []relation }](c)
	if err == nil {
		err = checkItems(len(args.Relations))
	}
	if err != nil {
		return nil, err
	}
	return c.update(&c.line, func(w *write) (any, error) {
		for _, r := range args.Relations {
			if r.check() == nil { // else it cannot be there, and its key may be another's
				w.deleteRelation(c.Namespace, r)
			}
		}
		return success{true, "Relations deleted successfully"}, nil
	})
}
