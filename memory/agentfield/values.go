package agentfield

import (
	"context"
	"errors"
	"fmt"

	"github.com/cowstore/cowstore/memory"
	"github.com/cowstore/cowstore/memory/value"
)

// Set stores a copy of value, whatever was there before. Nil is a value too.
//
// It takes what [value.FreezeHandles] takes: all that is made of bools, numbers,
// strings, times, slices, arrays, maps by strings or integers, structs and
// pointers. Channels, functions and other kinds that cannot be copied are stored as they
// are, inside of others too.
//
// The error wraps [value.ErrUnsupported] for a struct that holds a lock and has no method
// Clone, for NaN and infinities, and for maps by other keys. For a value that contains
// itself it wraps [value.ErrCycle], and Cyclic of [Options]. After an error nothing has
// changed.
func (b *Backend[S, O, R]) Set(ctx context.Context, scope S, scopeID, key string, value any) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	space := b.space(scope, scopeID, values)
	v, err := b.freeze(space, key, value)
	if err != nil {
		return err
	}
	if !v.Exists() {
		v, _ = memory.Freeze(nil) // a memory.Value that is Absent was stored, all the same
	}
	_, err = space.Put(key, v)
	return err
}

// freeze returns a copy of what is to be stored under key.
func (b *Backend[S, O, R]) freeze(space memory.Space, key string, v any) (memory.Value, error) {
	frozen, err := value.FreezeHandles(v)
	if err != nil {
		return memory.Value{}, &memory.KeyError{Space: space.Path(), Key: key, Err: b.ofCycle(err)}
	}
	return frozen, nil
}

// ofCycle returns err, which wraps what Options have for a cycle if it is about one.
func (b *Backend[S, O, R]) ofCycle(err error) error {
	if b.cyclic != nil && errors.Is(err, value.ErrCycle) {
		return fmt.Errorf("%w: %w", err, b.cyclic)
	}
	return err
}

// Get returns a copy of the value of key, and whether there is one. The copy and all its
// parts have the Go types that they came in with; a [memory.Value] comes back as what it
// holds. Without a value Get returns nil, false and no error.
func (b *Backend[S, O, R]) Get(ctx context.Context, scope S, scopeID, key string) (any, bool, error) {
	if err := ctx.Err(); err != nil {
		return nil, false, err
	}
	v, ok := b.space(scope, scopeID, values).Get(key)
	return v.Any(), ok, nil
}

// Delete removes the value of key, if there is one. A vector stays.
func (b *Backend[S, O, R]) Delete(ctx context.Context, scope S, scopeID, key string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	_, err := b.space(scope, scopeID, values).Delete(key)
	return err
}

// List returns the keys of all values of a scope, ordered by their bytes, in a slice
// that is the caller's own, or nil if there are none. Keys that have only a vector are
// not among them.
func (b *Backend[S, O, R]) List(ctx context.Context, scope S, scopeID string) ([]string, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var keys []string
	for e := range b.space(scope, scopeID, values).List(memory.ListOptions{}) {
		keys = append(keys, e.Key)
	}
	return keys, nil
}
