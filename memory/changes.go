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
	Cleared                       // all entries of the space, and of those below it if Below, by Clear or ClearAll
)

var changeNames = [...]string{"unknown", "added", "changed", "deleted", "expired", "evicted", "cleared"}

// String returns the name of the kind.
func (k ChangeKind) String() string {
	if int(k) < len(changeNames) {
		return changeNames[k]
	}
	return changeNames[0]
}

// A Change is what one commit did to one entry, or, if it is Cleared, to all entries of a
// space at once: each of at most 64 entries is Deleted, of more there is one Change,
// without a Key, before all others of the commit. It is an immutable value and stays
// valid.
type Change struct {
	Version uint64    // of the commit
	Time    time.Time // of the commit
	Space   []string  // the caller's own
	Key     string
	Kind    ChangeKind
	Below   bool  // the spaces below too, if Cleared
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
	s.m.made()
	return s.m.changes(s.m.db.Changes(ctx, since), nameOf(s.path, ""), func(key string) bool { return covers(key, s.path) })
}

// Changes is Space.Changes for all spaces.
func (m *Memory) Changes(ctx context.Context, since uint64) iter.Seq2[Change, error] {
	m.made()
	return m.changes(m.db.Changes(ctx, since), "", all)
}

// History returns an iterator over what commits above version since did to the entries of
// the space, as Changes has it, up to the current version, where it ends: what has happened
// so far. It never blocks and needs no context. ErrCompacted is its error where no past is
// retained, as without Retain; see cow.DB.Commits.
func (s Space) History(since uint64) iter.Seq2[Change, error] {
	s.m.made()
	return s.m.changes(s.m.db.Commits(since), nameOf(s.path, ""), func(key string) bool { return covers(key, s.path) })
}

// History is Space.History for all spaces.
func (m *Memory) History(since uint64) iter.Seq2[Change, error] {
	m.made()
	return m.changes(m.db.Commits(since), "", all)
}

// Cursor returns a text for a version of this Memory, such as that of a Change,
// from which Resume goes on; see cow.DB.
func (m *Memory) Cursor(version uint64) string {
	m.made()
	return m.db.Cursor(version)
}

// Resume is Changes from a cursor. It ends with ErrCursor for any other text, and
// with ErrLineage for a cursor of another Memory, a fork included.
func (m *Memory) Resume(ctx context.Context, cursor string) iter.Seq2[Change, error] {
	m.made()
	return m.changes(m.db.Resume(ctx, cursor), "", all)
}

func all(string) bool { return true }

// changes returns what commits did to entries whose names begin with prefix, and what was
// cleared by marks that are wanted.
func (m *Memory) changes(commits iter.Seq2[*cow.Commit, error], prefix string, wanted func(mark string) bool) iter.Seq2[Change, error] {
	return func(yield func(Change, error) bool) {
		for commit, err := range commits {
			if err != nil {
				yield(Change{}, bare.Named(err))
				return
			}
			for _, c := range m.appendCommit(nil, commit, prefix, wanted) {
				if !yield(c, nil) {
					return
				}
			}
		}
	}
}

// Rows returns an iterator over what a commit of the DB did to entries, as Changes has it:
// for who follows the commits of the DB, and other tables besides. It is empty for a commit
// that did nothing to them. The commit must be of the DB that the Memory is in, or a fork.
func (m *Memory) Rows(c *cow.Commit) iter.Seq[Change] {
	m.made()
	return slices.Values(m.appendCommit(nil, c, "", all))
}

// appendCommit appends what a commit did to entries whose names begin with prefix, and what
// it cleared by marks that are wanted.
func (m *Memory) appendCommit(changes []Change, commit *cow.Commit, prefix string, wanted func(mark string) bool) []Change {
	for c := range m.tables.cleared.Rows(commit) {
		old, _ := c.Old()
		next, _ := c.New()
		if next != nil && (old == nil || old.At != next.At) && wanted(c.Key) {
			path, below := cutBelow(c.Key)
			changes = append(changes, Change{Space: decodePath(path), Kind: Cleared, Below: below})
		}
	}
	changes = m.appendRows(changes, commit, prefix)
	for i := range changes {
		changes[i].Version, changes[i].Time = commit.Version(), commit.Time()
	}
	return changes
}

// appendRows appends what a commit did to entries whose names begin with prefix.
func (m *Memory) appendRows(changes []Change, commit *cow.Commit, prefix string) []Change {
	var rows []snapshot.Change[string, *entry]
	for c := range m.entries.Rows(commit) {
		if strings.HasPrefix(c.Key, prefix) {
			rows = append(rows, c)
		}
	}
	if len(rows) == 0 {
		return changes
	}
	slices.SortFunc(rows, func(a, b snapshot.Change[string, *entry]) int { return strings.Compare(a.Key, b.Key) })
	h := new(head)
	for c := range m.heads.Rows(commit) {
		if is, ok := c.New(); ok {
			h = is
		}
	}
	evicted := make(map[string]bool, len(h.Evicted))
	for _, name := range h.Evicted {
		evicted[string(name)] = true
	}
	for _, c := range rows {
		if change, ok := newChange(c, h, evicted); ok {
			changes = append(changes, change)
		}
	}
	return changes
}

// newChange returns what a commit with that head did to one row, unless the row was of
// what had been cleared.
func newChange(c snapshot.Change[string, *entry], h *head, evicted map[string]bool) (Change, bool) {
	path, key := split(c.Key)
	old, is := c.Rows()
	change := Change{Space: decodePath(path), Key: key, Kind: Changed}
	none := snapshot.Row[string, *entry]{}
	if is != none {
		change.New = newEntry(key, is.Shared(), is.Revision())
	}
	if old != none && slices.ContainsFunc(h.Cleared, func(m mark) bool { return covers(string(m.Key), path) && old.Revision() <= m.At }) {
		old = none
	}
	if old == none {
		change.Kind = Added
		return change, is != none
	}
	change.Old = newEntry(key, old.Shared(), old.Revision())
	expired := old.Shared().expired(h.Began)
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
	return change, true
}
