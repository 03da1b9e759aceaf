// Package stores keeps one set of records in cowstore and in what people use instead of
// it, behind one interface: maps and locks of the standard library, and one persistent map.
// Package peers has those that other modules make. A family is a file.
package stores

//go:generate go tool cowview -type Record -output record_view.go

import (
	"encoding/binary"
	"fmt"
	"iter"
	"maps"
	"slices"
)

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

// A Record is a symbol or a payload. Like most values of real programs it is a struct of
// strings with a slice and a map in it, and it is these two that two callers come to share
// when a store does not copy.
//
// Its views and its method Clone, which cowstore then uses, are generated.
type Record struct {
	Package, Name, Kind, Signature, Doc string

	Tags []string          // the first is the stamp of the generation
	Meta map[string]string // "indexed" is the stamp of the generation

	// Payload is nil if the record is a symbol. It begins and ends with the stamp.
	Payload []byte

	// Check covers all of the above, so that a record that was mixed from two
	// is told from one that was stored.
	Check uint64
}

// stampSize is how many bytes a stamp has.
const stampSize = 8

// NewPayload returns a record of the first generation under package and name
// that has size bytes of payload, at least 16.
func NewPayload(pkg, name string, size int) Record {
	r := Record{Package: pkg, Name: name, Payload: make([]byte, max(size, 2*stampSize))}
	for i := range r.Payload {
		r.Payload[i] = byte('a' + i%26)
	}
	return r.Reindexed(0)
}

// NewSymbol returns a symbol of the first generation under package and name that is made up.
func NewSymbol(pkg, name string) Record {
	r := Record{
		Package: pkg, Name: name, Kind: "func", Signature: "func " + name + "()", Doc: name + " is documented.",
		Tags: []string{"", "func", "http"}, Meta: map[string]string{"file": pkg + "/file.go", "line": "12"},
	}
	return r.Reindexed(0)
}

// Key returns the key of r.
func (r *Record) Key() string { return r.Package + "." + r.Name }

// Generation returns the generation of a record with a payload.
func (r *Record) Generation() uint32 { return uint32(binary.LittleEndian.Uint64(r.Payload)) }

// Reindexed returns r in another generation: with new stamps and a new Check, and
// whatever can be modified in new memory.
func (r *Record) Reindexed(generation uint32) Record {
	n := *r
	if r.Payload != nil {
		n.Payload = slices.Clone(r.Payload)
		binary.LittleEndian.PutUint64(n.Payload, uint64(generation))
		binary.LittleEndian.PutUint64(n.Payload[len(n.Payload)-stampSize:], uint64(generation))
	} else {
		stamp := fmt.Sprintf("%08x", generation)
		n.Tags = append(make([]string, 0, len(r.Tags)+1), r.Tags...)
		n.Tags[0] = stamp
		if generation%2 != 0 {
			// Neighbouring generations differ in shape too.
			n.Tags = append(n.Tags, "odd")
		}
		n.Meta = maps.Clone(r.Meta)
		n.Meta["indexed"] = stamp
	}
	first, _, _ := n.stamps()
	n.Check = n.sum(first)
	return n
}

// Intact reports whether r is, in every field, a record that was stored under key.
//
// It is called for every single lookup, so its cost must not depend on how long the strings
// are. It need not: a writer can only replace the fields of a record, never the bytes of a
// string. A record mixed from two generations has two stamps that differ. Check also covers
// the length of every field and tag, and key the identity, so that one mixed from two
// symbols is seen as well, but for fields of equal length.
//
//cowview:readonly
func (r *Record) Intact(key string) bool {
	first, last, ok := r.stamps()
	n := len(r.Package)
	return ok && first == last && r.Check == r.sum(first) &&
		len(key) == n+1+len(r.Name) && key[:n] == r.Package && key[n] == '.' && key[n+1:] == r.Name
}

// stamps returns the two stamps that r has of its generation, and whether it has them.
func (r *Record) stamps() (first, last uint64, ok bool) {
	if r.Payload != nil {
		if len(r.Payload) < 2*stampSize {
			return 0, 0, false
		}
		return binary.LittleEndian.Uint64(r.Payload), binary.LittleEndian.Uint64(r.Payload[len(r.Payload)-stampSize:]), true
	}
	indexed := r.Meta["indexed"]
	if len(r.Tags) == 0 || len(r.Tags[0]) != stampSize || len(indexed) != stampSize {
		return 0, 0, false
	}
	return binary.LittleEndian.Uint64([]byte(r.Tags[0])), binary.LittleEndian.Uint64([]byte(indexed)), true
}

// sum returns the sum of the stamp and of the lengths of everything, each times an odd
// constant of its own. They do not wait for one another, as the steps of a chained hash
// would.
func (r *Record) sum(stamp uint64) uint64 {
	h := stamp*0x9e3779b97f4a7c15 +
		uint64(len(r.Package))*0xbf58476d1ce4e5b9 +
		uint64(len(r.Name))*0x94d049bb133111eb +
		uint64(len(r.Kind))*0xd6e8feb86659fd93 +
		uint64(len(r.Signature))*0xa0761d6478bd642f +
		uint64(len(r.Doc))*0xe7037ed1a0b428db +
		uint64(len(r.Meta))*0x8ebc6af09c88c6e3 +
		uint64(len(r.Payload))*0xeb44accab455d165
	for i, tag := range r.Tags {
		h += uint64(len(tag)) * (0x589965cc75374cc3 + 2*uint64(i))
	}
	return h
}

// Look looks at a few fields, and returns how long they are.
//
//cowview:readonly
func (r *Record) Look() int {
	n := len(r.Name) + len(r.Doc) + len(r.Meta["indexed"])
	if len(r.Tags) > 0 {
		n += len(r.Tags[0])
	}
	if len(r.Payload) > 0 {
		n += int(r.Payload[0])
	}
	return n
}

// deepCopy returns a copy of r that shares nothing mutable with it: what those
// write by hand who found out that their lock protects the map alone.
func deepCopy(r Record) Record {
	r.Tags = slices.Clone(r.Tags)
	r.Meta = maps.Clone(r.Meta)
	r.Payload = slices.Clone(r.Payload)
	return r
}

// A Viewer is a Store whose records can be read through views.
type Viewer interface {
	Store
	View(key string) (RecordView, bool)
}

// A Reader looks up records as a user of its store would: through views where the store
// has them. A lookup includes what a user does with a record at the least: it looks at
// a few fields of it.
type Reader struct {
	store  Store
	viewer Viewer // nil: the store has no views
}

// NewReader returns a Reader of s.
func NewReader(s Store) Reader {
	v, _ := s.(Viewer)
	return Reader{s, v}
}

// A Lookup is what was found under a key. The zero Lookup is nothing.
type Lookup struct {
	record Record
	view   RecordView
	ok     bool
	length int // of what was looked at
}

// Get looks up a key.
func (r Reader) Get(key string, f *Lookup) {
	if r.viewer != nil {
		if f.view, f.ok = r.viewer.View(key); f.ok {
			f.length = f.view.Look()
		}
		return
	}
	f.view = RecordView{}
	if f.record, f.ok = r.store.Get(key); f.ok {
		f.length = f.record.Look()
	}
}

// Intact reports whether there was a record, and it is, in every field, one that was
// stored under key.
func (f *Lookup) Intact(key string) bool {
	switch {
	case !f.ok:
		return false
	case f.view.Valid():
		return f.view.Look() == f.length && f.view.Intact(key)
	}
	return f.record.Look() == f.length && f.record.Intact(key)
}
