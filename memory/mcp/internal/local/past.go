package local

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/memory"
	"github.com/cowstore/cowstore/memory/mcp/internal/store"
)

// A change is what one write did to a note, an entity or a relation.
type change struct {
	Revision  uint64   `json:"revision"`
	Time      string   `json:"time"`
	Change    string   `json:"change"` // added, changed, deleted, expired, erased
	Kind      string   `json:"kind"`   // note, entity, relation
	Key       string   `json:"key"`
	Space     []string `json:"space,omitempty"`
	Text      string   `json:"text,omitempty"` // what it says since, or said before it was removed
	Truncated bool     `json:"truncated,omitempty"`
	By        *string  `json:"superseded_by,omitempty"` // the key of the note that says otherwise since
}

const changeText = 1 << 10 // bytes of the text of a change

func newChange(c memory.Change) change {
	v := c.New.Value
	if !v.Exists() {
		v = c.Old.Value
	}
	r := change{Revision: c.Version, Time: stamp(c.Time), Change: c.Kind.String(), Key: c.Key}
	if c.New.Superseded {
		r.By = &c.New.SupersededBy
	}
	switch c.Space[1] {
	case entities:
		r.Kind = "entity"
		if v.Exists() {
			r.Text = entityOf(v).text()
		}
	case out:
		rel := relationOf(v)
		if !v.Exists() { // it was erased
			rel = relationOfKey(c.Key)
		}
		r.Kind, r.Key = "relation", strings.Join([]string{rel.From, rel.Type, rel.To}, " ")
	default:
		r.Kind, r.Space, r.Text = "note", c.Space[2:], v.Key(textField).String()
	}
	if len(r.Text) > changeText {
		r.Text, r.Truncated = clipTo(r.Text, changeText), true
	}
	return r
}

// shown yields what a commit did in a namespace, as people see it: a relation once, and not
// that something got a vector.
func shown(m *memory.Memory, commit *cow.Commit, ns string) iter.Seq[memory.Change] {
	return func(yield func(memory.Change) bool) {
		for c := range m.Rows(commit) {
			if inside(c, ns) && c.Space[1] != in && !yield(c) {
				return
			}
		}
	}
}

// inside reports whether a change is one of what a namespace has.
func inside(c memory.Change, ns string) bool {
	return len(c.Space) >= 2 && c.Space[0] == ns && !onlyVector(c)
}

// onlyVector reports whether a change left all but the vector as it was.
func onlyVector(c memory.Change) bool {
	return c.Kind == memory.Changed && memory.Equal(c.Old.Value, c.New.Value) && c.Old.Expires.Equal(c.New.Expires) &&
		c.Old.Superseded == c.New.Superseded && c.Old.SupersededBy == c.New.SupersededBy
}

// commits yields what was committed after a version up to another, and ends there. Both
// must have been published.
func (l *line) commits(ctx context.Context, since, to uint64) iter.Seq2[*cow.Commit, error] {
	return func(yield func(*cow.Commit, error) bool) {
		if since >= to {
			return
		}
		for commit, err := range l.m.DB().Commits(since) {
			if err == nil && commit.Version() > to {
				return
			}
			if err == nil {
				err = context.Cause(ctx)
			}
			if !yield(commit, err) || err != nil {
				return
			}
		}
	}
}

// oldest returns the oldest version that is kept, and its time.
func (l *line) oldest() (uint64, time.Time) {
	for v, at := range l.m.DB().Versions() {
		return v, at
	}
	return l.m.DB().Load().Version(), time.Time{}
}

