package memory

import (
	"context"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/cowstore/cowstore/memory/internal/bare"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/snapshot"
)

// A ChangeKind says what happened to an entry.
type ChangeKind uint8

// The kinds of change.
const (
	Added   ChangeKind = iota + 1 // there was no entry
	Changed                       // the entry was written, perhaps with an equal value
	Deleted                       // by a verb
	Expired                       // and swept
	Evicted                       // because a limit was reached
)

var changeNames = [...]string{"unknown", "added", "changed", "deleted", "expired", "evicted"}

// String returns the name of the kind.
func (k ChangeKind) String() string {
	if int(k) < len(changeNames) {
		return changeNames[k]
	}
	return changeNames[0]
}

// A Change is what one commit did to one entry. It is an immutable value and
// stays valid.
type Change struct {
	Version uint64    // of the commit
	Time    time.Time // of the commit
	Space   []string  // the caller's own
	Key     string
	Kind    ChangeKind
	Old     Entry // the zero Entry if Added
	New     Entry // the zero Entry if Deleted, Expired or Evicted
}

// Changes returns an iterator over what commits above version since did to the
// entries of the space, in the order of the commits, and by key within one. When
// it has caught up it waits for the next. It ends with an error and no Change:
// ctx's cause when ctx ends, ErrCompacted when the next commit is not retained any
// more, or ErrUnpublished when since is a version to come. To resume, begin with the
// version of the last Change, once all Changes of that version were seen. See cow.DB
// for what is kept without Retain; it starts no goroutine and never makes a writer
// wait.
func (s Space) Changes(ctx context.Context, since uint64) iter.Seq2[Change, error] {
	return s.m.changes(s.m.db.Changes(ctx, since), nameOf(s.path, ""))
}

// Changes is Space.Changes for all spaces.
func (m *Memory) Changes(ctx context.Context, since uint64) iter.Seq2[Change, error] {
	return m.changes(m.db.Changes(ctx, since), "")
}

// Cursor returns a text for a version of this Memory, such as that of a Change,
// from which Resume goes on; see cow.DB.
func (m *Memory) Cursor(version uint64) string { return m.db.Cursor(version) }

// Resume is Changes from a cursor. It ends with ErrCursor for any other text, and
// with ErrLineage for a cursor of another Memory, a fork included.
func (m *Memory) Resume(ctx context.Context, cursor string) iter.Seq2[Change, error] {
	return m.changes(m.db.Resume(ctx, cursor), "")
}

func (m *Memory) changes(commits iter.Seq2[*cow.Commit, error], prefix string) iter.Seq2[Change, error] {
	return func(yield func(Change, error) bool) {
		for commit, err := range commits {
			if err != nil {
				yield(Change{}, bare.Named(err))
				return
			}
			var rows []snapshot.Change[string, *entry]
			for c := range m.entries.Rows(commit) {
				if strings.HasPrefix(c.Key, prefix) {
					rows = append(rows, c)
				}
			}
			if len(rows) == 0 {
				continue
			}
			slices.SortFunc(rows, func(a, b snapshot.Change[string, *entry]) int { return strings.Compare(a.Key, b.Key) })
			var h *head
			for c := range m.heads.Rows(commit) {
				h, _ = c.New()
			}
			evicted := make(map[string]bool)
			if h != nil {
				for _, name := range h.Evicted {
					evicted[string(name)] = true
				}
			}
			for _, c := range rows {
				change := newChange(c, h, evicted)
				change.Version, change.Time = commit.Version(), commit.Time()
				if !yield(change, nil) {
					return
				}
			}
		}
	}
}

// newChange returns what a commit with that head did to one row.
func newChange(c snapshot.Change[string, *entry], h *head, evicted map[string]bool) Change {
	path, key := split(c.Key)
	old, is := c.Rows()
	change := Change{Space: decodePath(path), Key: key, Kind: Changed}
	if is != (snapshot.Row[string, *entry]{}) {
		change.New = newEntry(key, is.Shared(), is.Revision())
	}
	if old == (snapshot.Row[string, *entry]{}) {
		change.Kind = Added
		return change
	}
	change.Old = newEntry(key, old.Shared(), old.Revision())
	expired := h != nil && old.Shared().expired(h.Began)
	switch {
	case c.Kind == snapshot.Changed && expired:
		change.Kind, change.Old = Added, Entry{} // what was there had gone before
	case c.Kind == snapshot.Changed:
	case evicted[c.Key]:
		change.Kind = Evicted
	case expired:
		change.Kind = Expired
	default:
		change.Kind = Deleted
	}
	return change
}
