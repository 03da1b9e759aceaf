// Package fault says which entry, or which space, an error is about.
package fault

import (
	"fmt"

	"github.com/cowstore/cowstore/memory/internal/bare"
	"github.com/cowstore/cowstore/memory/internal/tuple"
)

// A KeyError says which entry an error is about.
type KeyError struct {
	Space []string // its path
	Key   string
	Err   error
}

func (e *KeyError) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("memory: space %q, key %q", e.Space, e.Key)
	}
	return fmt.Sprintf("memory: space %q, key %q: %v", e.Space, e.Key, bare.Wrap(e.Err))
}

func (e *KeyError) Unwrap() error { return e.Err }

// Of returns an error about an entry.
func Of(space, key string, err error) error { return &KeyError{tuple.Decode(space), key, err} }

// OfSpace returns an error about a space.
func OfSpace(path string, err error) error {
	return fmt.Errorf("memory: space %q: %w", tuple.Decode(path), bare.Wrap(err))
}
