package value

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/cowstore/cowstore/memory/internal/bare"
	"github.com/cowstore/cowstore/snapshot/depth"
)

// The errors of [Freeze], to be tested with [errors.Is]. What is returned is an
// *[Error] that wraps one of them.
var (
	ErrUnsupported = errors.New("not a JSON-like value")
	ErrCycle       = errors.New("value contains itself")
	ErrTooDeep     = depth.ErrTooDeep // more than a thousand levels
)

// ErrUTF8 is the error of [Value.CheckJSON] for a string that is not UTF-8.
var ErrUTF8 = errors.New("text is not UTF-8")

// ErrTooLarge is the error of [Parse] for a value that takes more memory than it may.
var ErrTooLarge = errors.New("value is too large")

// An Error says what in a value cannot be frozen, and where.
type Error struct {
	Path string // like that of Value.Path; "" is the value itself
	Type string // the Go type there
	Err  error  // why: it wraps a sentinel of this package
}

// Error returns the type, the path, cut if it is long, and Err.
func (e *Error) Error() string {
	at := ""
	switch long := 200; {
	case len(e.Path) > long:
		at = fmt.Sprintf(" at %q…", e.Path[:long])
	case e.Path != "":
		at = fmt.Sprintf(" at %q", e.Path)
	}
	return fmt.Sprintf("value: %v%s: %v", e.Type, at, e.Err)
}

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }

// inside adds a step to the path of an error.
func inside(err error, step string) error {
	var e *Error
	if errors.As(err, &e) {
		e.Path = strings.TrimSuffix(step+"."+e.Path, ".")
	}
	return err
}

// once cuts the path of an ErrCycle, which is found after many times around, down to once around.
func once(err error) error {
	var e *Error
	if !errors.Is(err, ErrCycle) || !errors.As(err, &e) {
		return err
	}
	steps := strings.Split(e.Path, ".")
	around, most := 1, 0 // how many steps, and how many more there are of which each is as that so many before
	for n := 1; n < len(steps); n++ {
		same := 0
		for i := len(steps) - 1; i >= n && steps[i] == steps[i-n]; i-- {
			same++
		}
		if same > most {
			around, most = n, same
		}
	}
	if most >= around {
		e.Path = strings.Join(steps[:len(steps)-most], ".")
	}
	return err
}

// unsupported returns an error about a t.
func unsupported(t reflect.Type, err error) error {
	return &Error{Type: t.String(), Err: fmt.Errorf("%w: %w", ErrUnsupported, bare.Wrap(err))}
}
