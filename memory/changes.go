package memory

import (
	"context"
	"iter"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/memory/internal/bare"
	"github.com/cowstore/cowstore/memory/internal/data"
	"github.com/cowstore/cowstore/memory/internal/derive"
	"github.com/cowstore/cowstore/memory/internal/tuple"
	"github.com/cowstore/cowstore/snapshot"
)

// A ChangeKind says what happened to an entry.
type ChangeKind uint8

// The kinds of change.
const (
	Added   ChangeKind = iota + 1 // there was no entry
	Changed                       // the entry was written, perhaps with an equal value
	Deleted                       // by a verb
	Expired                       // and swept; what was written over before that is Added again
	Evicted                       // because a limit was reached

	// Cleared says that Clear or ClearAll removed all entries of the space, and of the
	// spaces below it if Below is true.
	Cleared

	// Erased says that the entry was taken out of this version and all before it. Some or
	// all of them may not have had it.
	Erased
)

var changeNames = [...]string{"unknown", "added", "changed", "deleted", "expired", "evicted", "cleared", "erased"}

// String returns the name of the kind.
func (k ChangeKind) String() string {
	if int(k) < len(changeNames) {
		return changeNames[k]
	}
	return changeNames[0]
}

// A Change is what one commit did to one entry. It is an immutable value and stays valid.
//
// If Clear removes at most 64 entries each is Deleted. If it removes more, there is one Change
// for all of them, which is Cleared and has no Key, before all others of the commit.
type Change struct {
	Version uint64    // of the commit
	Time    time.Time // of the commit
	Space   []string  // the caller's own
	Key     string
	Kind    ChangeKind
	Below   bool  // the spaces below too, if Cleared
	Old     Entry // the zero Entry if Added or Erased
	New     Entry // the zero Entry if Deleted, Expired or Evicted, or Erased and not put again
}

// Changes returns an iterator over what commits above version since did to the entries of the
// space, in the order of the commits, and by key within one. When it has caught up it waits for
// the next commit. It starts no goroutine and never makes a writer wait.
//
// It ends with an error and no Change: ctx's cause when ctx ends, [cow.ErrCompacted] when the
// next commit is not retained any more, or [cow.ErrUnpublished] when since is a version to come.
// To resume, begin with the version of the last Change, once all Changes of that version were
// seen. [cow.DB.Changes] says what is kept without Retain.
func (s Space) Changes(ctx context.Context, since uint64) iter.Seq2[Change, error] {
	s.m.made()
	return s.m.changes(s.m.db.Changes(ctx, since), tuple.Name(s.path, ""), s.clears)
}

// Changes is [Space.Changes] for all spaces.
func (m *Memory) Changes(ctx context.Context, since uint64) iter.Seq2[Change, error] {
	m.made()
	return m.changes(m.db.Changes(ctx, since), "", all)
}

// Since is [Space.Changes] that ends at the current version: it never blocks and needs no context.
// Its error is [cow.ErrCompacted] where the past is not retained, as without [cow.DB.Retain]; see
// [cow.DB.Commits].
func (s Space) Since(since uint64) iter.Seq2[Change, error] {
	s.m.made()
	return s.m.changes(s.m.db.Commits(since), tuple.Name(s.path, ""), s.clears)
}

// Since is [Space.Since] for all spaces.
func (m *Memory) Since(since uint64) iter.Seq2[Change, error] {
	m.made()
	return m.changes(m.db.Commits(since), "", all)
}

// History returns an iterator over what commits did to the entry of key, the newest first. Where
// the past is not retained any further it ends with [cow.ErrCompacted]; it ends without an error if
// nothing is missing. A Change that is Cleared has the Key here, and the entry in Old. History
// never blocks. It takes a step for each version of the entry, and for each commit while there was
// none.
func (s Space) History(key string) iter.Seq2[Change, error] {
	s.m.made()
	return func(yield func(Change, error) bool) { s.history(key, yield) }
}

