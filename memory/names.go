package memory

import (
	"errors"
	"fmt"
	"log/slog"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/memory/internal/data"
	"github.com/cowstore/cowstore/memory/internal/fault"
	"github.com/cowstore/cowstore/memory/internal/jsonl"
	"github.com/cowstore/cowstore/memory/internal/keep"
	"github.com/cowstore/cowstore/memory/value"
	"github.com/cowstore/cowstore/memory/vector"
	"github.com/cowstore/cowstore/snapshot"
)

// A Value is a JSON-like value that nobody can modify; see [value.Value].
type Value = value.Value

// Freeze returns v as a Value that shares nothing with it; see [value.Freeze].
func Freeze(v any) (Value, error) { return value.Freeze(v) }

// As returns v as a T; see [value.As].
func As[T any](v Value) (T, error) { return value.As[T](v) }

// Equal reports whether a and b show the same, whatever Go types they came in as; see
// [filter.Field].
func Equal(a, b Value) bool { return value.Equal(a, b) }

// Never is the TTL of what does not expire, whatever its space or the Memory says.
const Never = data.Never

// The errors of verbs, to be tested with errors.Is. What is returned is a *KeyError that wraps one
// of them, or what is wrong with the value, as [value.ErrUnsupported], or with the vector, as
// [vector.ErrEmpty]; or [cow.ErrModified].
var (
	// ErrExists is the error of Insert if there is a value, and of Supersede if both
	// keys are the same.
	ErrExists = cow.ErrExists

	// ErrNotFound is the error of Modify and Supersede if there is no value, of Keep if
	// there is no entry, and of Erase if there is none in any version that is kept.
	ErrNotFound = cow.ErrNotFound

	// ErrRevision is the error of SetIf and DeleteIf if the entry is at another revision.
	ErrRevision = cow.ErrRevision

	// ErrDimension says that a vector has other dimensions than those of its space.
	ErrDimension = vector.ErrDimension
)

// ErrNothingToUndo says that Undo would change nothing: the version is undone already, or nobody
// would see a change, as what it changed has expired or was erased.
var ErrNothingToUndo = errors.New("nothing to undo")

// The other errors. Those of reads of the past, of Merge and of Restore are of package cow:
// [cow.ErrCompacted], [cow.ErrUnpublished], [cow.ErrLineage], [cow.ErrConflict] and
// [cow.ErrNotEmpty].
var (
	// ErrFull says that what a batch wrote is more than a limit allows: evicting all
	// the rest would not make room for it.
	ErrFull = keep.ErrFull

	// ErrQuery says that a Query, or the Filter in it, has a value that is not allowed.
	ErrQuery = errors.New("memory: bad query")

	// ErrMalformed says that a line is not one of an export. The error says which one.
	ErrMalformed = jsonl.ErrMalformed

	// ErrUTF8 says that a string is not UTF-8: JSON cannot have it.
	ErrUTF8 = jsonl.ErrUTF8
)

// A KeyError says which entry an error is about. It has the fields Space []string, the path of the
// space, Key string, and Err error, which it wraps.
type KeyError = fault.KeyError

// Pending is the revision that a [Batch] sees of an entry that it has written itself. No SetIf or
// DeleteIf matches it. Once the Batch is published the revision is its version.
const Pending = snapshot.Pending

// What is printed or logged is short, some 200 bytes at most, and made in constant time:
// a count stands for what is large. MarshalJSON and Export have it all.

const partShown = 40 // bytes of what is shown with others

// print prints v in one line, whatever the verb.
func print(f fmt.State, verb rune, v slog.Value) {
	fmt.Fprintf(f, fmt.FormatString(f, verb), v.String())
}
