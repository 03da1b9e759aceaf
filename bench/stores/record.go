package stores

//go:generate go tool cowview -type Record -output record_view.go

import (
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
)

// A Record is what the memory holds of one symbol. Like most values of real
// programs it is a struct of strings with a slice and a map in it, and it is
// these two that two callers come to share when a store does not copy.
//
// Its views and its method Clone, which cowstore then uses, are generated.
type Record struct {
	Package, Name, Kind, Signature, Doc string

	Tags []string          // the first is the stamp of the generation
	Meta map[string]string // "indexed" is the stamp of the generation

	// Payload is the value of a record that is not a symbol, and nil if it is one.
	// It begins and ends with the stamp of the generation.
	Payload []byte

	// Check covers all of the above, so that a record that was mixed from two
	// is told from one that was stored.
	Check uint64
}

// Key returns the key of r.
func (r *Record) Key() string { return r.Package + "." + r.Name }

// Reindexed returns what the indexer makes of r in a generation: the same
// symbol, with new tags, new metadata and a new Check, in new memory.
func (r *Record) Reindexed(generation uint32) Record {
	if r.Payload != nil {
		return r.refilled(generation)
	}
	stamp := fmt.Sprintf("%08x", generation)
	n := *r
	n.Tags = append(make([]string, 0, len(r.Tags)+1), stamp)
	n.Tags = append(n.Tags, r.Tags[1:]...)
	if generation%2 != 0 {
		// Neighbouring generations differ in shape too.
		n.Tags = append(n.Tags, "odd")
	}
	n.Meta = maps.Clone(r.Meta)
	n.Meta["indexed"] = stamp
	n.Check = n.sum(stamp)
	return n
}

// Intact reports whether r is, in every field, a record that was stored under
// key.
//
// It is called for every single lookup, so it must not cost what hashing a
// kilobyte of Doc would. It need not: a writer can only replace the fields of a
// record, never the bytes of a string. So the stamp of the generation is in Tags,
// in Meta and in Check, and a record mixed from two generations of a symbol
// has two that differ. Check also covers the length of every field and tag, and
// key the identity, so that one mixed from two symbols is seen as well, but for
// fields of equal length. The cost does not depend on how long the strings are.
//
//cowview:readonly
func (r *Record) Intact(key string) bool {
	if r.Payload != nil {
		return r.filled(key)
	}
	if len(r.Tags) == 0 || len(r.Tags[0]) != 8 {
		return false
	}
	stamp, n := r.Tags[0], len(r.Package)
	return r.Check == r.sum(stamp) &&
		r.Meta["indexed"] == stamp &&
		len(key) == n+1+len(r.Name) && key[:n] == r.Package && key[n] == '.' && key[n+1:] == r.Name
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

// sum returns the sum of the stamp, as a word, and of the lengths of everything,
// each times an odd constant of its own. They do not wait for one another, as
// the steps of a chained hash would.
func (r *Record) sum(stamp string) uint64 {
	h := binary.LittleEndian.Uint64([]byte(stamp)) * 0x9e3779b97f4a7c15
	h += uint64(len(r.Package))*0xbf58476d1ce4e5b9 +
		uint64(len(r.Name))*0x94d049bb133111eb +
		uint64(len(r.Kind))*0xd6e8feb86659fd93 +
		uint64(len(r.Signature))*0xa0761d6478bd642f +
		uint64(len(r.Doc))*0xe7037ed1a0b428db +
		uint64(len(r.Meta))*0x8ebc6af09c88c6e3
	for i, tag := range r.Tags {
		h += uint64(len(tag)) * (0x589965cc75374cc3 + 2*uint64(i))
	}
	return h
}

// deepCopy returns a copy of r that shares nothing mutable with it: what those
// write by hand who found out that their lock protects the map alone.
func deepCopy(r Record) Record {
	r.Tags = slices.Clone(r.Tags)
	r.Meta = maps.Clone(r.Meta)
	r.Payload = slices.Clone(r.Payload)
	return r
}
