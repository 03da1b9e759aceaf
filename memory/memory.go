package memory

import (
	"context"
	"iter"
	"sync"
	"time"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/memory/internal/data"
	"github.com/cowstore/cowstore/memory/internal/derive"
	"github.com/cowstore/cowstore/memory/internal/keep"
	"github.com/cowstore/cowstore/memory/text"
)

// A Memory is the memory of an agent, or of many: entries in spaces, with their
// values, vectors and text, all at one version in every Snapshot.
//
// A Memory is made by [New], [On], [Memory.Of] or [Memory.Fork] and must not be copied; methods
// of the zero Memory panic. All methods may be called from any number of goroutines at once.
// Reads never wait; writes queue. A Memory keeps frozen copies of what it is given. What it
// returns cannot be modified, or is the caller's own.
type Memory struct {
	db *cow.DB

	// What all forks have in common.
	policy, tables any // see tablesOf

	scratches *sync.Map // forks that nobody gets to see, as weak.Pointer[cow.DB], while they are there

	options Options
	w       keep.Writer
}

// Options say how a Memory behaves. The zero value is right for most: no limits,
// no expiry, and a text index over all values.
type Options struct {
	MaxEntries int           // in all spaces; 0: no limit
	MaxBytes   int64         // of the current version on the heap, indexes included; 0: no limit
	TTL        time.Duration // of entries without one, nor their space; 0, or Never: they never expire
	NoText     bool          // no text index: a Query with a Text finds nothing by it, Put is faster

	// Analyzer makes the words of texts and queries; nil: in English, where endings do not
	// count and stop words count for less. See text.Language, text.Plain and text.Func. A
	// DB that is opened with another Analyzer than before makes its index with the new one.
	Analyzer *text.Analyzer

	// AnalyzerOf returns the Analyzer of the space of that path. If it is nil or returns
	// nil, that is Analyzer. Like TextOf it is called whenever an index is made, on
	// replicas and when a DB is opened too, from any number of goroutines at once, and must
	// not use the Memory. A space with text keeps its Analyzer until Space.Reindex.
	AnalyzerOf func(space []string) *text.Analyzer

	// TextOf returns the text of a value in the space of that path: strings, each with how
	// many times its words count, 100 at most; 0 or less leaves it out. nil: every string
	// in the value, once. It must always return the same for the same value: after a
	// change, call Space.Reindex.
	TextOf func(space []string, v Value) iter.Seq2[string, int]

	// Embed returns the vector of each text, all of one dimension. Memory.EmbedMissing calls
	// it for entries that have none, and Space.Recall for a query. For the vector of a write
	// or of another search, the program calls its model itself. Embed is never called inside
	// an update, may be called from several goroutines at once, and must return when ctx
	// ends. nil: the program puts all vectors.
	Embed func(ctx context.Context, texts []string) ([][]float32, error)

	// Name is what the names of the tables begin with; "": "memory". It tells several
	// memories in one DB apart, and must stay the same where the DB is durable.
	Name string

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

// New returns an empty Memory. It panics if a limit is negative.
func New(o Options) *Memory { return On(new(cow.DB), o) }

// On returns a Memory in tables of its own that it makes in db, next to those of the
// application: all are in one version, and [Memory.BatchIn] writes to them in one update.
// Call On once for a DB, before db is made durable or replicated, and then with the same
// Options in each run. For a fork of db, [Memory.Of] returns the Memory.
//
// A durable or replicated DB stores the entries, with their vectors, and how spaces are
// configured. Counts and indexes are computed from these on each side: searches have the
// same hits and scores there, unless AnalyzerOf or TextOf returns something else by then,
// see [Space.Reindex]. Values come back as equal ones, with the Go types of JSON: see
// [value.Append]. A value with a Handle in it is refused. When an entry was last read is
// not stored: of the entries not used since a restart, the first written are evicted first.
//
// On panics if a limit is negative, or if db has tables of that name.
func On(db *cow.DB, o Options) *Memory {
	if o.MaxEntries < 0 || o.MaxBytes < 0 || data.ValidTTL(o.TTL) != nil || o.MaxLine < 0 {
		panic("memory: a negative limit: 0 is none")
	}
	name := o.Name
	if name == "" {
		name = "memory"
	}
	how := derive.Words{None: o.NoText, Analyzer: o.Analyzer, AnalyzerOf: o.AnalyzerOf, TextOf: o.TextOf, Embedded: o.Embed != nil}
	p := keep.NewPolicy(db, name, how, data.Limits{MaxEntries: o.MaxEntries, MaxBytes: o.MaxBytes}, o.TTL)
	return &Memory{db: db, policy: p, tables: p.Tables, scratches: new(sync.Map), options: o}
}

// Of returns the Memory in db, which must be a fork of the DB of m, or the DB that it was
// forked from. It panics if db is neither.
func (m *Memory) Of(db *cow.DB) *Memory {
	m.made()
	tablesOf(m).Entries.Of(db)
	return m.over(db)
}

// over returns the Memory in another DB of the same line, which nobody else knows.
func (m *Memory) over(db *cow.DB) *Memory {
	return &Memory{db: db, policy: m.policy, tables: m.tables, scratches: m.scratches, options: m.options}
}

// tablesOf returns the tables of a Memory, which are those of its policy.
//
// A package compiles all methods of each instance of a generic type that the types it mentions
// lead to. Those of the tables take seconds, in each package that mentions a Memory, a Batch or a
// Snapshot. So their fields that lead there are any; no method of an exported type has a table, or
// what leads to one, in its signature; and this function, policyOf, updateOf, viewOf and
// currentView, which no other package reads, say what the fields hold. An exported method that other
// packages would inline calls none of them.
func tablesOf(m *Memory) *derive.Tables { return m.tables.(*derive.Tables) }

// policyOf returns what a Memory does by itself.
func policyOf(m *Memory) *keep.Policy { return m.policy.(*keep.Policy) }

// made panics for what New and the like have not made: a zero Memory, and a zero Space,
// Typed, Batch or Editor, which have none.
func (m *Memory) made() {
	if m == nil || m.tables == nil {
		panic("memory: used before it was made: memory.New makes a Memory, and its methods a Space and a Batch")
	}
}

// given panics unless what was asked for with a context.
func given(ctx context.Context, what string) {
	if ctx == nil {
		panic("memory: " + what + " with a nil context: pass context.Background()")
	}
}

// DB returns the DB that the Memory is in. Its versions, its past and its figures are those of the
// Memory: see [cow.DB.Retain], [cow.DB.Pin], [cow.DB.Wait], [cow.DB.Cursor] and [cow.DB.Stats].
// What Retain keeps is what was written over: values and metadata, parts of vectors and text.
func (m *Memory) DB() *cow.DB {
	m.made()
	return m.db
}

// Load returns the current snapshot. It is valid forever and never changes: what
// has not expired now never expires in it.
func (m *Memory) Load() Snapshot {
	m.made()
	return m.In(m.db.Load())
}

// In returns the Memory in a snapshot of its DB. What has expired by now is not in it. The
// first read panics if s is of another DB, unless one is a fork of the other.
func (m *Memory) In(s *cow.Snapshot) Snapshot {
	m.made()
	return m.view(s, instantOf(s))
}

// currentView returns what the tables have in the current snapshot.
func currentView(m *Memory) derive.View {
	m.made()
	root := m.db.Load()
	return derive.View{T: tablesOf(m), Root: root, Instant: instantOf(root)}
}

// instantOf returns the instant of a snapshot that is loaded now; see derive.View.
func instantOf(root *cow.Snapshot) int64 {
	if root.Due() {
		return time.Now().UnixNano()
	}
	return 0
}

// view returns the Memory in a snapshot of its DB at an instant; see derive.View.
func (m *Memory) view(root *cow.Snapshot, instant int64) Snapshot {
	return Snapshot{tables: m.tables, root: root, instant: instant}
}

// Fork returns a new Memory that begins with s, a snapshot of m, current or past, or of
// another fork. It is for trying something out. The fork is independent from then on. It
// has the Options of m, and no history, pins or watches. Fork takes constant time, or, for
// a snapshot from At or AsOf, time proportional to what was written since.
func (m *Memory) Fork(s Snapshot) *Memory {
	m.made()
	return m.Of(m.db.Fork(s.root))
}
