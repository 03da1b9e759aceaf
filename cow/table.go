package cow

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"
	"weak"

	"github.com/cowstore/cowstore/cow/internal/index"
	"github.com/cowstore/cowstore/cow/internal/keycode"
	"github.com/cowstore/cowstore/cow/internal/line"
	"github.com/cowstore/cowstore/cow/internal/watch"
	"github.com/cowstore/cowstore/snapshot"
)

// A Table is one map of a DB. It is only a typed name of the map: the rows are in the snapshots. It
// is made by [New], with a DB of its own, by [NewTable] in a DB, or by [Table.Of] for a fork; the
// zero Table panics. It is immutable, safe for concurrent use, and must be handled by pointer.
// Reads never wait; writes queue with all others of the DB. The table owns its values: see the
// package documentation.
//
// Each verb that writes is one update of the DB. Each read is of the current snapshot, so that two
// reads in a row may see two versions: to read one version, use the map that Load returns, or In
// for a snapshot. The revision that a verb returns is the version of the DB that it published, 0
// for none. With a sink, verbs have the errors of [DB.Update].
type Table[K comparable, V any] struct {
	db    *DB
	def   *tableDef[K, V]
	first bool // def.at is 0
}

// A tableDef is what a table is in a DB and all its forks.
type tableDef[K comparable, V any] struct {
	catalog    *catalog
	name       string
	at         int // in the catalog
	empty      *Map[K, V]
	codec      Codec[V]
	accept     []string
	derivation func(tx *Tx, e *Editor[K, V]) error // of NewDerived
	expiry     *index.Def[K, V, int64]             // of Options.Expires; nil: there is none

	puttings sync.Pool // *putting[K, V]

	keys    *keycode.Codec[K]
	keysErr error // why K cannot be encoded
}

// A tableState is what a table has in one DB: who watches it, and its indexes.
type tableState[K comparable, V any] struct {
	hub     atomic.Pointer[watch.Hub[K]]     // nil until somebody watches
	indexes atomic.Pointer[index.List[K, V]] // nil: none; set in the writer's place
	scratch changes[K, V]                    // for updates without a Commit, which run one at a time
}

// New returns a table with a DB of its own, which [Table.DB] returns. It panics if values of type V
// cannot be isolated as o says.
func New[K comparable, V any](o Options[V]) *Table[K, V] { return newTable[K](new(DB), "", o, nil) }

// NewTable adds an empty table to db, and to all DBs that db was forked from or that were forked
// from it. It may be called at any time but inside a transaction. It panics there, if db has a
// table of that name, if values of type V cannot be isolated as o says, or if db has been made
// durable or replicated.
func NewTable[K comparable, V any](db *DB, name string, o Options[V]) *Table[K, V] {
	return newTable[K](db, name, o, nil)
}

// NewDerived adds a table that is derived from other tables, and not stored. At the end of each
// update, before it is published, derive is called to bring the table up to date: it finds the
// earlier rows in Tx.Base, reads other tables by [Table.During] and what has changed in them by
// [Table.Changes], and edits the table through e. Get, Len and Load of another table are one update
// behind. Commits that come from a file or another replica are followed in the same way. Derive must
// be pure: it must do the same for the same tables, and use no clock, random number or anything else
// from outside. Tables are derived in the order in which they were made. An error of derive makes
// the update fail.
//
// The first time, Tx.Base is empty, so that all rows are new to derive. If the DB has a version
// already, NewDerived makes an update for that, which queues like any other, and returns its error.
// After an error the table exists all the same, and the next update calls derive again. A fork
// calls derive in its own next update. As derive may run before NewDerived has returned, it must
// use e, and not the variable that the table is assigned to.
func NewDerived[K comparable, V any](db *DB, name string, o Options[V], derive func(tx *Tx, e *Editor[K, V]) error) (*Table[K, V], error) {
	given(derive != nil, "NewDerived")
	t := newTable(db, name, o, derive)
	_, err := db.line.Update(context.Background(), func(base *line.Root, want line.Want) (line.Draft, error) {
		if base.Version() == 0 { // and no update is under way that did not know of the table
			return line.Draft{Next: base}, nil
		}
		return db.edit(base, want, func(*Tx) error { return nil })
	})
	return t, err
}

