package memory

import "github.com/cowstore/cowstore/memory/value"

// A Value is a JSON-like value that nobody can modify; see [value.Value].
type Value = value.Value

// A Kind says what a Value is.
type Kind = value.Kind

// The kinds of Value.
const (
	Absent = value.Absent // no value at all, as of a key that is not there
	Null   = value.Null
	Bool   = value.Bool
	Int    = value.Int
	Uint   = value.Uint
	Float  = value.Float
	String = value.String
	Bytes  = value.Bytes
	Time   = value.Time
	List   = value.List
	Map    = value.Map    // also what a struct becomes
	Handle = value.Handle // what only FreezeHandles takes
)

// Freeze returns v as a Value that shares nothing with it; see [value.Freeze].
func Freeze(v any) (Value, error) { return value.Freeze(v) }

// FreezeHandles is Freeze that takes channels and functions too; see [value.FreezeHandles].
func FreezeHandles(v any) (Value, error) { return value.FreezeHandles(v) }

// As returns v as a T; see [value.As].
func As[T any](v Value) (T, error) { return value.As[T](v) }

// Equal reports whether a and b show the same, whatever Go types they came in as; see
// [Field].
func Equal(a, b Value) bool { return value.Equal(a, b) }
