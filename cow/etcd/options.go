package etcd

import (
	"fmt"
	"log/slog"
	"time"
)

// Options say how a DB is replicated. The zero value is right for most.
type Options struct {
	// Linearizable makes every update begin with a read of etcd, as Fresh does: then one
	// that fails or changes nothing was judged on a version that has everything
	// acknowledged before it began, too. It costs one round trip to etcd an update.
	Linearizable bool

	// Attempts is how often an update's function runs before the update returns
	// ErrContended; 0 means 100.
	Attempts int

	// Queue is how many updates may wait to be sent before the next waits for its turn; 0
	// means 4096. Updates of more than 64 MiB together count as so many.
	Queue int

	// MaxOps and MaxBytes are what etcd takes in one transaction, its flags
	// --max-txn-ops and --max-request-bytes; 0 means etcd's own defaults, 128 and
	// 1.5 MiB. An update needs two operations more than it changes rows. For more than
	// 2 MiB the client needs a larger MaxCallSendMsgSize, too. All replicas may have other
	// limits.
	MaxOps   int
	MaxBytes int

	// Timeout is how long one request to etcd may take before it is sent again, at first;
	// 0 means 1 s, and an hour is the most. Closing waits four times as long for the updates
	// on their way.
	Timeout time.Duration

	// KeepUnknown makes Open take a store that has tables that the DB does not have, and leave
	// these as they are. Otherwise Open returns cow.ErrSchema for it.
	KeepUnknown bool

	// Check is how often the replica asks etcd, by one linearizable read of one key,
	// whether it has everything; 0 means 2 s. It finds a connection that has died in
	// silence, and is how Load knows how old a version is.
	Check time.Duration

	// Log, if not nil, is told of connections that come and go, and of what cannot go on.
	Log *slog.Logger
}

// The errors of replicas, to be tested with errors.Is.
var (
	// ErrTooLarge says that an update does not fit into one transaction of etcd.
	ErrTooLarge error = sentinel("the update does not fit into one transaction of etcd")

	// ErrContended says that others' commits came first, each time the update ran.
	ErrContended error = sentinel("others' commits came first, too often")

	// ErrStale says that a replica does not know what is new.
	ErrStale error = sentinel("the replica may be older than that")

	// ErrDamaged says that a key under the prefix is not what a replica has written.
	ErrDamaged error = sentinel("not what a replica has written")

	// ErrFormat says that what is under the prefix is of a newer version of this package.
	ErrFormat error = sentinel("not a format that this version of cow/etcd can read")

	// ErrRestored says that etcd no longer has what it has told: it is another
	// cluster, or was restored from a backup.
	ErrRestored error = sentinel("another cluster, or one that was restored from a backup")

	// ErrNotEmpty says that a DB has rows already and cannot become a replica.
	ErrNotEmpty error = sentinel("the DB is not empty")
)

// A sentinel is the text of an error of this package. It has nothing in it of rows, so that pages of
// cow/inspect show it whatever else they show.
type sentinel string

func (s sentinel) Error() string { return string(s) }

// Sentinel tells cow/inspect so.
func (sentinel) Sentinel() {}

const (
	defaultQueue    = 4096
	queueBytes      = 64 << 20
	defaultAttempts = 100
	defaultOps      = 128
	defaultBytes    = 3 << 19
	leastOps        = 3    // the head, the receipt and a row
	leastBytes      = 4096 // a head, a receipt and a small row
	mostTimeout     = time.Hour
)

// withDefaults returns o with no zeros left in it. It panics on limits that are none.
func (o Options) withDefaults() Options {
	set := func(v *int, name string, least, otherwise int) {
		if *v == 0 {
			*v = otherwise
		}
		if *v < least {
			panic(fmt.Sprintf("etcd: Options.%s is %d: it must be at least %d, or 0 for %d", name, *v, least, otherwise))
		}
	}
	set(&o.Attempts, "Attempts", 1, defaultAttempts)
	set(&o.Queue, "Queue", 1, defaultQueue)
	set(&o.MaxOps, "MaxOps", leastOps, defaultOps)
	set(&o.MaxBytes, "MaxBytes", leastBytes, defaultBytes)
	if o.Timeout <= 0 {
		o.Timeout = time.Second
	}
	o.Timeout = min(o.Timeout, mostTimeout) // which is multiplied
	if o.Check <= 0 {
		o.Check = 2 * time.Second
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return o
}
