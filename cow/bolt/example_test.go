package bolt_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/cow/bolt"
)

// A store is the DB of these examples: one table, in a file.
type store struct {
	db   cow.DB
	jobs *cow.Table[string, string]
	file *bolt.File
}

func openStore(path string, o bolt.Options) (*store, error) {
	s := new(store)
	s.jobs = cow.NewTable[string](&s.db, "jobs", cow.Options[string]{Codec: cow.Versioned[string]{}})
	s.db.Retain(cow.Retention{Versions: 100})
	var err error
	s.file, err = bolt.Open(path, &s.db, o)
	return s, err
}

// folder returns a folder, and a function that removes it.
func folder() (dir string, remove func()) {
	dir, err := os.MkdirTemp("", "bolt")
	if err != nil {
		panic(err)
	}
	return dir, func() { _ = os.RemoveAll(dir) }
}

// What an update has stored is there when the file is opened again, with its version and its past.
func ExampleOpen() {
	dir, remove := folder()
	defer remove()
	path := filepath.Join(dir, "jobs.db")

	s, err := openStore(path, bolt.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = s.jobs.Set("build", "queued") // on disk when it returns
	_, err2 := s.jobs.Set("build", "done")
	fmt.Println(err, err2, s.db.Close())

	s, err = openStore(path, bolt.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.db.Close()
	then, err := s.db.At(1)
	fmt.Println(s.jobs.Get("build"))
	fmt.Println(s.jobs.In(then).Get("build"))
	fmt.Println(s.db.Load().Version(), err)
	// Output:
	// <nil> <nil> <nil>
	// done true
	// queued true
	// 2 <nil>
}

// Updates return before they are on disk. A crash loses at most those of one second.
func ExampleEvery() {
	dir, remove := folder()
	defer remove()
	s, err := openStore(filepath.Join(dir, "jobs.db"), bolt.Options{Sync: bolt.Every(time.Second)})
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = s.jobs.Set("build", "queued")
	fmt.Println(err, s.db.Close()) // all is on disk once Close has returned nil
	// Output:
	// <nil> <nil>
}

// A backup is a file of its own, made while the DB is in use.
func ExampleFile_BackupFile() {
	dir, remove := folder()
	defer remove()
	s, err := openStore(filepath.Join(dir, "jobs.db"), bolt.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.db.Close()
	_, _ = s.jobs.Set("build", "done")

	backup := filepath.Join(dir, "backup.db")
	version, err := s.file.BackupFile(backup)
	fmt.Println(version, err)
	info, err := bolt.Check(backup)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(info.Version, info.Tables[0].Name, info.Tables[0].Rows)
	// Output:
	// 1 <nil>
	// 1 jobs 1
}

// Load shows what a file has. The DB cannot be updated, and the file stays as it is.
func ExampleLoad() {
	dir, remove := folder()
	defer remove()
	path := filepath.Join(dir, "jobs.db")
	s, err := openStore(path, bolt.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	_, _ = s.jobs.Set("build", "done")
	_ = s.db.Close()

	var db cow.DB
	jobs := cow.NewTable[string](&db, "jobs", cow.Options[string]{Codec: cow.Versioned[string]{}})
	fmt.Println(bolt.Load(path, &db, bolt.Options{}))
	fmt.Println(jobs.Get("build"))
	_, err = jobs.Set("build", "again")
	fmt.Println(errors.Is(err, bolt.ErrReadOnly))
	// Output:
	// <nil>
	// done true
	// true
}

// Restore makes a file of an earlier version, here that before a mistake. Compact gives back the
// space that a file does not use.
func ExampleRestore() {
	dir, remove := folder()
	defer remove()
	path, restored := filepath.Join(dir, "jobs.db"), filepath.Join(dir, "restored.db")
	s, err := openStore(path, bolt.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	_, _ = s.jobs.Set("build", "done")
	_, _ = s.jobs.Clear() // a mistake
	_ = s.db.Close()

	fmt.Println(bolt.Restore(restored, path, 1), bolt.Compact(path))
	s, err = openStore(restored, bolt.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.db.Close()
	fmt.Println(s.jobs.Get("build"))
	// Output:
	// <nil> <nil>
	// done true
}

// The values of a table are stored as CBOR. A value is decoded as it was encoded.
func ExampleCBOR() {
	type job struct {
		State string
		Due   time.Time
	}
	codec := bolt.CBOR[job]()
	due := time.Date(2026, time.May, 1, 12, 0, 0, 0, time.UTC)
	text, err := codec.Append(nil, job{"queued", due})
	fmt.Println(err)
	is, err := codec.Decode(text)
	fmt.Println(is.State, is.Due.Equal(due), err)
	// Output:
	// <nil>
	// queued true <nil>
}
