package bolt

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"go.etcd.io/bbolt"

	"github.com/cowstore/cowstore/cow"
)

// Backup writes a file like that of f to w, with one version and the past that is
// retained, and returns the version: one that is on disk, and may be about to be published. A DB
// that opens the backup begins a new lineage there.
//
// Writes go on meanwhile: each waits for no more than some 256 KiB to be copied, and for a
// copy of the pages that it has itself replaced; the file grows no more than without. The
// copy is made next to the file, where it takes as much room as the file uses, and is sent when
// it is complete and verified. See BackupFile for what happens where there is too little room.
//
// After db.Close it returns [cow.ErrClosed]. After a write that failed it may, too; where it does not,
// the backup has all that was acknowledged.
func (f *File) Backup(w io.Writer) (version uint64, err error) {
	path := f.file.path
	version, err = f.backup(path, func(temp string) error {
		r, err := os.Open(temp)
		if err != nil {
			return err
		}
		defer r.Close()
		_, err = io.Copy(w, r)
		return err
	})
	if err != nil {
		return 0, named(path, err)
	}
	return version, nil
}

// BackupFile is Backup to a new file at path, which nothing may have: [fs.ErrExist]. The
// file gets that name, and the mode of f's, once it is complete, verified and on disk. On an
// error there is none. One that wraps [ErrDamaged] says that the open file is damaged, or that the
// disk of the backup damages what is written to it. The rows are in memory still.
//
// If path is on the disk of f's file, some of the disk is left for writes: as much as the
// file is long, and at most 64 MiB. Where that is not there the backup ends with an error that
// wraps syscall.ENOSPC, and the room that it took is free again. That needs a system that says
// how much is free: Linux, macOS or FreeBSD.
func (f *File) BackupFile(path string) (version uint64, err error) {
	at := resolve(path)
	if _, err := os.Lstat(at); err == nil {
		return 0, named(path, fs.ErrExist)
	}
	version, err = f.backup(at, func(temp string) error {
		err := giveName(temp, at)
		if err == nil {
			if err = syncDir(at); err != nil {
				_ = os.Remove(at)
			}
		}
		return err
	})
	if err != nil {
		return 0, named(path, err)
	}
	return version, nil
}

// backup makes a complete copy next to path, and has it used.
func (f *File) backup(path string, use func(temp string) error) (version uint64, err error) {
	temp, err := createTemp(path)
	if err != nil {
		return 0, err
	}
	defer os.Remove(temp.Name())
	if err = errors.Join(f.copy(temp, path), temp.Close()); err != nil {
		return 0, err
	}
	if version, err = renews(temp.Name(), f.file.is.Mode()); err != nil {
		return 0, f.damaged(err)
	}
	return version, use(temp.Name())
}

// copy copies the file as it is now.
func (f *File) copy(to *os.File, path string) error {
	c, err := f.file.copyTo(to)
	if err == nil {
		err = c.run(f.file.enough(path))
		f.file.end(c)
	}
	return f.damaged(f.closed(err))
}

// damaged says of an error that a copy is damaged of which file it is one, and what to do.
func (f *File) damaged(err error) error {
	if errors.Is(err, ErrDamaged) {
		return fmt.Errorf("a copy of %s, which is open: %w: keep the last good backup, and write the rows elsewhere before the DB is closed", f.file.path, err)
	}
	return err
}

// closed says of an error that the file is closed that the DB is, and why if a write has failed.
func (f *File) closed(err error) error {
	if !errors.Is(err, os.ErrClosed) {
		return err
	}
	f.sink.mu.Lock()
	defer f.sink.mu.Unlock()
	if f.sink.ended && f.sink.err != nil {
		return fmt.Errorf("%w, as a write has failed: %w", cow.ErrClosed, f.sink.err)
	}
	return fmt.Errorf("%w: %w", cow.ErrClosed, err)
}

// renews verifies a copy of a file, makes Open give it a new lineage, and brings it to the
// disk with a mode. It returns its version.
func renews(path string, mode fs.FileMode) (version uint64, err error) {
	f, err := openFile(path, false)
	if err != nil {
		return 0, err
	}
	s, err := f.scan(refuse)
	if err == nil {
		err = s.all(func(int, []byte, row) error { return nil }, func(uint64, int, []byte, row) error { return nil }, func(record) error { return nil })
	}
	if err == nil {
		s.state.early = true
		err = f.update(false, func(tx *bbolt.Tx) error {
			return tx.Bucket(metaBucket).Put(stateKey, s.state.encode())
		})
	}
	if err == nil {
		err = errors.Join(dress(f.under, mode, nil), f.under.Sync())
	}
	if err = errors.Join(err, f.close()); err != nil {
		return 0, err
	}
	return s.state.tip.version, nil
}

// Space returns how many bytes the pages of the file have, and how many of those are free for
// writes to come, as Info.Free says. The file itself may be longer. One that is mostly free is one
// to Compact, when it is closed.
//
// It waits for the transaction that is being written, if there is one, and takes time proportional
// to the number of free pages. After db.Close, and perhaps after a write that failed, it returns
// [cow.ErrClosed]; [ErrDamaged] if the file is damaged where it says what is free.
func (f *File) Space() (size, free uint64, err error) {
	f.file.mu.Lock()
	defer f.file.mu.Unlock()
	p, err := f.file.pages()
	if err == nil {
		if err = p.free(func(uint64) error { free++; return nil }); err != nil {
			err = damage("", nil, err)
		}
	}
	if err != nil {
		return 0, 0, named(f.file.path, f.closed(err))
	}
	return p.high * uint64(p.pageSize), free * uint64(p.pageSize), nil
}
