package value

import (
	"encoding/json"
	"iter"
	"math"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"
	"unsafe"
)

// A Kind says what a Value is.
type Kind uint8

// The kinds of Value.
const (
	Absent Kind = iota // no value at all, as of a key that is not there
	Null
	Bool
	Int
	Uint
	Float
	String
	Bytes
	Time
	List
	Map    // also what a struct becomes
	Handle // what only FreezeHandles takes
)

var kindNames = [...]string{"absent", "null", "bool", "int", "uint", "float", "string", "bytes", "time", "list", "map", "handle"}

// String returns the name of the kind.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "unknown"
}

// A Value is a JSON-like value that nobody can modify. It is one word wide, to be
// copied freely, and safe for concurrent use. Methods copy and allocate nothing,
// unless they say so. A Value keeps the whole of what [Freeze] made in memory, even
// if it is a part of that.
//
// The zero Value is Absent. Methods that ask for something a Value is not return
// zero values, so that a chain of them needs no checks:
//
//	v.Key("user").Key("tags").Index(0).String()
type Value struct{ n *node }

// A node is one value of a frozen tree.
type node struct {
	from *origin // what it is, and what it was
	bits uint64  // a number, a bool; the length of what ptr points to

	// The bytes of a String or Bytes, a time.Time, the literal of a number, the nodes of
	// a List, the head of a Map, the any of a Handle. The head, a node in front of the
	// fields, has the list of keys, and how many bytes that takes for this Map alone.
	ptr unsafe.Pointer

	// Its place, of the type that it came in as, in an original; nil: the rest is all of
	// it.
	orig unsafe.Pointer
}

// depthShift is where the bits of a List or a Map have its depth, above its length.
const depthShift = 48

// count returns the length of a List or a Map.
func (n *node) count() int { return int(n.bits & (1<<depthShift - 1)) }

// depth returns how many levels of Lists and Maps a value has.
func (n *node) depth() int {
	if n.from.kind != List && n.from.kind != Map {
		return 0
	}
	return int(n.bits >> depthShift)
}

// depthOf returns the depth of what has these parts.
func depthOf(parts []node) int {
	d := 0
	for i := range parts {
		d = max(d, parts[i].depth())
	}
	return d + 1
}

// Kind returns what v is.
func (v Value) Kind() Kind {
	if v.n == nil {
		return Absent
	}
	return v.n.from.kind
}

// Clone returns v itself, as nobody can modify it. Package cow calls it to clone what a
// Value is a part of.
func (v Value) Clone() Value { return v }

// Exists reports whether v is anything, Null included.
func (v Value) Exists() bool { return v.n != nil }

// IsNull reports whether v is Null.
func (v Value) IsNull() bool { return v.Kind() == Null }

// Bool returns a Bool, and false for anything else.
func (v Value) Bool() bool { return v.Kind() == Bool && v.n.bits != 0 }

// Int returns an Int, a Uint, or a Float that has no fraction, if it is in the range
// of an int64, and 0 for anything else.
func (v Value) Int() int64 {
	switch v.Kind() {
	case Int:
		return int64(v.n.bits)
	case Uint:
		if v.n.bits <= math.MaxInt64 {
			return int64(v.n.bits)
		}
	case Float:
		if f := math.Float64frombits(v.n.bits); f == math.Trunc(f) && -1<<63 <= f && f < 1<<63 {
			return int64(f)
		}
	}
	return 0
}

// Float returns a Float, or an Int or Uint as the nearest float64, and 0 for anything
// else.
func (v Value) Float() float64 {
	switch v.Kind() {
	case Float:
		return math.Float64frombits(v.n.bits)
	case Int:
		return float64(int64(v.n.bits))
	case Uint:
		return float64(v.n.bits)
	}
	return 0
}

// String returns a String, all of it, and "" for anything else: see [Value.Short] for a
// short text of any Value, and [Value.MarshalJSON] for all of it.
func (v Value) String() string {
	if v.Kind() != String {
		return ""
	}
	return unsafe.String((*byte)(v.n.ptr), v.n.bits)
}

// Bytes returns a copy of Bytes, and nil for anything else.
func (v Value) Bytes() []byte {
	if v.Kind() != Bytes {
		return nil
	}
	b := make([]byte, v.Len())
	copy(b, v.bytes())
	return b
}

// bytes returns Bytes, which must not be modified.
func (v Value) bytes() []byte { return unsafe.Slice((*byte)(v.n.ptr), v.n.bits) }

// Time returns a Time as it came in, without a monotonic clock reading, and the zero
// time for anything else.
func (v Value) Time() time.Time {
	if v.Kind() != Time {
		return time.Time{}
	}
	return *(*time.Time)(v.n.ptr)
}

// Len returns the number of elements of a List, of keys of a Map, or of bytes of a
// String or of Bytes, and 0 for anything else.
func (v Value) Len() int {
	switch v.Kind() {
	case String, Bytes:
		return int(v.n.bits)
	case List, Map:
		return v.n.count()
	}
	return 0
}

// Index returns element i of a List, Absent if there is none.
func (v Value) Index(i int) Value {
	if v.Kind() != List || uint64(i) >= uint64(v.n.count()) {
		return Value{}
	}
	return Value{&v.elements()[i]}
}

