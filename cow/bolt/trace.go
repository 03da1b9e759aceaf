package bolt

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"time"

	"go.etcd.io/bbolt"
)

// The lock keeps out whoever asks for it. Whoever does not can replace, remove, cut off or
// overwrite the file, and what is written then is written to nowhere. So each transaction
// looks at the file:
//
//	before   the file at the path is this one, as long and as old as it was left
//	begun    bbolt has found the transaction that was the last
//	synced   it is marked, see mark
//	marked   the file at the path is this one; its length and both meta pages are
//	         those that follow from the transaction and the one before it
//
// All of that comes before what the transaction has is acknowledged. It takes two calls of
// stat, a write and a read for a transaction, however many updates it has.

// A trace is how a file was left.
type trace struct {
	modified time.Time
	metas    [2][pageHeader + metaSize]byte
	last     meta
}

// unwritten is why a transaction was not begun: nothing of it is in the file.
type unwritten struct{ error }

func (u unwritten) Unwrap() error { return u.error }

func (f *file) changed(format string, args ...any) error {
	return fmt.Errorf("bolt: %s: %w: "+format, append([]any{f.path, ErrChanged}, args...)...)
}

// there returns what the file is like, if it is the one at its path, and no shorter than it was.
func (f *file) there() (os.FileInfo, error) {
	at, err := os.Stat(f.path)
	switch {
	case err != nil:
		return nil, f.changed("%w", err)
	case !os.SameFile(f.is, at):
		return nil, f.changed("another file is in its place")
	case at.Size() < f.size.Load():
		return nil, f.changed("it was cut off, from %d bytes to %d", f.size.Load(), at.Size())
	}
	return at, nil
}

// modified returns when a file was modified, as far as the system says so at once.
func modified(info os.FileInfo) time.Time {
	if runtime.GOOS == "windows" {
		return time.Time{}
	}
	return info.ModTime()
}

// unchanged finds out whether the file is as it was left.
func (f *file) unchanged() error {
	info, err := f.there()
	switch {
	case err != nil:
		return err
	case info.Size() != f.size.Load():
		return f.changed("it has %d bytes, and had %d", info.Size(), f.size.Load())
	case !modified(info).Equal(f.left.modified):
		return f.changed("it was written to at %v", info.ModTime())
	}
	return nil
}

// look finds out how the file is left.
func (f *file) look() error {
	info, err := f.there()
	if err != nil {
		return err
	}
	left := trace{modified: modified(info)}
	b := make([]byte, f.pageSize+len(left.metas[0]))
	if _, err := f.under.ReadAt(b, 0); err == io.EOF {
		return f.changed("it was cut off")
	} else if err != nil {
		return err
	}
	for i := range left.metas {
		copy(left.metas[i][:], b[i*f.pageSize:])
		if m, ok := decodeMeta(left.metas[i][pageHeader:]); ok && (left.last.high == 0 || m.txid > left.last.txid) {
			left.last = m
		}
	}
	f.left = left
	f.size.Store(info.Size())
	return nil
}

// follows finds out whether the file is as transaction id must have left it, and is so
// from now on.
func (f *file) follows(id uint64) error {
	was, size := f.left, f.size.Load()
	if err := f.look(); err != nil {
		return err
	}
	is, other := f.left.last, 1-id%2 // bbolt writes them in turn
	need := int64(is.high+1) * int64(is.pageSize)
	grown := is.high > was.last.high && need > size
	switch {
	case is.txid != id, !bytes.Equal(was.metas[other][:], f.left.metas[other][:]):
		return f.changed("its meta pages are not those that were written")
	case grown && f.size.Load() < need, !grown && f.size.Load() != size:
		return f.changed("it has %d bytes, and had %d", f.size.Load(), size)
	}
	return nil
}

// update runs a transaction, and marks it if it has what is to be acknowledged. Its error
// wraps ErrChanged where the file is not as it was left, and is unwritten if it was found to
// be so before the transaction.
func (f *file) update(marks bool, do func(tx *bbolt.Tx) error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.unchanged(); err != nil {
		return unwritten{err}
	}
	next := f.left.last.txid + 1
	err := f.transact(func(tx *bbolt.Tx) error {
		if uint64(tx.ID()) != next {
			return unwritten{f.changed("its last transaction is %d, and was %d", tx.ID()-1, next-1)}
		}
		return do(tx)
	})
	if err == nil && marks {
		_, err = f.under.WriteAt(mark(next), int64(2-next%2)*int64(f.pageSize)-markSize)
	}
	if err == nil {
		if err = f.follows(next); err == nil {
			f.freed()
		}
		return err
	}
	if _, no := f.there(); no != nil {
		return errors.Join(no, err) // which it explains
	}
	was := f.left.metas[(next-1)%2]
	is := was
	if _, no := f.under.ReadAt(is[:], int64((next-1)%2)*int64(f.pageSize)); no == nil && is != was {
		return errors.Join(f.changed("its last meta page is not the one that was written"), err)
	}
	return err
}
