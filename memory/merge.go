package memory

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"
	"weak"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/memory/internal/data"
	"github.com/cowstore/cowstore/memory/internal/keep"
	"github.com/cowstore/cowstore/memory/internal/tuple"
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
// nothing was given to resolve them. It wraps [cow.ErrConflict].
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

func (e *MergeError) Unwrap() error { return cow.ErrConflict }

// Merge makes the changes from base to theirs here as well, as one version: a
// three-way merge. Base is the snapshot that a fork began with, and after a merge,
// in either direction, what that returned; theirs is the fork's snapshot now. Both
// must come from the same origin. With snapshots of one Memory, Merge(after,
// before, nil) undoes what happened in between.
//
// An entry that was changed on both sides is a conflict, unless both removed it or have it from one
// write, or one side did no more than embed its text. For each conflict, resolve returns the Entry
// to keep:
//
//   - Ours, Theirs or Base,
//   - one of these with another Value; its vector goes as after Put,
//   - the zero Entry, to remove it,
//   - or an error, which ends the merge.
//
// Resolve runs within the update and must not write to m. It may be shown entries that have expired
// and are not swept yet. If resolve is nil, Merge returns the conflicts in a *[MergeError].
//
// On an error nothing is published. Other errors are [ErrFull], [ErrDimension], and ctx's cause
// when ctx ends.
//
// The options of spaces stay as they are. Entries that were cleared and are not removed yet, in any
// space, are removed first, in versions of their own. Merge panics if theirs is the zero Snapshot,
// which At and AsOf return with an error: it would remove everything.
func (m *Memory) Merge(ctx context.Context, base, theirs Snapshot, resolve func(c Conflict) (Entry, error)) (next Snapshot, err error) {
	given(ctx, "a Merge")
	if theirs.root == nil {
		panic("memory: Merge with the zero Snapshot, which is empty: look at the error that came with it")
	}
	return m.merge(ctx, base, theirs, resolve, nil)
}

// merge is Merge that returns unchanged, and does nothing, if that is not nil and the merge
// would change no entry that anybody sees.
func (m *Memory) merge(ctx context.Context, base, theirs Snapshot, resolve func(c Conflict) (Entry, error), unchanged error) (next Snapshot, err error) {
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
		err = m.purgeAll(ctx)
	}
	if err != nil {
		return Snapshot{}, err
	}
	var batch *keep.Update
	var before *snapshot.Map[string, *data.Entry]
	apply := func(b *Batch) error {
		conflicts = nil // those of an earlier run
		u := updateOf(b)
		u.Due = true
		for u.Purge(1 << 20) {
			// what was cleared since
		}
		if unchanged != nil {
			batch, before = u, u.Entries.Map()
		}
		rows := tablesOf(m).Entries
		from, to := rows.In(base.root), rows.In(theirs.root)
		err := u.Entries.Merge(from, to, func(c cow.Conflict[string, *data.Entry]) (*data.Entry, bool, error) {
			path, key := tuple.Split(c.Key)
			was, _ := c.Base()
			ours, _ := c.Ours()
			other, _ := c.Theirs()
			switch {
			case ours.EmbeddedSince(was), other.EmbeddedSince(ours):
				return other, other != nil, nil
			case other.EmbeddedSince(was), ours.EmbeddedSince(other), ours == other:
				return ours, ours != nil, nil
			}
			e, err := resolve(Conflict{
				Space:  tuple.Decode(path),
				Key:    key,
				Base:   newEntry(key, was, from.Revision(c.Key)),
				Ours:   newEntry(key, ours, u.Entries.Revision(c.Key)),
				Theirs: newEntry(key, other, to.Revision(c.Key)),
			})
			if err != nil || e.row == nil && !e.Value.Exists() {
				return nil, false, err
			}
			row := b.merged(c.Key, e)
			return row, row.Value.Exists() || row.Vector() != nil, nil
		})
		if err == nil && len(conflicts) > 0 {
			err = &MergeError{conflicts}
		}
		return err
	}
	err = m.db.UpdateContext(ctx, func(tx *cow.Tx) error {
		err := m.BatchIn(tx, apply)
		if err == nil && unchanged != nil && !differs(batch, before) { // with what the Batch has evicted
			err = unchanged
		}
		return err
	})
	if err != nil {
		return Snapshot{}, err
	}
	return kept, nil
}

