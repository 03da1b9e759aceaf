package local

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/cowstore/cowstore/memory"
	"github.com/cowstore/cowstore/memory/filter"
	"github.com/cowstore/cowstore/memory/mcp/internal/store"
)

type recallArgs struct {
	where
	Query  string
	Key    *string
	Vector []float32
	K      int
	Offset int
	Space  []string
	Kind   string
	Tags   []string
	Where  map[string]any
	Since  string
}

// A hit is a note or an entity that recall has found.
type hit struct {
	Kind      string         `json:"kind"`
	Key       string         `json:"key"`
	Space     []string       `json:"space,omitempty"`
	Type      string         `json:"type,omitempty"`
	Text      string         `json:"text"`
	Truncated bool           `json:"truncated,omitempty"`
	Score     float64        `json:"score,omitempty"`
	Matched   []string       `json:"matched,omitempty"`
	Tags      []string       `json:"tags,omitempty"`
	Metadata  map[string]any `json:"metadata,omitempty"`
	Created   string         `json:"created,omitempty"`
	Updated   string         `json:"updated"`
	Expires   string         `json:"expires,omitempty"`
	By        *string        `json:"superseded_by,omitempty"` // the key of the note that says otherwise by now
	Revision  uint64         `json:"revision"`
}

type recallResult struct {
	Hits []hit  `json:"hits"`
	More string `json:"more,omitempty"`
}

const (
	hitText  = 4 << 10 // bytes of the text of a hit
	queryFor = 2 * time.Second
)

func (c *call) recall() (any, error) {
	args, err := decode[recallArgs](c)
	if err != nil {
		return nil, err
	}
	if err := args.check(); err != nil {
		return nil, err
	}
	l, end, err := c.at(args.where)
	if err != nil {
		return nil, err
	}
	defer end()
	if args.Key != nil {
		space := noteSpace(c.Namespace, args.Space)
		e, ok := l.m.Space(space...).Entry(*args.Key)
		if !ok {
			return recallResult{Hits: []hit{}}, nil
		}
		return recallResult{Hits: []hit{newHit(memory.Hit{Entry: e}, space, maxText)}}, nil
	}
	filter, err := args.filter()
	if err != nil {
		return nil, err
	}
	space := l.m.Space(args.path(c.Namespace)...)
	q := memory.Query{K: args.Offset + args.K + 1, Filter: filter, Below: true}
	var hits []memory.Hit
	switch {
	case args.Query == "" && args.Vector == nil:
		return c.latest(l.m.Load(), &args, filter), nil
	case args.Vector != nil:
		q.Text, q.Vector = args.Query, args.Vector
		hits, err = space.Search(q)
	default:
		hits, err = c.recallBy(space, args.Query, q)
	}
	if err != nil {
		return nil, err
	}
	hits = hits[min(args.Offset, len(hits)):]
	return c.page(&args, len(hits), func(i int) hit { return newHit(hits[i], hits[i].Space(), hitText) }), nil
}

// recallBy searches by a text and, if there is one in time, its vector.
func (c *call) recallBy(space memory.Space, text string, q memory.Query) ([]memory.Hit, error) {
	ctx, cancel := context.WithTimeout(c.ctx, queryFor)
	defer cancel()
	hits, err := space.Recall(ctx, text, q)
	unembedded := err // where nothing has the words
	if len(hits) > 0 {
		unembedded = hits[0].Unembedded
	}
	if c.o.Embed == nil || unembedded == nil {
		return hits, err
	}
	c.o.Log.Warn("a query has no vector, so text alone is searched", "error", unembedded)
	if err == nil {
		return hits, nil
	}
	q.Text = text
	return space.Search(q) // which has the errors of the query
}

func (a *recallArgs) check() error {
	if a.Key != nil && (a.Query != "" || len(a.Vector)+len(a.Tags)+len(a.Where)+a.Offset > 0 || a.Since != "" || a.Kind != "" && a.Kind != "note") {
		return store.Errorf(store.Invalid, "the key names one note: leave out query, vector, kind, tags, where, since and offset")
	}
	err := checkFolder(a.Space)
	if err == nil && a.Key != nil {
		err = checkName("the key", *a.Key, maxName)
	}
	if err == nil {
		err = checkLen("the query", a.Query, maxName)
	}
	if err == nil {
		err = checkVector(a.Vector)
	}
	if n := max(len(a.Tags), len(a.Where)); err == nil && n > maxTags {
		err = store.Errorf(store.TooLarge, "%d tags or fields to filter by, and %d are allowed", n, maxTags)
	}
	if a.K == 0 {
		a.K = 10
	}
	if a.Kind == "" && (len(a.Space) > 0 || len(a.Tags) > 0 || len(a.Where) > 0) {
		a.Kind = "note"
	}
	return err
}