func (c *call) history() (any, error) {
	type result struct {
		History []change `json:"history"`
		Oldest  string   `json:"oldest,omitempty"` // how far back the past is kept
		More    string   `json:"more,omitempty"`
	}
	args, err := decode[struct {
		where
		target
		Limit  int
		Before uint64
	}](c)
	if err != nil {
		return nil, err
	}
	space, key, err := c.named(args.where, args.target)
	if err != nil {
		return nil, err
	}
	limit := args.Limit
	if limit == 0 {
		limit = 20
	}
	_, at := c.oldest()
	list := []change{}
	for ch, err := range c.m.Space(space...).History(key) {
		if errors.Is(err, cow.ErrCompacted) || len(list) > limit {
			break
		}
		if err == nil {
			err = context.Cause(c.ctx)
		}
		if err != nil {
			return nil, err
		}
		if !onlyVector(ch) && (args.Before == 0 || ch.Version < args.Before) {
			list = append(list, newChange(ch))
		}
	}
	r := result{History: list, Oldest: stamp(at)}
	n := c.fit(list, limit)
	if n < len(list) {
		r.History, r.More = list[:n], fmt.Sprintf("there is more: call again with before: %d", list[n-1].Revision)
	}
	return r, nil
}

// fit returns how many changes a result may have.
func (c *call) fit(list []change, limit int) int {
	size := 0
	for i, ch := range list {
		b, _ := marshal(ch)
		if size += len(b); i == limit || i > 0 && size > c.o.MaxResult {
			return i
		}
	}
	return len(list)
}

func more(arg string, n int) string {
	return fmt.Sprintf("there is more: call again with %s: %d", arg, n)
}

type changesResult struct {
	Changes []change `json:"changes"`
	Cursor  string   `json:"cursor"`
	More    bool     `json:"more,omitempty"`
}

// changes returns what was committed since a cursor: one of the DB, and after a + how many
// changes of the next commit are known already.
func (c *call) changes() (any, error) {
	args, err := decode[struct {
		where
		Cursor string
		Limit  int
	}](c)
	if err == nil {
		err = c.mean(args.where)
	}
	if err != nil {
		return nil, err
	}
	limit := args.Limit
	if limit == 0 {
		limit = 100
	}
	current := c.m.DB().Load().Version()
	if args.Cursor == "" {
		return c.latestChanges(current, limit)
	}
	since, known, err := c.position(args.Cursor)
	if err != nil {
		return nil, err
	}
	r := changesResult{Changes: []change{}}
	version := since
	var list []change
	var places []string
	for commit, err := range c.commits(c.ctx, since, current) {
		if err != nil {
			return nil, err
		}
		n := 0
		for ch := range shown(c.m, commit, c.Namespace) {
			if n++; commit.Version() == since+1 && n <= known {
				continue
			}
			list = append(list, newChange(ch))
			places = append(places, c.m.DB().Cursor(version)+"+"+strconv.Itoa(n))
			if len(list) > limit {
				break
			}
		}
		if version = commit.Version(); len(list) > limit {
			break
		}
	}
	n := c.fit(list, limit)
	r.Changes, r.Cursor = list[:n:n], c.m.DB().Cursor(version)
	if r.Changes == nil {
		r.Changes = []change{}
	}
	if n < len(list) {
		r.Cursor, r.More = places[n-1], true
	}
	return r, nil
}

// latestChanges returns the last changes up to a version.
func (c *call) latestChanges(current uint64, limit int) (any, error) {
	oldest, _ := c.oldest()
	list := []change{}
	for commit, err := range c.commits(c.ctx, oldest, current) {
		if err != nil {
			return nil, err
		}
		for ch := range shown(c.m, commit, c.Namespace) {
			list = append(list, newChange(ch))
			if len(list) > 2*limit {
				list = slices.Delete(list, 0, limit)
			}
		}
	}
	slices.Reverse(list)
	list = list[:c.fit(list, limit)]
	slices.Reverse(list)
	return changesResult{Changes: list, Cursor: c.m.DB().Cursor(current)}, nil
}

// position returns the version that a cursor of changes stands for.
func (c *call) position(cursor string) (version uint64, known int, err error) {
	bad := store.Errorf(store.Invalid, "%.100q is not a cursor of this memory: call changes without one", cursor)
	text, part, ok := strings.Cut(cursor, "+")
	if ok {
		if known, err = strconv.Atoi(part); err != nil || known < 0 {
			return 0, 0, bad
		}
	}
	if version, err = versionOf(c.m, text); err != nil {
		if errors.Is(err, cow.ErrUnpublished) || errors.Is(err, cow.ErrCursor) || errors.Is(err, cow.ErrLineage) {
			return 0, 0, bad
		}
	}
	return version, known, err
}
