package memory

import (
	"errors"
	"fmt"
	"strings"
)

// The errors of Freeze, to be tested with errors.Is. What is returned is a
// *ValueError that wraps one of them.
var (
	ErrUnsupported = errors.New("not a JSON-like value")
	ErrCycle       = errors.New("value contains itself")
	ErrTooDeep     = errors.New("value is nested too deeply")
)

// A ValueError says where in a value the reason is that it cannot be frozen.
type ValueError struct {
	Path string // like that of Value.Path; "" is the value itself
	Type string // the Go type there
	Err  error
}

func (e *ValueError) Error() string {
	at := ""
	switch long := 200; {
	case len(e.Path) > long:
		at = fmt.Sprintf(" at %q…", e.Path[:long])
	case e.Path != "":
		at = fmt.Sprintf(" at %q", e.Path)
	}
	return fmt.Sprintf("memory: %v%s: %v", e.Type, at, e.Err)
}

func (e *ValueError) Unwrap() error { return e.Err }

// A bare error is one to be wrapped: its text does not begin with the name of a package,
// which that of the whole error does.
type bare struct{ error }

func (b bare) Error() string {
	text := b.error.Error()
	for _, name := range []string{"memory: ", "cow: ", "vector: ", "text: "} {
		if rest, ok := strings.CutPrefix(text, name); ok {
			return rest
		}
	}
	return text
}

func (b bare) Unwrap() error { return b.error }

// named returns err with the name of this package, if it has that of another.
func named(err error) error {
	if err == nil || (bare{err}).Error() == err.Error() {
		return err
	}
	return fmt.Errorf("memory: %w", bare{err})
}

// spaceError returns an error about a space.
func spaceError(path string, err error) error {
	return fmt.Errorf("memory: space %q: %w", decodePath(path), bare{err})
}
