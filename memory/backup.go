package memory

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/memory/internal/bare"
)

// A point is the first line of a backup: where in a line of versions it was made.
type point struct {
	cursor string
	at     int64 // when that version was published
}

// Backup writes the current version, for Restore, while writes to the Memory may go on: an
// export, with the revision of each entry, after a line, without the break:
//
//	{"cursor":"ABCDEFGHIJKLMNOPQRSTUVWXYZ.42","time":"…"}
//
// What comes back by Restore is what does by Import, see [Snapshot.Export], and besides
// revisions, version and lineage, so that cursors of the Memory are good for the one that
// is restored. What does not is the retained past, pins, and when an entry was last read.
// Of a Memory at version 0 there is nothing to back up, and nothing is written.
func (m *Memory) Backup(w io.Writer) error {
	m.made()
	s := m.Load()
	if s.Version() == 0 {
		return nil
	}
	b, enc := newLinesOf(w)
	if err := enc.Encode(struct {
		Cursor string    `json:"cursor"`
		Time   time.Time `json:"time"`
	}{m.Cursor(s.Version()), m.published(s).UTC()}); err != nil {
		return err
	}
	if err := s.export(enc, true); err != nil {
		return err
	}
	return b.Flush()
}

// published returns when a version was published, or, if that is no longer known, when the
// Memory was last written to, or now.
func (m *Memory) published(s Snapshot) time.Time {
	for version, at := range m.db.Versions() {
		if version == s.Version() && !at.IsZero() {
			return at
		}
	}
	if last := m.at(s.root).instant; last != 0 {
		return time.Unix(0, last)
	}
	return time.Now()
}

// Restore makes a Memory that is at version 0, with a DB at version 0, go on from a backup,
// and returns how many lines of contents it had. All is there in one version, with nothing
// evicted: what is too much for the limits of the Memory goes with later writes. The errors
// are those of Import, and ErrNotEmpty if the Memory is not empty, or its DB has a
// sink; after each of them, nothing is restored. There must be one line of versions of a
// lineage: to make several memories out of one backup, Import it.
func (m *Memory) Restore(r io.Reader) (n int, err error) {
	m.made()
	all, from, err := m.read(r)
	if err != nil {
		return 0, err
	}
	if from == nil {
		return 0, lineError(1, fmt.Errorf("%w: it is not that of a backup: what Export has written is for Import", ErrMalformed))
	}
	var begun *cow.Tx
	err = m.db.Restore(from.cursor, time.Unix(0, from.at), func(tx *cow.Tx) error {
		begun = tx
		settler := m.settler(tx) // which derives the rest when this returns
		for _, i := range all {
			if err := m.restore(tx, settler, i, from.at); err != nil {
				return lineError(i.line, err)
			}
		}
		m.heads.Edit(tx).Set(headKey(from.at, 0), &head{Began: from.at, At: from.at})
		return nil
	})
	m.settlers.Delete(begun) // if that failed
	switch {
	case errors.Is(err, ErrCursor):
		return 0, lineError(1, fmt.Errorf("%w: %w", ErrMalformed, bare.Wrap(err)))
	case err != nil:
		return 0, bare.Named(err)
	}
	return len(all), nil
}

// restore stores what was read of a backup, as it was.
func (m *Memory) restore(tx *cow.Tx, s *settler, i imported, at int64) error {
	if i.options != nil {
		m.tables.options.Edit(tx).Set(i.space, i.options)
		return nil
	}
	if i.revision == 0 || i.revision > tx.Version() {
		return fmt.Errorf("%w: revision %d of version %d", ErrMalformed, i.revision, tx.Version())
	}
	e := &entry{value: i.value, metadata: i.metadata, vector: i.vector, created: i.created, updated: i.updated, expires: i.expires}
	if e.updated == unset {
		e.updated = at
	}
	if e.created == unset {
		e.created = at
	}
	e.measure()
	s.know(i.space, i.value, i.words)
	return m.entries.Restore(tx, nameOf(i.space, i.key), e, i.revision)
}

// headKey returns the key of a head.
func headKey(at int64, tick uint64) string {
	key := binary.BigEndian.AppendUint64(nil, uint64(at))
	return string(binary.BigEndian.AppendUint64(key, tick))
}
