package bolt

import (
	"bytes"
	"fmt"
	"hash/fnv"
	"os"
)

// Pause makes what is written wait until release is called.
func Pause(f *File) (release func()) {
	tx, err := f.file.bolt.Begin(true)
	if err != nil {
		panic(err)
	}
	return func() { _ = tx.Rollback() }
}

// Queued returns how many updates wait to be on disk.
func Queued(f *File) int {
	f.sink.mu.Lock()
	defer f.sink.mu.Unlock()
	return len(f.sink.queue)
}

// Under returns the file that bbolt writes to.
func Under(f *File) *os.File { return f.file.under }

// Scan verifies the bytes of a file, and returns its version and a digest of all rows
// and commits.
func Scan(file []byte) (version, digest uint64, err error) {
	s, err := scanFile(bytes.NewReader(file), int64(len(file)), refuse)
	if err != nil {
		return 0, 0, err
	}
	h := fnv.New64a()
	err = s.all(func(table int, key []byte, r row) error {
		fmt.Fprintf(h, "%d %q %d %q\n", table, key, r.revision, r.value)
		return nil
	}, func(c record) error {
		fmt.Fprintf(h, "%d %d %v\n", c.version, c.at, c.rows)
		return nil
	})
	return s.state.tip.version, h.Sum64(), err
}
