package memorytest

// A Backend is the memory that is tested: values by key, in spaces. A space is
// named by a path of strings; different paths are different spaces, also where
// one is the beginning of another.
//
// All its methods must be safe for concurrent use. A value that went in belongs
// to the caller again when the method returns, and a value that came out belongs
// to the caller: neither shares memory with what is stored.
//
// A Backend may refuse with an error a space, a key or a sort of value that it
// cannot keep. The tests for it are skipped then, unless it is one of the common
// ones: spaces and keys of letters, and maps, lists and scalars as they are
// decoded from JSON must be kept.
type Backend interface {
	// Put stores a value, whether there is one or not.
	Put(space []string, key string, value any) error

	// Get returns the value of a key, and whether there is one.
	Get(space []string, key string) (value any, found bool, err error)
}

// A Deleter is a Backend that deletes.
type Deleter interface {
	// Delete removes a key that is there.
	Delete(space []string, key string) error
}

// A Lister is a Backend that lists what it has.
type Lister interface {
	// List returns the keys of one space, in any order: not those of spaces
	// whose path begins with it.
	List(space []string) ([]string, error)
}

// An Inserter is a Backend that checks and stores in one step.
type Inserter interface {
	// Insert stores a value only if there is none, and reports whether it did. A
	// value that is there is not an error.
	Insert(space []string, key string, value any) (inserted bool, err error)
}

// A Modifier is a Backend that reads and stores in one step.
type Modifier interface {
	// Modify calls f with a copy of the value of key, and stores what f returns. It
	// returns an error if there is no value, or none any more when f returns. If f
	// returns an error, panics or calls runtime.Goexit, nothing changes, whatever f
	// did to the value; its error is returned. Modify may call f several times, each
	// time with a fresh copy of the current value.
	Modify(space []string, key string, f func(value any) (any, error)) error
}

// A Taker is a Backend that reads and deletes in one step.
type Taker interface {
	// Take removes a key and returns its value. If many callers take one key at
	// once, exactly one finds it.
	Take(space []string, key string) (value any, found bool, err error)
}

// A Conditional is a Backend that stores or deletes a key only if nobody else has changed it.
type Conditional interface {
	// Revision returns a number that each change of the key changes, also when the
	// key is deleted and stored again. It is 0 if the key is absent.
	Revision(space []string, key string) (uint64, error)

	// SetIf stores a value if the key has the revision, which is 0 for an absent key,
	// and reports whether it did. A different revision is not an error.
	SetIf(space []string, key string, revision uint64, value any) (done bool, err error)

	// DeleteIf removes a key if it has the revision, which is not 0, and reports
	// whether it did. A different revision is not an error.
	DeleteIf(space []string, key string, revision uint64) (done bool, err error)
}

// A Batcher is a Backend that does several things in one step.
type Batcher interface {
	// Batch calls f with a Backend. Others see none of the changes that f makes by it
	// until f returns, and then all of them in one step; f sees them at once. If f
	// returns an error, panics or calls runtime.Goexit, nothing changes; its error is
	// returned. Batch may call f several times.
	//
	// The Backend of f need not be safe for concurrent use. If it has the methods of
	// Vectors too, they are tested as well.
	Batch(f func(tx Backend) error) error
}

// A Snapshotter is a Backend that gives out snapshots.
type Snapshotter interface {
	// Snapshot returns everything as it is now.
	Snapshot() (Snapshot, error)
}

// A Snapshot is everything as it was at one moment. It never changes, whatever is done to the
// Backend and to the values that the Snapshot returned. If it has the methods of [VectorReader]
// too, they are tested as well.
type Snapshot interface {
	// Get is that of Backend.
	Get(space []string, key string) (value any, found bool, err error)

	// List is that of Lister.
	List(space []string) ([]string, error)
}

// Vectors are the methods of a Backend that stores vectors and finds the nearest. The
// metadata belongs to the vector, and is stored in one step with it.
type Vectors interface {
	// PutVector stores a vector and its metadata, whether there is one or not.
	PutVector(space []string, key string, vector []float32, metadata map[string]any) error
	VectorReader
}

// A VectorReader is the reading half of [Vectors].
type VectorReader interface {
	// GetVector returns the vector of a key and its metadata, and whether there is one.
	GetVector(space []string, key string) (vector []float32, metadata map[string]any, found bool, err error)

	// SearchVector returns the k vectors of a space that are nearest to query, the nearest
	// first, by whatever measure of distance, all as they were at one moment.
	SearchVector(space []string, query []float32, k int) ([]Neighbor, error)
}

// A Neighbor is one vector that a search found near its query.
type Neighbor struct {
	Key      string
	Vector   []float32 // nil if searches do not return it
	Metadata map[string]any
}
