package memory

import (
	"context"
	"math"
	"sync/atomic"
	"time"

	"github.com/cowstore/cowstore/memory/internal/bare"

	"github.com/cowstore/cowstore/cow"
)

// A Memory is the memory of an agent, or of many: entries in spaces, with their
// values, vectors and text, all at one version in every Snapshot.
//
// A Memory is made by [New] or [Memory.Fork] and must not be copied. All methods
// may be called from any number of goroutines at once. Reads never wait; writes
// queue. A Memory owns what it was given, as frozen copies, and what it gives out
// cannot be modified, or is the caller's own.
type Memory struct {
	db      *cow.DB
	*tables // shared with all forks

	options Options
	expires atomic.Bool // an entry with an expiry was put, at any time
	stamps  atomic.Bool // reads are stamped, since something is limited
}

// Options say how a Memory behaves. The zero value is right for most: no limits,
// no expiry, and a text index over all values.
type Options struct {
	MaxEntries int           // in all spaces; 0: no limit
	MaxBytes   int64         // that the entries take, about; 0: no limit
	TTL        time.Duration // of entries without one, nor their space; 0: they never expire
	NoText     bool          // no text index: SearchText finds nothing, Put is faster

	// MaxLine is how many bytes a line to Import may have; 0: 64 MiB. A value in it may
	// take three times as much in memory.
	MaxLine int
}

// maxLine returns how long a line may be.
func (o Options) maxLine() int {
	if o.MaxLine == 0 {
		return 64 << 20
	}
	return o.MaxLine
}

// tables are where everything is. They have no content themselves.
type tables struct {
	entries  *cow.Table[string, *entry]        // by the name of the entry, see path.go
	spaces   *cow.Table[string, *space]        // by the encoded path; those that have entries
	limits   *cow.Table[string, *SpaceOptions] // by the encoded path; where configured
	heads    *cow.Table[string, *head]         // one row, under ""
	order    *cow.Index[string, *entry, string]
	byPath   *cow.Index[string, *space, string]
	byExpiry *cow.Index[string, *entry, int64] // those that expire
	empty    *cow.Snapshot                     // version 0, with the indexes
	ticks    atomic.Uint64                     // the batches begun, for stamps
}

// An entry is a row. Nobody may modify it but by stamping it.
type entry struct {
	value    Value // Absent: there is only a vector
	metadata Value // a Map, or Absent
	vector   *embedding
	created  int64 // these are in ns since 1970, or unset
	updated  int64
	expires  int64 // 0: never
	size     int64 // about how many bytes it takes
	used     stamp
}

// unset is the time that an entry does not have yet. No entry was written then.
const unset = math.MinInt64

// An embedding stands for a vector, which lies in the index of its space. It is
// another one for each vector that was put.
type embedding struct{ dim int }

// A head is what is known of a whole version. It is immutable.
type head struct {
	began   int64    // the time at which the batch judged what had expired
	at      int64    // the time of the commit, ns since 1970
	bytes   int64    // of all entries
	evicted []string // names of the entries that this commit evicted
	hand    string   // the last of them in any version: where to look for the next
}

const headKey = ""

// New returns an empty Memory. It panics if a limit is negative.
func New(o Options) *Memory {
	if o.MaxEntries < 0 || o.MaxBytes < 0 || o.TTL < 0 || o.MaxLine < 0 {
		panic("memory: New with a negative limit: 0 is none")
	}
	m := &Memory{db: new(cow.DB), options: o}
	m.tables = &tables{
		entries: cow.NewTable[string](m.db, "entries", cow.Options[*entry]{Immutable: true}),
		spaces:  cow.NewTable[string](m.db, "spaces", cow.Options[*space]{Immutable: true}),
		limits:  cow.NewTable[string](m.db, "options", cow.Options[*SpaceOptions]{Immutable: true}),
		heads:   cow.NewTable[string](m.db, "heads", cow.Options[*head]{Immutable: true}),
	}
	m.order = cow.NewOrder(m.entries, "order")
	m.byPath = cow.NewOrder(m.spaces, "path")
	m.byExpiry, _ = cow.NewMultiIndex(m.entries, "expiry", func(e *entry, add func(int64)) {
		if e.expires != 0 {
			add(e.expires)
		}
	}, cow.IndexOptions[string]{}) // only a unique index can fail
	m.empty = m.db.Load()
	m.stamps.Store(o.limits())
	return m
}

func (o Options) limits() bool { return o.MaxEntries > 0 || o.MaxBytes > 0 }

// Load returns the current snapshot. It is valid forever and never changes: what
// has not expired now never expires in it.
func (m *Memory) Load() Snapshot {
	// The flag is set before a version that needs it is published: whoever finds
	// such a version finds the flag.
	return m.now(m.db.Load())
}

// now returns a snapshot that was just loaded.
func (m *Memory) now(root *cow.Snapshot) Snapshot {
	if m.expires.Load() {
		return Snapshot{m.tables, root, time.Now().UnixNano()}
	}
	return Snapshot{m.tables, root, 0}
}

// Wait blocks until there is a version above after, and returns the snapshot
// that is current then; ctx's cause; or, at once, ErrUnpublished if after itself is
// a version to come. Expiry publishes no version; sweeping does.
func (m *Memory) Wait(ctx context.Context, after uint64) (Snapshot, error) {
	if _, err := m.db.Wait(ctx, after); err != nil {
		return Snapshot{}, bare.Named(err)
	}
	return m.Load(), nil
}

// Stats returns figures about the versions of the Memory.
func (m *Memory) Stats() cow.Stats { return m.db.Stats() }
