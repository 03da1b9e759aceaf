package cowtest

import (
	"fmt"
	"hash/maphash"
	"math/bits"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unsafe"

	"github.com/cowstore/cowstore/snapshot/clone"
)

// A print is the fingerprint of a value. It is immutable.
//
// It is a hash of all memory that the value reaches. Addresses are part of
// that: nothing in the heap moves, and whoever kept the fingerprint keeps the
// value. So two values have one print only if they are the same memory and
// nobody wrote to it, and cycles and shared pointers need no care of their own.
type print struct {
	sum   uint64
	trace []uint32 // of the first parts, in the order of the walk: to name what changed
}

// traced is the most parts that a trace is of.
const traced = 256

func printOf[V any](v V) print {
	w := walker{}
	w.walk(reflect.ValueOf(&v).Elem())
	return print{w.sum, slices.Clip(w.trace)}
}

// firstChange returns the path to the first part of v that is not as it was,
// or "" if that is v itself or not known.
func firstChange[V any](v V, was print) string {
	w := walker{was: was.trace, naming: true}
	w.walk(reflect.ValueOf(&v).Elem())
	return w.changed.String()
}

// A walker visits all parts of a value once, in an order that depends on
// nothing but the value.
type walker struct {
	sum   uint64
	parts int // so far
	trace []uint32
	queue []reference // found, not followed yet: the depth of a value costs no stack
	known map[object]bool
	flat  bool // follows nothing, keeps no trace

	naming  bool
	was     []uint32
	found   bool
	changed *crumb // if found: to the first part that is not what it was
}

// A reference is a pointer, slice, map or interface to be followed.
type reference struct {
	v    reflect.Value
	path *crumb
}

type object struct {
	t reflect.Type
	p uintptr
	n int
}

// crumb is a step of a path, linked to the one before.
type crumb struct {
	before *crumb
	text   string
}

// String returns the path that ends here, without the middle of a long one.
func (c *crumb) String() string {
	const ends = 16 // steps shown at either end
	n := 0
	for at := c; at != nil; at = at.before {
		n++
	}
	var texts []string
	for ; c != nil; c = c.before {
		texts = append(texts, c.text)
		for len(texts) == ends && n > 2*ends {
			texts = append(texts, fmt.Sprintf("…(%d more)…", n-2*ends))
			for range n - 2*ends {
				c = c.before
			}
			n = 0
		}
	}
	slices.Reverse(texts)
	return strings.Join(texts, "")
}

// step returns path and one step more, if paths are wanted.
func (w *walker) step(path *crumb, text func() string) *crumb {
	if !w.naming {
		return nil
	}
	return &crumb{path, text()}
}

var seed = maphash.MakeSeed()

// part adds a part whose content has the hash h.
func (w *walker) part(h uint64, path *crumb) {
	hi, lo := bits.Mul64(w.sum^h^0x9e3779b97f4a7c15, 0xd6e8feb86659fd93)
	w.sum = bits.RotateLeft64(w.sum, 23) + (hi ^ lo)
	w.parts++
	switch {
	case w.naming:
		if !w.found && w.parts <= len(w.was) && w.was[w.parts-1] != uint32(h>>32^h) {
			w.found, w.changed = true, path
		}
	case w.parts <= traced && !w.flat:
		w.trace = append(w.trace, uint32(h>>32^h))
	}
}

// walk visits v, which is addressable, and all it reaches.
func (w *walker) walk(v reflect.Value) {
	w.visit(v, nil)
	for len(w.queue) > 0 {
		next := w.queue[0]
		w.queue[0] = reference{}
		w.queue = w.queue[1:]
		w.follow(next.v, next.path)
	}
}

// visit adds the memory of v itself, which is addressable and settable. It
// recurses as deep as types nest.
func (w *walker) visit(v reflect.Value, path *crumb) {
	t := v.Type()
	if isFlat(t) {
		w.part(maphash.Bytes(seed, unsafe.Slice((*byte)(v.Addr().UnsafePointer()), t.Size())), path)
		return
	}
	switch v.Kind() {
	case reflect.String:
		w.part(maphash.String(seed, v.String()), path)
	case reflect.Pointer, reflect.Map:
		// A pointer to what is left out counts by its address alone.
		w.part(addressIn(v), path)
		if !v.IsNil() {
			w.meet(v, object{t, v.Pointer(), 0}, path)
		}
	case reflect.Slice:
		w.part(addressIn(v)^uint64(v.Len())<<48, path)
		if v.Len() > 0 {
			w.meet(v, object{t, v.Pointer(), v.Len()}, path)
		}
	case reflect.Interface:
		words := (*[2]uintptr)(v.Addr().UnsafePointer()) // the type and the address of what is in it
		w.part(uint64(words[0]), path)
		w.part(uint64(words[1]), path)
		if !v.IsNil() && !w.flat {
			w.queue = append(w.queue, reference{v, path})
		}
	case reflect.Struct:
		if isLeftOut(t) {
			return
		}
		for name, f := range clone.Parts(v) {
			// Through its address it may be read like an exported one.
			f = reflect.NewAt(f.Type(), unsafe.Pointer(f.UnsafeAddr())).Elem()
			w.visit(f, w.step(path, func() string { return "." + name }))
		}
	case reflect.Array:
		w.elements(v, path)
	default: // a channel, a function or an unsafe.Pointer
		w.part(addressIn(v), path)
	}
}

