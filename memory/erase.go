package memory

import (
	"context"
	"errors"
	"slices"
	"weak"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/memory/internal/bare"
	"github.com/cowstore/cowstore/memory/internal/data"
	"github.com/cowstore/cowstore/memory/internal/fault"
	"github.com/cowstore/cowstore/memory/internal/tuple"
	"github.com/cowstore/cowstore/snapshot"
)

// Erase removes the entry of key from the current version and from every other that the DB of
// the Memory keeps, retained or pinned, with its words and its vector in the indexes of each. All
// other entries keep their past. Erase is for what must be gone from a Memory that keeps a past;
// without one, Delete does the same for less. It publishes a version; in its changes the entry is
// Erased. Where the DB is durable or replicated, see [cow.DB.Erase], which also says what it costs.
//
// It returns [ErrNotFound] if no version that is kept has an entry of that key, or ctx's cause if
// ctx ends before the update is made; then nothing happens.
//
// Erase does not reach what others hold: snapshots and values in variables, exports and backups,
// and forks, or what the Memory is a fork of. It returns the DBs of those that have an entry of
// that key in any version: erase it there too. The key itself stays in the record that it was
// erased, or evicted before.
func (s Space) Erase(ctx context.Context, key string) (others []*cow.DB, err error) {
	s.m.made()
	given(ctx, "an Erase")
	name := tuple.Name(s.path, key)
	if !s.m.keeps(name) {
		return nil, fault.Of(s.path, key, ErrNotFound)
	}
	others, err = s.m.db.Erase(ctx, func(tx *cow.Tx) error {
		return s.m.BatchIn(tx, func(b *Batch) error { b.editor(s.path).Erase(key); return nil })
	})
	return slices.DeleteFunc(others, func(db *cow.DB) bool {
		_, ok := s.m.scratches.Load(weak.Make(db))
		return ok
	}), bare.Named(err)
}

// Erase is [Space.Erase], without its error, in a Batch within an update of [cow.DB.Erase];
// elsewhere it panics. It does nothing if there is no entry of key.
func (e *Editor) Erase(key string) {
	e.b.live()
	updateOf(e.b).Erase(tuple.Name(e.space, key))
}

// keeps reports whether any version that is kept has a row of that name.
func (m *Memory) keeps(name string) bool {
	for _, root := range m.db.Pins() {
		if tablesOf(m).Entries.In(root).Has(name) {
			return true
		}
	}
	if tablesOf(m).Entries.In(m.db.Load()).Has(name) {
		return true
	}
	for {
		oldest := uint64(0)
		for oldest = range m.db.Versions() {
			break
		}
		had, err := m.hadSince(oldest, name)
		if err == nil || had {
			return had
		}
		if !errors.Is(err, cow.ErrCompacted) {
			return true // it may
		}
		// Somebody trims the past just now. The rest is looked through again.
	}
}

// hadSince reports whether a commit after a version has changed or removed a row of that name.
func (m *Memory) hadSince(version uint64, name string) (bool, error) {
	for c, err := range m.db.Commits(version) {
		if err != nil {
			return false, err
		}
		for change := range tablesOf(m).Entries.Rows(c) {
			if old, _ := change.Rows(); change.Key == name && old != (snapshot.Row[string, *data.Entry]{}) {
				return true, nil
			}
		}
	}
	return false, nil
}
