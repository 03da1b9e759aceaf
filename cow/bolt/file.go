package bolt

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"go.etcd.io/bbolt"
	bbolterrors "go.etcd.io/bbolt/errors"
)

// A file is a file that this process has locked, for itself unless it is only read.
type file struct {
	bolt  *bbolt.DB
	under *os.File
	path  string
	stuck bool // bbolt panicked, and may hold its locks
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
	if info.Size() == 0 {
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
				f.under, err = os.OpenFile(name, flag&^os.O_CREATE, mode)
				return f.under, err
			},
		})
		return err
	})
	switch {
	case errors.Is(err, bbolterrors.ErrTimeout):
		return nil, ErrLocked
	case errors.Is(err, bbolterrors.ErrInvalid), errors.Is(err, bbolterrors.ErrVersionMismatch):
		if f, err := os.Open(path); err == nil {
			defer f.Close()
			if _, err := openPages(f, info.Size()); err != nil {
				return nil, err
			}
		}
		return nil, fmt.Errorf("%w: %w", ErrFormat, err)
	case err != nil:
		return nil, err
	}
	// Compact may have put another file in its place before the lock was ours.
	if is, err := os.Stat(path); err != nil || !os.SameFile(is, info) {
		return nil, errors.Join(ErrLocked, f.close())
	}
	return f, nil
}

// pages returns the pages of the file as they are.
func (f *file) pages() (*pages, error) {
	info, err := f.under.Stat()
	if err != nil {
		return nil, err
	}
	return openPages(f.under, info.Size())
}

// scan begins a scan.
func (f *file) scan(bad func(error) error) (*scan, error) {
	info, err := f.under.Stat()
	if err != nil {
		return nil, err
	}
	return scanFile(f.under, info.Size(), bad)
}

// update runs a transaction.
func (f *file) update(do func(tx *bbolt.Tx) error) error {
	f.stuck = true // unless it returns
	return guard(func() error {
		err := f.bolt.Update(do)
		f.stuck = false
		return err
	})
}

// close unlocks the file.
func (f *file) close() error {
	if f.stuck {
		return f.under.Close() // all but the mapping, which nothing reads any more
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

// tempMark is in the names of files that are not finished, between that of the file they
// are for and some digits.
const tempMark = ".cowbolt-"

func createTemp(path string) (*os.File, error) {
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

// A builder makes a file under a temporary name.
type builder struct {
	state   *state
	temp    string
	bolt    *bbolt.DB
	tx      *bbolt.Tx
	pending int // bytes in tx
}

func newBuilder(path string, mode os.FileMode, s *state) (*builder, error) {
	temp, err := createTemp(path)
	if err != nil {
		return nil, err
	}
	b := &builder{state: s.clone(), temp: temp.Name()}
	b.state.log = tally{}
	for i := range b.state.tables {
		b.state.tables[i].tally = tally{}
	}
	if err = errors.Join(temp.Chmod(mode), temp.Close()); err == nil {
		b.bolt, err = bbolt.Open(b.temp, mode, &bbolt.Options{FreelistType: bbolt.FreelistArrayType, NoStatistics: true})
	}
	if err == nil {
		err = b.begin()
	}
	if err != nil {
		b.abort()
		return nil, err
	}
	return b, nil
}

func (b *builder) begin() (err error) {
	if b.tx, err = b.bolt.Begin(true); err != nil {
		return err
	}
	return makeBuckets(b.tx, b.state)
}

// makeBuckets makes the buckets that a file with this state has.
func makeBuckets(tx *bbolt.Tx, s *state) error {
	for _, name := range [][]byte{metaBucket, logBucket} {
		if _, err := tx.CreateBucketIfNotExists(name); err != nil {
			return err
		}
	}
	for id, t := range s.tables {
		if _, err := tx.CreateBucketIfNotExists(tableBucket(id, t.name)); err != nil {
			return err
		}
	}
	return nil
}

// put puts a value into a bucket.
func (b *builder) put(bucket, key, value []byte) error {
	const atOnce = 16 << 20
	if b.pending += len(key) + len(value); b.pending > atOnce {
		b.pending = 0
		if err := b.tx.Commit(); err != nil {
			return err
		}
		if err := b.begin(); err != nil {
			return err
		}
	}
	to := b.tx.Bucket(bucket)
	to.FillPercent = 0.9 // keys come in their order
	return to.Put(key, value)
}

func (b *builder) row(table int, key []byte, r row) error {
	t := &b.state.tables[table]
	bucket, key := tableBucket(table, t.name), rowKey(key)
	seal, value := sealOf(bucket), r.append(nil)
	t.add(seal.sum(key, value), r.revision)
	return b.put(bucket, key, seal.close(key, value))
}

func (b *builder) commit(c record) error {
	key, value, seal := logKey(c.version), c.append(nil), sealOf(logBucket)
	b.state.log.add(seal.sum(key, value), c.version)
	return b.put(logBucket, key, seal.close(key, value))
}

// finish completes the file on disk, under its temporary name.
func (b *builder) finish() error {
	err := b.put(metaBucket, stateKey, b.state.encode())
	if err == nil {
		err = b.tx.Commit()
	}
	if err == nil {
		err = b.bolt.Close()
	}
	if err == nil {
		err = syncFile(b.temp)
	}
	return err
}

// name gives the finished file its name, which nothing may have.
func (b *builder) name(path string) error {
	if err := os.Link(b.temp, path); errors.Is(err, os.ErrExist) {
		return err
	} else if err != nil { // the file system has no links
		if err := os.Rename(b.temp, path); err != nil {
			return err
		}
		return syncDir(path)
	}
	return errors.Join(syncDir(path), os.Remove(b.temp))
}

// abort removes what there is of an unfinished file.
func (b *builder) abort() {
	if b.tx != nil {
		_ = b.tx.Rollback()
	}
	if b.bolt != nil {
		_ = b.bolt.Close()
	}
	_ = os.Remove(b.temp)
}

func syncFile(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// syncDir makes the name of a file durable.
func syncDir(path string) error {
	if runtime.GOOS == "windows" {
		return nil // which has no such call
	}
	f, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// nanos returns t in ns since 1970; 0 for the zero time.
func nanos(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}