// differs reports whether an update shows other entries than what it had before: what has
// expired, nobody sees.
func differs(u *keep.Update, before *snapshot.Map[string, *data.Entry]) bool {
	for c := range u.Entries.Map().Diff(before) {
		old, _ := c.Old()
		next, _ := c.New()
		if old != next && (old != nil && !old.Expired(u.Now) || next != nil && !next.Expired(u.Now)) {
			return true
		}
	}
	return false
}

// merged returns the row of an Entry that resolve has returned.
func (b *Batch) merged(name string, e Entry) *data.Entry {
	if e.row != nil && e.row.Value == e.Value {
		return e.row
	}
	next := e.row.Next()
	next.Set(e.Value)
	updateOf(b).Complete(next)
	return next
}

// Undo undoes the update that published a version, and publishes the result as one more version.
// Give it the revision that a write returned to undo that write, or the version of an Undo to undo
// that Undo.
//
// On an error nothing happens. The errors are
//
//   - a *[MergeError] if one of its entries was written since,
//   - [ErrNothingToUndo] if the version is undone already, also if two do it at once, or if it
//     changed no entry, or only entries that have expired or were erased since,
//   - [cow.ErrCompacted] if that version or the one before it is not retained: see [cow.DB.Retain],
//   - [cow.ErrUnpublished] for version 0, which no update made, and for a version to come,
//   - and those of [Memory.Merge].
//
// A vector that the text of an entry got since goes with it. Entries that the update swept, as they
// had expired, stay away. The options of spaces stay as they are.
func (m *Memory) Undo(ctx context.Context, version uint64) error {
	given(ctx, "an Undo")
	if version == 0 {
		return fmt.Errorf("memory: version 0: %w: no update made it", cow.ErrUnpublished)
	}
	after, err := m.At(version)
	before := after
	if err == nil {
		before, err = m.At(version - 1)
	}
	if errors.Is(err, cow.ErrCompacted) {
		err = fmt.Errorf("%w, and Undo needs %d and %d: see cow.DB.Retain", err, version-1, version)
	}
	if err != nil {
		return err
	}
	h := new(data.Head)
	for _, h = range tablesOf(m).Heads.In(after.root).All() {
		break
	}
	if before, err = m.without(before); err == nil {
		after, err = m.without(after)
	}
	if err == nil {
		before, err = m.withoutExpired(before, after, h.Began)
	}
	if err != nil {
		return err
	}
	_, err = m.merge(ctx, after, before, nil, fmt.Errorf("memory: version %d: %w: it changed no entry that is there still, or is undone already", version, ErrNothingToUndo))
	return err
}

// withoutExpired returns before without what the update that made after of it, and that
// began then, only swept, and without what it wrote over with what has expired by now. Neither has
// what was cleared.
func (m *Memory) withoutExpired(before, after Snapshot, began int64) (Snapshot, error) {
	return scratch(m, before, func(b *keep.Update) {
		entries := tablesOf(m).Entries
		for c := range entries.In(after.root).Diff(entries.In(before.root)) {
			change, _ := newChange(c, &data.Head{Began: began}, nil)
			gone := change.New.row != nil && change.New.row.Expired(b.Now) // whether it is swept yet or not
			if change.Kind == Expired || change.Old.row == nil || gone {
				b.Entries.Delete(c.Key)
			}
		}
	})
}

