package memory

import (
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"slices"
	"time"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/memory/filter"
	"github.com/cowstore/cowstore/memory/internal/data"
	"github.com/cowstore/cowstore/memory/internal/derive"
	"github.com/cowstore/cowstore/memory/internal/tuple"
	"github.com/cowstore/cowstore/memory/value"
)

// A Snapshot is all of a Memory at one version and one instant: values, vectors,
// metadata and text. It is an immutable value, to be copied freely, valid forever,
// and safe for concurrent use. What had not expired at its instant never expires
// in it. The zero Snapshot is empty.
type Snapshot struct {
	tables  any // see viewOf
	root    *cow.Snapshot
	instant int64 // see derive.View
}

// viewOf returns what the tables have in a Snapshot; nothing, and no tables, in a zero one. See
// tablesOf.
func viewOf(s Snapshot) derive.View {
	t, _ := s.tables.(*derive.Tables)
	return derive.View{T: t, Root: s.root, Instant: s.instant}
}

// Version returns the version, the number of updates published up to it.
func (s Snapshot) Version() uint64 { return s.root.Version() }

// Len returns the number of entries in all spaces. Where entries expire it takes
// time proportional to those that have expired and are not swept yet.
func (s Snapshot) Len() int {
	if s.tables == nil {
		return 0
	}
	is := viewOf(s)
	return is.Total("").Count - is.Dead("")
}

// Space returns the space with that path. No path is the root, a space like others.
// Every space can be read; where there is nothing it is empty.
func (s Snapshot) Space(path ...string) SpaceSnapshot { return SpaceSnapshot{s, tuple.Encode(path)} }

// SpacesOptions narrow and page a list of spaces. The zero value lists all.
type SpacesOptions struct {
	Prefix []string // only spaces whose path begins with these
	Depth  int      // paths are cut after so many elements, and then listed once; 0: not cut
	After  []string // only those after this one in the list; nil: from the first
	Limit  int      // at most so many; 0: all
}

// Spaces returns an iterator over the paths of the spaces that have entries, in order: element by
// element, a space before those below it. It skips spaces that were cleared and are not swept yet,
// which takes time proportional to their number. A path is the caller's own.
func (s Snapshot) Spaces(o SpacesOptions) iter.Seq[[]string] {
	return func(yield func([]string) bool) { s.spaces(o, yield) }
}

// spaces is Spaces, where no other package inlines it: see tablesOf.
func (s Snapshot) spaces(o SpacesOptions, yield func([]string) bool) {
	if s.tables == nil {
		return
	}
	is := viewOf(s)
	r := derive.Within(is.T.ByPath.In(is.T.Spaces.In(s.root)), tuple.Encode(o.Prefix))
	if o.After != nil {
		after := tuple.Encode(o.After)
		if r = r.After(after, after); o.Depth > 0 && len(o.After) >= o.Depth {
			r = r.From(tuple.Encode(o.After[:o.Depth]) + tuple.AboveBelow)
		}
	}
	cleared := is.Clearings()
	for n := 0; o.Limit <= 0 || n < o.Limit; {
		encoded, row, ok := r.First()
		if !ok {
			return
		}
		r = r.After(encoded, encoded)
		if !cleared.Alive(encoded, row.Revision()) || !alive(SpaceSnapshot{s, encoded}, row.Shared()) {
			continue
		}
		path := tuple.Decode(encoded)
		if o.Depth > 0 && len(path) >= o.Depth {
			path = path[:o.Depth:o.Depth]
			r = r.From(tuple.Encode(path) + tuple.AboveBelow)
		}
		if !yield(path) {
			return
		}
		n++
	}
}

// A SpaceSnapshot is one space in a Snapshot. It is an immutable value, valid forever,
// and safe for concurrent use.
type SpaceSnapshot struct {
	s    Snapshot
	path string
}

// Path returns the path of the space.
func (v SpaceSnapshot) Path() []string { return tuple.Decode(v.path) }

