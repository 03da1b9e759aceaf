// Package stores keeps one set of records in cowstore and in what people use instead of
// it, behind one interface: maps and locks of the standard library, and one persistent map.
// Package peers has those that other modules make. A family is a file.
package stores

import "iter"

// A Store maps keys to records. All methods may be called from any number of
// goroutines at once. What is promised beyond that, the Kind says.
//
// A Store that is an io.Closer must be closed when nobody uses it any more, or it
// stays in memory.
type Store interface {
	// Get returns the record of key and whether there is one.
	Get(key string) (Record, bool)

	// Set stores r under key, as one commit.
	Set(key string, r Record)

	// Update stores all pairs, as one commit where the store has such a thing.
	Update(pairs []Pair)

	// All returns an iterator over all keys and records. Who iterates must not use
	// the store meanwhile, unless the Kind promises snapshots; others may.
	All() iter.Seq2[string, Record]
}

// A Pair is a record and the key it is stored under.
type Pair struct {
	Key    string
	Record Record
}

// A Forker is a Store of which a branch can be made: a store of its own, with
// the same content, that goes its own way from there.
type Forker interface {
	Store
	Fork() Store
}

// KindOf is a way to make an S, and what it promises. The tests hold each to exactly that:
// they show that one without the promise breaks it.
type KindOf[S any] struct {
	Info
	New func() S
}

// Kind is a kind of stores.
type Kind = KindOf[Store]

// Infos returns what is known of kinds.
func Infos[S any](kinds []KindOf[S]) (all []Info) {
	for _, k := range kinds {
		all = append(all, k.Info)
	}
	return all
}

// Info says what something is that is measured.
type Info struct {
	ID     string // in the names of benchmarks
	Name   string // for people
	Ours   bool   // it is this project
	Module string // the path of the module it is from; empty: this project, the standard library or a few lines here

	Promises
}

// Marked returns the name, with a dagger if it is not isolated.
func (i Info) Marked() string {
	if i.Isolated {
		return i.Name
	}
	return i.Name + " †"
}

// Promises are what a user can rely on.
type Promises struct {
	// Isolated says that nothing a caller does to a value, before or after, to
	// one it stored or one it was given, reaches the store.
	Isolated bool

	// Snapshots says that what All returns is the content at that moment, which can
	// be read at any time, while nobody waits.
	Snapshots bool

	// Atomic says that an Update of several keys is one step: whoever iterates
	// over all sees all of it or nothing.
	Atomic bool

	// Ordered says that All iterates in the order of keys.
	Ordered bool

	// Lacks is what else one would expect of a store and must not of this one.
	Lacks string
}
