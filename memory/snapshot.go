package memory

import (
	"iter"
	"runtime"
	"slices"
	"time"
	"unsafe"

	"github.com/cowstore/cowstore/cow"
)

// A Snapshot is all of a Memory at one version and one instant: values, vectors,
// metadata and text. It is an immutable value, to be copied freely, valid forever,
// and safe for concurrent use. What had not expired at its instant never expires
// in it. The zero Snapshot is empty.
type Snapshot struct {
	t       *tables
	root    *cow.Snapshot
	instant int64 // ns since 1970; 0: nothing can have expired
}

// Version returns the version, the number of updates published up to it.
func (s Snapshot) Version() uint64 { return s.root.Version() }

// Len returns the number of entries in all spaces. Where entries expire it takes
// time proportional to those that have expired and are not swept yet.
func (s Snapshot) Len() int {
	if s.t == nil {
		return 0
	}
	return s.total("").count - s.dead("")
}

// Space returns the space with that path. No path is the root, a space like others.
// Every space can be read; where there is nothing it is empty.
func (s Snapshot) Space(path ...string) SpaceSnapshot { return SpaceSnapshot{s, encodePath(path)} }

// space returns what is known of a space, which must not be modified.
func (s Snapshot) space(path string) *space {
	if s.t != nil {
		if row, ok := s.t.spaces.In(s.root).Row(path); ok && s.clearings().alive(path, row.Revision()) {
			return row.Shared()
		}
	}
	return new(space)
}

// SpacesOptions narrow and page a list of spaces. The zero value lists all.
type SpacesOptions struct {
	Prefix []string // only spaces whose path begins with these
	Depth  int      // paths are cut after so many elements, and then listed once; 0: not cut
	After  []string // only those after this one in the list; nil: from the first
	Limit  int      // at most so many; 0: all
}

// Spaces returns an iterator over the paths of the spaces that have entries, in
// order: element by element, a space before those below it. Spaces that were cleared, and
// not swept yet, are passed over, which takes time proportional to their number. A path is the
// caller's own.
func (s Snapshot) Spaces(o SpacesOptions) iter.Seq[[]string] {
	return func(yield func([]string) bool) {
		if s.t == nil {
			return
		}
		r := within(s.t.byPath.In(s.t.spaces.In(s.root)), encodePath(o.Prefix))
		if o.After != nil {
			after := encodePath(o.After)
			if r = r.After(after, after); o.Depth > 0 && len(o.After) >= o.Depth {
				r = r.From(encodePath(o.After[:o.Depth]) + aboveBelow)
			}
		}
		cleared := s.clearings()
		for n := 0; o.Limit <= 0 || n < o.Limit; {
			encoded, row, ok := r.First()
			if !ok {
				return
			}
			r = r.After(encoded, encoded)
			if !cleared.alive(encoded, row.Revision()) || !(SpaceSnapshot{s, encoded}).any(row.Shared()) {
				continue
			}
			path := decodePath(encoded)
			if o.Depth > 0 && len(path) >= o.Depth {
				path = path[:o.Depth:o.Depth]
				r = r.From(encodePath(path) + aboveBelow)
			}
			if !yield(path) {
				return
			}
			n++
		}
	}
}

// within narrows a range to a space and all that is below it.
func within[V any](r cow.Range[string, V, string], path string) cow.Range[string, V, string] {
	if path == "" {
		return r
	}
	return r.From(path).To(path + aboveBelow)
}

// A SpaceSnapshot is one space in a Snapshot. It is an immutable value, valid forever,
// and safe for concurrent use.
type SpaceSnapshot struct {
	s    Snapshot
	path string
}

// Path returns the path of the space.
func (v SpaceSnapshot) Path() []string { return decodePath(v.path) }

// Get returns the value of key, and whether there is one. It allocates nothing,
// unless the path and the key are very long.
func (v SpaceSnapshot) Get(key string) (Value, bool) {
	e := v.lookup(key)
	if e == nil {
		return Value{}, false
	}
	return e.value, e.value.Exists()
}

// Entry returns the entry of key, and whether there is one.
func (v SpaceSnapshot) Entry(key string) (Entry, bool) {
	if v.s.t == nil {
		return Entry{}, false
	}
	row, ok := v.s.t.entries.In(v.s.root).Row(nameOf(v.path, key))
	if !ok || row.Shared().expired(v.s.instant) || !v.s.clearings().alive(v.path, row.Revision()) {
		return Entry{}, false
	}
	return newEntry(key, row.Shared(), row.Revision()), true
}