// history is History, where no other package inlines it: see tablesOf.
func (s Space) history(key string, yield func(Change, error) bool) {
	name := tuple.Name(s.path, key)
	root := s.m.db.Load()
	at := root.Version()
	if row, ok := (derive.View{T: tablesOf(s.m), Root: root}).Row(s.path, key); ok {
		at = row.Revision()
	}
	var cleared *Change // the oldest since there was an entry
	for at > 0 {
		commit, err := s.m.commit(at)
		if err != nil {
			yield(Change{}, bare.Named(err))
			return
		}
		at--
		for _, c := range slices.Backward(s.m.appendCommit(nil, commit, name, s.clears)) {
			switch {
			case c.Kind == Cleared:
				cleared = &c
				continue
			case c.Key != key:
				continue
			case cleared != nil && c.New.row != nil:
				cleared.Key, cleared.Old = key, c.New
				if !yield(*cleared, nil) {
					return
				}
			}
			cleared = nil
			if !yield(c, nil) {
				return
			}
			if c.Old.row != nil {
				at = c.Old.Revision
			}
		}
	}
}

// commit returns the commit of a version that was published.
func (m *Memory) commit(version uint64) (commit *cow.Commit, err error) {
	for commit, err = range m.db.Commits(version - 1) {
		break
	}
	return commit, err
}

// clears reports whether a mark clears the space.
func (s Space) clears(mark string) bool { return data.Covers(mark, s.path) }

// Resume is [Memory.Changes] from a cursor, which [cow.DB.Cursor] returns. It ends with
// [cow.ErrCursor] for any other text, and with [cow.ErrLineage] for a cursor of another Memory, a
// fork included.
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

// Rows returns an iterator over what a commit of the DB did to entries, as [Memory.Changes] does.
// It is for programs that follow the commits of the DB, with its other tables. It is empty for a
// commit that changed no entry. The commit must be of the DB that the Memory is in, or of a fork.
func (m *Memory) Rows(c *cow.Commit) iter.Seq[Change] {
	m.made()
	return slices.Values(m.appendCommit(nil, c, "", all))
}

