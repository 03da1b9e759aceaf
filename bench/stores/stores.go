// Package stores keeps one set of records in cowstore and in what people use
// instead of it, behind one interface. A peer is a file.
package stores

import "iter"

// A Store maps keys to records. All methods may be called from any number of
// goroutines at once. What is promised beyond that, the Kind says.
type Store interface {
	// Get returns the record of key and whether there is one.
	Get(key string) (Record, bool)

	// Set stores r under key, as one commit.
	Set(key string, r Record)

	// Update stores all pairs, as one commit where the store has such a thing.
	Update(pairs []Pair)

	// All returns an iterator over all keys and records. The store must not be
	// used during it.
	All() iter.Seq2[string, Record]
}

// A Pair is a record and the key it is stored under.
type Pair struct {
	Key    string
	Record Record
}

// A Snapshotter is a Store whose content at one moment can be held on to.
type Snapshotter interface {
	Store
	Snapshot() Snapshot
}

// A Snapshot is the content of a store at one moment. It never changes.
type Snapshot interface {
	Get(key string) (Record, bool)
	All() iter.Seq2[string, Record]
}

// A Kind is a way to make a store, and what such a store promises. The tests
// hold each to exactly that: they show that a store without the promise breaks
// it.
type Kind struct {
	ID   string // for the command line
	Name string // for people
	New  func() Store

	// Isolated says that nothing a caller does to a record, before or after, to
	// one it stored or one it was given, reaches the store.
	Isolated bool

	// Snapshots says that the store is a Snapshotter: several keys can be read
	// as they were at one moment.
	Snapshots bool
}

// Kinds returns the stores that are compared by default.
func Kinds() []Kind {
	return []Kind{
		{"cowstore", "cowstore Get", newCowstore, true, true},
		{"shared", "cowstore Shared", newShared, false, true},
		{"rwmutex-copy", "RWMutex map, copies", newRWMutexCopy, true, false},
		{"rwmutex", "RWMutex map", newRWMutex, false, false},
		{"mutex", "Mutex map", newMutex, false, false},
		{"syncmap", "sync.Map", newSyncMap, false, false},
		{"immutable", "one immutable.Map", newImmutable, false, true},
	}
}

// More returns further stores, which are compared when asked for.
func More() []Kind {
	return []Kind{
		{"radix", "go-immutable-radix", newRadix, false, true},
		{"btree", "tidwall/btree", newBTree, false, true},
		{"xsync", "xsync.Map", newXsync, false, false},
	}
}
