package local

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/memory"
	"github.com/cowstore/cowstore/memory/mcp/internal/store"
	"github.com/cowstore/cowstore/memory/mcp/internal/tool"
)

// A fileLine is a line of the reference server's file.
type fileLine struct {
	Type         string    `json:"type"`
	Name         *string   `json:"name,omitempty"`
	EntityType   *string   `json:"entityType,omitempty"`
	Observations *[]string `json:"observations,omitempty"`
	From         *string   `json:"from,omitempty"`
	To           *string   `json:"to,omitempty"`
	RelationType *string   `json:"relationType,omitempty"`
}

// Imported says what an import did.
type Imported struct {
	Entities, Relations int // that are new
	Known               int // that were there already, and stay as they are
}

const (
	importBatch = 2000                // lines in one update
	maxLine     = 7*maxEntity + 1<<20 // bytes of one: those of an entity whose characters are escaped
)

// Import takes the file of the reference server, JSON Lines of entities and relations, into
// a namespace. A file with an error, or with a line that is neither, is not imported at all: the
// error says which line. One without an entity or a relation is an error, too. What is there
// already is skipped and counted. It writes in batches, and calls progress after each, if that is not nil, with the
// number of lines that are done; after an error in between, those are imported.
func (s *Store) Import(ctx context.Context, namespace string, r io.Reader, progress func(lines int)) (n Imported, err error) {
	if err := checkName("the namespace", namespace, maxNamespace); err != nil {
		return n, err
	}
	items, err := readLines(r, s.o.MaxBytes-s.used.Load())
	if err != nil {
		return n, err
	}
	c := &call{Store: s, Request: store.Request{Namespace: namespace}, ctx: ctx}
	for done := 0; done < len(items); {
		batch := items[done:min(done+importBatch, len(items))]
		var now Imported
		_, err := c.update(&s.line, func(w *write) (any, error) {
			now = n
			for _, it := range batch {
				if err := it.store(w, namespace, &now); err != nil {
					return nil, err
				}
			}
			return nil, nil
		})
		if err != nil {
			return n, translate(err)
		}
		n = now
		if done += len(batch); progress != nil {
			progress(done)
		}
	}
	return n, nil
}

// A fileItem is what one line is.
type fileItem struct {
	entity   *entity
	relation relation
}

func (it fileItem) store(w *write, ns string, n *Imported) error {
	switch {
	case it.entity != nil:
		if _, ok := w.in(entitySpace(ns)).Get(it.entity.Name); ok {
			n.Known++
			return nil
		}
		e := *it.entity
		e.created = now()
		e.updated = e.created
		n.Entities++
		return w.putEntity(ns, e)
	default:
		r := it.relation
		if _, ok := w.in([]string{ns, out}).Get(r.outKey()); ok {
			n.Known++
			return nil
		}
		r.created = now()
		n.Relations++
		return w.putRelation(ns, r)
	}
}

// readLines reads a whole file of at most so many bytes.
func readLines(r io.Reader, limit int64) (items []fileItem, err error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 0, 64<<10), maxLine)
	n := 1
	for ; lines.Scan(); n++ {
		if limit -= int64(len(lines.Bytes())); limit < 0 {
			return nil, fmt.Errorf("line %d: %w", n, store.Errorf(store.TooLarge, "all before it is more than there is room for"))
		}
		it, ok, err := readLine(lines.Bytes())
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		if ok {
			items = append(items, it)
		}
	}
	if err := lines.Err(); err != nil {
		if errors.Is(err, bufio.ErrTooLong) {
			err = store.Errorf(store.TooLarge, "it has more than %d bytes", maxLine)
		}
		return nil, fmt.Errorf("line %d: %w", n, err)
	}
	if len(items) == 0 {
		return nil, errNothing
	}
	return items, nil
}

// readLine reads a line; ok is false for one that is blank.
func readLine(text []byte) (it fileItem, ok bool, err error) {
	if len(bytes.TrimSpace(text)) == 0 {
		return it, false, nil
	}
	var l fileLine
	if err := tool.Unmarshal(text, maxLine, &l); err != nil {
		return it, false, store.Errorf(store.Invalid, "%v", err)
	}
	switch l.Type {
	case "entity":
		if l.Name == nil || l.EntityType == nil || l.Observations == nil {
			return it, false, store.Errorf(store.Invalid, "an entity has name, entityType and observations")
		}
		it.entity = &entity{Name: *l.Name, Type: *l.EntityType, Observations: *l.Observations}
		return it, true, it.entity.check()
	case "relation":
		if l.From == nil || l.To == nil || l.RelationType == nil {
			return it, false, store.Errorf(store.Invalid, "a relation has from, to and relationType")
		}
		it.relation = relation{From: *l.From, To: *l.To, Type: *l.RelationType}
		return it, true, it.relation.check()
	}
	if is, _ := formOf(text); is == memoryForm {
		return it, false, errMemoryForm
	}
	if l.Type == "" {
		return it, false, store.Errorf(store.Invalid, `a line has "type":"entity" or "type":"relation", and this has no type`)
	}
	return it, false, store.Errorf(store.Invalid, `a line has "type":"entity" or "type":"relation", and the type of this is %.100q`, l.Type)
}

// Export writes the graph of a namespace as the reference server's file.
func (s *Store) Export(namespace string, w io.Writer) error {
	b := bufio.NewWriter(w)
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	g := graphOf(s.m.Load(), namespace)
	for _, e := range g.Entities {
		if err := enc.Encode(fileLine{Type: "entity", Name: &e.Name, EntityType: &e.Type, Observations: &e.Observations}); err != nil {
			return fmt.Errorf("export: %w", err)
		}
	}
	for _, r := range g.Relations {
		if err := enc.Encode(fileLine{Type: "relation", From: &r.From, To: &r.To, RelationType: &r.Type}); err != nil {
			return fmt.Errorf("export: %w", err)
		}
	}
	return b.Flush()
}

// ExportAll writes everything, of all namespaces, as memory.Snapshot.Export does.
func (s *Store) ExportAll(w io.Writer) error { return s.m.Load().Export(w) }

// ImportAll takes what ExportAll has written, in place of what is there under the same keys,
// and returns how many lines there were. A file with a malformed line, or without any, is not
// imported at all.
func (s *Store) ImportAll(ctx context.Context, r io.Reader) (int, error) {
	n, err := s.m.Import(ctx, r)
	if n == 0 && err == nil {
		err = errNothing
	}
	s.survey()
	return n, err
}

// A Summary says what a namespace has.
type Summary struct {
	Namespace                  string
	Entities, Relations, Notes int
	Vectors                    int
}

// Inspect returns what there is, by namespace, about how many bytes that takes, and the version
// and figures of its past.
func (s *Store) Inspect() (list []Summary, used int64, version uint64, stats cow.Stats) {
	snap := s.m.Load()
	for space := range snap.Spaces(memory.SpacesOptions{}) {
		if len(space) < 2 {
			continue
		}
		if len(list) == 0 || list[len(list)-1].Namespace != space[0] {
			list = append(list, Summary{Namespace: space[0]})
		}
		sum := &list[len(list)-1]
		for e := range snap.Space(space...).List(memory.ListOptions{}) {
			switch space[1] {
			case entities:
				sum.Entities++
			case out:
				sum.Relations++
			case notes:
				sum.Notes++
			}
			if e.Dim > 0 {
				sum.Vectors++
			}
		}
	}
	return list, s.used.Load(), s.m.DB().Load().Version(), s.m.DB().Stats()
}
