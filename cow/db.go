package cow

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"weak"

	"github.com/cowstore/cowstore/cow/hook"
	"github.com/cowstore/cowstore/cow/internal/line"
	"github.com/cowstore/cowstore/cow/internal/look"
	"github.com/cowstore/cowstore/cow/internal/sink"
)

// A DB is a set of tables that are updated together: every snapshot shows all of them at one
// version.
//
// The zero DB has no tables and is ready for use; [New] makes a table with a DB of its own. A DB
// must not be copied after its first use: writes to a copy panic. All methods are safe for
// concurrent use. Reads never wait; writes queue. The tables own their values: see the package
// documentation.
type DB struct {
	line    line.Line
	related atomic.Bool             // it is among the forks of its catalog
	making  sync.Mutex              // held while tables get their state
	states  atomic.Pointer[[]state] // by table
}

// A Snapshot is all tables of a DB at one version. It is immutable, valid forever and safe for
// concurrent use; it must be handled by pointer. In the nil *Snapshot every table is empty; its
// version is 0.
type Snapshot line.Root

func (s *Snapshot) root() *line.Root { return (*line.Root)(s) }

// Version returns the version of the snapshot: the number of updates that were published up to it.
func (s *Snapshot) Version() uint64 { return s.root().Version() }

// Len returns the number of rows in all tables.
func (s *Snapshot) Len() int {
	n := 0
	for _, t := range s.tables() {
		n += t.rowsIn(s.root().Table(t.place()))
	}
	return n
}

// tables returns the tables that the DB of s has.
func (s *Snapshot) tables() []table {
	if o := s.root().Owner(); o != nil {
		return o.Tables.(*catalog).all()
	}
	return nil
}

// A catalog is the tables that a DB and its forks have. It is a line.Tables.
type catalog struct {
	mu      sync.Mutex
	list    []table
	derived atomic.Bool        // some are
	expires atomic.Bool        // rows of some do
	frozen  int                // DBs that have a sink: while there is one there are no more tables
	forks   []weak.Pointer[DB] // DBs of which one was forked from another: those that may still be there
	clean   int                // at so many forks those that are gone are dropped
}

// A table is a tableDef without its type parameters in the way. What it is asked about a
// content takes nil for an empty one.
type table interface {
	title() string
	place() int // in the catalog
	newState() state

	rowsIn(content any) int
	structure(content any) int
	exclusive(content, other any) (rows, bytes int)
	changed(newer, older any) (rows, bytes int)
	shown(content any) (json.RawMessage, error)

	// weak and strong are those of line.Tables.
	weak(content any) any
	strong(pointer any) any

	look(db *DB) look.Table

	differs(newer, older *line.Root) bool
	none() any // the content without rows
	isDerived() bool
	begins(c *line.Commit) bool // reports whether the table is there since a commit, which may be nil
	derive(tx *Tx) error
	merge(tx *Tx, base, theirs *Snapshot, resolve any, left func(error)) error
	stored

	expires() bool
	soonest(content any) int64                // as line.Tables has it
	sweep(tx *Tx, now int64, n int) (did int) // deletes at most n rows that have expired

	// erased returns what a commit has erased from the table, nil for nothing.
	erased(n line.Net) erased

	// redo does to the table in tx what a commit did, without what was erased, which may be nil.
	redo(tx *Tx, n line.Net, gone erased)

	// since returns the changes of a commit with the old rows that a content has, and between
	// those of one content into another, nil for none. Older is nil if there was none yet.
	since(content any, n line.Net) line.Net
	between(older, newer any) line.Net

	// loose returns a content that keeps no other one for the sake of its indexes.
	loose(content any) any
}

// An erased is what a commit has erased from one table.
type erased interface {
	// in reports whether a commit has a row of it, and holds whether a content has.
	in(n line.Net) bool
	holds(content any) bool

	size() int // how many keys that is

	// erase erases it in tx.
	erase(tx *Tx)
}

// A state is what a table has in one DB, and in no fork of it.
type state interface {
	fire(version uint64, next any)
	fork() state
}

