// Package bare wraps errors by their bare text: without the name of the package that
// they come from, where the text of the whole error begins with a name.
package bare

import (
	"fmt"
	"strings"
)

// Error is an error to be wrapped, whose text begins with no package.
type Error struct{ error }

// Wrap returns err without the name of a package. Err must not be nil.
func Wrap(err error) Error { return Error{err} }

var names = []string{"memory: ", "value: ", "cow: ", "vector: ", "text: "}

func (e Error) Error() string {
	text := e.error.Error()
	for _, name := range names {
		if rest, ok := strings.CutPrefix(text, name); ok {
			return rest
		}
	}
	return text
}

func (e Error) Unwrap() error { return e.error }

// Named returns err as one of package memory, if it has the name of another.
func Named(err error) error {
	if err == nil || Wrap(err).Error() == err.Error() {
		return err
	}
	return fmt.Errorf("memory: %w", Wrap(err))
}
