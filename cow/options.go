package cow

import (
	"fmt"
	"math"
	"reflect"
	"time"

	"github.com/cowstore/cowstore/cow/internal/index"
)

// Options say how a Table treats its values. The zero value is right
// for most: values that reach memory somebody could modify are deeply cloned,
// and a type that cannot be cloned is refused with a panic when the table is
// made.
type Options[V any] struct {
	// Clone, if not nil, clones values, instead of V's method Clone or the
	// compiled clone. It must not modify its argument, nor keep or share
	// memory that anybody modifies.
	Clone func(V) V

	// Immutable says that values are shared on purpose: nothing is cloned, and nobody may
	// modify a value once it was stored. It is right for handles, such as connections, and for
	// read-only views. Package cowtest helps tests find code that modifies one all the same.
	Immutable bool

	// Expires, if not nil, returns when a row with that value expires; the zero time means never.
	// It must be pure, and neither modify its argument nor keep a part of it. It gets neither key
	// nor revision, so the time must be in the value. The type of keys must have an order: see
	// NewIndex.
	//
	// Reads return a row that has expired until DB.Sweep deletes it. Nothing sweeps by itself:
	// call Sweep, or run DB.SweepEvery in a goroutine. Sweep deletes in an update like any
	// other: feeds, the past, indexes, watches and replicas have the row until that update.
	//
	// To hide a row that has expired, compare its time with time.Now() after Get. Snapshot.Due
	// is a cheap test whether there may be any, and Table.Expiry has the rows that expire, in
	// order.
	Expires func(v V) time.Time

	// Codec turns the values of a table into bytes and back, for what makes a DB durable or
	// replicates it. Each table of such a DB must have one, unless it is derived.
	Codec Codec[V]

	// Accept lists differences that are allowed between the schema that a file or a replica has
	// of the table, and that of the program. They are written as in the text of the error, such
	// as "key: struct{A int64}, now struct{B int64}" or "value.Name: string, now gone". See
	// ErrSchema.
	Accept []string
}

// newExpiry returns the index of Options.Expires, by ns since 1970.
func newExpiry[K comparable, V any](expires func(v V) time.Time) *index.Def[K, V, int64] {
	if !index.HasOrder[K]() {
		panic(fmt.Sprintf("cow: Options.Expires needs keys that have an order of their own, and %v has none: see NewIndex for those that have", reflect.TypeFor[K]()))
	}
	first, last := time.Unix(0, math.MinInt64+1), time.Unix(0, math.MaxInt64)
	return index.NewOrdered("expiry", func(r Row[K, V], add func(int64)) {
		switch t := expires(r.Shared()); {
		case t.IsZero() || t.After(last): // never, or in 2262, when the numbers end
		case t.Before(first):
			add(first.UnixNano())
		default:
			add(t.UnixNano())
		}
	}, index.Options[K]{})
}

// A Codec turns values into bytes and back. It must be safe for concurrent use,
// and what it decodes must be equal to what was encoded.
//
// What makes a DB durable or replicates it records the schema of each table, see
// [ErrSchema]. A Codec may have a method Schema() string, which says what its bytes are: it
// must return another text when they are read otherwise. A Codec without it is described
// by the name of its type, and by the exported fields of V.
type Codec[V any] interface {
	// Append appends the encoded v to b. Before it is stored, it is decoded once; if that fails,
	// so does the update.
	Append(b []byte, v V) ([]byte, error)

	// Decode returns the value that Append has encoded. It must not keep b.
	Decode(b []byte) (V, error)
}
