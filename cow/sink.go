package cow

import (
	"errors"
	"fmt"
	"iter"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cowstore/cowstore/cow/internal/layout"
	"github.com/cowstore/cowstore/cow/internal/line"
	"github.com/cowstore/cowstore/cow/internal/sink"
	"github.com/cowstore/cowstore/snapshot"
)

// What makes a DB durable or replicates it has rows of bytes: this is how they come from
// tables, and back.

func init() {
	sink.For = func(db any) sink.DB { return db.(*DB).line.For(replayer{db.(*DB)}) }
}

// stored returns the tables that are stored, in the order of sink.Row.Table.
func (s *catalog) stored() ([]table, error) {
	var all []table
	for _, t := range s.all() {
		is, err := t.isStored()
		if err != nil {
			return nil, err
		}
		if is {
			all = append(all, t)
		}
	}
	return all, nil
}

// A replayer makes versions of a DB out of rows, and the other way around: it is a
// line.Replayer.
type replayer struct{ db *DB }

func (p replayer) Stored() ([]sink.Table, error) {
	all, err := p.db.catalog().stored()
	if err != nil {
		return nil, err
	}
	var tables []sink.Table
	for _, t := range all {
		tables = append(tables, sink.Table{Name: t.title(), Schema: t.record})
	}
	return tables, nil
}

func (p replayer) Freeze(frozen bool) { p.db.catalog().freeze(frozen) }

func (p replayer) Rows(r *line.Root) iter.Seq2[sink.Row, error] {
	return p.each(func(i int, t table) iter.Seq2[sink.Row, error] { return t.rows(i, r) })
}

func (p replayer) Lost(r, later *line.Root) iter.Seq2[sink.Row, error] {
	return p.each(func(i int, t table) iter.Seq2[sink.Row, error] { return t.lost(i, r, later) })
}

// each returns an iterator over rows of all tables that are stored.
func (p replayer) each(rows func(i int, t table) iter.Seq2[sink.Row, error]) iter.Seq2[sink.Row, error] {
	all, err := p.db.catalog().stored()
	return func(yield func(sink.Row, error) bool) {
		if err != nil {
			yield(sink.Row{}, err)
			return
		}
		for i, t := range all {
			for row, err := range rows(i, t) {
				if !yield(row, err) || err != nil {
					return
				}
			}
		}
	}
}

func (p replayer) Replay(base *line.Root, c *sink.Commit) (d line.Draft, err error) {
	all, err := p.db.catalog().stored()
	if err != nil {
		return d, err
	}
	tx := &Tx{db: p.db, base: base, version: c.Version, want: line.Want{Commit: true}}
	defer tx.end()
	for _, row := range c.Rows {
		if row.Table < 0 || row.Table >= len(all) {
			return d, fmt.Errorf("there is no table %d", row.Table)
		}
		if err := all[row.Table].replay(tx, row); err != nil {
			return d, err
		}
	}
	if d, err = tx.seal(); err != nil {
		return d, err
	}
	if d.Next == base { // it changed derived tables alone, or nothing that is left
		d = line.Draft{Next: tx.made(d), Table: line.Several, Commit: new(line.Commit)}
	}
	d, _ = p.db.erasing(d)
	return d, nil
}

func (p replayer) Restore(base *line.Root, version uint64, more bool, rows iter.Seq2[sink.Row, error]) (*line.Root, error) {
	all, err := p.db.catalog().stored()
	if err != nil {
		return nil, err
	}
	tx := &Tx{db: p.db, base: base, version: version}
	defer tx.end()
	var tables []restorer
	for _, t := range all {
		t := t.restore(tx, more)
		defer t.wait()
		tables = append(tables, t)
	}
	if rows != nil {
		for row, err := range rows {
			if err != nil {
				return nil, err
			}
			if row.Table < 0 || row.Table >= len(tables) {
				return nil, fmt.Errorf("cow: there is no table %d", row.Table)
			}
			if err := tables[row.Table].row(row); err != nil {
				return nil, err
			}
		}
	}
	for _, t := range tables {
		if err := t.end(); err != nil {
			return nil, err
		}
	}
	d, err := tx.seal() // it is not one update, and has no Commit
	if err != nil {
		return nil, err
	}
	return tx.made(d), nil
}

var errNoCodec = errors.New("it has no codec: set Options.Codec, or make it by NewDerived if it follows from other tables")