// Get returns the value of key, and whether there is one. It allocates nothing,
// unless the path and the key are very long.
func (v SpaceSnapshot) Get(key string) (Value, bool) {
	e := v.lookup(key)
	if e == nil {
		return Value{}, false
	}
	return e.Value, e.Value.Exists()
}

// GetMany returns an iterator over the values of many keys. It yields i and the value of keys[i];
// see [Space.GetMany].
func (v SpaceSnapshot) GetMany(keys []string) iter.Seq2[int, Value] {
	return func(yield func(int, Value) bool) { v.getMany(keys, yield) }
}

func (v SpaceSnapshot) getMany(keys []string, yield func(int, Value) bool) {
	viewOf(v.s).Many(v.path, keys, func(i int, row derive.Row) bool {
		v := row.Shared().Value
		return !v.Exists() || yield(i, v)
	})
}

// Entry returns the entry of key, and whether there is one.
func (v SpaceSnapshot) Entry(key string) (Entry, bool) {
	row, ok := viewOf(v.s).Row(v.path, key)
	if !ok {
		return Entry{}, false
	}
	return newEntry(key, row.Shared(), row.Revision()), true
}

// Contains reports whether there is an entry of key.
func (v SpaceSnapshot) Contains(key string) bool { return v.lookup(key) != nil }

// Len returns the number of entries. Where entries expire it takes time proportional to
// those that have expired and are not swept yet.
func (v SpaceSnapshot) Len() int {
	is := viewOf(v.s)
	sp := is.Space(v.path)
	if sp.Expiring == 0 {
		return sp.Count
	}
	return sp.Count - is.Dead(tuple.Name(v.path, ""))
}

// LenAll is [SpaceSnapshot.Len] for the space and all spaces below it.
func (v SpaceSnapshot) LenAll() int {
	if v.s.tables == nil {
		return 0
	}
	is := viewOf(v.s)
	return is.Total(v.path).Count - is.Dead(tuple.Name(v.path, "")) - is.Dead(tuple.Below(v.path))
}

