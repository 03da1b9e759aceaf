package local

import (
	"cmp"
	"slices"
	"strings"

	"github.com/cowstore/cowstore/memory"
)

// searchNodes returns all entities that have the query in their name, type or an
// observation, whatever the case, as the reference server does; the best first, by the
// text search; and after them the best that only the text search finds.
func (c *call) searchNodes() (any, error) {
	const (
		ranked = 50 // hits of the text search that decide on the order
		beyond = 10 // of them, what is without the query as it stands
	)
	args, err := decode[struct{ Query string }](c)
	if err == nil {
		err = checkLen("the query", args.Query, maxText)
	}
	if err != nil {
		return nil, err
	}
	s, names, err := c.folded.find(c, fold(args.Query))
	if err != nil {
		return nil, err
	}
	space := s.Space(entitySpace(c.Namespace)...)
	var hits []memory.Hit
	if strings.TrimSpace(args.Query) != "" && len(args.Query) <= maxName {
		if hits, err = space.Search(memory.Query{Text: args.Query, K: ranked}); err != nil {
			return nil, err
		}
	}
	rank := make(map[string]int, len(hits))
	for i, h := range hits {
		rank[h.Key] = i
	}
	type found struct {
		entity
		rank int
	}
	var list []found
	for _, name := range names {
		v, ok := space.Get(name)
		if !ok {
			continue // it has expired
		}
		r, ok := rank[name]
		if !ok {
			r = len(hits)
		}
		delete(rank, name)
		list = append(list, found{entityOf(v), r})
	}
	slices.SortStableFunc(list, func(a, b found) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.created, b.created))
	})
	g := graph{Entities: []entity{}}
	for _, f := range list {
		g.Entities = append(g.Entities, f.entity)
	}
	more := 0
	for _, h := range hits {
		if _, ok := rank[h.Key]; ok && more < beyond {
			g.Entities = append(g.Entities, entityOf(h.Value))
			more++
		}
	}
	g.Relations = relationsOf(s, c.Namespace, g.Entities)
	return g, nil
}

// fold returns a text for comparison without regard to case. What JavaScript's toLowerCase
// makes equal is equal by it: but for the final sigma, which is one sigma here.
func fold(s string) string {
	lower := strings.ToLower(strings.ReplaceAll(s, "İ", "i\u0307"))
	return strings.ReplaceAll(lower, "ς", "σ")
}
