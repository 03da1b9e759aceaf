package bolt

import (
	"fmt"
	"io/fs"
	"time"
)

// Options say how a DB is kept in a file. The zero value is right for most.
type Options struct {
	// Sync says when an update returns: Always, which is the default, or Every.
	Sync Sync

	// Queue is how many updates may wait to be written before the next waits for its
	// turn; 0 means 4096. It is full, too, once the updates in it have 64 MiB together.
	Queue int

	// Progress, if not nil, is called while Open loads, from one goroutine, with the
	// rows and commits that are loaded so far and those that there are. It may read the DB,
	// but must not update, pin, close or open it, which waits for Open. What it panics with is an
	// error of Open.
	Progress func(done, total uint64)

	// KeepUnknown makes Open take a file that has tables that the DB does not have, and keep
	// these as they are: see File.Unknown. Otherwise Open returns cow.ErrSchema for it.
	KeepUnknown bool

	// Mode is the mode of a file that is made; 0 means 0600.
	Mode fs.FileMode
}

// Sync says when an update is acknowledged: with Always, when it is on disk.
type Sync time.Duration

// Always acknowledges an update when it is on disk.
const Always Sync = 0

// Every acknowledges an update before it is on disk, where it is brought within d or as
// soon as the disk can: the Times of the commits that a crash loses are within one span of
// length d. While the disk takes longer than that, updates wait. After an unclean end the file
// begins a new lineage, since versions that were seen may be gone. It panics unless d is
// positive.
func Every(d time.Duration) Sync {
	if d <= 0 {
		panic(fmt.Sprintf("bolt: Every(%v): use Always", d))
	}
	return Sync(d)
}

// The errors of files, to be tested with errors.Is.
var (
	// ErrLocked says that another DB, in this process or another, has the file open.
	ErrLocked error = sentinel("the file is in use")

	// ErrDamaged says that a file does not have what was written to it. The error is
	// a *Damage or lists several.
	ErrDamaged error = sentinel("the file is damaged")

	// ErrFormat says that a file is not of this package, or of a newer version of it.
	ErrFormat error = sentinel("not a file that this version of cow/bolt can read")

	// ErrChanged says that something else has replaced, removed, cut off or written to
	// a file while a DB had it open, or that its path leads to it no more. The DB writes
	// no more; see Open.
	ErrChanged error = sentinel("the file was changed by something else")

	// ErrNotEmpty says that a DB has rows already and can take none from a file.
	ErrNotEmpty error = sentinel("the DB is not empty")
)

// A sentinel is the text of an error of this package. It has nothing in it of a file or of rows, so
// that pages of cow/inspect show it whatever else they show.
type sentinel string

func (s sentinel) Error() string { return string(s) }

// Sentinel tells cow/inspect so.
func (sentinel) Sentinel() {}

const (
	defaultQueue = 4096
	queueBytes   = 64 << 20
)

func (o Options) queue() int {
	if o.Queue > 0 {
		return o.Queue
	}
	return defaultQueue
}

func (o Options) mode() fs.FileMode {
	if o.Mode != 0 {
		return o.Mode
	}
	return 0o600
}