// A stored is what a table does for sinks.
type stored interface {
	// isStored reports whether the table is stored, and returns an error if it
	// should be and cannot.
	isStored() (bool, error)

	// record is sink.Table.Schema.
	record(recorded string) (string, error)

	// Table is the place of the table among those that are stored, as in sink.Row: encode
	// appends what changed as rows, rows iterates over all rows of a version, and
	// lost over those that a version has and a later one has not.
	encode(rows []sink.Row, table int, n line.Net, version uint64) ([]sink.Row, error)
	rows(table int, r *line.Root) iter.Seq2[sink.Row, error]
	lost(table int, r, later *line.Root) iter.Seq2[sink.Row, error]

	// replay does to the table in tx what a row of a commit says.
	replay(tx *Tx, row sink.Row) error

	// restore gives the table in tx the rows it is given. With keep, others stay, unless they
	// are Removed; without, they go.
	restore(tx *Tx, keep bool) restorer
}

// A restorer takes the rows of a table, and is told when there are no more. A row
// that the table has at that revision stays as it is. It leaves no goroutine behind once
// wait has returned, after an error too.
type restorer interface {
	row(row sink.Row) error
	end() error
	wait()
}

func (s *catalog) Rows(r *line.Root) int { return (*Snapshot)(r).Len() }

func (s *catalog) Soonest(r *line.Root, table int) (soonest int64) {
	if !s.expires.Load() {
		return 0
	}
	all := s.all()
	if table != line.Several {
		all = all[table : table+1]
	}
	for _, t := range all {
		if at := t.soonest(r.Table(t.place())); at != 0 && (soonest == 0 || at < soonest) {
			soonest = at
		}
	}
	return soonest
}

func (s *catalog) Structure(r *line.Root) (n int) {
	for _, t := range s.all() {
		n += t.structure(r.Table(t.place()))
	}
	return n
}

func (s *catalog) Exclusive(r, other *line.Root) (rows, bytes int) {
	for _, t := range s.all() {
		n, b := t.exclusive(r.Table(t.place()), other.Table(t.place()))
		rows, bytes = rows+n, bytes+b
	}
	return rows, bytes
}

func (s *catalog) Changed(newer, older *line.Root) (all []hook.Table) {
	for _, t := range s.all() {
		if rows, bytes := t.changed(newer.Table(t.place()), older.Table(t.place())); rows > 0 {
			all = append(all, hook.Table{Name: t.title(), Rows: rows, Bytes: bytes})
		}
	}
	return all
}

func (s *catalog) Weak(table int, content any) any { return s.all()[table].weak(content) }

func (s *catalog) Strong(table int, pointer any) any { return s.all()[table].strong(pointer) }

// add adds a table, whose place it sets.
func (s *catalog) add(t table, place *int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, other := range s.list {
		if other.title() == t.title() {
			panic(fmt.Sprintf("cow: the DB has a table %q already: make each table once and keep it", t.title()))
		}
	}
	if s.frozen > 0 {
		panic(fmt.Sprintf("cow: table %q comes too late: make all tables before the DB is made durable or replicated", t.title()))
	}
	*place = len(s.list) // before anyone can find t
	s.list = append(s.list, t)
	if t.isDerived() {
		s.derived.Store(true)
	}
	if t.expires() {
		s.expires.Store(true)
	}
}

// freeze says that a DB has got a sink, or has none after all.
func (s *catalog) freeze(frozen bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if frozen {
		s.frozen++
	} else {
		s.frozen--
	}
}

// all returns the tables, which nobody may modify.
func (s *catalog) all() []table {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.list[:len(s.list):len(s.list)]
}

// related notes that a DB is one of several of a family.
func (s *catalog) related(db *DB) {
	if db.related.Swap(true) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.forks) >= s.clean {
		s.forks = slices.DeleteFunc(s.forks, func(p weak.Pointer[DB]) bool { return p.Value() == nil })
		s.clean = 2*len(s.forks) + 8
	}
	s.forks = append(s.forks, weak.Make(db))
}

// family returns the other DBs of the family that somebody still uses.
func (s *catalog) family(db *DB) (all []*DB) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.forks {
		if other := p.Value(); other != nil && other != db {
			all = append(all, other)
		}
	}
	return all
}

