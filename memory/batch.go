package memory

import (
	"time"
	"weak"

	"github.com/cowstore/cowstore/cow"
)

// A Batch is one update of a Memory. It must not be used after its function has
// returned, which panics.
type Batch struct {
	m       *Memory
	tx      *cow.Tx
	now     int64
	tick    uint64
	entries *cow.Editor[string, *entry]
	settler *settler
	cleared clearings      // so far
	dims    map[string]int // of vectors that were put and are not settled yet, by space

	err     error // what Configure has to say
	ended   bool
	wrote   bool             // a verb changed something
	limited map[string]bool  // keys of what may have too much, see limitsOf
	own     map[string]total // by key, once it is known; see ownOf
	swept   int
	evicted []nameText
}

// Batch calls f with a Batch, and publishes what f did through it, in any number
// of spaces, as one version when f returns nil. If f returns an error, which
// Batch returns, or panics, or if what f did cannot be stored, nothing happens.
// Batches, and all other writes, run one at a time; f must not write to the Memory
// itself.
//
// Where a sink makes the DB durable or replicates it, Batch returns once its version is
// acknowledged, with the errors of [cow.DB.Update], and f may be called again.
func (m *Memory) Batch(f func(b *Batch) error) error {
	m.made()
	return m.db.Update(func(tx *cow.Tx) error { return m.BatchIn(tx, f) })
}

// BatchIn is Batch in an update of the DB, with whatever else that does to other tables.
// If BatchIn returns an error so must the function of the update. It may be called
// several times in one.
func (m *Memory) BatchIn(tx *cow.Tx, f func(b *Batch) error) error {
	m.made()
	b := m.begin(tx)
	done := false
	defer func() {
		b.ended = true
		if !done {
			m.settlers.Delete(tx)
		}
	}()
	if err := f(b); err != nil {
		return err
	}
	if err := b.end(); err != nil {
		return err
	}
	done = true
	return nil
}

// begin begins a Batch.
func (m *Memory) begin(tx *cow.Tx) *Batch {
	if last := m.last.Value(); last != nil && last != tx {
		m.settlers.Delete(last) // of an update that failed after its Batch
	}
	m.last = weak.Make(tx)
	b := &Batch{m: m, tx: tx, now: time.Now().UnixNano(), tick: m.ticks.Add(1), entries: m.entries.Edit(tx), settler: m.settler(tx)}
	heads := m.heads.Edit(tx)
	for key, h := range heads.All() {
		b.now = max(b.now, h.At) // a clock may go back, time may not
		if heads.Revision(key) == Pending {
			b.evicted = append(b.evicted, h.Evicted...)
		}
	}
	if m.clears.Load() {
		b.cleared = clearings{m.tables.cleared.During(tx)}
	}
	return b
}

// end does what ends every Batch: it removes a few of what has expired or was cleared,
// and what is too much.
func (b *Batch) end() error {
	if b.err != nil {
		return b.err
	}
	b.purge(purgeAtOnce)
	b.swept = b.sweep(sweepAtOnce)
	if err := b.settler.settle(); err != nil {
		return err
	}
	if err := b.evict(); err != nil {
		return err
	}
	b.keepEpochs()
	if len(b.settler.changes()) > 0 {
		b.setHead(&head{Began: b.now, At: max(b.now, time.Now().UnixNano()), Evicted: b.evicted, Cleared: b.marks()})
	}
	return nil
}

// setHead puts a head in place of those there are. Its key is another one each time: there
// are two heads after a merge by the DB, and no conflict.
func (b *Batch) setHead(h *head) {
	heads := b.m.heads.Edit(b.tx)
	for key := range heads.Map().Keys() {
		heads.Delete(key)
	}
	heads.Set(headKey(h.At, b.tick), h)
}

// Version returns the version that the batch will publish, if it does: a batch that
// fails, or changes nothing though it returns nil, leaves the number to the next.
func (b *Batch) Version() uint64 {
	b.m.made()
	return b.tx.Version()
}

// Space returns an Editor of the space with that path. No path is the root, a
// space like others.
func (b *Batch) Space(path ...string) *Editor { return b.editor(encodePath(path)) }

func (b *Batch) editor(space string) *Editor { return &Editor{b, space} }

// live panics if the Batch has ended, or is the zero Batch.
func (b *Batch) live() {
	if b == nil {
		b = new(Batch) // of the zero Editor
	}
	b.m.made()
	if b.ended {
		panic("memory: an Editor used after its Batch has ended: it must not be kept")
	}
}

// lookup returns an entry that is there and has not expired, or nil, and its
// revision.
func (b *Batch) lookup(name string) (*entry, uint64) {
	b.live()
	e, _ := b.entries.Get(name)
	if e == nil || e.expired(b.now) {
		return nil, 0
	}
	revision := b.entries.Revision(name)
	if b.cleared.left() > 0 {
		if path, _ := split(name); !b.cleared.alive(path, revision) {
			return nil, 0
		}
	}
	return e, revision
}

// store stores an entry under a name.
func (b *Batch) store(name string, e *entry) {
	b.live()
	b.complete(e)
	b.entries.Set(name, e)
	b.wrote = true
}

// remove removes the entry under a name.
func (b *Batch) remove(name string) {
	b.live()
	if b.entries.Delete(name) {
		b.wrote = true
	}
}

// complete fills in what is the same for all entries that a batch stores.
func (b *Batch) complete(e *entry) {
	e.measure()
	if e.updated == unset {
		e.updated = b.now
	}
	if e.created == unset {
		e.created = b.now
	}
	e.used.used(b.m.ticks.Add(1)) // each store by itself
}
