package snapshot

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/cowstore/cowstore/snapshot/depth"
)

// What else there is to say of a key that is not at a revision.
var (
	errAbsent  = fmt.Errorf("%w: %w", ErrRevision, ErrNotFound)
	errPresent = fmt.Errorf("%w: %w", ErrRevision, ErrExists)
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

	// ErrTooDeep says that a key has more than 10,000 levels of structs and arrays in one
	// another, by interfaces: == and hashes of those take stack without a bound. It is also
	// the error of MarshalJSON for a value that would have more levels than that in JSON, or
	// contains itself; such a value can be stored, read and compared all the same.
	ErrTooDeep = depth.ErrTooDeep
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

// Format formats Error, whatever the verb: the key may be nested too deeply for fmt.
func (e *KeyError[K]) Format(f fmt.State, verb rune) {
	fmt.Fprintf(f, fmt.FormatString(f, verb), e.Error())
}

// MarshalJSON returns Error as a JSON string: the key may be nested too deeply for encoding/json.
func (e KeyError[K]) MarshalJSON() ([]byte, error) { return json.Marshal(e.Error()) }

func (e *KeyError[K]) Unwrap() error { return e.Err }

// most is how many bytes of a text are shown.
const most = 100

// cut returns s, or as much of it as is shown.
func cut(s string) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}

// text returns a key as text. The methods that a key has for that are called; they
// may panic, which fmt writes down. A pointer without is an address, or what it leads
// to might lead back to it. Of one that is nested too deeply to be looked at, there is the
// type.
func text(key any) string {
	switch key.(type) {
	case fmt.Formatter, fmt.Stringer, error:
		return cut(fmt.Sprint(key))
	}
	v := reflect.ValueOf(key)
	switch {
	case v.Kind() == reflect.String:
		return cut(v.String())
	case v.Kind() == reflect.Pointer:
		return fmt.Sprintf("%p", key)
	case v.IsValid() && !v.Type().Comparable():
		return cut(v.Type().String()) // never in a map
	}
	if err := depth.Key.Check(key); err != nil {
		return fmt.Sprintf("%s (%v)", cut(v.Type().String()), err)
	}
	if v.IsValid() && !v.Comparable() {
		return cut(v.Type().String()) // nor this
	}
	return cut(fmt.Sprint(key))
}

// quoted returns text, in quotes if key is a string.
func quoted(key any) string {
	t := text(key)
	if reflect.ValueOf(key).Kind() == reflect.String {
		t = cut(strconv.Quote(t))
	}
	return t
}