func newTable[K comparable, V any](db *DB, name string, o Options[V], derive func(tx *Tx, e *Editor[K, V]) error) *Table[K, V] {
	title := "cow"
	if name != "" {
		title = fmt.Sprintf("cow: table %q", name)
	}
	db.line.Own()
	db.line.PanicMade(fmt.Sprintf("table %q", name))
	d := &tableDef[K, V]{
		catalog:    db.catalog(),
		name:       name,
		empty:      snapshot.New[K](snapshot.Options[V]{Clone: o.Clone, Immutable: o.Immutable, Name: title}),
		codec:      o.Codec,
		accept:     slices.Clone(o.Accept),
		derivation: derive,
	}
	d.keys, d.keysErr = keycode.New[K]()
	if o.Expires != nil {
		if derive != nil {
			panic(fmt.Sprintf("cow: %s is derived, and so has no Expires: let rows expire that it follows from", d))
		}
		d.expiry = newExpiry[K](o.Expires)
		d.expiry.Begin(d.empty)
	}
	d.catalog.add(d, &d.at)
	db.start()
	return &Table[K, V]{db, d, d.at == 0}
}

// made panics for the zero Table.
func (t *Table[K, V]) made() {
	if t.db == nil {
		panic("cow: the zero Table is of no DB: make one with New or NewTable")
	}
}

// DB returns the DB that t is a table of.
func (t *Table[K, V]) DB() *DB {
	t.made()
	return t.db
}

// Of returns the same table in another DB of its family: the DBs that Fork made from one another.
// It panics for any other DB.
func (t *Table[K, V]) Of(db *DB) *Table[K, V] {
	t.made()
	if db.catalog() != t.def.catalog {
		panic(fmt.Sprintf("cow: %s looked for in another DB: ask the table that was made for that one", t.def))
	}
	return &Table[K, V]{db, t.def, t.first}
}

// Name returns the name of the table. It is "" for a table that New made.
func (t *Table[K, V]) Name() string {
	t.made()
	return t.def.name
}

// In returns the table's map in a snapshot. It is empty if the snapshot is from before the table
// was made. In panics if s is of another DB, unless one is a fork of the other.
func (t *Table[K, V]) In(s *Snapshot) *Map[K, V] {
	t.made()
	return t.def.in(s)
}

// During returns the table's map as the update has made it so far; later edits do not change that
// map. For a derived table it is the map that the update began with, until the table is derived. It
// panics if the update has ended or is of another DB, unless one is a fork of the other.
func (t *Table[K, V]) During(tx *Tx) *Map[K, V] {
	t.made()
	if tx.db.catalog() != t.def.catalog {
		t.def.panicForeign()
	}
	if e := tx.edit(t.def.at, nil); e != nil {
		return e.(*mapEdit[K, V]).Map()
	}
	return t.def.content(tx.base)
}

// Changes returns an iterator over the net changes that a transaction has made in the table so far,
// each key at most once. They are those that Rows of its Commit will return, but derived tables are
// not derived yet. The revision of a row that the transaction wrote is the version that it will
// publish. When a table is derived for the first time, all rows of the others are Added. It panics
// where During does.
func (t *Table[K, V]) Changes(tx *Tx) iter.Seq[Change[K, V]] {
	t.made()
	if tx.db.catalog() != t.def.catalog {
		t.def.panicForeign()
	}
	e := tx.edit(t.def.at, nil)
	switch {
	case tx.afresh:
		return t.During(tx).Diff(nil)
	case e == nil:
		return func(func(Change[K, V]) bool) {}
	}
	return slices.Values(builder[K, V]{}.Net(e.(*mapEdit[K, V]).Editor, nil))
}

// Edit returns the Editor of the table in an update, the same one each time. It panics if the
// update has ended or is of another DB, unless one is a fork of the other. For a derived table it
// panics outside of the function that derives it.
func (t *Table[K, V]) Edit(tx *Tx) *Editor[K, V] {
	t.made()
	return t.def.edit(tx)
}

