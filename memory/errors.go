package memory

import (
	"errors"
	"fmt"
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
