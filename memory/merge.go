package memory

import (
	"fmt"
	"strings"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/snapshot"
)

// A Conflict is an entry that both sides of a merge have changed. Where there is
// no entry, the Entry is the zero one.
type Conflict struct {
	Space  []string
	Key    string
	Base   Entry // what both began with
	Ours   Entry // in the Memory that is merged into
	Theirs Entry // in the snapshot that is merged
}

// A MergeError lists the entries that both sides of a merge have changed, where
// nothing was given to resolve them. It wraps ErrConflict.
type MergeError struct {
	Conflicts []Conflict
}

// Error names the first few entries.
func (e *MergeError) Error() string {
	const few = 5
	var b strings.Builder
	fmt.Fprintf(&b, "memory: changed on both sides, %d in all:", len(e.Conflicts))
	for i, c := range e.Conflicts {
		if i == few {
			b.WriteString(" …")
			break
		}
		fmt.Fprintf(&b, " %.100q %.100q", c.Space, c.Key)
	}
	return b.String()
}

func (e *MergeError) Unwrap() error { return ErrConflict }

// Merge makes the changes from base to theirs here as well, as one version: a
// three-way merge. Base is the snapshot that a fork began with, and after a merge,
// in either direction, what that returned; theirs is the fork's snapshot now. Both
// must come from the same origin. With snapshots of one Memory, Merge(after,
// before, nil) undoes what happened in between.
//
// An entry that was changed on both sides is a conflict, unless both removed it.
// For each, resolve returns the Entry to keep: Ours, Theirs or Base, one of these
// with another Value, whose vector goes as after Put, or the zero Entry to remove it; or
// an error, which ends the merge. If resolve is nil the conflicts are returned in a
// *MergeError. On an error nothing is published; ErrFull and ErrDimension are possible
// too. Resolve runs within the update and must not write to m; it may be shown entries
// that have expired and are not swept yet. What spaces are configured to stays. What was
// cleared, anywhere, and is not removed yet, a Merge removes before, in versions of their own.
// Merge panics if theirs is the zero Snapshot, which At and AsOf return with an error: it would remove
// everything.
func (m *Memory) Merge(base, theirs Snapshot, resolve func(c Conflict) (Entry, error)) (next Snapshot, err error) {
	if theirs.root == nil {
		panic("memory: Merge with the zero Snapshot, which is empty: look at the error that came with it")
	}
	return m.merge(base, theirs, resolve, nil)
}

// merge is Merge that returns unchanged, and does nothing, if that is not nil and the merge
// would change no entry that anybody sees.
func (m *Memory) merge(base, theirs Snapshot, resolve func(c Conflict) (Entry, error), unchanged error) (next Snapshot, err error) {
	var conflicts []Conflict
	if resolve == nil {
		resolve = func(c Conflict) (Entry, error) {
			conflicts = append(conflicts, c)
			return c.Ours, nil
		}
	}
	kept := theirs
	if base, err = m.without(base); err == nil {
		theirs, err = m.without(theirs)
	}
	if err == nil {
		err = m.purgeAll()
	}
	if err != nil {
		return Snapshot{}, err
	}
	var batch *Batch
	var before *snapshot.Map[string, *entry]
	apply := func(b *Batch) error {
		conflicts = nil // those of an earlier run
		for b.purge(1 << 20) {
			// what was cleared since
		}
		if unchanged != nil {
			batch, before = b, b.entries.Map()
		}
		err := b.entries.Merge(m.entries.In(base.root), m.entries.In(theirs.root), func(c cow.Conflict[string, *entry]) (*entry, bool, error) {
			path, key := split(c.Key)
			was, _ := c.Base()
			ours, _ := c.Ours()
			other, _ := c.Theirs()
			e, err := resolve(Conflict{
				Space:  decodePath(path),
				Key:    key,
				Base:   newEntry(key, was, m.entries.In(base.root).Revision(c.Key)),
				Ours:   newEntry(key, ours, b.entries.Revision(c.Key)),
				Theirs: newEntry(key, other, m.entries.In(theirs.root).Revision(c.Key)),
			})
			if err != nil || e.row == nil && !e.Value.Exists() {
				return nil, false, err
			}
			row := b.merged(c.Key, e)
			return row, row.value.Exists() || row.vector != nil, nil
		})
		if err == nil && len(conflicts) > 0 {
			err = &MergeError{conflicts}
		}
		return err
	}
	err = m.db.Update(func(tx *cow.Tx) error {
		err := m.BatchIn(tx, apply)
		if err == nil && unchanged != nil && !batch.differs(before) { // with what the Batch has evicted
			err = unchanged
		}
		return err
	})
	if err != nil {
		return Snapshot{}, err
	}
	return kept, nil
}

// differs reports whether the Batch shows other entries than what it had before: what has
// expired, nobody sees.
func (b *Batch) differs(before *snapshot.Map[string, *entry]) bool {
	for c := range b.entries.Map().Diff(before) {
		old, _ := c.Old()
		next, _ := c.New()
		if old != nil && !old.expired(b.now) || next != nil && !next.expired(b.now) {
			return true
		}
	}
	return false
}

// merged returns the row of an Entry that resolve has returned.
func (b *Batch) merged(name string, e Entry) *entry {
	if e.row != nil && e.row.value == e.Value {
		return e.row
	}
	next := e.row.next()
	next.set(e.Value)
	b.complete(next)
	return next
}

// Undo makes undone what the update did that published a version, as one more version:
// with the revision that a write returned, that write, and with the version of an Undo, that
// Undo. What was written since to the same entries is a conflict: a *MergeError, and nothing
// happens. Where nothing is left to do it returns ErrNothingToUndo, and nothing happens: of a
// version that is undone already, also if two do it at once, and of one that changed no entry.
// What was swept by the way, since it had expired, stays away, and what spaces are configured to
// stays. It needs both that version and the one before it, which Retain keeps; otherwise it
// returns ErrCompacted. No update made version 0, and none yet one to come: these are
// ErrUnpublished.
func (m *Memory) Undo(version uint64) error {
	if version == 0 {
		return fmt.Errorf("memory: version 0: %w: no update made it", ErrUnpublished)
	}
	after, err := m.At(version)
	if err != nil {
		return err
	}
	before, err := m.At(version - 1)
	if err != nil {
		return err
	}
	h := new(head)
	for _, h = range m.heads.In(after.root).All() {
		break
	}
	if before, err = m.without(before); err == nil {
		after, err = m.without(after)
	}
	if err == nil {
		before, err = m.withoutSwept(before, after, h.Began)
	}
	if err != nil {
		return err
	}
	_, err = m.merge(after, before, nil, fmt.Errorf("memory: version %d: %w: it changed no entry, or that is undone already", version, ErrNothingToUndo))
	return err
}

// withoutSwept returns before without what the update that made after of it, and that
// began then, only swept. Neither has what was cleared.
func (m *Memory) withoutSwept(before, after Snapshot, began int64) (Snapshot, error) {
	return m.scratch(before, func(b *Batch) {
		for c := range m.entries.In(after.root).Diff(m.entries.In(before.root)) {
			if change, _ := newChange(c, &head{Began: began}, nil); change.Kind == Expired || change.Old.row == nil {
				b.entries.Delete(c.Key)
			}
		}
	})
}
