package value

import (
	"reflect"
	"time"
	"unsafe"

	"github.com/cowstore/cowstore/memory/internal/size"
)

// maxSize is the size of what takes that much or more, small enough that the sizes of
// many entries can be added.
const maxSize = 1 << 48

// Size returns about how many bytes of memory v takes. It takes time proportional to v. Of what a
// method Clone has made, maps do not count, nor what lies behind a lock, since others may write to
// it; of a part of that, taken out of a Value, only what can be seen of it counts.
func (v Value) Size() int64 { return v.sizeIn(false) }

// sizeIn returns the size of v, whose original counts elsewhere if it is kept.
func (v Value) sizeIn(kept bool) int64 {
	if v.n == nil {
		return 0
	}
	n := int64(unsafe.Sizeof(*v.n))
	if v.n.orig != nil && !kept {
		if known := v.n.from.size; known > 0 {
			n += known + int64(unsafe.Sizeof(*v.n.from))
		} else { // it is a part of an original
			n += originalSize(reflect.NewAt(v.n.from.typ, v.n.orig).Elem())
		}
		kept = true
	}
	switch v.Kind() {
	case Int, Uint, Float:
		if text, ok := v.n.literal(); ok {
			n += int64(unsafe.Sizeof(text)) + int64(len(text))
		}
	case String, Bytes:
		n += int64(size.Object(int(v.n.bits)))
	case Time:
		n += int64(unsafe.Sizeof(time.Time{}))
	case Handle:
		n += int64(unsafe.Sizeof(any(nil)))
	case List:
		for _, e := range v.Values() {
			n = min(n+e.sizeIn(kept), maxSize)
		}
	case Map:
		if v.n.count() > 0 {
			// The head, and of keys what nobody had before.
			n += int64(unsafe.Sizeof(*v.n)) + int64((*node)(v.n.ptr).bits)
		}
		for _, e := range v.All() {
			n = min(n+e.sizeIn(kept), maxSize)
		}
	}
	return min(n, maxSize)
}