// appendCommit appends what a commit did to entries whose names begin with prefix, and what
// it cleared by marks that are wanted.
func (m *Memory) appendCommit(changes []Change, commit *cow.Commit, prefix string, wanted func(mark string) bool) []Change {
	for c := range tablesOf(m).Cleared.Rows(commit) {
		old, _ := c.Old()
		next, _ := c.New()
		if next != nil && (old == nil || old.At != next.At) && wanted(c.Key) {
			path, below := tuple.CutBelow(c.Key)
			changes = append(changes, Change{Space: tuple.Decode(path), Kind: Cleared, Below: below})
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
	var rows []snapshot.Change[string, *data.Entry]
	for c := range tablesOf(m).Entries.Rows(commit) {
		if strings.HasPrefix(c.Key, prefix) {
			rows = append(rows, c)
		}
	}
	if len(rows) == 0 {
		return changes
	}
	slices.SortFunc(rows, func(a, b snapshot.Change[string, *data.Entry]) int { return strings.Compare(a.Key, b.Key) })
	h := &data.Head{Began: commit.Time().UnixNano()} // of a sweep of the DB, say
	for c := range tablesOf(m).Heads.Rows(commit) {
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
func newChange(c snapshot.Change[string, *data.Entry], h *data.Head, evicted map[string]bool) (Change, bool) {
	path, key := tuple.Split(c.Key)
	old, is := c.Rows()
	change := Change{Space: tuple.Decode(path), Key: key, Kind: Changed}
	none := snapshot.Row[string, *data.Entry]{}
	if is != none {
		change.New = newEntry(key, is.Shared(), is.Revision())
	}
	if old != none && slices.ContainsFunc(h.Cleared, func(m data.Mark) bool { return data.Covers(string(m.Key), path) && old.Revision() <= m.At }) {
		old = none
	}
	switch {
	case c.Kind == snapshot.Erased:
		change.Kind = Erased
		return change, true
	case old == none:
		change.Kind = Added
		return change, is != none
	}
	change.Old = newEntry(key, old.Shared(), old.Revision())
	expired := old.Shared().Expired(h.Began)
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

// At returns the snapshot of a version: the current one, or one that [cow.DB.Retain] or
// [cow.DB.Pin] keeps. The current one is that of [Memory.Load]. A past one is at the instant of the
// last update of the Memory in it: entries that had not expired then are there. [Memory.AsOf] has
// any other instant. At returns [cow.ErrCompacted] for a version that is gone, and
// [cow.ErrUnpublished] for one to come.
func (m *Memory) At(version uint64) (Snapshot, error) {
	m.made()
	root, err := m.db.At(version)
	if err != nil {
		return Snapshot{}, bare.Named(err)
	}
	if root == m.db.Load() {
		return m.In(root), nil
	}
	return m.at(root), nil
}

// at returns a past snapshot.
func (m *Memory) at(root *cow.Snapshot) Snapshot {
	s := m.view(root, 0)
	for _, h := range tablesOf(m).Heads.In(root).All() {
		s.instant = max(s.instant, h.At)
	}
	return s
}

// AsOf returns the snapshot that Load would have returned at t, or, for a time to come, will
// return if nobody writes until then. It returns [cow.ErrCompacted] for a time before the
// oldest retained version, and always where nothing is retained.
func (m *Memory) AsOf(t time.Time) (Snapshot, error) {
	m.made()
	root, err := m.db.AsOf(t)
	if err != nil {
		return Snapshot{}, bare.Named(err)
	}
	instant := int64(math.MaxInt64) - 1
	if t.Before(time.Unix(0, instant)) {
		instant = t.UnixNano() // no version is so old that this is out of range
	}
	return m.view(root, instant), nil
}

// Watch blocks until an entry of those keys, or, without keys, any entry of the space, differs from
// since. It returns the snapshot that is current then, or ctx's cause when ctx ends. An entry
// differs once it was written, removed or evicted. An entry that expires differs when it is swept.
// All entries differ when the space is cleared.
func (s Space) Watch(ctx context.Context, since Snapshot, keys ...string) (Snapshot, error) {
	s.m.made()
	given(ctx, "a Watch")
	names := make([]string, len(keys))
	for i, k := range keys {
		names[i] = tuple.Name(s.path, k)
	}
	for {
		// A DB watches from a snapshot of its own, and since may be of a fork: so
		// it watches from one in which nothing differs yet.
		root := s.m.db.Load()
		if data.Gone(data.Marks{Map: tablesOf(s.m).Cleared.In(root)}, data.Marks{Map: tablesOf(s.m).Cleared.In(since.root)}, s.path) {
			break
		}
		var err error
		if len(keys) == 0 {
			if differ(tablesOf(s.m).Spaces, root, since.root, s.path) && !tablesOf(s.m).ReindexedOnly(s.path, root, since.root) {
				break
			}
			_, err = s.m.db.Watch(ctx, root, tablesOf(s.m).Cleared.OnAll(), tablesOf(s.m).Spaces.OnKeys(s.path))
		} else {
			if differ(tablesOf(s.m).Entries, root, since.root, names...) {
				break
			}
			_, err = s.m.db.Watch(ctx, root, tablesOf(s.m).Cleared.OnAll(), tablesOf(s.m).Entries.OnKeys(names...))
		}
		if err != nil {
			return Snapshot{}, bare.Named(err)
		}
	}
	return s.m.Load(), nil
}

// differ reports whether any row of those keys is not the same in both snapshots.
func differ[V any](t *cow.Table[string, V], newer, older *cow.Snapshot, keys ...string) bool {
	for _, k := range keys {
		is, _ := t.In(newer).Row(k)
		was, _ := t.In(older).Row(k)
		if is != was {
			return true
		}
	}
	return false
}
