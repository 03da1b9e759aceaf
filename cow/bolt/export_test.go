package bolt

import "os"

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
