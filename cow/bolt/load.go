package bolt

import (
	"context"
	"errors"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/cow/internal/sink"
)

// ErrReadOnly says that a DB has what a file had, and is not kept in it: see Load.
var ErrReadOnly error = sentinel("the DB is read-only: its file was only loaded")

// Load loads what the file at path has into db, as Open does, and only reads the file: it stays as
// it is, and is free again when Load returns. From then on updates of db, and pins, return an error
// that wraps [ErrReadOnly], which the state of its sink says too, and what others write to the file is
// not seen. While a DB has the file open the error wraps [ErrLocked]; if there is none, it is
// [fs.ErrNotExist].
func Load(path string, db *cow.DB, o Options) (err error) {
	line := sink.For(db)
	tables, err := tablesOf(line)
	if err != nil {
		return err
	}
	f, err := openFile(resolve(path), true)
	if err != nil {
		return refused(path, err)
	}
	l := &loader{file: f, o: o, tables: tables, ready: true} // nothing is to be written
	err = errStopped                                         // unless load returns
	defer func() {
		if err = errors.Join(err, f.close()); err != nil {
			err = refused(path, err)
		}
	}()
	c, err := l.contents()
	if err != nil {
		return err
	}
	if err = l.load(line, reader{}, c); err == nil {
		line.Refuse(0, ErrReadOnly) // nothing is outstanding: this says what becomes of updates
	}
	return err
}

// A reader is the sink of a DB that is not kept.
type reader struct{}

var _ sink.Pinner = reader{}

func (reader) Room(context.Context, int) error { return ErrReadOnly }
func (reader) Propose(*sink.Commit) error      { return ErrReadOnly }
func (reader) Trim(uint64)                     {}
func (reader) Close() error                    { return nil }

func (reader) Pin(string, uint64) func() error { return func() error { return ErrReadOnly } }
func (reader) Unpin(string) func() error       { return func() error { return ErrReadOnly } }
