package value

import (
	"cmp"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"time"
	"unsafe"
)

// What the nodes of a Value are made of. Nobody has seen a node yet that is being
// built.

// float makes n hold v, which was of type t.
func (n *node) float(v float64, t reflect.Type) error {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return &Error{Type: t.String(), Err: fmt.Errorf("%w: %v", ErrUnsupported, v)}
	}
	n.bits = math.Float64bits(v)
	return nil
}

// string makes n hold s, which nobody can modify.
func (n *node) string(s string) {
	n.ptr, n.bits = unsafe.Pointer(unsafe.StringData(s)), uint64(len(s))
}

func (n *node) time(t time.Time) {
	t = t.Round(0) // without the monotonic clock, which means nothing elsewhere
	n.ptr = unsafe.Pointer(&t)
}

// list makes n a List of elements that fill freezes.
func (n *node) list(length int, fill func(i int, e *node) error) error {
	elements := make([]node, length)
	for i := range elements {
		if err := fill(i, &elements[i]); err != nil {
			return inside(err, strconv.Itoa(i))
		}
	}
	n.ptr, n.bits = unsafe.Pointer(unsafe.SliceData(elements)), uint64(length)|uint64(depthOf(elements))<<depthShift
	return nil
}

// fields are what a Map is being made of.
type fields struct {
	keys   []string // in order
	head   *node
	values []node // behind the head; there may be more of them than keys
}

// noFields is the head of all Maps that are empty.
var noFields = &node{ptr: unsafe.Pointer(new(keyList))}

// newFields returns room for up to n fields. The first map of a value gets room for
// the value itself too, in front.
func (f *builder) newFields(n int) fields {
	if n == 0 {
		return fields{}
	}
	if f.front == nil {
		block := make([]node, 2+n)
		f.front = &block[0]
		return fields{make([]string, 0, n), &block[1], block[2:]}
	}
	block := make([]node, 1+n)
	return fields{make([]string, 0, n), &block[0], block[1:]}
}

// keyed makes n a Map of fields.
func (n *node) keyed(fs *fields) {
	values := fs.values[:len(fs.keys)]
	if len(values) == 0 {
		n.ptr, n.bits = unsafe.Pointer(noFields), 1<<depthShift
		return
	}
	list, more := listOf(fs.keys)
	fs.head.ptr, fs.head.bits = unsafe.Pointer(list), uint64(more)
	n.ptr, n.bits = unsafe.Pointer(fs.head), uint64(len(values))|uint64(depthOf(values))<<depthShift
}

// sort brings fields into the order of their keys, and drops all but the last of
// several with the same key.
func (fs *fields) sort() {
	order := make([]uint32, len(fs.keys)) // where what belongs here is
	for i := range order {
		order[i] = uint32(i)
	}
	slices.SortFunc(order, func(a, b uint32) int { return cmp.Or(cmp.Compare(fs.keys[a], fs.keys[b]), cmp.Compare(a, b)) })
	const done = math.MaxUint32
	for i := range order {
		key, value := fs.keys[i], fs.values[i]
		for to := i; order[to] != done; {
			from := int(order[to])
			order[to] = done
			if from == i {
				fs.keys[to], fs.values[to] = key, value
				break
			}
			fs.keys[to], fs.values[to] = fs.keys[from], fs.values[from]
			to = from
		}
	}
	n := 0
	for i, k := range fs.keys {
		if n > 0 && fs.keys[n-1] == k {
			n--
		}
		fs.keys[n], fs.values[n] = k, fs.values[i]
		n++
	}
	fs.keys = fs.keys[:n]
	clear(fs.values[n:])
}

// A builder makes a value.
type builder struct {
	front *node // room for the value, in front of its fields; nil: none yet
}

// done returns the value that n became.
func (f *builder) done(n *node) Value {
	if n.from.kind == Map && f.front != nil && n.ptr == unsafe.Add(unsafe.Pointer(f.front), unsafe.Sizeof(*n)) {
		*f.front = *n // nearer to what will be asked for next
		n = f.front
	}
	return Value{n}
}
