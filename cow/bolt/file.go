package bolt

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"go.etcd.io/bbolt"
	bbolterrors "go.etcd.io/bbolt/errors"
)

// A file is a file that this process has locked, for itself unless it is only read. But
// for there, copyTo and end, one goroutine uses it at a time.
type file struct {
	bolt  *bbolt.DB
	under *os.File
	path  string

	mu      sync.Mutex // held by a transaction
	copiers map[*copier]struct{}

	is       os.FileInfo // which file it is
	pageSize int
	left     trace
	size     atomic.Int64 // as it was left
	stuck    bool         // bbolt panicked, and may hold its locks
}

// resolve returns where the file is, or is to be, that path leads to: what is made beside it,
// or takes its place, must not take that of a symbolic link, nor follow the working
// directory. A path that leads nowhere stays as it is.
func resolve(path string) string {
	if path == "" {
		return path
	}
	at := path
	for range 40 { // links in a row, as Linux has it
		full, err := filepath.EvalSymlinks(at)
		if err == nil {
			at = full
			break
		}
		dir, no := filepath.EvalSymlinks(filepath.Dir(at))
		if no != nil || !errors.Is(err, fs.ErrNotExist) {
			return path
		}
		at = filepath.Join(dir, filepath.Base(at))
		link, no := os.Readlink(at)
		if no != nil {
			break // there is no file yet
		}
		if at = link; !filepath.IsAbs(at) {
			at = dir + string(filepath.Separator) + at
		}
	}
	if full, err := filepath.Abs(at); err == nil {
		return full
	}
	return path
}

// openFile opens a file that there is, and, unless it is only read, removes what was left
// beside it.
func openFile(path string, readOnly bool) (*file, error) {
	// bbolt trusts what it reads. So it gets to see the file only after the parts that
	// it reads when it opens are known to be sound. The lock is not kept in between;
	// whoever has it then leaves a sound file.
	f, err := lockFile(path, true)
	if err != nil {
		return nil, err
	}
	if readOnly {
		return f, nil
	}
	p, err := f.pages()
	if err == nil {
		if err = p.free(func(uint64) error { return nil }); err != nil {
			err = damage("", nil, err)
		}
	}
	if err = errors.Join(err, f.close()); err != nil {
		return nil, err
	}
	if f, err = lockFile(path, false); err != nil {
		return nil, err
	}
	removeTemps(path)
	return f, nil
}

func lockFile(path string, readOnly bool) (*file, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.Size() == 0 { // or no file, which opening may wait for
		return nil, fmt.Errorf("%w: it is empty", ErrFormat)
	}
	f := &file{path: path}
	err = guard(func() (err error) {
		f.bolt, err = bbolt.Open(path, 0, &bbolt.Options{
			ReadOnly:     readOnly,
			Timeout:      1, // at once
			FreelistType: bbolt.FreelistArrayType,
			NoStatistics: true,
			OpenFile: func(name string, flag int, mode os.FileMode) (_ *os.File, err error) {
				if f.under, err = os.OpenFile(name, flag&^os.O_CREATE, mode); err != nil {
					return nil, err
				}
				// Or bbolt would make an empty file its own, and fault in one that is too short.
				_, err = f.pages()
				return f.under, err
			},
		})
		return err
	})
	if f.bolt == nil && f.under != nil {
		// bbolt lets go of the file, but not if it panicked. Then the mapping of a file that
		// somebody cut off in this very moment stays, but not the lock.
		unlock(f.under)
		_ = f.under.Close()
	}
	switch {
	case errors.Is(err, bbolterrors.ErrTimeout):
		return nil, ErrLocked
	case errors.Is(err, bbolterrors.ErrInvalid), errors.Is(err, bbolterrors.ErrVersionMismatch), errors.Is(err, bbolterrors.ErrChecksum):
		return nil, fmt.Errorf("%w: %w", ErrFormat, err)
	case err != nil:
		return nil, err
	}
	f.pageSize = f.bolt.Info().PageSize
	if f.is, err = f.under.Stat(); err == nil {
		err = f.look()
	}
	if errors.Is(err, ErrChanged) { // Compact has put another in its place before the lock was ours
		err = ErrLocked
	}
	if err != nil {
		return nil, errors.Join(err, f.close())
	}
	return f, nil
}

