package local

import (
	"slices"

	"github.com/cowstore/cowstore/memory/mcp/internal/store"
)

// The tools that write the graph: those of the reference knowledge-graph memory server.
// Where one call names a thing twice, the first counts.

type success struct {
	Success bool   `json:"success"`
	Message string `json:"message"`
}

type entitiesResult struct {
	Entities []entity `json:"entities"`
}

func (c *call) createEntities() (any, error) {
	args, err := decode[struct{ Entities []entity }](c)
	if err == nil {
		err = checkItems(len(args.Entities))
	}
	for _, e := range args.Entities {
		if err == nil {
			err = checkItems(len(e.Observations))
		}
		if err == nil {
			err = e.check()
		}
	}
	if err == nil {
		err = c.room()
	}
	if err != nil {
		return nil, err
	}
	return c.update(&c.line, func(w *write) (any, error) {
		made := []entity{}
		for _, e := range args.Entities {
			if _, ok := w.in(entitySpace(c.Namespace)).Get(e.Name); ok {
				continue
			}
			e.created = now()
			e.updated = e.created
			if err := w.putEntity(c.Namespace, e); err != nil {
				return nil, err
			}
			made = append(made, e)
		}
		return entitiesResult{made}, nil
	})
}

func (c *call) addObservations() (any, error) {
	type added struct {
		EntityName string   `json:"entityName"`
		Added      []string `json:"addedObservations"`
	}
	type result struct {
		Results []added `json:"results"`
	}
	args, err := decode[struct {
		Observations []struct {
			EntityName string
			Contents   []string
		}
	}](c)
	if err == nil {
		err = checkItems(len(args.Observations))
	}
	for _, o := range args.Observations {
		if err == nil {
			err = checkItems(len(o.Contents))
		}
		if err == nil {
			err = checkTexts("an observation", o.Contents)
		}
	}
	if err == nil {
		err = c.room()
	}
	if err != nil {
		return nil, err
	}
	return c.update(&c.line, func(w *write) (any, error) {
		results := []added{}
		for _, o := range args.Observations {
			v, ok := w.in(entitySpace(c.Namespace)).Get(o.EntityName)
			if !ok {
				return nil, store.Errorf(store.NotFound, "Entity with name %s not found", clip(o.EntityName))
			}
			e := entityOf(v)
			was := make(map[string]bool, len(e.Observations))
			for _, o := range e.Observations {
				was[o] = true
			}
			more := slices.DeleteFunc(unique(o.Contents), func(s string) bool { return was[s] })
			results = append(results, added{o.EntityName, more})
			if len(more) == 0 {
				continue
			}
			e.Observations = append(e.Observations, more...)
			e.updated = now()
			if err := e.checkSize(); err != nil {
				return nil, err
			}
			if err := w.putEntity(c.Namespace, e); err != nil {
				return nil, err
			}
		}
		return result{results}, nil
	})
}

func (c *call) deleteEntities() (any, error) {
	args, err := decode[struct{ EntityNames []string }](c)
	if err == nil {
		err = checkItems(len(args.EntityNames))
	}
	if err != nil {
		return nil, err
	}
	return c.update(&c.line, func(w *write) (any, error) {
		for _, name := range args.EntityNames {
			if checkName("the name", name, maxName) == nil { // else it cannot be there, and may be the start of a relation's key
				w.deleteEntity(c.Namespace, name)
			}
		}
		return success{true, "Entities deleted successfully"}, nil
	})
}

func (c *call) deleteObservations() (any, error) {
	args, err := decode[struct {
		Deletions []struct {
			EntityName   string
			Observations []string
		}
	}](c)
	if err == nil {
		err = checkItems(len(args.Deletions))
	}
	for _, d := range args.Deletions {
		if err == nil {
			err = checkItems(len(d.Observations))
		}
	}
	if err != nil {
		return nil, err
	}
	return c.update(&c.line, func(w *write) (any, error) {
		for _, d := range args.Deletions {
			v, ok := w.in(entitySpace(c.Namespace)).Get(d.EntityName)
			if !ok {
				continue
			}
			e := entityOf(v)
			goes := make(map[string]bool, len(d.Observations))
			for _, o := range d.Observations {
				goes[o] = true
			}
			n := len(e.Observations)
			e.Observations = slices.DeleteFunc(e.Observations, func(o string) bool { return goes[o] })
			if len(e.Observations) == n {
				continue
			}
			e.updated = now()
			if err := w.putEntity(c.Namespace, e); err != nil {
				return nil, err
			}
		}
		return success{true, "Observations deleted successfully"}, nil
	})
}
