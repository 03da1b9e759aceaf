package bolt

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/maphash"
	"os"

	"go.etcd.io/bbolt"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/cow/internal/sink"
)

// Create makes the file of a DB, and does not open it.
func Create(path string, db *cow.DB) error {
	line := sink.For(db)
	tables, err := line.Tables()
	if err != nil {
		return err
	}
	_, err = create(path, line.Contents(), tables, Options{})
	return err
}

// CreateAt makes a file that says that it is of this lineage and these versions.
func CreateAt(path, lineage string, base, tip uint64) error {
	b, err := newBuilder(path, 0o600, nil, &state{lineage: lineage, base: moment{base, 1}, tip: moment{tip, 1}})
	if err != nil {
		return err
	}
	defer b.abort()
	if err := b.finish(); err != nil {
		return err
	}
	return b.name(path)
}

// Lock locks a file without a look at what bbolt reads when it opens.
func Lock(path string) error {
	f, err := lockFile(path, false)
	if err != nil {
		return err
	}
	return f.close()
}

// Pause makes what is written wait until release is called.
func Pause(f *File) (release func()) {
	tx, err := f.file.bolt.Begin(true)
	if err != nil {
		panic(err)
	}
	return func() { _ = tx.Rollback() }
}

// Waiting returns how many commits are not on disk.
func Waiting(f *File) int {
	f.sink.mu.Lock()
	defer f.sink.mu.Unlock()
	return len(f.sink.queue)
}

// Transact runs a transaction of a file that nothing else is written to meanwhile, as
// it writes its own: it is looked at before and after if that is asked for.
func Transact(f *File, looks bool, do func(tx *bbolt.Tx) error) error {
	if looks {
		return f.file.update(false, do)
	}
	return f.file.transact(do)
}

// Unwritten reports whether an error says that nothing was written.
func Unwritten(err error) bool { return errors.As(err, new(unwritten)) }

// CopyTo begins a backup of f to a file, which goes no further before run is called.
func CopyTo(f *File, to *os.File) (run func() error, err error) {
	c, err := f.file.copyTo(to)
	if err != nil {
		return nil, err
	}
	return func() error {
		defer f.file.end(c)
		return c.run(func(uint64) error { return nil })
	}, nil
}

// Queued returns how many updates wait to be on disk.
func Queued(f *File) int {
	f.sink.mu.Lock()
	defer f.sink.mu.Unlock()
	return len(f.sink.queue)
}

// Writing reports whether there are updates that are being written, and none that wait.
func Writing(f *File) bool {
	f.sink.mu.Lock()
	defer f.sink.mu.Unlock()
	return len(f.sink.queue) > 0 && f.sink.taken == len(f.sink.queue)
}

// Pinning reports whether a pin waits to be written.
func Pinning(f *File) bool {
	f.sink.mu.Lock()
	defer f.sink.mu.Unlock()
	return len(f.sink.pins) > 0
}

// Under returns the file that bbolt writes to.
func Under(f *File) *os.File { return f.file.under }

var digestSeed = maphash.MakeSeed()

// Renews reports whether the bytes of a file say that it begins a new lineage.
func Renews(file []byte) (bool, error) {
	s, err := scanFile(bytes.NewReader(file), int64(len(file)), refuse)
	return err == nil && s.renews(), err
}

// Scan verifies the bytes of a file, and returns its version and a digest of all rows
// and commits, which are comparable within a process.
func Scan(file []byte) (version, digest uint64, err error) {
	s, err := scanFile(bytes.NewReader(file), int64(len(file)), refuse)
	if err != nil {
		return 0, 0, err
	}
	var h maphash.Hash
	h.SetSeed(digestSeed)
	numbers := func(all ...uint64) {
		for _, n := range all {
			var b [8]byte
			binary.NativeEndian.PutUint64(b[:], n)
			h.Write(b[:])
		}
	}
	text := func(b []byte) {
		numbers(uint64(len(b)))
		h.Write(b)
	}
	err = s.all(func(table int, key []byte, r row) error {
		numbers(0, uint64(table), r.revision)
		text(key)
		text(r.value)
		return nil
	}, func(version uint64, table int, key []byte, r row) error {
		numbers(2, version, uint64(table), r.revision)
		text(key)
		text(r.value)
		return nil
	}, func(c record) error {
		numbers(1, c.version, uint64(c.at), uint64(len(c.rows)))
		for _, r := range c.rows {
			removed := uint64(0)
			if r.Removed {
				removed = 1
			}
			numbers(uint64(r.Table), r.Revision, removed)
			text(r.Key)
			text(r.Value)
		}
		return nil
	})
	if err != nil {
		return 0, 0, err
	}
	for _, p := range s.state.pins {
		numbers(3, p.version, uint64(len(p.names)))
		for _, name := range p.names {
			text([]byte(name))
		}
	}
	return s.state.tip.version, h.Sum64(), nil
}
