package memory

import (
	"errors"
	"fmt"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/memory/internal/bare"
	"github.com/cowstore/cowstore/memory/value"
	"github.com/cowstore/cowstore/memory/vector"
)

// The errors of [Freeze]. What is returned is a *ValueError that wraps one of them.
// All errors are to be tested with errors.Is.
var (
	ErrUnsupported = value.ErrUnsupported // not a JSON-like value
	ErrCycle       = value.ErrCycle       // it contains itself
	ErrTooDeep     = value.ErrTooDeep     // it is nested too deeply
)

// ErrAbsent is what [As] returns where there is no value.
var ErrAbsent = value.ErrAbsent

// The errors of verbs. What is returned is a *KeyError that wraps one of them.
var (
	ErrExists   = cow.ErrExists
	ErrNotFound = cow.ErrNotFound // Modify: there is no value; Erase: there is no entry, and was none
	ErrRevision = cow.ErrRevision // SetIf, DeleteIf: the entry is at another revision
	ErrModified = cow.ErrModified
)

// The errors of vectors.
var (
	ErrDimension = vector.ErrDimension // other dimensions than the others of the space
	ErrEmpty     = vector.ErrEmpty     // no dimensions at all
	ErrNotFinite = vector.ErrNotFinite // NaN or an infinity
	ErrZero      = vector.ErrZero      // only zeros, whose direction Cosine cannot compare
)

// The errors of reads of the past, and of Restore.
var (
	ErrCompacted   = cow.ErrCompacted
	ErrUnpublished = cow.ErrUnpublished
	ErrCursor      = cow.ErrCursor
	ErrLineage     = cow.ErrLineage
	ErrNotEmpty    = cow.ErrNotEmpty // Restore: the Memory is not at version 0
)

// ErrNothingToUndo says that Undo would change nothing: the version is undone already, or it
// changed no entry.
var ErrNothingToUndo = errors.New("nothing to undo")

// The other errors.
var (
	// ErrFull says that what a batch wrote is more than a limit allows, so that
	// evicting all the rest would not do.
	ErrFull = errors.New("more than a limit allows")

	// ErrOptions says that SearchOptions, or the Filter in them, make no sense.
	ErrOptions = errors.New("memory: bad search options")

	// ErrFilter is what the error of every erroneous Filter wraps.
	ErrFilter = errors.New("erroneous filter")

	// ErrConflict says that both sides of a merge have changed an entry; see [MergeError].
	ErrConflict = cow.ErrConflict

	// ErrMalformed says that a line is not one of an export. The error says which one.
	ErrMalformed = errors.New("malformed entry")

	// ErrUTF8 says that a string is not UTF-8, so that JSON cannot have it.
	ErrUTF8 = errors.New("text is not UTF-8")
)

// A ValueError says where in a value the reason is that it cannot be frozen.
type ValueError = value.Error

// A KeyError says which entry an error is about.
type KeyError struct {
	Space []string // its path
	Key   string
	Err   error
}

func (e *KeyError) Error() string {
	return fmt.Sprintf("memory: space %q, key %q: %v", e.Space, e.Key, bare.Wrap(e.Err))
}

func (e *KeyError) Unwrap() error { return e.Err }

func keyError(space, key string, err error) error { return &KeyError{decodePath(space), key, err} }

// spaceError returns an error about a space.
func spaceError(path string, err error) error {
	return fmt.Errorf("memory: space %q: %w", decodePath(path), bare.Wrap(err))
}
