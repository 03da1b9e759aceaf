package memory

import (
	"math"
	"sync"
	"sync/atomic"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/memory/text"
	"github.com/cowstore/cowstore/memory/value"
	"github.com/cowstore/cowstore/memory/vector"
)

// tables are where everything is, in a DB and its forks. They have no content
// themselves. The first five are the truth, and stored where the DB is; the others
// follow from them, see derive.go.
type tables struct {
	entries *cow.Table[string, *entry]        // by the name of the entry, see path.go
	options *cow.Table[string, *SpaceOptions] // by the encoded path; where configured
	cleared *cow.Table[string, *clearing]     // by the encoded path; see clear.go
	heads   *cow.Table[string, *head]         // what the last batch decided
	epochs  *cow.Table[string, *epoch]        // of text indexes, by the encoded path and when; see epoch.go
	spaces  *cow.Table[string, *space]        // by the encoded path; those that have entries
	below   *cow.Table[string, *total]        // by the encoded path; those that have entries below, see sums.go

	order      *cow.Index[string, *entry, string]
	byPath     *cow.Index[string, *space, string]
	byExpiry   *cow.Index[string, *entry, int64] // those that expire
	epochOrder *cow.Index[string, *epoch, string]
	empty      *cow.Snapshot // of a DB of its own: version 0, with the indexes
	made       atomic.Bool   // all of these are

	limits   Limits // of all spaces
	texts    texts
	settlers sync.Map // *cow.Tx → *settler, of the updates that are running
	family   family

	// What makes a read do more. They are set before a version that needs them is
	// published, and stay: whoever finds such a version finds them.
	expires atomic.Bool // an entry with an expiry was put
	clears  atomic.Bool // a space was cleared in steps
	stamps  atomic.Bool // something is limited: reads are stamped
	exact   atomic.Bool // and something small: each of them is
	ticks   atomic.Uint64
}

// An entry is a row. Nobody may modify it but by stamping it.
type entry struct {
	value    Value     // Absent: there is only a vector
	metadata Value     // a Map, or Absent
	vector   []float32 // nil: none; shared with the index. No two puts share one
	created  int64     // these are in ns since 1970, or unset
	updated  int64
	expires  int64 // 0: never
	size     int64 // how many bytes it takes, without its name and vector
	used     stamp
}

// unset is the time that an entry does not have yet. No entry was written then.
const unset = math.MinInt64

// sameVector reports whether two entries have the vector of one put.
func sameVector(a, b []float32) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// A head is what was decided for a whole version. It is immutable.
type head struct {
	Began   int64      // the time at which the batch judged what had expired
	At      int64      // the time of the commit, ns since 1970
	Evicted []nameText `json:",omitempty"` // names of the entries that this commit evicted
	Cleared []mark     `json:",omitempty"` // of what it removed, what was gone before
}

// A space is what follows from the entries of a space. It is immutable, once it is
// stored.
type space struct {
	count    int   // entries
	expiring int   // of them, those that expire
	bytes    int64 // of the entries
	vectors  *vector.Index
	texts    *text.Index
	since    uint64 // the version with which the epoch of texts began
}

// spaceSize is about what a space takes besides its entries and indexes: its row, and its
// place in the table and in the order.
const spaceSize = 144

// size returns how many bytes the space takes, with its indexes.
func (sp *space) size() int64 {
	if sp.count == 0 {
		return 0
	}
	return spaceSize + sp.bytes + int64(sp.vectors.Bytes()) + int64(sp.texts.Bytes())
}

// newTables makes the tables of a Memory in a DB.
func newTables(db *cow.DB, name string, o Options) *tables {
	t := &tables{limits: Limits{o.MaxEntries, o.MaxBytes}, texts: texts{o.NoText, o.Analyzer, o.AnalyzerOf, o.TextOf}}
	t.entries = cow.NewTable[string](db, name+".entries", cow.Options[*entry]{Immutable: true, Codec: entryCodec{}})
	t.options = cow.NewTable[string](db, name+".options", cow.Options[*SpaceOptions]{Immutable: true, Codec: jsonCodec[SpaceOptions]{}})
	t.cleared = cow.NewTable[string](db, name+".cleared", cow.Options[*clearing]{Immutable: true, Codec: jsonCodec[clearing]{}})
	t.heads = cow.NewTable[string](db, name+".heads", cow.Options[*head]{Immutable: true, Codec: jsonCodec[head]{}})
	t.epochs = cow.NewTable[string](db, name+".epochs", cow.Options[*epoch]{Immutable: true, Codec: jsonCodec[epoch]{}})
	t.below, _ = cow.NewDerived(db, name+".below", cow.Options[*total]{Immutable: true}, func(*cow.Tx, *cow.Editor[string, *total]) error { return nil }) // it follows with the spaces
	t.spaces, _ = cow.NewDerived(db, name+".spaces", cow.Options[*space]{Immutable: true}, t.derive)
	t.order = cow.NewOrder(t.entries, "order")
	t.byPath = cow.NewOrder(t.spaces, "path")
	t.epochOrder = cow.NewOrder(t.epochs, "order")
	t.byExpiry, _ = cow.NewMultiIndex(t.entries, "expiry", func(r cow.Row[string, *entry], add func(int64)) {
		e := r.Value()
		if e.expires != 0 {
			add(e.expires)
		}
	}, cow.IndexOptions[string]{}) // only a unique index can fail
	t.made.Store(true)
	t.empty = db.Load()
	t.note(t.limits)
	return t
}

// expired reports whether the entry has expired at an instant.
func (e *entry) expired(instant int64) bool {
	return instant != 0 && e.expires != 0 && e.expires <= instant
}

// next returns a copy of e to be changed and stored, or a new entry if it is nil.
func (e *entry) next() *entry {
	if e == nil {
		return &entry{created: unset, updated: unset}
	}
	return &entry{value: e.value, metadata: e.metadata, vector: e.vector, created: e.created, updated: unset, expires: e.expires}
}

// set sets the value of an entry that is not stored yet. A vector that another value had goes:
// by it nobody must find v.
func (e *entry) set(v Value) {
	if e.vector != nil && e.value.Exists() && v.Exists() && !value.Equal(e.value, v) {
		e.vector = nil
	}
	e.value = v
}