// path returns the space that is searched, with what is below it.
func (a *recallArgs) path(ns string) []string {
	switch a.Kind {
	case "note":
		return noteSpace(ns, a.Space)
	case "entity":
		return entitySpace(ns)
	}
	return []string{ns}
}

func (a *recallArgs) filter() (filter.Filter, error) {
	var all []filter.Filter
	for _, tag := range a.Tags {
		all = append(all, filter.Val(tagsField, tag).Exists())
	}
	for field, v := range a.Where {
		all = append(all, filter.Val(metadataField, field).Eq(v))
	}
	if a.Since != "" {
		since, err := nanos(a.Since)
		if err != nil {
			return filter.Filter{}, store.Errorf(store.Invalid, "since is not a time as 2026-01-31T00:00:00Z: %.100q", a.Since)
		}
		all = append(all, filter.Val(updatedField).Gte(since))
	}
	f := filter.And(all...)
	if err := f.Err(); err != nil {
		return f, store.Errorf(store.Invalid, "where cannot be used: %v", err)
	}
	return f, nil
}

// latest returns what was written last.
func (c *call) latest(s memory.Snapshot, args *recallArgs, filter filter.Filter) recallResult {
	type found struct {
		memory.Entry
		space   []string
		updated int64
	}
	var list []found
	for path := range s.Spaces(memory.SpacesOptions{Prefix: args.path(c.Namespace)}) {
		if len(path) < 2 || path[1] != entities && path[1] != notes {
			continue
		}
		for e := range s.Space(path...).List(memory.ListOptions{Current: true, Filter: filter}) {
			list = append(list, found{e, path, e.Value.Key(updatedField).Int()})
		}
	}
	slices.SortStableFunc(list, func(a, b found) int { return cmp.Compare(b.updated, a.updated) })
	list = list[min(args.Offset, len(list)):]
	return c.page(args, len(list), func(i int) hit { return newHit(memory.Hit{Entry: list[i].Entry}, list[i].space, hitText) })
}

// nanos returns a time as nanoseconds since 1970: of one that they cannot tell, the nearest.
func nanos(text string) (int64, error) {
	t, err := time.Parse(time.RFC3339, text)
	switch {
	case err != nil:
		return 0, err
	case t.Year() < 1700:
		return math.MinInt64, nil
	case t.Year() > 2200:
		return math.MaxInt64, nil
	}
	return t.UnixNano(), nil
}

// page returns the first K of n hits, as far as a result may be long.
func (c *call) page(args *recallArgs, n int, at func(i int) hit) recallResult {
	r := recallResult{Hits: []hit{}}
	size := 0
	for i := range n {
		if i == args.K {
			r.More = more("offset", args.Offset+i)
			break
		}
		h := at(i)
		b, _ := marshal(h)
		if size += len(b); size > c.o.MaxResult && i > 0 {
			r.More = more("offset", args.Offset+i)
			break
		}
		r.Hits = append(r.Hits, h)
	}
	return r
}

func newHit(from memory.Hit, space []string, limit int) hit {
	h := hit{Kind: "entity", Key: from.Key, Score: math.Round(from.Score*1e4) / 1e4, Revision: from.Revision, Expires: stamp(from.Expires)}
	var created, updated int64
	if len(space) > 1 && space[1] == notes {
		n := noteOf(from.Value)
		h.Kind, h.Space, h.Text, h.Tags, h.Metadata = "note", space[2:], n.text, n.tags, n.metadata
		created, updated = n.created, n.updated
	} else {
		e := entityOf(from.Value)
		h.Type, h.Text = e.Type, strings.Join(e.Observations, "\n")
		created, updated = e.created, e.updated
	}
	if from.Superseded {
		h.By = &from.SupersededBy
	}
	h.Created, h.Updated = stamp(time.Unix(0, created)), stamp(time.Unix(0, updated))
	if len(h.Text) > limit {
		h.Text, h.Truncated = clipTo(h.Text, limit), true
	}
	const most = 8
	for _, m := range from.Matches() {
		if word := strings.ToLower(m.Text[m.From:m.To]); len(h.Matched) < most && !slices.Contains(h.Matched, word) {
			h.Matched = append(h.Matched, word)
		}
	}
	return h
}

// stamp returns a time for people, "" for none.
func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

// clipTo returns the first n bytes of a text, or a few less, so that it stays UTF-8.
func clipTo(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// clip returns a text for an error.
func clip(s string) string { return clipTo(s, 200) }
