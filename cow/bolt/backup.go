package bolt

import (
	"errors"
	"io"
	"os"

	"go.etcd.io/bbolt"
	bbolterrors "go.etcd.io/bbolt/errors"

	"github.com/cowstore/cowstore/cow"
)

// Backup writes a file like that of f to w, with one version and the past that is
// retained, and returns the version. Writes go on meanwhile, but wait while it copies the
// file, next to it, if they make it grow much. A DB that opens the backup begins a new
// lineage there. After db.Close it returns cow.ErrClosed.
func (f *File) Backup(w io.Writer) (version uint64, err error) {
	path := f.file.path
	copied, err := createTemp(path)
	if err != nil {
		return 0, named(path, err)
	}
	defer os.Remove(copied.Name())
	err = guard(func() error {
		return f.file.bolt.View(func(tx *bbolt.Tx) error {
			_, err := tx.WriteTo(copied)
			return err
		})
	})
	if errors.Is(err, bbolterrors.ErrDatabaseNotOpen) {
		err = cow.ErrClosed
	}
	if err = errors.Join(err, copied.Close()); err == nil {
		version, err = send(copied.Name(), w)
	}
	if err != nil {
		return 0, named(path, err)
	}
	return version, nil
}

// send writes a copy of a file to w, which Open then gives a new lineage.
func send(path string, w io.Writer) (version uint64, err error) {
	f, err := openFile(path, false)
	if err != nil {
		return 0, err
	}
	s, err := f.scan(refuse)
	if err == nil {
		s.state.early = true
		err = f.update(func(tx *bbolt.Tx) error {
			return tx.Bucket(metaBucket).Put(stateKey, s.state.encode())
		})
	}
	if err = errors.Join(err, f.close()); err != nil {
		return 0, err
	}
	r, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer r.Close()
	_, err = io.Copy(w, r)
	return s.state.tip.version, err
}