// Sweep removes all entries that have expired, those that are too many since Configure, and
// the rest of all spaces that were cleared. It returns how many had expired. It removes a few
// at a time, so that writers need not wait long.
//
// What has expired or was cleared cannot be read in any case, and every other write removes
// some of it: Sweep is needed only where little is written.
func (m *Memory) Sweep(ctx context.Context) (n int, err error) {
	m.made()
	given(ctx, "a Sweep")
	if err := m.shrink(ctx); err != nil {
		return 0, err
	}
	for m.db.Load().Due() || tablesOf(m).Clears.Load() {
		var b *Batch
		if err := m.BatchContext(ctx, func(is *Batch) error { b = is; return nil }); err != nil { // as each batch does
			return n, err
		}
		n += updateOf(b).Swept
		if updateOf(b).Swept < keep.SweepAtOnce && updateOf(b).Cleared.Left() == 0 {
			break
		}
	}
	return n, nil
}

// SweepEvery calls [Memory.Sweep] every d, which must be positive, until ctx ends, and
// returns ctx's cause, or an error of Sweep. Run it in a goroutine of its own: the Memory
// starts none.
func (m *Memory) SweepEvery(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		panic(fmt.Sprintf("memory: SweepEvery with a duration of %v, which is not positive: to sweep once, call Sweep", d))
	}
	given(ctx, "SweepEvery")
	t := time.NewTicker(d)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-t.C:
			if _, err := m.Sweep(ctx); err != nil {
				return err
			}
		}
	}
}

// shrink evicts what is still too much, in steps, since limits were set.
func (m *Memory) shrink(ctx context.Context) error {
	s := m.Load()
	options := tablesOf(m).Options.In(s.root)
	keys := []string{tuple.AboveBelow}
	for path := range options.Keys() {
		keys = append(keys, path+tuple.AboveBelow)
	}
	if len(keys) > 1 { // there may be defaults
		keys = slices.AppendSeq(keys, tablesOf(m).Spaces.In(s.root).Keys())
	}
	slices.Sort(keys)
	for _, key := range keys {
		path, below := tuple.CutBelow(key)
		for before := (data.Total{}); ; {
			s := m.Load()
			is := viewOf(s)
			n := is.Space(path).Total()
			if below {
				n = is.Total(path)
			}
			if n == before || !data.IsOver(data.LimitsOf(is.T.Options.In(s.root), key, policyOf(m).Limits), n) {
				break
			}
			before = n
			if err := m.BatchContext(ctx, func(b *Batch) error { updateOf(b).Limit(key); return nil }); err != nil {
				return err
			}
		}
	}
	return nil
}

// purgeAll removes what was cleared, in steps, so that others need not wait for all of it.
func (m *Memory) purgeAll(ctx context.Context) error {
	for viewOf(m.Load()).Clearings().Left() > 0 {
		if err := m.BatchContext(ctx, func(b *Batch) error { updateOf(b).Purge(16 * keep.PurgeAtOnce); return nil }); err != nil {
			return err
		}
	}
	return nil
}

// without returns a snapshot without what was cleared, for a comparison of rows.
func (m *Memory) without(s Snapshot) (Snapshot, error) {
	if viewOf(s).Clearings().Left() == 0 {
		return s, nil
	}
	return scratch(m, s, func(b *keep.Update) {
		for b.Purge(1 << 20) {
		}
	})
}

// scratch returns what f makes of a snapshot, in a fork that nobody gets to see.
func scratch(m *Memory, s Snapshot, f func(b *keep.Update)) (Snapshot, error) {
	fork := m.over(m.db.Fork(s.root))
	m.scratches.Store(weak.Make(fork.db), nil)
	runtime.AddCleanup(fork.db, func(p weak.Pointer[cow.DB]) { m.scratches.Delete(p) }, weak.Make(fork.db))
	err := fork.db.Update(func(tx *cow.Tx) error { f(keep.Begin(policyOf(fork), &fork.w, tx)); return nil })
	return m.view(fork.db.Load(), s.instant), err
}