// addressIn returns the first word of v.
func addressIn(v reflect.Value) uint64 { return uint64(*(*uintptr)(v.Addr().UnsafePointer())) }

// meet puts v, which refers to o, in the queue unless o was met before.
func (w *walker) meet(v reflect.Value, o object, path *crumb) {
	if w.flat || w.known[o] {
		return
	}
	if w.known == nil {
		w.known = make(map[object]bool)
	}
	w.known[o] = true
	w.queue = append(w.queue, reference{v, path})
}

// follow visits what v refers to.
func (w *walker) follow(v reflect.Value, path *crumb) {
	switch v.Kind() {
	case reflect.Pointer:
		w.visit(v.Elem(), path)
	case reflect.Slice:
		w.elements(v, path)
	case reflect.Map:
		w.entries(v, path)
	case reflect.Interface:
		w.visit(copyOf(v.Elem()), w.step(path, func() string { return ".(" + v.Elem().Type().String() + ")" }))
	}
}

// elements visits the elements of a slice or an array.
func (w *walker) elements(v reflect.Value, path *crumb) {
	t, n := v.Type().Elem(), v.Len()
	if n > traced && isFlat(t) {
		w.part(maphash.Bytes(seed, unsafe.Slice((*byte)(v.Index(0).Addr().UnsafePointer()), uintptr(n)*t.Size())), path)
		return
	}
	for i := range n {
		w.visit(v.Index(i), w.step(path, func() string { return "[" + strconv.Itoa(i) + "]" }))
	}
}

// entries visits the entries of a map, in the order of hashes of their own
// memory. Where those are equal the entries are: NaN keys of equal elements.
func (w *walker) entries(v reflect.Value, path *crumb) {
	type entry struct {
		key, elem         reflect.Value
		keyHash, elemHash uint64
	}
	entries := make([]entry, 0, v.Len())
	for i := v.MapRange(); i.Next(); {
		e := entry{key: copyOf(i.Key()), elem: copyOf(i.Value())}
		e.keyHash, e.elemHash = flatHash(e.key), flatHash(e.elem)
		entries = append(entries, e)
	}
	slices.SortFunc(entries, func(a, b entry) int {
		if a.keyHash != b.keyHash {
			return compare(a.keyHash, b.keyHash)
		}
		return compare(a.elemHash, b.elemHash)
	})
	w.part(uint64(len(entries)), path)
	for _, e := range entries {
		at := w.step(path, func() string { return "[" + keyText(e.key) + "]" })
		w.visit(e.key, at)
		w.visit(e.elem, at)
	}
}

func compare(a, b uint64) int {
	if a < b {
		return -1
	}
	return 1
}

func flatHash(v reflect.Value) uint64 {
	w := walker{flat: true}
	w.visit(v, nil)
	return w.sum
}

func keyText(k reflect.Value) string {
	switch {
	case k.Kind() == reflect.Interface && !k.IsNil():
		return keyText(k.Elem())
	case k.Kind() == reflect.String:
		return strconv.Quote(k.String())
	case k.CanInt():
		return strconv.FormatInt(k.Int(), 10)
	case k.CanUint():
		return strconv.FormatUint(k.Uint(), 10)
	}
	return "a " + k.Type().String()
}

// copyOf returns an addressable copy of v.
func copyOf(v reflect.Value) reflect.Value {
	c := reflect.New(v.Type()).Elem()
	c.Set(v)
	return c
}

// isFlat reports whether the memory of a t is nothing but numbers and bools.
func isFlat(t reflect.Type) bool {
	k := t.Kind()
	return reflect.Bool <= k && k <= reflect.Complex128
}

// isLeftOut reports whether the memory of the struct type t is not content:
// that of locks and atomics, which changes by being used, that of zones, which nobody can
// modify and the first use completes, and that of the runtime.
func isLeftOut(t reflect.Type) bool {
	if t == reflect.TypeFor[time.Location]() {
		return true
	}
	switch path := t.PkgPath(); path {
	case "sync", "sync/atomic", "runtime", "reflect":
		return true
	default:
		return strings.HasPrefix(path, "internal/")
	}
}