// encode returns the rows of what a commit changed.
func (s *catalog) encode(c *line.Commit, version uint64) (rows []sink.Row, err error) {
	stored := 0
	for _, t := range s.all() {
		if is, _ := t.isStored(); !is {
			continue
		}
		if n := c.Net(t.place()); n != nil {
			if rows, err = t.encode(rows, stored, n, version); err != nil {
				return nil, err
			}
		}
		stored++
	}
	return rows, nil
}

func newOwner() *line.Owner { return &line.Owner{Tables: new(catalog)} }

// owner returns what snapshots of db know of it.
func (db *DB) owner() *line.Owner { return db.line.Owner(newOwner) }

// catalog returns the tables of db.
func (db *DB) catalog() *catalog { return db.owner().Tables.(*catalog) }

// state returns what the table at that place has in db.
func (db *DB) state(place int) state {
	if list := db.states.Load(); list != nil && place < len(*list) {
		return (*list)[place]
	}
	db.making.Lock()
	defer db.making.Unlock()
	var list []state
	if is := db.states.Load(); is != nil {
		list = slices.Clone(*is)
	}
	for _, t := range db.catalog().all()[len(list):] {
		list = append(list, t.newState())
	}
	db.states.Store(&list)
	return list[place]
}

// Load returns the current snapshot. It is valid forever and never changes. Before the first update
// it is version 0, without rows.
func (db *DB) Load() (s *Snapshot) {
	if s = (*Snapshot)(db.line.Load()); s != nil { // in this form the compiler inlines it
		return s
	}
	return db.start()
}

// start makes version 0 current unless there is a version, and returns the current one.
func (db *DB) start() *Snapshot {
	return (*Snapshot)(db.line.Start(line.Make(nil, db.owner(), 0).Root))
}

// Update calls f with a Tx, through which f edits tables. When f returns nil, Update publishes all
// edits in one step, as the next version.
//
// Nothing is published, and the version stays, if
//
//   - f returns an error, which Update returns as it is
//   - f panics or calls runtime.Goexit
//   - f changed nothing, or removed all that it had added; to write an equal value is a change
//   - two rows would have the same key in a unique index: the error is an *IndexError
//   - f set what cannot be stored, or what an index refuses: the error is a *KeyError
//   - the function of a derived table returns an error
//
// Updates run one at a time. F must not update the DB itself, and must read from the Tx, as DB.Load
// shows the published version. See also [DB.Begin].
//
// If a sink makes the DB durable or replicates it, Update returns once the sink has acknowledged
// its version, and the version is published. If commits from elsewhere came first, what f did is
// dropped without a trace, and f is called again with a newer version: so f must be repeatable. An
// update that failed or changed nothing may have seen a version that is not acknowledged yet. Then
// it waits for the outcome of that version, and runs again if it was superseded.
func (db *DB) Update(f func(tx *Tx) error) error {
	return db.UpdateContext(context.Background(), f)
}

// UpdateContext is Update with a context. If ctx has ended before f is called, or when f has
// returned nil, nothing is published, and UpdateContext returns ctx's cause. It stops waiting for a
// transaction of Begin when ctx ends, but not for the function of another update. Changes that were
// proposed to a sink are never taken back: if ctx ends then, they may be published or not, and the
// error wraps [ErrUnknownOutcome] and ctx's cause.
func (db *DB) UpdateContext(ctx context.Context, f func(tx *Tx) error) error {
	given(f != nil, "Update")
	_, err := db.line.Update(ctx, func(base *line.Root, want line.Want) (line.Draft, error) {
		return db.edit(base, want, f)
	})
	return err
}

// given panics unless a verb has got the function that it is to call.
func given(is bool, verb string) {
	if !is {
		panic("cow: " + verb + " with a nil function: give it one")
	}
}

// edit returns what an update makes of base, in the writer's place.
func (db *DB) edit(base *line.Root, want line.Want, f func(tx *Tx) error) (line.Draft, error) {
	tx := &Tx{db: db, base: base, want: want}
	defer tx.end()
	if err := f(tx); err != nil {
		return line.Draft{}, err
	}
	return tx.seal()
}

// AddHook adds h to the hooks of the DB: h is told of what happens, until remove is called. It
// panics if h implements no interface of package [hook]. What is under way during AddHook or remove
// may be told or not. A fork has no hooks. A DB without hooks pays nothing for them. The function
// remove keeps h alive.
func (db *DB) AddHook(h any) (remove func()) {
	if !line.IsHook(h) {
		panic(fmt.Sprintf("cow: AddHook of a %T, which has no method of a hook: see the interfaces of package hook", h))
	}
	return db.line.AddHook(h)
}