func (d *tableDef[K, V]) isStored() (bool, error) {
	err := d.keysErr
	switch {
	case d.isDerived():
		return false, nil
	case d.codec == nil:
		err = errNoCodec
	}
	if err != nil {
		return false, fmt.Errorf("cow: %s cannot be stored: %w", d, err)
	}
	return true, nil
}

// rowError says which row of a table an error is about.
func (d *tableDef[K, V]) rowError(key K, err error) error {
	return &KeyError[K]{Name: builder[K, V]{}.Name(d.empty), Key: key, Err: err}
}

func (d *tableDef[K, V]) encodeRow(table int, row Row[K, V], revision uint64) (sink.Row, error) {
	value, err := d.codec.Append(nil, row.Value())
	if err == nil {
		// What is acknowledged can be read again, whatever the codec does not know of a value.
		if _, derr := d.codec.Decode(value); derr != nil {
			err = fmt.Errorf("the codec does not decode what it has encoded: %w", derr)
		}
	}
	if err != nil {
		return sink.Row{}, d.rowError(row.Key(), err)
	}
	return sink.Row{Table: table, Key: d.keys.Append(nil, row.Key()), Value: value, Revision: revision}, nil
}

func (d *tableDef[K, V]) encode(rows []sink.Row, table int, n line.Net, version uint64) ([]sink.Row, error) {
	for c := range n.(*changes[K, V]).all() {
		row := sink.Row{Table: table, Removed: true, Revision: version}
		if _, is := c.Rows(); is != (Row[K, V]{}) {
			var err error
			if row, err = d.encodeRow(table, is, version); err != nil {
				return nil, err
			}
		} else {
			row.Key = d.keys.Append(nil, c.Key)
		}
		row.Erased = c.Kind == Erased
		rows = append(rows, row)
	}
	return rows, nil
}

func (d *tableDef[K, V]) rows(table int, r *line.Root) iter.Seq2[sink.Row, error] {
	return func(yield func(sink.Row, error) bool) {
		for row := range d.content(r).Rows() {
			if !yield(d.encodeRow(table, row, row.Revision())) {
				return
			}
		}
	}
}

func (d *tableDef[K, V]) lost(table int, r, later *line.Root) iter.Seq2[sink.Row, error] {
	return func(yield func(sink.Row, error) bool) {
		for c := range d.content(later).Diff(d.content(r)) {
			if was, _ := c.Rows(); was != (Row[K, V]{}) && !yield(d.encodeRow(table, was, was.Revision())) {
				return
			}
		}
	}
}

// decode returns the key of a row, and its value unless it is removed.
func (d *tableDef[K, V]) decode(row sink.Row) (key K, v V, err error) {
	if key, err = d.keys.Decode(row.Key); err != nil {
		return key, v, fmt.Errorf("cow: %s: key %x: %w", d, row.Key, err)
	}
	if !row.Removed {
		if v, err = d.codec.Decode(row.Value); err != nil {
			return key, v, d.rowError(key, err)
		}
	}
	return key, v, nil
}

func (d *tableDef[K, V]) replay(tx *Tx, row sink.Row) error {
	key, v, err := d.decode(row)
	if err != nil {
		return err
	}
	e := d.edit(tx)
	if row.Erased {
		builder[K, V]{}.Erase(e, key)
	}
	if row.Removed {
		e.Delete(key)
	} else {
		e.Set(key, v)
	}
	return nil
}

// A tableRestorer is a restorer of a table. It takes rows in parts, which are decoded in
// goroutines of their own, and puts all of them into the table at the end.
type tableRestorer[K comparable, V any] struct {
	def   *tableDef[K, V]
	e     *Editor[K, V]
	base  *Map[K, V]
	seen  map[K]struct{} // nil: the table was empty, or what it has stays
	more  bool           // what it has stays, unless it is removed
	next  []sink.Row     // of the next part
	parts []*restoredPart[K, V]

	running sync.WaitGroup
	turns   chan struct{} // has one for each part that is being decoded
	failed  atomic.Bool   // a part has an error
}

type restoredPart[K comparable, V any] struct {
	rows *snapshot.Batch[K, V]
	err  error
}

func (d *tableDef[K, V]) restore(tx *Tx, more bool) restorer {
	r := &tableRestorer[K, V]{def: d, e: d.edit(tx), base: d.content(tx.base), more: more}
	r.turns = make(chan struct{}, runtime.GOMAXPROCS(0))
	if !more && r.base.Len() > 0 {
		r.seen = make(map[K]struct{}, r.base.Len())
	}
	return r
}

