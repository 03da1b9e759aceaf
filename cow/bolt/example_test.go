package bolt_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
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
	s.jobs = cow.NewTable[string](&s.db, "jobs",
		cow.Options[string]{Codec: cow.Versioned[string]{}})
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

	for range 2 { // two runs of a program
		var db cow.DB
		jobs := cow.NewTable[string](&db, "jobs",
			cow.Options[string]{Codec: cow.Versioned[string]{}})
		db.Retain(cow.Retention{Versions: 100}) // before Open
		_, err := bolt.Open(path, &db, bolt.Options{})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(db.Load())
		if db.Load().Version() > 0 {
			then, err := db.At(1)
			fmt.Println(jobs.Get("build"))
			fmt.Println(jobs.In(then).Get("build"))
			fmt.Println(err)
		}
		_, err = jobs.Set("build", "queued") // on disk when it returns
		_, err2 := jobs.Set("build", "done")
		fmt.Println(err, err2, db.Close())
	}
	// Output:
	// cow@0 (1 table, 0 rows)
	// <nil> <nil> <nil>
	// cow@2 (1 table, 1 row)
	// done true
	// queued true
	// <nil>
	// <nil> <nil> <nil>
}

// Updates return before they are on disk. A crash loses at most those of one second.
func ExampleEvery() {
	dir, remove := folder()
	defer remove()
	o := bolt.Options{Sync: bolt.Every(time.Second)}
	s, err := openStore(filepath.Join(dir, "jobs.db"), o)
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
	jobs := cow.NewTable[string](&db, "jobs",
		cow.Options[string]{Codec: cow.Versioned[string]{}})
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
	path := filepath.Join(dir, "jobs.db")
	restored := filepath.Join(dir, "restored.db")
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

// A backup that is sent somewhere, here to a hash: a network connection or an archive do as well.
// A DB that opens it is of a new lineage, since the other one may go on.
func ExampleFile_Backup() {
	dir, remove := folder()
	defer remove()
	s, err := openStore(filepath.Join(dir, "jobs.db"), bolt.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.db.Close()
	_, _ = s.jobs.Set("build", "done")

	var sent bytes.Buffer
	fmt.Println(s.file.Backup(&sent))
	copied := filepath.Join(dir, "copied.db")
	fmt.Println(os.WriteFile(copied, sent.Bytes(), 0o600))

	other, err := openStore(copied, bolt.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer other.db.Close()
	fmt.Println(other.jobs.Get("build"))
	fmt.Println("renewed:", s.file.Renewed(), other.file.Renewed())
	// Output:
	// 1 <nil>
	// <nil>
	// done true
	// renewed: false true
}

// When to call Compact, which needs the file closed: here much was written, and is gone.
func ExampleFile_Space() {
	dir, remove := folder()
	defer remove()
	s, err := openStore(filepath.Join(dir, "jobs.db"), bolt.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.db.Close()
	s.db.Retain(cow.Retention{}) // no past, which would have it
	_, _ = s.jobs.Set("log", strings.Repeat("a long text ", 1<<16))
	_, _ = s.jobs.Delete("log")
	_, _ = s.jobs.Set("build", "done")

	size, free, err := s.file.Space()
	fmt.Println("worth it:", free > size/2, err)
	// Output: worth it: true <nil>
}

// A closed file is checked, and gives free space back, without its tables.
func ExampleCompact() {
	dir, remove := folder()
	defer remove()
	path := filepath.Join(dir, "jobs.db")
	s, err := openStore(path, bolt.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	s.db.Retain(cow.Retention{}) // no past, which would have it
	_, _ = s.jobs.Set("log", strings.Repeat("a long text ", 1<<16))
	_, _ = s.jobs.Delete("log")
	_, _ = s.jobs.Set("build", "done")
	_ = s.db.Close()

	was, err := bolt.Check(path)
	if err != nil {
		fmt.Println(err) // lists what is damaged
		return
	}
	fmt.Println(bolt.Compact(path))
	is, err := bolt.Check(path)
	fmt.Println(is.Tables[0].Name, is.Tables[0].Rows, is.Free < was.Free, err)
	// Output:
	// <nil>
	// jobs 1 true <nil>
}

// A program that has only some of the tables of a file, such as a tool, or the version before. The
// others stay in the file as they are.
func ExampleFile_Unknown() {
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
	cow.NewTable[string](&db, "users",
		cow.Options[int]{Codec: cow.Versioned[int]{}})
	_, err = bolt.Open(path, &db, bolt.Options{})
	fmt.Println(errors.Is(err, cow.ErrSchema))

	file, err := bolt.Open(path, &db, bolt.Options{KeepUnknown: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer db.Close()
	fmt.Println(file.Unknown())
	// Output:
	// true
	// [jobs]
}

// Of a damaged file all is saved that can be read, into a new file. What is lost is named.
func ExampleSalvage() {
	dir, remove := folder()
	defer remove()
	path := filepath.Join(dir, "jobs.db")
	saved := filepath.Join(dir, "saved.db")
	s, err := openStore(path, bolt.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	s.db.Retain(cow.Retention{}) // no past: each row is in the file once
	_, _ = s.jobs.Set("build", "done")
	_, _ = s.jobs.Set("mail", "queued")
	_ = s.db.Close()

	text, _ := os.ReadFile(path) // a bad disk
	text = bytes.ReplaceAll(text, []byte("queued"), []byte("quXued"))
	_ = os.WriteFile(path, text, 0o600)
	_, err = bolt.Check(path)
	fmt.Println("damaged:", errors.Is(err, bolt.ErrDamaged))

	left, err := bolt.Salvage(saved, path)
	for _, d := range left {
		fmt.Println(d)
	}
	fmt.Println(err)
	s, err = openStore(saved, bolt.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.db.Close()
	fmt.Println(s.jobs.Get("build"))
	// Output:
	// damaged: true
	// the file is damaged: table "jobs": key "mail": its checksum is wrong
	// the file is damaged: table "jobs": rows of version 2 written: 2, sound: 1
	// <nil>
	// done true
}