// Key returns the value of a key of a Map, Absent if there is none. It takes
// logarithmic time.
func (v Value) Key(key string) Value {
	if v.Kind() != Map {
		return Value{}
	}
	keys := v.keys()
	if len(keys) <= 16 {
		for i, k := range keys {
			if k == key {
				return Value{&v.fields()[i]}
			}
		}
		return Value{}
	}
	if i, ok := slices.BinarySearch(keys, key); ok {
		return Value{&v.fields()[i]}
	}
	return Value{}
}

// All returns an iterator over the keys of a Map, in order, and their values, and
// none for anything else.
func (v Value) All() iter.Seq2[string, Value] {
	return func(yield func(string, Value) bool) {
		if v.Kind() != Map {
			return
		}
		fields := v.fields()
		for i, k := range v.keys() {
			if !yield(k, Value{&fields[i]}) {
				return
			}
		}
	}
}

// Values returns an iterator over the elements of a List, and none for anything
// else.
func (v Value) Values() iter.Seq2[int, Value] {
	return func(yield func(int, Value) bool) {
		if v.Kind() != List {
			return
		}
		for i := range v.elements() {
			if !yield(i, Value{&v.elements()[i]}) {
				return
			}
		}
	}
}

// Path returns what is found along a path of keys and list indexes, separated by
// dots: "user.addresses.0.city". It returns Absent if there is nothing, and v itself
// for "". Keys that are empty or have a dot in them need [Value.Key].
func (v Value) Path(path string) Value {
	for path != "" && v.n != nil {
		step, rest, more := strings.Cut(path, ".")
		if more && rest == "" {
			return Value{} // after the last dot
		}
		path = rest
		v = v.Step(step)
	}
	return v
}

// Step returns what one step of a path leads to, Absent if there is nothing: a key of a
// Map, or the index of an element of a List in decimal, without leading zeros.
func (v Value) Step(step string) Value {
	if v.Kind() != List {
		return v.Key(step)
	}
	i, ok := index(step)
	if !ok {
		return Value{}
	}
	return v.Index(i)
}

// index returns the list index that a step of a path is: digits, without a zero
// before others.
func index(step string) (i int, ok bool) {
	if step == "" || len(step) > 9 || len(step) > 1 && step[0] == '0' {
		return 0, false
	}
	for _, c := range []byte(step) {
		if c < '0' || c > '9' {
			return 0, false
		}
		i = 10*i + int(c-'0')
	}
	return i, true
}

func (v Value) elements() []node { return unsafe.Slice((*node)(v.n.ptr), v.n.count()) }

// keys returns the keys of a Map, in order, which must not be modified.
func (v Value) keys() []string { return (*keyList)((*node)(v.n.ptr).ptr).keys }

// fields returns the values of a Map, in the order of its keys. They lie behind its
// head, which has the keys.
func (v Value) fields() []node {
	if v.n.count() == 0 {
		return nil // what is behind the head is not ours
	}
	return unsafe.Slice((*node)(unsafe.Add(v.n.ptr, unsafe.Sizeof(node{}))), v.n.count())
}

// An origin is the kind of a value and the Go type that it came in as.
type origin struct {
	kind Kind
	typ  reflect.Type // nil: of the untyped nil
	size int64        // of the original, of the value that was one; 0: see originalSize
}

// withSize returns o with the size of an original. It is held by that value alone.
func (o *origin) withSize(bytes int64) *origin { return &origin{o.kind, o.typ, bytes} }

var (
	nilOrigin    = &origin{kind: Null}
	boolOrigin   = originOf(reflect.TypeFor[bool](), Bool)
	intOrigin    = originOf(reflect.TypeFor[int](), Int)
	floatOrigin  = originOf(reflect.TypeFor[float64](), Float)
	stringOrigin = originOf(reflect.TypeFor[string](), String)
	timeOrigin   = originOf(reflect.TypeFor[time.Time](), Time)
	listOrigin   = originOf(reflect.TypeFor[[]any](), List)
	mapOrigin    = originOf(reflect.TypeFor[map[string]any](), Map)
)

// origins holds one origin a type and kind for as long as the program runs, as
// types live too.
var origins sync.Map // origin → *origin

func originOf(t reflect.Type, k Kind) *origin {
	o := origin{kind: k, typ: t}
	if p, ok := origins.Load(o); ok {
		return p.(*origin)
	}
	p, _ := origins.LoadOrStore(o, &o)
	return p.(*origin)
}

var (
	int64Origin  = originOf(reflect.TypeFor[int64](), Int)
	uint64Origin = originOf(reflect.TypeFor[uint64](), Uint)

	numberOrigins = [...]*origin{Int: originOf(numberType, Int), Uint: originOf(numberType, Uint), Float: originOf(numberType, Float)}
)

var (
	valueType  = reflect.TypeFor[Value]()
	numberType = reflect.TypeFor[json.Number]()
)

func number(k Kind) bool { return k == Int || k == Uint || k == Float }

// maxDepth is how many levels of Lists and Maps a value may have, and maxPointers
// through how many pointers a level may be reached.
const (
	maxDepth    = 1000
	maxPointers = 10 * maxDepth
)