// lookup returns the row of key, or nil.
func (v SpaceSnapshot) lookup(key string) *entry {
	if v.s.t == nil {
		return nil
	}
	// The name is put together on the stack. The map only reads it, which the
	// compiler cannot see.
	var buf [128]byte
	name := append(append(append(buf[:0], v.path...), opensKey), key...)
	p := noescape(unsafe.Pointer(unsafe.SliceData(name)))
	e, _ := v.s.t.entries.In(v.s.root).Get(unsafe.String((*byte)(p), len(name)))
	// Until here, or the place of buf on the stack could be used for something
	// else, and a longer name be collected: p does not show that it is in use.
	runtime.KeepAlive(unsafe.SliceData(name))
	if e == nil || e.expired(v.s.instant) {
		return nil
	}
	if cleared := v.s.clearings(); cleared.left() > 0 && !cleared.alive(v.path, v.s.t.entries.In(v.s.root).Revision(nameOf(v.path, key))) {
		return nil
	}
	return e
}

// noescape hides a pointer from escape analysis.
//
// While x has the address nothing may move the stack: no call to grow it, not even of the
// checks that the race detector adds (package internal/abi's NoEscape is the same).
//
//go:nosplit
//go:nocheckptr
func noescape(p unsafe.Pointer) unsafe.Pointer {
	x := uintptr(p)
	return *(*unsafe.Pointer)(unsafe.Pointer(&x))
}

// Len returns the number of entries. Where entries expire it takes time proportional to
// those that have expired and are not swept yet.
func (v SpaceSnapshot) Len() int {
	sp := v.s.space(v.path)
	if sp.expiring == 0 {
		return sp.count
	}
	return sp.count - v.s.dead(nameOf(v.path, ""))
}

// any reports whether the space has an entry.
func (v SpaceSnapshot) any(sp *space) bool {
	if sp.count > sp.expiring {
		return true
	}
	for range v.List(ListOptions{Limit: 1}) {
		return true
	}
	return false
}

// ListOptions narrow and page a list of entries. The zero value lists all.
type ListOptions struct {
	Prefix  string // only keys that begin with it
	After   string // only keys after this one in the list; "": from the first
	Limit   int    // at most so many; 0 or less: all
	Reverse bool   // in descending order

	// HasAfter says that After is a key even if it is "". Who pages through a
	// space that may have the empty key needs it.
	HasAfter bool
}

// List returns an iterator over the entries, ordered by the bytes of their keys.
func (v SpaceSnapshot) List(o ListOptions) iter.Seq[Entry] {
	return func(yield func(Entry) bool) {
		if v.s.t == nil {
			return
		}
		cleared := v.s.clearings()
		if cleared.left() > 0 && v.s.space(v.path).count == 0 {
			return // what is left of it need not be passed
		}
		prefix := nameOf(v.path, "")
		r := v.s.t.order.In(v.s.t.entries.In(v.s.root)).Prefix(prefix + o.Prefix)
		switch after := prefix + o.After; {
		case o.Reverse && (o.After != "" || o.HasAfter):
			r = r.Before(after, after).Reverse()
		case o.Reverse:
			r = r.Reverse()
		case o.After != "" || o.HasAfter:
			r = r.After(after, after)
		}
		n := 0
		for name, row := range r.All() {
			e := row.Shared()
			if e.expired(v.s.instant) || !cleared.alive(v.path, row.Revision()) {
				continue
			}
			if !yield(newEntry(name[len(prefix):], e, row.Revision())) {
				return
			}
			if n++; n == o.Limit {
				return
			}
		}
	}
}

// Vector returns a copy of the vector of key, and whether there is one.
func (v SpaceSnapshot) Vector(key string) ([]float32, bool) {
	e := v.lookup(key)
	if e == nil || e.vector == nil {
		return nil, false
	}
	return slices.Clone(e.vector), true
}

// Options returns how the space behaves, as Configure has set it.
func (v SpaceSnapshot) Options() SpaceOptions {
	if v.s.t != nil {
		if o, ok := v.s.t.options.In(v.s.root).Get(v.path); ok {
			return *o
		}
	}
	return SpaceOptions{}
}

// An Entry is an entry of a space as it was in a snapshot. It is an immutable
// value. Its vector is had by SpaceSnapshot.Vector.
type Entry struct {
	Key      string
	Value    Value     // Absent if there is only a vector
	Metadata Value     // a Map, or Absent
	Dim      int       // of the vector; 0: none
	Created  time.Time // when the key came to be
	Updated  time.Time // when the entry was last written
	Expires  time.Time // zero: never
	Revision uint64    // the version that last wrote it

	row *entry
}

func newEntry(key string, e *entry, revision uint64) Entry {
	if e == nil {
		return Entry{}
	}
	n := Entry{Key: key, Value: e.value, Metadata: e.metadata, Dim: len(e.vector), Revision: revision, row: e,
		Created: time.Unix(0, e.created), Updated: time.Unix(0, e.updated)}
	if e.expires != 0 {
		n.Expires = time.Unix(0, e.expires)
	}
	return n
}