// Hooked returns a function that calls its argument with each hook of db that implements H, one of
// the interfaces of package [hook]. It returns nil if there is no such hook. It is for packages
// that tell hooks of events of their own, such as package memory.
func Hooked[H any](db *DB) (tell func(f func(h H))) { return line.Hooked[H](&db.line) }

// Close closes the sink, which makes the DB durable or replicates it. Updates that are under way
// are acknowledged or fail; later ones return an error that wraps [ErrClosed]. Reads go on. Without a
// sink Close does nothing. The sink is closed once: every call returns when that is done, with the
// same error. If an update closes its own DB, the update fails.
func (db *DB) Close() error { return db.line.Close() }

// A Tx is a transaction: one update of a DB, which may edit all its tables. [DB.Update] makes one
// for its function, and [DB.Begin] returns one. It must not be copied, and must be used by one
// goroutine at a time. Once it has ended, Defer, Local, Table.Edit with it, and its Editors panic.
type Tx struct {
	db   *DB
	base *line.Root
	want line.Want

	held    *line.Held      // of Begin; nil: in an update
	failed  error           // Begin has not got the writer's place
	dropped runtime.Cleanup // for one that nobody ends

	deferred []func()              // by Defer
	local    struct{ key, is any } // the first place by Local; nil: none
	locals   map[any]*any          // the others; nil: none

	version uint64       // of what is replayed; 0: in an update
	erases  bool         // in DB.Erase
	again   *line.Commit // of the past, that is done once more; nil: none

	deriving  atomic.Bool // the function has returned, and derived tables follow
	derived   []table     // those that have followed; one that was made since has not
	following [4]table    // memory for those
	afresh    bool        // what follows does from all there is

	mu    sync.Mutex
	ended bool
	edits []tableEdit
	few   [2]tableEdit
}

// A tableEdit is the edit of one table.
type tableEdit struct {
	place int
	edit  edit
}

type edit interface {
	// seal ends the edit and returns the map it made, or nil for no change, and
	// what it changed, if that is wanted.
	seal(db *DB, want line.Want) (content any, n line.Net, err error)
	discard()
}

// Defer has f called when the transaction was published, or has succeeded without a change. Commit
// or Update calls it before it returns, with no lock held; the last f is called first. If the
// transaction fails, or its outcome is unknown, f is not called. Nor is it called when commits are
// replayed.
func (tx *Tx) Defer(f func()) {
	if f == nil {
		panic("cow: Defer of nil: give it a function")
	}
	tx.mu.Lock()
	defer tx.mu.Unlock()
	tx.use()
	tx.deferred = append(tx.deferred, f)
}

// Local returns a variable of the transaction that belongs to key; it is nil at first. In it a
// package can keep something for the time of one transaction. As with package context, the type of
// key must be the package's own, or key a pointer that it made. The variable must be used in the
// goroutine of the transaction. If an update's function is called again, that is another
// transaction.
func (tx *Tx) Local(key any) *any {
	if key == nil {
		panic("cow: Local of nil: give it a key of a type of your own")
	}
	tx.mu.Lock()
	defer tx.mu.Unlock()
	tx.use()
	if tx.local.key == nil {
		tx.local.key = key
	}
	if tx.local.key == key {
		return &tx.local.is
	}
	p := tx.locals[key]
	if p == nil {
		if tx.locals == nil {
			tx.locals = make(map[any]*any)
		}
		p = new(any)
		tx.locals[key] = p
	}
	return p
}

// use panics if the Tx has ended. The caller holds mu.
func (tx *Tx) use() {
	if tx.ended {
		panic("cow: Tx used after it has ended: that of an Update must not be kept, and one of Begin ends with Commit or Abort")
	}
}

// succeeded calls what was deferred.
func (tx *Tx) succeeded() {
	for _, f := range tx.deferred {
		defer f() // all of them, even if one panics
	}
}