func (r *tableRestorer[K, V]) row(row sink.Row) error {
	const inPart = 1 << 12
	if r.more && row.Removed {
		key, _, err := r.def.decode(row)
		if err == nil {
			r.e.Delete(key)
		}
		return err
	}
	if r.seen != nil {
		key, err := r.def.keys.Decode(row.Key)
		if err == nil {
			r.seen[key] = struct{}{}
			if r.base.Revision(key) == row.Revision && r.base.Has(key) {
				return nil
			}
		}
	}
	if r.next == nil {
		r.next = make([]sink.Row, 0, inPart)
	}
	if r.next = append(r.next, row); len(r.next) < inPart {
		return nil
	}
	return r.flush()
}

// flush has the rows of the next part decoded, and returns the error of an earlier one,
// if there is one by now.
func (r *tableRestorer[K, V]) flush() error {
	rows := r.next
	r.next = nil
	p := &restoredPart[K, V]{rows: builder[K, V]{}.Batch(r.e, len(rows)), err: line.ErrGoexit} // unless it returns
	r.parts = append(r.parts, p)
	r.turns <- struct{}{}
	r.running.Go(func() {
		defer func() {
			if p.err != nil {
				r.failed.Store(true)
			}
			<-r.turns
		}()
		_, p.err = line.Recovered(func() (_ struct{}, err error) {
			for i := 0; i < len(rows) && err == nil; i++ {
				err = r.decode(rows[i], p.rows)
			}
			return struct{}{}, err
		})
	})
	if r.failed.Load() {
		return r.firstError()
	}
	return nil
}

// firstError returns the first error in the order of the rows.
func (r *tableRestorer[K, V]) firstError() error {
	r.running.Wait()
	for _, p := range r.parts {
		if p.err != nil {
			return p.err
		}
	}
	return nil
}

func (r *tableRestorer[K, V]) wait() { r.running.Wait() }

func (r *tableRestorer[K, V]) decode(row sink.Row, into *snapshot.Batch[K, V]) error {
	key, v, err := r.def.decode(row)
	switch {
	case err != nil:
		return err
	case row.Removed:
		return r.def.rowError(key, errors.New("a row of contents that is removed"))
	}
	return into.Add(key, v, row.Revision)
}

func (r *tableRestorer[K, V]) end() error {
	if len(r.next) > 0 {
		_ = r.flush()
	}
	if err := r.firstError(); err != nil {
		return err
	}
	batches := make([]*snapshot.Batch[K, V], len(r.parts))
	for i, p := range r.parts {
		batches[i] = p.rows
	}
	r.parts = nil
	builder[K, V]{}.PutBatches(r.e, batches, inParallel)
	if r.seen == nil {
		return nil
	}
	for key := range r.base.Keys() {
		if _, ok := r.seen[key]; !ok {
			r.e.Delete(key)
		}
	}
	return nil
}

// inParallel calls do with 0 to n-1 on all processors.
func inParallel(n int, do func(i int)) {
	var next atomic.Int64
	var all sync.WaitGroup
	for range min(n, runtime.GOMAXPROCS(0)) {
		all.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				do(i)
			}
		})
	}
	all.Wait()
}

// ErrSchema says that a file or a replica has other tables than the program. Either the program
// does not have one of them, or has it with other keys, with another codec, or with values that
// lack something that is stored. The text of the error has both schemas, and each difference.
//
// The schema of a table is a text. It has the kinds and the names of the fields of its keys, in
// order, where int counts as int64, and uint and uintptr as uint64. It has the codec, with its
// version, and what the codec writes by name of the values. It is recorded when rows are first
// stored, and again when a program opens them that has more fields. These differences are allowed:
//
//   - the name of a type, unless it encodes itself
//   - a field of a value that is new, became a pointer to what it was, or has moved among the
//     others
//   - another size or sign of an integer of a value in JSON or CBOR; to decode a number that does
//     not fit is an error
//   - another version of a [Versioned], if its Other and Newest read it
//   - what Options.Accept of the table lists
//
// The schema covers at most 8 KiB and 32 levels of a value; deeper differences are not found. Nor
// are those inside a type that encodes itself: give its codec a version.
var ErrSchema = sink.ErrSchema

// record returns what is to be recorded of the table, given what is recorded: its schema,
// unless that of a newer version of a Versioned is there, which it reads.
func (d *tableDef[K, V]) record(recorded string) (string, error) {
	is := layout.NewText(d.keys.Schema(), layout.CodecSchema[V](d.codec))
	text, err := record(recorded, is, d.codec, d.accept)
	if err != nil {
		return "", fmt.Errorf("cow: %s: %w", d, err)
	}
	return text, nil
}

