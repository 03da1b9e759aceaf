package local

import (
	"cmp"
	"slices"

	"github.com/cowstore/cowstore/memory"
)

// A graph is what the tools that read the graph return, in the order in which things were
// made.
type graph struct {
	Entities  []entity   `json:"entities"`
	Relations []relation `json:"relations"`
}

func byAge[T any](list []T, created func(T) int64) {
	slices.SortStableFunc(list, func(a, b T) int { return cmp.Compare(created(a), created(b)) })
}

func (c *call) readGraph() (any, error) {
	if _, err := decode[struct{}](c); err != nil {
		return nil, err
	}
	return graphOf(c.m.Load(), c.Namespace), nil
}

// graphOf returns the whole graph of a namespace.
func graphOf(s memory.Snapshot, ns string) graph {
	g := graph{Entities: []entity{}, Relations: allRelations(s, ns, func(relation) bool { return true })}
	for e := range s.Space(entitySpace(ns)...).List(memory.ListOptions{}) {
		g.Entities = append(g.Entities, entityOf(e.Value))
	}
	byAge(g.Entities, func(e entity) int64 { return e.created })
	return g
}

func (c *call) openNodes() (any, error) {
	args, err := decode[struct{ Names []string }](c)
	if err == nil {
		err = checkItems(len(args.Names))
	}
	if err != nil {
		return nil, err
	}
	s := c.m.Load()
	g := graph{Entities: []entity{}}
	space := s.Space(entitySpace(c.Namespace)...)
	for _, name := range unique(args.Names) {
		if v, ok := space.Get(name); ok {
			g.Entities = append(g.Entities, entityOf(v))
		}
	}
	byAge(g.Entities, func(e entity) int64 { return e.created })
	g.Relations = relationsOf(s, c.Namespace, g.Entities)
	return g, nil
}

// allRelations returns those relations that are wanted.
func allRelations(s memory.Snapshot, ns string, wanted func(relation) bool) []relation {
	list := []relation{}
	for e := range s.Space(ns, out).List(memory.ListOptions{}) {
		if r := relationOf(e.Value); wanted(r) {
			list = append(list, r)
		}
	}
	byAge(list, func(r relation) int64 { return r.created })
	return list
}

// relationsOf returns the relations from or to one of some entities.
func relationsOf(s memory.Snapshot, ns string, of []entity) []relation {
	const few = 500 // for more, to go through all relations is faster
	names := make(map[string]bool, len(of))
	for _, e := range of {
		names[e.Name] = true
	}
	if len(of) > few {
		return allRelations(s, ns, func(r relation) bool { return names[r.From] || names[r.To] })
	}
	list := []relation{}
	for name := range names {
		o := memory.ListOptions{Prefix: relationPrefix(name)}
		for e := range s.Space(ns, out).List(o) {
			list = append(list, relationOf(e.Value))
		}
		for e := range s.Space(ns, in).List(o) {
			if r := relationOf(e.Value); !names[r.From] { // else it is there already
				list = append(list, r)
			}
		}
	}
	byAge(list, func(r relation) int64 { return r.created })
	return list
}