// Version returns the version that the update will publish. If it fails or changes nothing, the
// next update gets that version.
func (tx *Tx) Version() uint64 {
	if tx.version != 0 {
		return tx.version
	}
	return tx.base.Version() + 1
}

// Base returns the snapshot that the update began with. With a sink, that may be a version that is
// not acknowledged yet, and never will be: so it must not be used after the update, to fork it for
// instance. When a table is derived for the first time, Base is empty, so that all rows are new.
func (tx *Tx) Base() *Snapshot {
	if tx.afresh {
		return (*Snapshot)(line.Make(nil, tx.db.owner(), 0).Root)
	}
	return (*Snapshot)(tx.base)
}

// edit returns the edit of the table at that place, made by begin if there is none yet.
// Without begin it returns nil then.
func (tx *Tx) edit(place int, begin func() edit) edit {
	tx.mu.Lock()
	defer tx.mu.Unlock()
	tx.use()
	i, ok := slices.BinarySearchFunc(tx.edits, place, func(e tableEdit, place int) int { return e.place - place })
	switch {
	case ok:
		return tx.edits[i].edit
	case begin == nil:
		return nil
	case tx.edits == nil:
		tx.edits = tx.few[:0]
	}
	e := begin()
	tx.edits = slices.Insert(tx.edits, i, tableEdit{place, e})
	return e
}

// seal ends all edits and returns the version they make, which is the base if
// they changed nothing.
func (tx *Tx) seal() (d line.Draft, err error) {
	if err := tx.derive(); err != nil {
		return d, err
	}
	d.Next = tx.base
	var next line.Making
	set := func(place int, content any, n line.Net) {
		if next.Root == nil {
			next = line.Make(tx.base, tx.db.owner(), tx.Version())
			d.Next, d.Table = next.Root, place
			if tx.want.Commit {
				d.Commit = new(line.Commit)
			}
		} else {
			d.Table = line.Several
		}
		next.Set(place, content)
		if d.Commit != nil {
			d.Commit.Add(place, n)
		}
	}
	// What follows runs functions of indexes, which must not find the lock held.
	for _, e := range tx.close() {
		content, n, err := e.edit.seal(tx.db, tx.want)
		if err != nil {
			return line.Draft{}, err
		}
		if content != nil {
			set(e.place, content, n)
		}
	}
	for _, t := range tx.derived {
		if d.Next.Table(t.place()) == nil && (next.Root != nil || tx.again != nil) {
			set(t.place(), t.none(), t.between(nil, t.none())) // so that it is known to be derived
		}
	}
	if len(tx.deferred) > 0 {
		d.Then = tx.succeeded
	}
	if tx.want.Sent && next.Root != nil {
		d.Sent = new(sink.Commit)
		d.Sent.Rows, err = tx.db.catalog().encode(d.Commit, next.Root.Version())
	}
	return d, err
}

// made returns the version of a draft, or, if that changes nothing, what the Tx began with, as
// the version of the Tx.
func (tx *Tx) made(d line.Draft) *line.Root {
	if d.Next != tx.base {
		return d.Next
	}
	return line.Make(tx.base, tx.db.owner(), tx.version).Root
}

// derive brings derived tables up to the others.
func (tx *Tx) derive() error {
	s := tx.db.catalog()
	if !s.derived.Load() {
		return nil
	}
	tx.deriving.Store(true)
	defer func() { tx.afresh = false }()
	tx.derived = tx.following[:0]
	for _, t := range s.all() {
		if !t.isDerived() || tx.want.Past && tx.base.Table(t.place()) == nil && !t.begins(tx.again) {
			continue
		}
		tx.afresh = tx.base.Table(t.place()) == nil
		if err := t.derive(tx); err != nil {
			return err
		}
		tx.derived = append(tx.derived, t)
	}
	return nil
}

func (tx *Tx) hasEnded() bool {
	tx.mu.Lock()
	defer tx.mu.Unlock()
	return tx.ended
}

// close makes any later use of the Tx panic, and returns its edits.
func (tx *Tx) close() []tableEdit {
	tx.mu.Lock()
	defer tx.mu.Unlock()
	tx.ended = true
	return tx.edits
}

// end makes any later use of the Tx and its Editors panic.
func (tx *Tx) end() {
	for _, e := range tx.close() {
		e.edit.discard()
	}
}