// Load returns the table's map in the current snapshot.
func (t *Table[K, V]) Load() *Map[K, V] {
	if t.first {
		if r := t.db.line.Load(); r != nil {
			if m, ok := r.First().(*Map[K, V]); ok {
				return m
			}
		}
	}
	return t.load()
}

// load is Load for any table.
func (t *Table[K, V]) load() *Map[K, V] {
	t.made()
	return t.def.content(t.db.line.Load())
}

// String returns what errors call the table.
func (d *tableDef[K, V]) String() string {
	if d.name == "" {
		return "the table"
	}
	return fmt.Sprintf("table %q", d.name)
}

func (d *tableDef[K, V]) title() string { return d.name }

func (d *tableDef[K, V]) place() int { return d.at }

func (d *tableDef[K, V]) in(s *Snapshot) *Map[K, V] {
	if s != nil && s.root().Owner().Tables != line.Tables(d.catalog) {
		panic(fmt.Sprintf("cow: %s looked for in a snapshot of another DB: ask the table that was made for that one", d))
	}
	return d.content(s.root())
}

// content is what in returns, of a Root of the DB or a fork.
func (d *tableDef[K, V]) content(r *line.Root) *Map[K, V] { return d.mapOf(r.Table(d.at)) }

// mapOf returns the map that is a content.
func (d *tableDef[K, V]) mapOf(content any) *Map[K, V] {
	if m, ok := content.(*Map[K, V]); ok {
		return m
	}
	return d.empty
}

func (d *tableDef[K, V]) rowsIn(content any) int { return d.mapOf(content).Len() }
func (d *tableDef[K, V]) structure(content any) int {
	return builder[K, V]{}.Structure(d.mapOf(content))
}

func (d *tableDef[K, V]) exclusive(content, other any) (rows, bytes int) {
	for c := range d.mapOf(other).Diff(d.mapOf(content)) {
		if was, _ := c.Rows(); was != (Row[K, V]{}) {
			rows, bytes = rows+1, bytes+builder[K, V]{}.Size(was)
		}
	}
	return rows, bytes
}

func (d *tableDef[K, V]) changed(newer, older any) (rows, bytes int) {
	if newer == older {
		return 0, 0
	}
	for c := range d.mapOf(newer).Diff(d.mapOf(older)) {
		if _, is := c.Rows(); is != (Row[K, V]{}) {
			bytes += builder[K, V]{}.Size(is)
		}
		rows++
	}
	return rows, bytes
}

func (d *tableDef[K, V]) weak(content any) any {
	if m := d.mapOf(content); m != d.empty {
		return weak.Make(m)
	}
	return nil
}

func (d *tableDef[K, V]) strong(pointer any) any {
	if m := pointer.(weak.Pointer[Map[K, V]]).Value(); m != nil {
		return m
	}
	return nil
}

// shown returns a content as JSON that is to lie within two levels.
func (d *tableDef[K, V]) shown(content any) (json.RawMessage, error) {
	return builder[K, V]{}.JSON(d.mapOf(content), 2)
}

func (d *tableDef[K, V]) none() any { return d.empty }

func (d *tableDef[K, V]) isDerived() bool { return d.derivation != nil }

func (d *tableDef[K, V]) derive(tx *Tx) error {
	if d.derivation == nil {
		return nil
	}
	return d.derivation(tx, d.edit(tx))
}

func (d *tableDef[K, V]) edit(tx *Tx) *Editor[K, V] {
	if tx.db.catalog() != d.catalog {
		panic(fmt.Sprintf("cow: %s edited in an update of another DB: edit the table that was made for that one", d))
	}
	if d.derivation != nil && !tx.deriving.Load() {
		d.panicDerived()
	}
	e := tx.edit(d.at, func() edit {
		base := d.content(tx.base)
		begins := d.isDerived() && tx.base.Table(d.at) == nil
		if tx.want.Past {
			return &mapEdit[K, V]{builder[K, V]{}.Remake(base, tx.Version()), base, d, begins}
		}
		return &mapEdit[K, V]{builder[K, V]{}.EditAt(new(Editor[K, V]), base, tx.Version()), base, d, begins}
	})
	return e.(*mapEdit[K, V]).Editor
}

