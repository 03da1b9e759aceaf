package memory

import (
	"iter"
	"math"
	"time"

	"github.com/cowstore/cowstore/memory/internal/bare"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/snapshot"
)

// Pending is the revision, inside a Batch, of what that Batch itself wrote: it
// matches nothing. Once the Batch is published it is the version of that.
const Pending = snapshot.Pending

// Retain keeps past versions from now on, as r says, for At, AsOf and Changes.
// What it keeps is what was written over: values and metadata, parts of vectors
// and text.
func (m *Memory) Retain(r cow.Retention) {
	m.made()
	m.db.Retain(r)
}

// At returns the snapshot of a version: the current one, a retained or a pinned
// one. Its instant is that of the last update of the Memory in it, but for the current one,
// which is that of Load: AsOf has any other. It returns ErrCompacted for one that is gone, and
// ErrUnpublished for one to come.
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
	s := Snapshot{t: m.tables, root: root}
	for _, h := range m.heads.In(root).All() {
		s.instant = max(s.instant, h.At)
	}
	return s
}

// AsOf returns the snapshot that one would have loaded at t; for a time to come,
// what will be if nobody writes. It returns ErrCompacted for a time before the
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
	return Snapshot{m.tables, root, instant}, nil
}

// Versions returns an iterator over the retained versions, the oldest first and
// the current one last, and when each was published; see cow.DB.
func (m *Memory) Versions() iter.Seq2[uint64, time.Time] {
	m.made()
	return m.db.Versions()
}

// Pin keeps the snapshot of a version under a name until Unpin: At finds it
// however long ago it was. It is the Pin of the DB, and survives a restart where the DB keeps
// pins, as in cow/bolt. The errors are those of cow.DB.Pin.
func (m *Memory) Pin(name string, version uint64) error {
	m.made()
	return bare.Named(m.db.Pin(name, version))
}

// Unpin lets go of the pin of that name and reports whether it did; see cow.DB.
func (m *Memory) Unpin(name string) bool {
	m.made()
	return m.db.Unpin(name)
}

// Pins returns an iterator over the pins, by name, and what they keep.
func (m *Memory) Pins() iter.Seq2[string, Snapshot] {
	m.made()
	return func(yield func(string, Snapshot) bool) {
		for name, root := range m.db.Pins() {
			if !yield(name, m.at(root)) {
				return
			}
		}
	}
}

// Fork returns a new Memory that begins with s, a snapshot of m, current or past,
// or of another fork: to try something out. It takes constant time, or, for a
// snapshot from At or AsOf, time proportional to what was written since. The fork is
// independent from then on. It has the Options of m, and no history, pins or watches.
func (m *Memory) Fork(s Snapshot) *Memory {
	m.made()
	if s.root == nil {
		s.root = m.empty
	}
	return m.Of(m.db.Fork(s.root))
}
