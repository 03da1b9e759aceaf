package local

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/memory"
)

type erased struct {
	Erased    bool   `json:"erased"`
	Relations int    `json:"relations,omitempty"` // that there are, or have been
	Revision  uint64 `json:"revision,omitempty"`
	Message   string `json:"message"`
}

// erase erases a note, or an entity with its relations, from all that is kept: the memory and its
// past, the results of requests, and the forks. No other request writes meanwhile, so that nothing
// that tells of it comes up between looking and erasing.
func (c *call) erase() (any, error) {
	args, err := decode[struct {
		where
		target
	}](c)
	if err != nil {
		return nil, err
	}
	space, key, err := c.named(args.where, args.target)
	if err != nil {
		return nil, err
	}
	t := thing{space, key}
	result, _, err := c.eraseIn(&c.line, t)
	if err != nil {
		return nil, err
	}
	c.ctx = context.WithoutCancel(c.ctx) // what is erased is erased in the forks
	c.folded.erase(c)
	c.mu.Lock()
	forks := slices.Collect(maps.Values(c.forks))
	c.mu.Unlock()
	inForks := false
	for _, f := range forks {
		_, found, err := c.eraseIn(&f.line, t)
		if err != nil {
			return nil, err
		}
		inForks = inForks || found
	}
	var r erased
	if err := json.Unmarshal(result, &r); err == nil && !r.Erased && inForks {
		return erased{Erased: true, Message: "Erased from forks; the memory itself did not have it."}, nil
	}
	return result, nil
}

// eraseIn erases a thing from a line, and returns the result, and whether anything of it was there.
func (c *call) eraseIn(l *line, t thing) (result json.RawMessage, found bool, err error) {
	all, err := l.traces(c.ctx, c.Namespace, t)
	if err != nil {
		return nil, false, err
	}
	found = all.itself || len(all.relations) > 0 || len(all.receipts) > 0
	verb := func(ctx context.Context, f func(*cow.Tx) error) error {
		_, err := l.m.DB().Erase(ctx, f)
		return err
	}
	result, err = c.updateBy(verb, l, func(w *write) (any, error) {
		if !found && l == &c.line { // a fork may have what expired when it was made
			return erased{Message: "There is nothing of that name, nor was there in the past that is kept; nothing has changed."}, nil
		}
		w.erase(t.space, t.key)
		for _, r := range all.relations {
			w.erase([]string{c.Namespace, out}, r.outKey())
			w.erase([]string{c.Namespace, in}, r.inKey())
		}
		l.eraseResults(w.tx, all.receipts)
		r := erased{Erased: true, Relations: len(all.relations), Revision: w.batch.Version()}
		r.Message = "Erased, from the history and from forks too; nothing brings it back."
		if c.file {
			r.Message += " Free pages of the file may have it until `cowmemory compact` has run, for which the server must end."
		}
		return r, nil
	})
	return result, found, err
}

// A thing is a note or an entity.
type thing struct {
	space []string
	key   string
}

func (t thing) isEntity() bool { return t.space[1] == entities }

// traces are what tells of a thing in some version that a line keeps.
type traces struct {
	itself    bool
	relations map[string]relation // of an entity, by their outKey
	receipts  map[string]bool     // by id
}

// traces returns those that there are in all versions.
func (l *line) traces(ctx context.Context, ns string, t thing) (traces, error) {
	all := traces{relations: make(map[string]relation), receipts: make(map[string]bool)}
	root := l.m.DB().Load()
	now := l.m.In(root)
	if _, err := l.m.Sweep(ctx); err != nil { // what has expired by now is in the commits
		return all, err
	}
	name, err := marshal(t.key)
	if err != nil {
		return all, err
	}
	inResult := string(name[1 : len(name)-1]) // a result without it is not looked at
	told := func(id string, r receipt) {
		if r.Namespace == ns && strings.Contains(r.Result, inResult) {
			var v any
			if json.Unmarshal([]byte(r.Result), &v) == nil && t.toldIn(v, nil) {
				all.receipts[id] = true
			}
		}
	}
	in := func(s memory.Snapshot, root *cow.Snapshot) {
		if _, ok := s.Space(t.space...).Entry(t.key); ok {
			all.itself = true
		}
		if t.isEntity() {
			for _, r := range relationsOf(s, ns, []entity{{Name: t.key}}) {
				all.relations[r.outKey()] = r
			}
		}
		for id, r := range l.receipts.In(root).All() {
			told(id, r)
		}
	}
	in(now, root)
	for _, root := range l.m.DB().Pins() {
		in(l.m.In(root), root)
	}
	oldest, _ := l.oldest()
	for commit, err := range l.commits(ctx, oldest, l.m.DB().Load().Version()) {
		if err != nil {
			return all, err
		}
		for ch := range l.m.Rows(commit) {
			all.add(ch, ns, t)
		}
		for ch := range l.receipts.Rows(commit) {
			old, _ := ch.Old()
			told(ch.Key, old)
			is, _ := ch.New()
			told(ch.Key, is)
		}
	}
	return all, nil
}

// add adds what a change tells of the thing.
func (all *traces) add(ch memory.Change, ns string, t thing) {
	if len(ch.Space) < 2 || ch.Space[0] != ns || ch.Kind == memory.Erased {
		return
	}
	if ch.Key == t.key && slices.Equal(ch.Space, t.space) {
		all.itself = true
	}
	if !t.isEntity() || ch.Space[1] != out && ch.Space[1] != in {
		return
	}
	for _, e := range []memory.Entry{ch.Old, ch.New} {
		if r := relationOf(e.Value); e.Value.Exists() && (r.From == t.key || r.To == t.key) {
			all.relations[r.outKey()] = r
		}
	}
}

// toldIn reports whether the result of a tool, or a part of it, in a part about a folder, tells of
// the thing.
func (t thing) toldIn(v any, folder []any) bool {
	switch v := v.(type) {
	case []any:
		return slices.ContainsFunc(v, func(v any) bool { return t.toldIn(v, folder) })
	case map[string]any:
		if space, ok := v["space"].([]any); ok {
			folder = space
		}
		if t.is(v, folder) {
			return true
		}
		for _, part := range v {
			if t.toldIn(part, folder) {
				return true
			}
		}
	}
	return false
}

// is reports whether a part of a result is about the thing, or a relation of it.
func (t thing) is(part map[string]any, folder []any) bool {
	kind, hasKind := part["kind"]
	key, hasKey := part["key"].(string)
	switch {
	case !t.isEntity():
		return hasKey && key == t.key && (!hasKind || kind == "note") &&
			slices.EqualFunc(folder, t.space[2:], func(a any, b string) bool { return a == b })
	case kind == "entity":
		return key == t.key
	case kind == "relation": // the three names in one
		return strings.HasPrefix(key, t.key+" ") || strings.HasSuffix(key, " "+t.key)
	}
	return slices.ContainsFunc([]string{"name", "entityName", "from", "to"}, func(field string) bool { return part[field] == t.key })
}
