package memory

import (
	"time"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/memory/text"
)

// A Batch is one update of a Memory. It must not be used after its function has
// returned, which panics.
type Batch struct {
	m       *Memory
	tx      *cow.Tx
	now     int64
	tick    uint64
	entries *cow.Editor[string, *entry]
	wrote   bool // a verb changed something

	// What was put and is not settled yet; see settle.
	vectors map[string][]float32 // by the name of the entry
	dims    map[string]int       // of the vectors that were put, by space
	words   map[Value]text.Words // by the value they are of
	settler settler
}

// Batch calls f with a Batch, and publishes what f did through it, in any number
// of spaces, as one version when f returns nil. If f returns an error, which
// Batch returns, or panics, or if what f did cannot be stored, nothing happens.
// Batches, and all other writes, run one at a time; f must not write to the Memory
// itself.
func (m *Memory) Batch(f func(b *Batch) error) error {
	return m.db.Update(func(tx *cow.Tx) error {
		b := &Batch{m: m, tx: tx, now: time.Now().UnixNano(), tick: m.ticks.Add(1), entries: m.entries.Edit(tx)}
		b.settler.begin(b)
		if err := f(b); err != nil {
			return err
		}
		return b.settler.end()
	})
}

// Version returns the version that the batch will publish, if it does: a batch that
// fails, or changes nothing though it returns nil, leaves the number to the next.
func (b *Batch) Version() uint64 { return b.tx.Version() }

// Space returns an Editor of the space with that path. No path is the root, a
// space like others.
func (b *Batch) Space(path ...string) *Editor { return b.editor(encodePath(path)) }

func (b *Batch) editor(space string) *Editor { return &Editor{b, space} }

// lookup returns an entry that is there and has not expired, or nil, and its
// revision.
func (b *Batch) lookup(name string) (*entry, uint64) {
	e, _ := b.entries.Get(name)
	if e == nil || e.expired(b.now) {
		return nil, 0
	}
	return e, b.entries.Revision(name)
}

// store stores an entry under a name.
func (b *Batch) store(name string, e *entry) {
	b.complete(name, e)
	b.entries.Set(name, e)
	b.wrote = true
}

// remove removes the entry under a name.
func (b *Batch) remove(name string) {
	if b.entries.Delete(name) {
		b.wrote = true
	}
}

// complete fills in what is the same for all entries that a batch stores.
func (b *Batch) complete(name string, e *entry) {
	e.size = int64(entryOverhead+len(name)) + e.value.Size() + e.metadata.Size()
	if e.vector != nil {
		e.size += int64(e.vector.dim) * vectorBytes
	}
	if e.updated == unset {
		e.updated = b.now
	}
	if e.created == unset {
		e.created = b.now
	}
	e.used.written(b.tick)
}

const (
	entryOverhead = 256   // of a row and its place in two tables and indexes
	vectorBytes   = 4 + 1 // of a dimension of a vector, with that for the quick scan
)

// expired reports whether the entry has expired at an instant.
func (e *entry) expired(instant int64) bool { return e.expires != 0 && e.expires <= instant }

// next returns a copy of e to be changed and stored, or a new entry if it is nil.
func (e *entry) next() *entry {
	if e == nil {
		return &entry{created: unset, updated: unset}
	}
	return &entry{value: e.value, metadata: e.metadata, vector: e.vector, created: e.created, updated: unset, expires: e.expires}
}
