// Package filter narrows searches of package memory by conditions on the values, the metadata and
// the times of entries.
//
//	f := filter.And(filter.Meta("kind").Eq("plan"), filter.Not(filter.Val("year").Lt(2020)))
//
// [Meta], [Val], [Created], [Updated] and [Expires] name a place in an entry, a [Field]. The
// methods of a Field make conditions, each a [Filter], which [And], [Or] and [Not] combine.
package filter

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cowstore/cowstore/memory/internal/bare"
	"github.com/cowstore/cowstore/memory/value"
)

// A filter is evaluated by recursion, and the same filter may be a part of
// another many times: both are bounded.
const (
	maxFilterDepth = 1000
	maxFilterSize  = 1 << 20
)

// ErrInvalid is wrapped by the error of each erroneous [Filter]: see [Filter.Err].
var ErrInvalid = errors.New("erroneous filter")

// An Entry is what a Filter knows of an entry of a memory.
type Entry struct {
	Value, Metadata           value.Value
	Created, Updated, Expires time.Time // Expires is the zero time if it never does
}

// A Filter decides whether an entry is wanted. The zero Filter wants every entry.
//
// A Filter is made by the methods of a [Field] and by [And], [Or] and [Not]. It
// is immutable: copy it freely, use it from several goroutines and as a part of
// several others. It has its own frozen copy of every constant that it was made
// with.
//
// Making a Filter never fails. A Filter is erroneous if a constant in it cannot be
// frozen, or if it is too large: see [Filter.Err]. So is every Filter that it is a part
// of. An erroneous Filter wants nothing, and a search by it returns the error.
type Filter struct{ c *condition }

// A condition is a filter that does not want everything. It is not modified once
// it is made.
type condition struct {
	op          operator
	field       Field
	constants   []value.Value
	parts       []Filter
	depth, size int // in conditions
	err         error
}

type operator uint8

const (
	opExists operator = iota
	opEq
	opNe
	opGt
	opGte
	opLt
	opLte
	opContains
	opAnd
	opOr
	opNot
)

// A Field names a place in an entry. The zero Field is the value itself. A Field
// is immutable and safe for concurrent use.
//
// The methods of a Field make filters that compare what is at that place with
// constants: anything that [value.Freeze] takes, Values included. They compare what
// a [value.Value] shows, whatever Go types it came in as:
//
//   - Numbers compare by their value, exactly, whether they are Int, Uint or
//     Float, or have more digits than those. A Float with a fraction, or from
//     1e21 on, is the number that MarshalJSON writes for a float64.
//   - Strings and Bytes compare byte by byte, and Times as instants, in whatever
//     location.
//   - Null, Bools, Lists and Maps are equal or not, the last two deeply; they
//     have no order. Handles are equal where == in Go says so; a function equals
//     only its own Value.
//   - Values of different kinds, but for numbers, are unequal and have no order.
//
// Where there is no order, Gt, Gte, Lt and Lte do not hold. Nothing but Ne holds
// at a place that does not exist. A constant that is Absent equals nothing.
type Field struct {
	of   where
	path []string
}

// A where is a part of an entry.
type where uint8

const (
	ofValue where = iota
	ofMetadata
	ofCreated
	ofUpdated
	ofExpires
)

var whereNames = [...]string{"value", "metadata", "created", "updated", "expires"}

// Meta returns the Field at path in the metadata of an entry. Each element of path is
// one step: a key of a Map, or an index of a List in decimal, without leading zeros.
// Without a path it is the metadata itself.
func Meta(path ...string) Field { return Field{ofMetadata, slices.Clone(path)} }

// Val returns the Field at path in the value of an entry. Each element of path is one
// step: a key of a Map, or an index of a List in decimal, without leading zeros.
// Without a path it is the value itself.
func Val(path ...string) Field { return Field{ofValue, slices.Clone(path)} }

// Created returns the Field of the time when the key of an entry came to be.
func Created() Field { return Field{of: ofCreated} }

// Updated returns the Field of the time when an entry was last written.
func Updated() Field { return Field{of: ofUpdated} }

// Expires returns the Field of the time when an entry expires. It does not exist if the entry never
// does.
func Expires() Field { return Field{of: ofExpires} }

// ValidAt returns a Filter that wants entries that came to be at t or before, and expire after t or
// never.
func ValidAt(t time.Time) Filter {
	return And(Created().Lte(t), Or(Not(Expires().Exists()), Expires().Gt(t)))
}

// Exists returns a Filter that wants entries that have something there, also Null.
func (f Field) Exists() Filter { return f.filter(opExists) }

// Eq returns a Filter that wants entries that have a value equal to v there.
func (f Field) Eq(v any) Filter { return f.filter(opEq, v) }

// Ne returns a Filter that wants entries that Eq does not want, also those that have
// nothing there.
func (f Field) Ne(v any) Filter { return f.filter(opNe, v) }

// Gt returns a Filter that wants entries that have something greater than v there.
func (f Field) Gt(v any) Filter { return f.filter(opGt, v) }

// Gte returns a Filter that wants entries that have something greater than v
// there, or equal to it. Unlike Eq it is never satisfied by what has no order.
func (f Field) Gte(v any) Filter { return f.filter(opGte, v) }

// Lt returns a Filter that wants entries that have something less than v there.
func (f Field) Lt(v any) Filter { return f.filter(opLt, v) }

