package memory

import (
	"iter"

	"github.com/cowstore/cowstore/memory/internal/fault"
)

// A Typed is a Space whose values are all of type T. It is made by [Of]; it is a value,
// immutable, and safe for concurrent use. What it gives out is the caller's own copy.
//
// What is stored may be of another type, put through another Space or imported: it is
// read as [As] reads it, and what does not fit is an error.
type Typed[T any] struct{ Space Space }

// Of returns a space to be used for values of type T.
func Of[T any](s Space) Typed[T] { return Typed[T]{s} }

// A TypedHit is an entry that a search found, with its value.
type TypedHit[T any] struct {
	Hit
	Of T
}

// Get returns the value of key. It returns [ErrNotFound] if there is none.
func (s Typed[T]) Get(key string) (T, error) {
	v, ok := s.Space.Get(key)
	if !ok {
		var zero T
		return zero, fault.Of(s.Space.path, key, ErrNotFound)
	}
	return s.as(key, v)
}

func (s Typed[T]) as(key string, v Value) (T, error) {
	t, err := As[T](v)
	if err != nil {
		err = fault.Of(s.Space.path, key, err)
	}
	return t, err
}

// Put is [Space.Put].
func (s Typed[T]) Put(key string, v T) (rev uint64, err error) { return s.Space.Put(key, v) }

// Update calls f with a copy of the value of key, or the zero T if found is false, and
// stores what f has made of it, in one step. An error of f is returned as it is, and
// nothing happens. When an entry expires stays as it is.
func (s Typed[T]) Update(key string, f func(v *T, found bool) error) (rev uint64, err error) {
	return s.Space.Upsert(key, func(v Value) (any, error) {
		var t T
		if v.Exists() {
			var err error
			if t, err = s.as(key, v); err != nil {
				return nil, err
			}
		}
		err := f(&t, v.Exists())
		return t, err
	})
}

// All returns an iterator over the entries with a value, by key; see [SpaceSnapshot.List].
// It ends with the error of a value that is not a T.
func (s Typed[T]) All() iter.Seq2[TypedEntry[T], error] {
	return func(yield func(TypedEntry[T], error) bool) {
		for e := range s.Space.List(ListOptions{}) {
			if !e.Value.Exists() {
				continue
			}
			t, err := s.as(e.Key, e.Value)
			if !yield(TypedEntry[T]{e, t}, err) || err != nil {
				return
			}
		}
	}
}

// A TypedEntry is an entry with its value.
type TypedEntry[T any] struct {
	Entry
	Of T
}

// Search is [SpaceSnapshot.Search] of the current version.
func (s Typed[T]) Search(q Query) ([]TypedHit[T], error) {
	return s.hits(s.Space.Search(q))
}

// hits returns hits with their values, the zero T for an entry without one.
func (s Typed[T]) hits(hits []Hit, err error) ([]TypedHit[T], error) {
	if err != nil {
		return nil, err
	}
	typed := make([]TypedHit[T], len(hits))
	for i, h := range hits {
		typed[i].Hit = h
		if h.Value.Exists() {
			if typed[i].Of, err = s.as(h.Key, h.Value); err != nil {
				return nil, err
			}
		}
	}
	return typed, nil
}