func (d *tableDef[K, V]) panicForeign() {
	panic(fmt.Sprintf("cow: %s looked for in an update of another DB: ask the table that was made for that one", d))
}

func (d *tableDef[K, V]) panicDerived() {
	panic(fmt.Sprintf("cow: %s is derived: only the function that NewDerived was given may edit it", d))
}

// A mapEdit is the edit of a table in a Tx.
type mapEdit[K comparable, V any] struct {
	*Editor[K, V]
	base   *Map[K, V]
	def    *tableDef[K, V]
	begins bool // see changes
}

func (e *mapEdit[K, V]) discard() { builder[K, V]{}.Discard(e.Editor) }

func (e *mapEdit[K, V]) seal(db *DB, want line.Want) (content any, n line.Net, err error) {
	m, c, err := e.def.state(db).seal(e.Editor, e.base, want)
	if err != nil || m == e.base && (c == nil || !c.erases) {
		return nil, nil, err
	}
	if want.Commit {
		c.begins = e.begins
	}
	return m, c, nil
}

func (d *tableDef[K, V]) differs(newer, older *line.Root) bool {
	return watch.Whole[K, V]{}.Differs(d.content(newer), d.content(older))
}

func (d *tableDef[K, V]) newState() state {
	s := new(tableState[K, V])
	if d.expiry != nil {
		s.indexes.Store(&index.List[K, V]{d.expiry})
	}
	return s
}

func (d *tableDef[K, V]) state(db *DB) *tableState[K, V] { return db.state(d.at).(*tableState[K, V]) }

func (s *tableState[K, V]) fork() state {
	f := new(tableState[K, V])
	f.indexes.Store(s.indexes.Load())
	return f
}

func (s *tableState[K, V]) fire(version uint64, next any) {
	if h := s.hub.Load(); h != nil {
		h.Fire(version, next)
	}
}

// list returns the indexes.
func (s *tableState[K, V]) list() index.List[K, V] {
	if list := s.indexes.Load(); list != nil {
		return *list
	}
	return nil
}

// seal ends the edit e of base, and returns the map it made, with its indexes, or
// base if nothing was changed, after it looked up whom the commit will wake; and the
// changes, if they are wanted, which are computed here and nowhere else.
func (s *tableState[K, V]) seal(e *Editor[K, V], base *Map[K, V], want line.Want) (*Map[K, V], *changes[K, V], error) {
	if err := e.Err(); err != nil {
		return nil, nil, err
	}
	list, h := s.list(), s.hub.Load()
	if want.Past { // nobody is woken, and indexes are built when somebody looks, but for what is whole
		h = nil
		if _, to := (builder[K, V]{}).Annotation(base); to != base {
			list = nil
		}
	}
	watched := h != nil && h.IsWatched()
	var c *changes[K, V]
	switch {
	case want.Commit:
		c = new(changes[K, V])
	case watched || len(list) > 0:
		c = &s.scratch
		defer func() { *c = changes[K, V]{} }() // not to keep rows alive
	default:
		return s.detached(e.Seal(), base), nil, nil
	}
	m := c.compare(e, base)
	if c.Len() == 0 {
		return base, nil, nil
	}
	if len(list) == 0 {
		m = s.detached(m, base)
	}
	step := index.Step[K, V]{Base: base, Next: m, Changes: c.list, Cleared: c.cleared != nil, Edit: e}
	if c.erases {
		step.Changes = c.rows()
	}
	if m == base { // it erased what only the past has
		return m, c, nil
	}
	defer c.forget()
	var err error
	switch {
	case watched:
		m, err = watch.Next(h, step, list)
	case len(list) > 0:
		m, err = index.Next(step, list, nil)
	}
	if err != nil {
		return nil, nil, indexError(err)
	}
	return m, c, nil
}