// pages returns the pages of the file as they are, which another DB may be writing.
func (f *file) pages() (*pages, error) {
	for size := int64(-1); ; {
		info, err := f.under.Stat()
		if err != nil {
			return nil, err
		}
		p, err := openPages(f.under, info.Size())
		if err == nil || info.Size() <= size {
			return p, err
		}
		size = info.Size() // it may have grown meanwhile
	}
}

// scan begins a scan.
func (f *file) scan(bad func(error) error) (*scan, error) {
	info, err := f.under.Stat()
	if err != nil {
		return nil, err
	}
	return scanFile(f.under, info.Size(), bad)
}

// transact runs a transaction, unless one has panicked, whose locks it would wait for.
func (f *file) transact(do func(tx *bbolt.Tx) error) error {
	if f.stuck {
		return unwritten{damage("", nil, errors.New("a transaction has panicked"))}
	}
	f.stuck = true // unless it returns
	return guard(func() error {
		err := f.bolt.Update(do)
		f.stuck = false
		return err
	})
}

// close unlocks the file and lets go of its mapping, whatever has happened to bbolt.
func (f *file) close() error {
	if f.stuck {
		// Where bbolt panics it keeps the lock of the one that writes, for which its Close
		// would wait. That is this goroutine, and there is no other way to get at the mapping.
		if lock := reflect.ValueOf(f.bolt).Elem().FieldByName("rwlock"); lock.IsValid() && lock.Type() == reflect.TypeFor[sync.Mutex]() {
			mu := (*sync.Mutex)(lock.Addr().UnsafePointer())
			_ = mu.TryLock()
			mu.Unlock()
		}
	}
	return guard(f.bolt.Close)
}

// guard calls f, and returns a panic of bbolt's, or a fault in the file that it has
// mapped, as an error.
func guard(f func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		switch r := recover().(type) {
		case nil:
		case error:
			err = damage("", nil, r)
		default:
			err = damage("", nil, fmt.Errorf("%v", r))
		}
	}()
	return f()
}

// unmake removes the file, which is locked, if it is still as it was made.
func (f *file) unmake(made *state) {
	if made == nil {
		return
	}
	if s, err := f.scan(refuse); err == nil && bytes.Equal(s.state.encode(), made.encode()) {
		_ = os.Remove(f.path)
	}
}

// tempMark is in the names of files that are not finished, between that of the file they
// are for and some digits.
const tempMark = ".cowbolt-"

func createTemp(path string) (*os.File, error) {
	if _, err := os.Stat(filepath.Dir(path)); err != nil {
		return nil, err // of the folder, and not of a file that nobody has named
	}
	return os.CreateTemp(filepath.Dir(path), filepath.Base(path)+tempMark+"*")
}

// removeTemps removes what processes that have ended left beside the file at path, which
// is locked: who still makes one for that name fails in any case. It does what it can.
func removeTemps(path string) {
	dir, mark := filepath.Dir(path), filepath.Base(path)+tempMark
	all, _ := os.ReadDir(dir)
	for _, f := range all {
		if digits, ok := strings.CutPrefix(f.Name(), mark); ok && strings.Trim(digits, "0123456789") == "" {
			_ = os.Remove(filepath.Join(dir, f.Name()))
		}
	}
}

// syncDir makes the name of a file durable, where the file system has a call for that.
func syncDir(path string) error {
	if runtime.GOOS == "windows" {
		return nil // which has no such call
	}
	f, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	err = f.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported) {
		err = nil
	}
	return errors.Join(err, f.Close())
}

// nanos returns t in ns since 1970; 0 for the zero time.
func nanos(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}
