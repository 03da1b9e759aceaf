package cow

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/cowstore/cowstore/cow/internal/index"
	"github.com/cowstore/cowstore/snapshot"
	"github.com/cowstore/cowstore/snapshot/depth"
)

// What a user of a Table meets of package snapshot has a name here too, so
// that one import is enough.

// A Map is an immutable map: one version of a Table. Its methods Get, GetMany, Has, Len, All, Keys,
// Values, Row, Rows, Revision and Version read it; Shared reads it without cloning, and Diff
// compares it with another. Its Version is that of the last update that changed the table;
// [Snapshot.Version] is that of the DB. It is an alias of [snapshot.Map], where its methods are
// documented:
//
//	go doc github.com/cowstore/cowstore/snapshot.Map.Get
type Map[K comparable, V any] = snapshot.Map[K, V]

// An Editor makes the changes of one update to one map, with the methods Get, GetMany, Has, Len,
// All, Revision, Version, Set, SetAll, Insert, SetIf, Modify, Upsert, Delete, DeleteIf, Take,
// Clear, Merge, Map and Err. After the update function has returned it must not be used: but for
// Version and Err, it panics. The update seals it. It has no DeleteFunc: call Delete in a loop over
// All, or Delete of a range that [Index.During] returns. It has no Replace: call Clear, then SetAll.
// It is an alias of [snapshot.Editor], where its methods are documented:
//
//	go doc github.com/cowstore/cowstore/snapshot.Editor.Modify
type Editor[K comparable, V any] = snapshot.Editor[K, V]

// A Row is a key, its value and the version that wrote them, with the methods Key,
// Value, Shared and Revision; see [snapshot.Row].
type Row[K comparable, V any] = snapshot.Row[K, V]

// A Change is what happened to one key between two versions: its fields Key and Kind,
// and the methods Old, New and Rows; see [snapshot.Change].
type Change[K comparable, V any] = snapshot.Change[K, V]

// The kinds of change.
const (
	Added   = snapshot.Added
	Changed = snapshot.Changed
	Removed = snapshot.Removed
	Erased  = snapshot.Erased // in a Commit alone, of a key: see DB.Erase
)

// A Conflict is a key that both sides of a merge have changed, with the methods Base,
// Ours and Theirs; see [snapshot.Conflict].
type Conflict[K comparable, V any] = snapshot.Conflict[K, V]

// A KeyError says which key of which table an error is about. It wraps one of the errors of verbs,
// such as [ErrExists], a *[clone.Error], [ErrConflict], or the error of a codec or of an index
// function. It is an alias of [snapshot.KeyError].
type KeyError[K comparable] = snapshot.KeyError[K]

// The errors of verbs, to be tested with errors.Is.
var (
	ErrExists   = snapshot.ErrExists   // Insert: the key is present
	ErrNotFound = snapshot.ErrNotFound // Modify: the key is absent
	ErrRevision = snapshot.ErrRevision // SetIf, DeleteIf: the key is at another revision
	ErrModified = snapshot.ErrModified // Modify, Upsert: the function wrote the key itself
	ErrKey      = snapshot.ErrKey      // the key is not equal to itself, such as a NaN
	ErrTooDeep  = snapshot.ErrTooDeep  // a key, or, for JSON and codecs, a value has more than 10,000 levels
)

// Pending is the revision, inside an update, of a row that this update wrote; see
// [snapshot.Pending].
const Pending = snapshot.Pending

type builder[K comparable, V any] = snapshot.Builder[K, V]

// An IndexError says that two rows have the same key in a unique index, and which. It wraps
// [ErrExists].
type IndexError struct {
	Name  string // as in KeyError: which table
	Index string
	Key   any // the caller's own
}

func (e *IndexError) Error() string {
	name := fmt.Sprintf("%s: index %q", cmp.Or(e.Name, "cow"), e.Index)
	if depth.Text.Check(e.Key) == nil { // it may be a slice, which the key of a row cannot be
		return fmt.Sprintf("%s: two rows under %.100s", name, fmt.Sprint(e.Key))
	}
	return (&KeyError[any]{Name: name, Key: e.Key, Err: errTwoRows}).Error()
}

var errTwoRows = errors.New("two rows under this key")

// Format formats Error, whatever the verb: the key may be nested too deeply for fmt.
func (e *IndexError) Format(f fmt.State, verb rune) {
	fmt.Fprintf(f, fmt.FormatString(f, verb), e.Error())
}

// MarshalJSON returns Error as a JSON string: the key may be nested too deeply for encoding/json.
func (e IndexError) MarshalJSON() ([]byte, error) { return json.Marshal(e.Error()) }

func (e *IndexError) Unwrap() error { return ErrExists }

// indexError returns the problem of an index as users know it.
func indexError(err error) error {
	if d, ok := err.(*index.Duplicate); ok {
		return (*IndexError)(d)
	}
	return err
}
