package bolt

import (
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"time"

	"go.etcd.io/bbolt"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/cow/internal/layout"
	"github.com/cowstore/cowstore/cow/internal/sink"
)

// A File is the file that a DB is kept in. It is made by Open, must not be copied, and is
// safe for concurrent use. Closing the DB closes it.
type File struct {
	file    *file
	sink    *fileSink
	unknown []string
	renewed bool
}

// Open keeps db in the file at path, or, if there is none, in a new one, until db.Close. What the
// file has is loaded into db, which must be at version 0 then, its pins too; a new file gets what
// db has, which nobody may update or pin meanwhile. All tables of db must be made before; those of
// NewDerived are not stored, but derived again. Call db.Retain before: the past that the file has
// is only kept if db keeps it.
//
// A new file gets its name when it is complete and on disk. What a crash leaves of one that
// was not, or of a Backup or Compact, is beside the file, its name with .cowbolt- and digits,
// until the next Open. What it leaves of a BackupFile stays beside the backup, until somebody
// removes it.
//
// Each later update of db is in the file when it returns, in one transaction; see Sync for what
// that means. Its error says that it is not, unless it wraps [cow.ErrUnknownOutcome]. After a write
// has failed, all updates return an error that wraps what happened, and reads go on: it is never
// tried again, since the operating system may have forgotten what it could not write. [ErrChanged] is
// such an error: see the package comment. Close db and open the file anew, with another DB; it has
// all that was acknowledged, and may have what was on its way.
//
// The schema of each table is recorded in the file. One that the file has with another
// schema, see [cow.ErrSchema], or, unless Options.KeepUnknown is set, one that db does not have
// is an error that wraps [cow.ErrSchema]. A file of an earlier version of this package has no
// schema: it gets that of db once all its rows were decoded, and earlier versions refuse it
// from then on, with [ErrFormat].
//
// On an error db is unchanged. It wraps [ErrLocked], [ErrDamaged], [ErrFormat], [ErrNotEmpty] or
// [cow.ErrSchema], or is one of the operating system, of a codec, or of an index of db.
func Open(path string, db *cow.DB, o Options) (_ *File, err error) {
	line := sink.For(db)
	tables, err := tablesOf(line)
	if err != nil {
		return nil, err
	}
	at := resolve(path)
	var made *state
	f, err := openFile(at, false)
	if errors.Is(err, fs.ErrNotExist) {
		made, err = create(at, line.Contents(), tables, o)
		if _, no := os.Stat(at); err == nil || made == nil && no == nil { // or somebody else made it meanwhile
			f, err = openFile(at, false)
		}
	}
	if err != nil {
		return nil, refused(path, err)
	}
	l := &loader{file: f, o: o, tables: tables}
	err = errStopped // unless attach returns
	defer func() {
		if err != nil {
			f.unmake(made)
			err = refused(path, errors.Join(err, f.close()))
		}
	}()
	if err = l.attach(line); err != nil {
		return nil, err
	}
	return &File{f, l.sink, l.unknown, l.renewed}, nil
}

// tablesOf returns the tables of a DB that a file can have.
func tablesOf(line sink.DB) ([]sink.Table, error) {
	tables, err := line.Tables()
	if err != nil {
		return nil, err
	}
	for _, t := range tables {
		if len(t.Name) > maxName {
			return nil, fmt.Errorf("bolt: table %.100q: its name is too long", t.Name)
		}
	}
	return tables, nil
}

// Unknown returns the names of the tables in the file that the DB does not have, with
// Options.KeepUnknown. They are kept as they are.
func (f *File) Unknown() []string { return append([]string(nil), f.unknown...) }

// Renewed reports whether Open has begun a new lineage, because versions after those that
// the file has may have been seen: see Info.Renews. It also has where the lineage in the file
// is a text that no DB has made.
func (f *File) Renewed() bool { return f.renewed }

// refused says which file cannot be opened, and what to do about it.
func refused(path string, err error) error {
	switch err = named(path, err); {
	case errors.Is(err, ErrDamaged):
		return fmt.Errorf("%w: go back to a backup, or take what is left by Salvage", err)
	case errors.Is(err, ErrFormat):
		return fmt.Errorf("%w: if it was one, go back to a backup", err)
	}
	return err
}

