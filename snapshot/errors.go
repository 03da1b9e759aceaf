package snapshot

import (
	"cmp"
	"errors"
	"fmt"
)

// The errors of an Editor's verbs, to be tested with errors.Is. What is
// returned is a *KeyError that wraps one of them.
var (
	ErrExists   = errors.New("key exists")                        // Insert
	ErrNotFound = errors.New("key not found")                     // Modify
	ErrRevision = errors.New("key is not at that revision")       // SetIf, DeleteIf
	ErrModified = errors.New("key was written by its own change") // Modify, Upsert

	// ErrKey says that a key is not equal to itself, such as a NaN: it could be
	// stored, but never found again.
	ErrKey = errors.New("key is not equal to itself")
)

// A KeyError says which key an error is about. The key is formatted only when
// Error is called, outside any update.
type KeyError[K comparable] struct {
	Name string // Options.Name of the map
	Key  K
	Err  error
}

func (e *KeyError[K]) Error() string {
	return fmt.Sprintf("%s: %v: %v", cut(cmp.Or(e.Name, "snapshot")), text(e.Key), e.Err)
}

func (e *KeyError[K]) Unwrap() error { return e.Err }

func (c *config[K, V]) keyError(key K, err error) error { return &KeyError[K]{c.name, key, err} }