func record(recorded string, is layout.Text, codec any, accept []string) (string, error) {
	if recorded == "" {
		return is.String(), nil
	}
	was := layout.Parse(recorded)
	next := is
	var other []string
	if c, ok := codec.(versioned); ok {
		if v, ok := versionOf(was.Value); ok && !strings.HasPrefix(was.Value, c.describe()) {
			if c.newer(v) {
				next.Value = was.Value
			}
			if !c.reads(v) {
				other = append(other, layout.Other("value", fmt.Sprint(versionMark, v), strings.TrimSuffix(c.describe(), ", ")))
			}
			was.Value = is.Value
		}
	}
	other = append(was.Differences(is), other...)
	other = slices.DeleteFunc(other, func(s string) bool { return slices.Contains(accept, s) })
	if len(other) == 0 {
		return next.String(), nil
	}
	const most, length = 10, 2 << 10
	more := ""
	if n := len(other) - most; n > 0 {
		other, more = other[:most], fmt.Sprintf(", and %d more", n)
	}
	return "", fmt.Errorf("%w: %s%s (stored are %s; the program has %s): see Options.Accept", ErrSchema,
		strings.Join(other, ", "), more, layout.Bounded(recorded, length), layout.Bounded(is.String(), length))
}

// versionOf returns the version that a schema begins with.
func versionOf(value string) (byte, bool) {
	text, ok := strings.CutPrefix(value, versionMark)
	n, _, found := strings.Cut(text, ",")
	v, err := strconv.ParseUint(n, 10, 8)
	return byte(v), ok && found && err == nil
}

// ErrNotEmpty says that a DB cannot be restored: it has had an update, or has a sink.
var ErrNotEmpty = line.ErrNotEmpty

// maxRestored is far above what a DB gets to, and far enough below what a version can be.
const maxRestored = 1 << 54

// Restore makes a DB at version 0 go on from where another DB was: it gets the version and the
// lineage of a cursor, published at the time at, so that cursors of the other DB are valid here
// too. It is for backups in a format of your own. F is called once, with a Tx, and writes the rows
// with [Table.Restore], which keeps their revisions; rows that it writes by other verbs have the
// restored version as their revision. Derived tables follow. All tables and indexes must be made
// before. If f returns an error, Restore returns it, and nothing happens; nor does anything if f
// panics.
//
// Do not go on with both the other DB and the copy: they would have different versions with the
// same cursor. Readers and writers need not wait for f. If one of them publishes a version first,
// or the DB has a sink, Restore does nothing and returns ErrNotEmpty. It returns ErrCursor for a
// text that is not a cursor, or is one of version 0 or above 1<<54.
func (db *DB) Restore(cursor string, at time.Time, f func(tx *Tx) error) error {
	lineage, version, err := line.ParseCursor(cursor)
	if err == nil && (version == 0 || version > maxRestored) {
		err = ErrCursor
	}
	if err != nil {
		return fmt.Errorf("cow: %.100q: %w", cursor, err)
	}
	base, err := db.line.Empty()
	if err != nil {
		return err
	}
	// With a Commit, though it is not one update: else what is changed is computed in room
	// for updates in the writer's place.
	tx := &Tx{db: db, base: base, version: version, want: line.Want{Commit: true}}
	defer tx.end()
	if err := f(tx); err != nil {
		return err
	}
	d, err := tx.seal()
	if err != nil {
		return err
	}
	if err := db.line.Restore(base, tx.made(d), lineage, at); err != nil {
		return err
	}
	if d.Then != nil {
		d.Then()
	}
	return nil
}

// Restore sets a row as it was, in an update of [DB.Restore]; anywhere else it panics. The
// revision, at which the row was written, must be from 1 to the version that is restored, or
// Restore returns an error. Its other errors are those of Editor.Insert. The example is that of
// [DB.Restore].
func (t *Table[K, V]) Restore(tx *Tx, key K, v V, revision uint64) error {
	t.made()
	if tx.version == 0 {
		panic("cow: Table.Restore outside of DB.Restore: use Edit")
	}
	if revision == 0 || revision > tx.version {
		return t.def.rowError(key, fmt.Errorf("revision %d of version %d", revision, tx.version))
	}
	e := t.def.edit(tx)
	row := builder[K, V]{}.Batch(e, 1)
	if err := row.Add(key, v, revision); err != nil {
		return err
	}
	builder[K, V]{}.PutBatches(e, []*snapshot.Batch[K, V]{row}, inParallel)
	return nil
}