// named says which file an error is about.
func named(path string, err error) error {
	if path := (*fs.PathError)(nil); errors.As(err, &path) {
		return fmt.Errorf("bolt: %w", err)
	}
	return fmt.Errorf("bolt: %s: %w", path, err)
}

// create makes a file with the contents of a DB, and returns its state once it has its name.
func create(path string, c sink.Contents, tables []sink.Table, o Options) (made *state, err error) {
	now := moment{c.Version, nanos(c.Time)}
	s := &state{lineage: c.Lineage, base: now, tip: now}
	if s.record, err = layout.Record(nil).Join(tables); err != nil {
		return nil, err
	}
	for _, t := range tables {
		s.tables = append(s.tables, tableState{name: t.Name})
	}
	b, err := newBuilder(path, o.mode(), nil, s)
	if err != nil {
		return nil, err
	}
	defer b.abort()
	for r, err := range c.Rows {
		if err == nil {
			err = fits(r)
		}
		if err == nil {
			err = b.row(r.Table, r.Key, row{r.Revision, r.Value})
		}
		if err != nil {
			return nil, err
		}
	}
	for _, p := range c.Pins {
		b.state.pin(p.Version).names = p.Names
		for r, err := range p.Rows {
			if err == nil {
				err = fits(r)
			}
			if err == nil {
				err = b.pinned(p.Version, r.Table, r.Key, row{r.Revision, r.Value})
			}
			if err != nil {
				return nil, err
			}
		}
	}
	if err := b.finish(); err != nil {
		return nil, err
	}
	if err := b.name(path); err != nil {
		return nil, err
	}
	return b.state, syncDir(path)
}

// A loader loads a file into a DB.
type loader struct {
	file    *file
	o       Options
	tables  []sink.Table
	state   *state // what the file has when it is loaded
	schema  []byte // what its schemaKey has then
	known   []int  // by id: the table in the DB, or -1
	unknown []string
	renewed bool
	sink    *fileSink

	scan        *scan // after its tables and what is kept for its pins
	pinned      map[uint64][]sink.Row
	done, total uint64
	ready       bool // the file is as state says
}

// attach makes the DB what the file has, and the file what the DB is kept in.
func (l *loader) attach(line sink.DB) error {
	c, err := l.contents()
	if err != nil {
		return err
	}
	l.sink = newSink(line, l)
	attached := false
	defer func() { l.sink.start(attached) }() // after runtime.Goexit too
	err = l.load(line, l.sink, c)
	attached = err == nil
	return err
}

// load makes the DB what the file has.
func (l *loader) load(line sink.DB, to sink.Sink, c sink.Contents) error {
	err := line.Attach(to, c, l.past)
	if errors.Is(err, sink.ErrLineage) || errors.Is(err, sink.ErrBehind) || errors.Is(err, sink.ErrAttached) {
		return fmt.Errorf("%w: open the file with a new one: %w", ErrNotEmpty, err)
	}
	return err
}

// contents returns what the DB is to begin with.
func (l *loader) contents() (c sink.Contents, err error) {
	s, err := l.file.scan(refuse)
	if err != nil {
		return c, err
	}
	l.state = s.state.clone()
	record, err := s.state.record.Join(l.tables)
	if err != nil {
		return c, err
	}
	l.schema = l.state.setRecord(record)
	byName := make(map[string]int)
	for i, t := range l.tables {
		byName[t.Name] = i
	}
	for _, t := range l.state.tables {
		i, ok := byName[t.name]
		if !ok {
			i = -1
			l.unknown = append(l.unknown, t.name)
		}
		delete(byName, t.name)
		l.known = append(l.known, i)
		l.total += t.count
	}
	l.total += l.state.log.count
	if !l.o.KeepUnknown {
		if err := layout.Unknown(l.unknown); err != nil {
			return c, err
		}
	}
	for i, t := range l.tables {
		if _, ok := byName[t.Name]; ok {
			l.known = append(l.known, i)
			l.state.tables = append(l.state.tables, tableState{name: t.Name})
		}
	}
	if l.renewed = s.renews() || !sink.IsLineage(l.state.lineage); l.renewed {
		l.state.lineage = sink.NewLineage()
	}
	l.state.early = l.o.Sync != Always

	var pins []sink.Pin
	for _, p := range l.state.pins {
		pins = append(pins, sink.Pin{Version: p.version, Names: p.names, Rows: func(yield func(sink.Row, error) bool) {
			for _, r := range l.pinned[p.version] {
				if !yield(r, nil) {
					return
				}
			}
		}})
	}
	return sink.Contents{
		Lineage: l.state.lineage,
		Version: l.state.base.version,
		Time:    l.state.base.time(),
		Rows:    l.rows,
		Pins:    pins,
	}, nil
}