// detached returns m, made of base in a table without indexes, without the annotation
// or an ancestor, such as images of an index that was dropped: nothing would ever take its
// place, and the ancestor would be kept alive.
func (s *tableState[K, V]) detached(m, base *Map[K, V]) *Map[K, V] {
	if x, _ := (builder[K, V]{}).Annotation(m); x != nil && m != base {
		return builder[K, V]{}.Annotate(m, nil)
	}
	return m
}

// changes are the net changes of one map, a key at most once.
type changes[K comparable, V any] struct {
	list    []Change[K, V]
	first   [1]Change[K, V] // where list is, if there is but one
	cleared *cleared[K, V]  // nil: list counts
	before  uint64          // the version of the map that was changed
	erases  bool            // some are Erased
	begins  bool            // the table is derived for the first time

	// The list with the rows that were erased, for Rewind until the past is made anew.
	undo []Change[K, V]
}

// cleared are the changes of a map that was cleared: what it was and is, which are compared
// when somebody asks. They have no annotation.
type cleared[K comparable, V any] struct {
	was, is *Map[K, V]
	n       int // how many changes there are
}

// comparing is called at each comparison, in tests that count them.
var comparing func()

// compare ends the edit e of base, fills in what it changed, and returns the map it made. It
// is the one place where versions are compared for a commit.
func (c *changes[K, V]) compare(e *Editor[K, V], base *Map[K, V]) *Map[K, V] {
	if comparing != nil {
		comparing()
	}
	c.before = base.Version()
	if c.erases = (builder[K, V]{}).Erases(e); c.erases || !(builder[K, V]{}).Cleared(e) {
		c.list = builder[K, V]{}.Net(e, c.first[:0])
		return e.Seal()
	}
	m := e.Seal()
	if m != base {
		x := &cleared[K, V]{builder[K, V]{}.Annotate(base, nil), builder[K, V]{}.Annotate(m, nil), base.Len()}
		for row := range x.is.Rows() {
			if !x.was.Has(row.Key()) {
				x.n++
			}
		}
		c.cleared = x
	}
	return m
}

// all returns an iterator over the changes.
func (c *changes[K, V]) all() iter.Seq[Change[K, V]] {
	if x := c.cleared; x != nil {
		return x.is.Diff(x.was)
	}
	return slices.Values(c.list)
}

func (c *changes[K, V]) Len() int {
	if x := c.cleared; x != nil {
		return x.n
	}
	return len(c.list)
}

// rows returns the changes that have a row.
func (c *changes[K, V]) rows() []Change[K, V] {
	return slices.DeleteFunc(slices.Clone(c.list), func(c Change[K, V]) bool {
		old, is := c.Rows()
		return old == (Row[K, V]{}) && is == (Row[K, V]{})
	})
}

// forget lets go of what was erased, but for Rewind.
func (c *changes[K, V]) forget() {
	if !c.erases {
		return
	}
	c.undo, c.list = c.list, slices.Clone(c.list)
	for i, change := range c.list {
		if change.Kind == Erased {
			c.list[i] = builder[K, V]{}.Forget(change)
		}
	}
}

// sampled is how many rows of a map that was cleared are weighed, for all of them.
const sampled = 1000

func (c *changes[K, V]) Weigh() (rows, bytes int) {
	for change := range c.all() {
		if old, _ := change.Rows(); old != (Row[K, V]{}) {
			rows, bytes = rows+1, bytes+builder[K, V]{}.Size(old)
		}
		if c.cleared != nil && rows == sampled {
			break
		}
	}
	if x := c.cleared; x != nil {
		if all := x.was.Len(); rows < all {
			rows, bytes = all, int(float64(bytes)/float64(rows)*float64(all))
		}
		bytes += int(unsafe.Sizeof(*x)) + builder[K, V]{}.Structure(x.was)
	}
	return rows, bytes + int(unsafe.Sizeof(*c)) + (cap(c.list)-1)*int(unsafe.Sizeof(c.first))
}

