package local

import (
	"cmp"
	"iter"
	"slices"
	"strings"
	"sync"

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
	s := c.m.Load()
	space := s.Space(entitySpace(c.Namespace)...)
	var hits []memory.Hit
	if strings.TrimSpace(args.Query) != "" && len(args.Query) <= maxName {
		if hits, err = space.SearchText(args.Query, memory.SearchOptions{K: ranked}); err != nil {
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
	for e := range c.folded.find(space, c.Namespace, fold(args.Query)) {
		r, ok := rank[e.Key]
		if !ok {
			r = len(hits)
		}
		delete(rank, e.Key)
		list = append(list, found{entityOf(e.Value), r})
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

// folded has the folded texts of entities, as far as searches have needed them.
type folded struct {
	mu    sync.Mutex
	texts map[string]map[string]foldedText // by namespace and name
	bytes int64
}

type foldedText struct {
	revision uint64
	text     string // of name, type and observations
}

// clear forgets all texts.
func (f *folded) clear() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.texts, f.bytes = nil, 0
}

// foldedBytes is how much of that is kept.
const foldedBytes = 64 << 20

// find yields the entities of a namespace that have the folded query in one of their texts.
func (f *folded) find(space memory.SpaceSnapshot, ns, query string) iter.Seq[memory.Entry] {
	return func(yield func(memory.Entry) bool) {
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.texts == nil || f.bytes > foldedBytes { // names that are gone are dropped so, too
			f.texts, f.bytes = make(map[string]map[string]foldedText), 0
		}
		texts := f.texts[ns]
		if texts == nil {
			texts = make(map[string]foldedText)
			f.texts[ns] = texts
		}
		for e := range space.List(memory.ListOptions{}) {
			t, ok := texts[e.Key]
			if !ok || t.revision != e.Revision {
				f.bytes -= int64(len(t.text))
				t = foldedText{e.Revision, foldEntity(e.Value)}
				f.bytes += int64(len(t.text) + len(e.Key))
				texts[e.Key] = t
			}
			if strings.Contains(t.text, query) && !yield(e) {
				return
			}
		}
	}
}

// between is between the texts of an entity, and in none of them, since it is not UTF-8.
const between = "\xff"

func foldEntity(v memory.Value) string {
	e := entityOf(v)
	parts := []string{fold(e.Name), fold(e.Type)}
	for _, o := range e.Observations {
		parts = append(parts, fold(o))
	}
	return strings.Join(parts, between)
}