// Lte returns a Filter that wants entries that have something less than v there,
// or equal to it. Unlike Eq it is never satisfied by what has no order.
func (f Field) Lte(v any) Filter { return f.filter(opLte, v) }

// In returns a Filter that wants entries that have a value equal to one of vs there: none,
// without vs. [Filter.Match] takes time proportional to the number of vs.
func (f Field) In(vs ...any) Filter { return f.filter(opEq, vs...) }

// Contains returns a Filter that wants entries that have a List with an element equal to v there.
// If v is a String, a Map with the key v and a String that v is a part of count too.
func (f Field) Contains(v any) Filter { return f.filter(opContains, v) }

// filter returns a filter of the place.
func (f Field) filter(op operator, constants ...any) Filter {
	c := &condition{op: op, field: f, depth: 1, size: 1, constants: make([]value.Value, len(constants))}
	for i, v := range constants {
		frozen, err := value.Freeze(v)
		if err != nil {
			c.err = fmt.Errorf("memory: %w on %v: %w", ErrInvalid, f, bare.Wrap(err))
			break
		}
		c.constants[i] = frozen
	}
	return Filter{c}
}

// String returns the name of the place for people: "metadata user.tags.0".
func (f Field) String() string {
	if len(f.path) == 0 {
		return whereNames[f.of]
	}
	return whereNames[f.of] + " " + strings.Join(f.path, ".")
}

// And returns a Filter that wants what all of fs want. Without fs it wants everything.
func And(fs ...Filter) Filter { return combine(opAnd, fs) }

// Or returns a Filter that wants what at least one of fs wants. Without fs it wants nothing.
func Or(fs ...Filter) Filter { return combine(opOr, fs) }

// Not returns a Filter that wants what f does not want. If f is erroneous, so is the result.
func Not(f Filter) Filter { return combine(opNot, []Filter{f}) }

func combine(op operator, parts []Filter) Filter {
	c := &condition{op: op, parts: slices.Clone(parts), depth: 1, size: 1}
	for _, f := range c.parts {
		if f.c == nil {
			continue
		}
		c.depth = max(c.depth, 1+f.c.depth)
		c.size += f.c.size
		switch {
		case f.c.err != nil:
			c.err = f.c.err
		case c.depth > maxFilterDepth:
			c.err = fmt.Errorf("memory: %w: nested more than %d levels", ErrInvalid, maxFilterDepth)
		case c.size > maxFilterSize:
			c.err = fmt.Errorf("memory: %w: more than %d conditions", ErrInvalid, maxFilterSize)
		}
		if c.err != nil {
			// Nobody evaluates the parts: let them go.
			return Filter{&condition{op: op, depth: 1, size: 1, err: c.err}}
		}
	}
	return Filter{c}
}

// Err returns the reason that f is erroneous, or nil. It wraps [ErrInvalid], and for a
// constant that cannot be frozen also the error of [value.Freeze]. A Filter is
// erroneous too if it is nested more than a thousand levels deep, or has more than a
// million conditions; one that occurs several times counts each time.
func (f Filter) Err() error {
	if f.c == nil {
		return nil
	}
	return f.c.err
}

// Match reports whether f wants e. An erroneous filter wants none.
func (f Filter) Match(e *Entry) bool {
	c := f.c
	if c == nil {
		return true
	}
	if c.err != nil {
		return false
	}
	switch c.op {
	case opAnd:
		for _, part := range c.parts {
			if !part.Match(e) {
				return false
			}
		}
		return true
	case opOr:
		for _, part := range c.parts {
			if part.Match(e) {
				return true
			}
		}
		return false
	case opNot:
		return !c.parts[0].Match(e)
	}
	at := c.field.in(e)
	if !at.Exists() {
		return c.op == opNe
	}
	switch c.op {
	case opExists:
		return true
	case opEq:
		return slices.ContainsFunc(c.constants, func(v value.Value) bool { return value.Equal(at, v) })
	case opNe:
		return !value.Equal(at, c.constants[0])
	case opContains:
		return contains(at, c.constants[0])
	}
	order, ok := value.Compare(at, c.constants[0])
	switch c.op {
	case opGt:
		return ok && order > 0
	case opGte:
		return ok && order >= 0
	case opLt:
		return ok && order < 0
	}
	return ok && order <= 0
}

// in returns what is at the place in an entry.
func (f Field) in(e *Entry) (at value.Value) {
	switch f.of {
	case ofValue:
		at = e.Value
	case ofMetadata:
		at = e.Metadata
	case ofCreated:
		return instant(e.Created)
	case ofUpdated:
		return instant(e.Updated)
	case ofExpires:
		return instant(e.Expires)
	}
	for _, step := range f.path {
		at = at.Step(step)
	}
	return at
}

// instant returns a time as a value, Absent for the zero time.
func instant(t time.Time) (v value.Value) {
	if !t.IsZero() {
		v, _ = value.Freeze(t)
	}
	return v
}

// contains reports whether v is a part of what is at a place.
func contains(at, v value.Value) bool {
	switch at.Kind() {
	case value.List:
		for _, element := range at.Values() {
			if value.Equal(element, v) {
				return true
			}
		}
	case value.Map:
		return v.Kind() == value.String && at.Key(v.String()).Exists()
	case value.String:
		return v.Kind() == value.String && strings.Contains(at.String(), v.String())
	}
	return false
}
