package memory

import (
	"context"
	"errors"

	"github.com/cowstore/cowstore/memory/internal/bare"
	"github.com/cowstore/cowstore/memory/internal/data"
	"github.com/cowstore/cowstore/memory/internal/fault"
	"github.com/cowstore/cowstore/memory/internal/tuple"
	"github.com/cowstore/cowstore/snapshot"
)

// An Erasure says who still has an entry that was erased, under that key, in any version
// of it.
type Erasure struct {
	Pins  []string  // of the Memory, by name; see cow.DB.Unpin
	Forks []*Memory // of the same family: in a current version, a pin, or the retained past
}

// Erase removes the entry of key from the current version and from the past: it forgets the
// retained past of the Memory, and of the DB it is in, as far back as that has the entry, and
// all before. At, AsOf and Undo return ErrCompacted for these versions, and so do iterations
// over Changes that have not come further yet. It is for what must be gone, in memory that
// keeps a past; else Delete does the same for less.
//
// If neither the current version nor the retained past has an entry of that key, Erase changes
// nothing, publishes nothing, and returns ErrNotFound. The Erasure says who has it even then.
//
// Erase does not reach what others hold: pins and forks, which it reports, and snapshots
// and values in variables. Once these are gone too, the garbage collector frees the entry;
// the numbers of its vector may stay in the memory of the space, where nobody finds them,
// until a third of those beside it were removed. Where the DB is durable, the file has old
// pages until it is closed, without a crash, and compacted. To erase what a fork has, call
// Erase of its Space.
//
// It returns ctx's cause if ctx ends before the update is made, and nothing happens then.
//
// It takes time proportional to the past that goes, or, if the current version has no such
// entry, to all of the past, and to that of forks.
func (s Space) Erase(ctx context.Context, key string) (Erasure, error) {
	name := tuple.Name(s.path, key)
	absent := fault.Of(s.path, key, ErrNotFound)
	gone, err := s.editContext(ctx, func(e *Editor) error { // gone: the first version without it
		if !e.b.u.Entries.Has(name) {
			return absent // so that the update publishes nothing, not even what it would sweep
		}
		e.b.u.Remove(name)
		return nil
	})
	if errors.Is(err, absent) {
		if gone, err = s.m.gonePast(name); err == nil && gone == 0 {
			err = absent
		}
	}
	if err == nil {
		err = bare.Named(s.m.db.Compact(gone))
	}
	if err != nil && !errors.Is(err, absent) {
		return Erasure{}, err
	}
	var e Erasure
	for pin, root := range s.m.db.Pins() {
		if s.m.t.Entries.In(root).Has(name) {
			e.Pins = append(e.Pins, pin)
		}
	}
	for f := range s.m.family.all() {
		if f != s.m && f.knows(name) {
			e.Forks = append(e.Forks, f)
		}
	}
	return e, err
}

// knows reports whether the Memory has a row of that name in any version that it keeps.
func (m *Memory) knows(name string) bool {
	for _, root := range m.db.Pins() {
		if m.t.Entries.In(root).Has(name) {
			return true
		}
	}
	if m.t.Entries.In(m.db.Load()).Has(name) {
		return true
	}
	gone, err := m.gonePast(name)
	return err != nil || gone > 0 // after an error it may
}

// gonePast returns the version with which the last row of that name went from the retained
// past, 0 if no retained version but the current one has any.
func (m *Memory) gonePast(name string) (gone uint64, err error) {
	for last := uint64(0); ; {
		var oldest uint64
		for oldest = range m.db.Versions() {
			break
		}
		if err != nil && oldest == last {
			return gone, bare.Named(err)
		}
		gone, last, err = 0, oldest, nil
		for c, failed := range m.db.Commits(oldest) {
			if err = failed; err != nil {
				break
			}
			for change := range m.t.Entries.Rows(c) {
				if old, _ := change.Rows(); change.Key == name && old != (snapshot.Row[string, *data.Entry]{}) {
					gone = c.Version()
				}
			}
		}
		if !errors.Is(err, ErrCompacted) {
			return gone, bare.Named(err)
		}
		// Somebody trims the past just now: what went has the row no more. The rest is
		// looked through again.
	}
}