// alive reports whether a space has an entry.
func alive(v SpaceSnapshot, sp *data.Space) bool {
	if sp.Count > sp.Expiring {
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
	Current bool   // only what no Supersede has replaced

	// Filter is what entries are to fulfill. An erroneous one wants none: see filter.Filter.Err.
	Filter filter.Filter

	// HasAfter says that After is a key even if it is "". Who pages through a
	// space that may have the empty key needs it.
	HasAfter bool
}

// List returns an iterator over the entries, ordered by the bytes of their keys.
func (v SpaceSnapshot) List(o ListOptions) iter.Seq[Entry] {
	return func(yield func(Entry) bool) { v.list(o, yield) }
}

// list is List, where no other package inlines it.
func (v SpaceSnapshot) list(o ListOptions, yield func(Entry) bool) {
	if v.s.tables == nil {
		return
	}
	is := viewOf(v.s)
	cleared := is.Clearings()
	if cleared.Left() > 0 && is.Space(v.path).Count == 0 {
		return // what is left of it need not be passed
	}
	prefix := tuple.Name(v.path, "")
	r := is.InOrder().Prefix(prefix + o.Prefix)
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
		if _, replaced := e.SupersededBy(); replaced && o.Current {
			continue
		}
		if e.Expired(v.s.instant) || !cleared.Alive(v.path, row.Revision()) || !accepts(o.Filter, e) {
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

// accepts reports whether a filter wants an entry.
func accepts(f filter.Filter, e *data.Entry) bool {
	if f == (filter.Filter{}) {
		return true
	}
	of := filter.Entry{Value: e.Value, Metadata: e.Metadata, Created: time.Unix(0, e.Created), Updated: time.Unix(0, e.Updated), Expires: e.Expiry()}
	return f.Match(&of)
}

// Vector returns a copy of the vector of key, and whether there is one.
func (v SpaceSnapshot) Vector(key string) ([]float32, bool) {
	e := v.lookup(key)
	if e == nil || e.Vector() == nil {
		return nil, false
	}
	return slices.Clone(e.Vector()), true
}

// Options returns how the space behaves, as [Space.Configure] has set it.
func (v SpaceSnapshot) Options() SpaceOptions {
	if v.s.tables != nil {
		if o, ok := viewOf(v.s).T.Options.In(v.s.root).Get(v.path); ok {
			return spaceOptions(*o)
		}
	}
	return SpaceOptions{}
}

// An Entry is an entry of a space as it was in a snapshot. It is an immutable
// value. [SpaceSnapshot.Vector] returns its vector.
type Entry struct {
	Key      string
	Value    Value     // Absent if there is only a vector
	Metadata Value     // a Map, or Absent
	Dim      int       // of the vector; 0: none
	Created  time.Time // when the key came to be
	Updated  time.Time // when the entry was last written
	Expires  time.Time // zero: never
	Revision uint64    // the version that last wrote it

	Kept         bool   // it is never evicted
	Embedded     bool   // its vector was made of its text, by Options.Embed
	Superseded   bool   // no search finds it
	SupersededBy string // the key of the entry that did

	row *data.Entry
}

func newEntry(key string, e *data.Entry, revision uint64) Entry {
	if e == nil {
		return Entry{}
	}
	n := Entry{Key: key, Value: e.Value, Metadata: e.Metadata, Dim: len(e.Vector()), Revision: revision, row: e,
		Created: time.Unix(0, e.Created), Updated: time.Unix(0, e.Updated)}
	if e.Expires != 0 {
		n.Expires = time.Unix(0, e.Expires)
	}
	n.Kept, n.Embedded = e.Kept(), e.Embedded()
	n.SupersededBy, n.Superseded = e.SupersededBy()
	return n
}

func (v SpaceSnapshot) lookup(key string) *data.Entry { return viewOf(v.s).Lookup(v.path, key) }

func (e Entry) attrs() []slog.Attr {
	a := []slog.Attr{slog.String("key", value.Clip(e.Key, partShown)), slog.Any("value", e.Value.Short(partShown))}
	if e.Metadata.Exists() {
		a = append(a, slog.Any("metadata", e.Metadata.Short(partShown)))
	}
	if e.Dim > 0 {
		a = append(a, slog.Int("dim", e.Dim))
	}
	if !e.Expires.IsZero() {
		a = append(a, slog.String("expires", e.Expires.Format(time.RFC3339Nano)))
	}
	if e.Kept {
		a = append(a, slog.Bool("kept", true))
	}
	if e.Superseded {
		a = append(a, slog.String("superseded-by", value.Clip(e.SupersededBy, partShown)))
	}
	return append(a, slog.Uint64("revision", e.Revision))
}

// LogValue returns the key, the value and the revision in short, and what else there is.
func (e Entry) LogValue() slog.Value { return slog.GroupValue(e.attrs()...) }

// Format prints what LogValue returns in one line, whatever the verb.
func (e Entry) Format(f fmt.State, verb rune) { print(f, verb, e.LogValue()) }

// LogValue returns the version and how many entries and spaces there are, with those that
// have expired and are not swept yet.
func (s Snapshot) LogValue() slog.Value {
	entries, spaces := 0, 0
	if s.tables != nil {
		is := viewOf(s)
		entries, spaces = is.Total("").Count, is.T.Spaces.In(s.root).Len()
	}
	return slog.GroupValue(slog.Uint64("version", s.Version()), slog.Int("entries", entries), slog.Int("spaces", spaces))
}

// Format prints what LogValue returns in one line, whatever the verb.
func (s Snapshot) Format(f fmt.State, verb rune) { print(f, verb, s.LogValue()) }

// MarshalJSON returns an error: see [Snapshot.Export].
func (s Snapshot) MarshalJSON() ([]byte, error) {
	return nil, errors.New("memory: a Snapshot is not a JSON value: call Export for JSON Lines")
}