var errStopped = errors.New("the iteration was ended")

// rows iterates over the rows of the tables that the DB has, and verifies all.
func (l *loader) rows(yield func(sink.Row, error) bool) {
	l.done, l.scan = 0, nil
	s, err := l.file.scan(refuse)
	for id := 0; err == nil && id < len(s.state.tables); id++ {
		table := l.known[id]
		err = s.table(id, s.state.tables[id], func(key []byte, r row) error {
			l.progress()
			if table >= 0 && !yield(sink.Row{Table: table, Key: key, Value: r.value, Revision: r.revision}, nil) {
				return errStopped
			}
			return nil
		})
	}
	l.pinned = make(map[uint64][]sink.Row)
	if err == nil {
		err = s.pinned(func(version uint64, id int, key []byte, r row) error {
			if table := l.known[id]; table >= 0 {
				l.pinned[version] = append(l.pinned[version], sink.Row{Table: table, Key: key, Value: r.value, Revision: r.revision})
			}
			return nil
		})
	}
	switch {
	case err == nil:
		l.scan = s
	case err != errStopped:
		yield(sink.Row{}, err)
	}
}

// past iterates over the commits of the log. When it ends the whole file is verified,
// and is made to be what is loaded.
func (l *loader) past(yield func(*sink.Commit, error) bool) {
	if l.scan == nil { // the DB has these rows already: there are none, or the file is new
		for _, err := range iter.Seq2[sink.Row, error](l.rows) {
			if err != nil {
				yield(nil, err)
				return
			}
		}
	}
	s := l.scan
	l.scan = nil
	err := s.commits(func(c record) error {
		l.progress()
		if !yield(l.commit(c), nil) {
			return errStopped
		}
		return nil
	})
	if err == nil {
		err = s.end()
	}
	if err == nil {
		err = l.prepare(s.state)
	}
	if err != nil && err != errStopped {
		yield(nil, err)
	}
}

// commit returns the commit of a record, as far as the DB has its tables.
func (l *loader) commit(c record) *sink.Commit {
	d := &sink.Commit{Lineage: l.state.lineage, Version: c.version, Time: time.Unix(0, c.at)}
	for _, r := range c.rows {
		if r.Table = l.known[r.Table]; r.Table >= 0 {
			d.Rows = append(d.Rows, r)
		}
	}
	return d
}

// prepare writes what of the state is other than before.
func (l *loader) prepare(is *state) error {
	if l.ready || is.format == format && is.schema == l.state.schema &&
		is.lineage == l.state.lineage && is.early == l.state.early && len(is.tables) == len(l.state.tables) {
		return nil
	}
	err := l.file.update(false, func(tx *bbolt.Tx) error {
		if err := makeBuckets(tx, l.state); err != nil {
			return err
		}
		meta := tx.Bucket(metaBucket)
		return errors.Join(meta.Put(schemaKey, l.schema), meta.Put(stateKey, l.state.encode()))
	})
	l.ready = err == nil
	return err
}

func (l *loader) progress() {
	const step = 1 << 16
	if l.done++; l.o.Progress != nil && (l.done%step == 0 || l.done == l.total) {
		l.o.Progress(min(l.done, l.total), l.total)
	}
}