func (c *changes[K, V]) Rewind(newest any, since iter.Seq[line.Net]) any {
	m := newest.(*Map[K, V])
	before := m.Version()
	n, from := 0, 0 // of the latest first, where to begin with m
	for net := range since {
		c := net.(*changes[K, V])
		if c.begins {
			return nil // as of a version from before the table was there
		}
		before = c.before
		n++
		if c.cleared != nil {
			m, from = c.cleared.was, n
		}
	}
	return builder[K, V]{}.Rewind(m, before, func(yield func(Change[K, V]) bool) {
		n := 0
		for net := range since {
			if n++; n <= from {
				continue
			}
			c := net.(*changes[K, V])
			all := c.all()
			if c.undo != nil {
				all = slices.Values(c.undo)
			}
			for change := range all {
				if !yield(change) {
					return
				}
			}
		}
	})
}

// run is an update of this table, and returns the version that was published, or 0 for
// none.
func (t *Table[K, V]) run(ctx context.Context, f func(e *Editor[K, V]) error) (uint64, error) {
	t.made()
	return t.db.line.Update(ctx, func(base *line.Root, want line.Want) (line.Draft, error) {
		return t.update(new(Editor[K, V]), base, want, f)
	})
}

// A putting is a put. There are a few, for all puts of a table: each has its functions, and an
// Editor, which nobody else gets to see.
type putting[K comparable, V any] struct {
	table  *Table[K, V]
	key    K
	value  snapshot.Isolated[V]
	may    func(e *Editor[K, V]) error
	editor *Editor[K, V]

	update func(base *line.Root, want line.Want) (line.Draft, error)
	edit   func(e *Editor[K, V]) error
}

// putting returns one that nobody uses.
func (t *Table[K, V]) putting() *putting[K, V] {
	p, ok := t.def.puttings.Get().(*putting[K, V])
	if !ok {
		p = new(putting[K, V])
		p.editor = new(Editor[K, V])
		p.update = func(base *line.Root, want line.Want) (line.Draft, error) {
			d, err := p.table.update(p.editor, base, want, p.edit)
			if p.table.needsTx(want) { // in which others have seen it
				p.editor = new(Editor[K, V])
			}
			return d, err
		}
		p.edit = func(e *Editor[K, V]) error {
			if p.may != nil {
				if err := p.may(e); err != nil {
					return err
				}
			}
			builder[K, V]{}.Put(e, p.key, p.value)
			return nil
		}
	}
	p.table = t
	return p
}

// free lets go of what was put, and of the maps. After a panic it is not called.
func (p *putting[K, V]) free() {
	puttings := &p.table.def.puttings
	*p.editor = Editor[K, V]{}
	*p = putting[K, V]{editor: p.editor, update: p.update, edit: p.edit}
	puttings.Put(p)
}

// needsTx reports whether a sink or a derived table needs the Tx of an update. The first is
// decided in the writer's place, the second when the update's function has returned, as NewTable
// does not queue; and then for good.
func (t *Table[K, V]) needsTx(want line.Want) bool {
	return want.Sent || t.def.catalog.derived.Load()
}

// update returns what f makes of base, in the writer's place, by e.
func (t *Table[K, V]) update(e *Editor[K, V], base *line.Root, want line.Want, f func(e *Editor[K, V]) error) (line.Draft, error) {
	d, db := t.def, t.db
	if d.derivation != nil {
		d.panicDerived()
	}
	m, version := d.content(base), base.Version()+1
	builder[K, V]{}.EditAt(e, m, version)
	defer builder[K, V]{}.Discard(e)
	if err := f(e); err != nil {
		return line.Draft{}, err
	}
	if t.needsTx(want) {
		tx := &Tx{db: db, base: base, want: want}
		defer tx.end()
		tx.edits = append(tx.few[:0], tableEdit{d.at, &mapEdit[K, V]{Editor: e, base: m, def: d}})
		return tx.seal()
	}
	next, c, err := d.state(db).seal(e, m, want)
	if err != nil || next == m {
		return line.Draft{Next: base}, err
	}
	made := line.Make(base, db.owner(), version)
	made.Set(d.at, next)
	draft := line.Draft{Next: made.Root, Table: d.at}
	if want.Commit {
		draft.Commit = new(line.Commit)
		draft.Commit.Add(d.at, c)
	}
	return draft, nil
}
