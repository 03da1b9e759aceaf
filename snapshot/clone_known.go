package snapshot

import (
	"errors"
	"maps"
	"reflect"
	"regexp"
	"strings"
	"time"
	"unsafe"
)

// sharedTypes are the types whose values are immutable by their own contract, so
// that a copy of the value is a clone. Handles to interned and weakly held objects
// (packages unique and weak) belong to them; netip's types follow from unique's.
// Big numbers do not: they are mutable, and ordinary structs to a deep clone.
var sharedTypes = map[reflect.Type]bool{
	reflect.TypeFor[time.Time]():           true,
	reflect.TypeFor[time.Location]():       true,
	reflect.TypeFor[*time.Location]():      true,
	reflect.TypeFor[regexp.Regexp]():       true,
	reflect.TypeFor[*regexp.Regexp]():      true,
	reflect.TypeOf(reflect.TypeFor[int]()): true,
	// What errors.New returns: a sentinel is compared by its pointer.
	reflect.TypeOf(errors.New("")): true,
}

func isShared(t reflect.Type) bool {
	if sharedTypes[t] {
		return true
	}
	switch t.PkgPath() {
	case "unique":
		return strings.HasPrefix(t.Name(), "Handle[")
	case "weak":
		return strings.HasPrefix(t.Name(), "Pointer[")
	case "log/slog":
		// The strings and the groups of a slog.Value, immutable by its contract: each
		// a pointer to the first of several.
		return t.Name() == "stringptr" || t.Name() == "groupptr"
	case "":
		// The standard curves, compared by their pointers.
		if t.Kind() == reflect.Pointer && t.Elem().PkgPath() == "crypto/elliptic" {
			return strings.HasPrefix(t.Elem().Name(), "nistCurve[")
		}
	}
	return false
}

// isLock reports whether a value of t must not be copied because of what t itself
// is: a type of package sync or sync/atomic, an unsafe.Pointer, what the runtime
// finds by its address, or, by the rule of vet's copylocks, a type that has Lock
// and Unlock on its pointer alone.
func isLock(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.UnsafePointer:
		return true
	case reflect.Pointer, reflect.Interface:
		return false
	case reflect.Array:
		// A marker of no size. Others are found in their elements.
		return t.Len() == 0 && holdsLock(t.Elem())
	case reflect.Struct:
		switch t.PkgPath() {
		case "sync", "sync/atomic", "internal/sync", "internal/poll":
			return true
		case "time":
			return t.Name() == "Timer" || t.Name() == "Ticker"
		case "reflect":
			return t.Name() == "Value"
		case "internal/runtime/sys", "runtime/internal/sys":
			return t.Name() == "NotInHeap"
		}
		for i := range t.NumField() {
			if holdsLock(t.Field(i).Type) {
				return false // it is that field, perhaps promoted
			}
		}
	}
	p := reflect.PointerTo(t)
	return locks(p) && !locks(t)
}

// locks reports whether t has the methods Lock and Unlock.
func locks(t reflect.Type) bool {
	// By constant names; see hasClone.
	lock, ok := t.MethodByName("Lock")
	if !ok {
		return false
	}
	unlock, ok := t.MethodByName("Unlock")
	return ok && lock.Type.NumIn() == 1 && lock.Type.NumOut() == 0 &&
		unlock.Type.NumIn() == 1 && unlock.Type.NumOut() == 0
}

// holdsLock reports whether a lock is in the memory of a t.
func holdsLock(t reflect.Type) bool {
	switch classify(t) {
	case classLock:
		return true
	case classStruct:
		for i := range t.NumField() {
			if holdsLock(t.Field(i).Type) {
				return true
			}
		}
	case classArray:
		return holdsLock(t.Elem())
	}
	return false
}

// knownType is a slice or a map type with fixers of its own.
type knownType struct {
	id     uint64 // 0: like that of any other type
	fix    fixer
	ref    refFixer
	direct any
}

type knownTypes map[reflect.Type]knownType

// known is filled by the first compilation, under its lock. It cannot be by an
// initializer: the fixers lead back to it.
var known knownTypes

func newKnownTypes() knownTypes {
	k := knownTypes{}
	knowSlice[string](k, idStrings)
	knowSlice[byte](k, idBytes)
	knowSlice[int](k, idInts)
	knowSlice[float64](k, idFloats)
	knowSlice[bool](k, 0)
	knowSlice[int64](k, 0)
	knowSlice[int32](k, 0)
	knowSlice[uint64](k, 0)
	knowSlice[uint32](k, 0)
	knowSlice[float32](k, 0)
	knowSlice[time.Time](k, 0)
	knowMap[string, string](k, idMapString)
	knowMap[string, bool](k, 0)
	knowMap[string, int](k, 0)
	knowMap[string, int64](k, 0)
	knowMap[string, uint64](k, 0)
	knowMap[string, float64](k, 0)
	knowMap[string, struct{}](k, 0)
	knowMap[string, time.Time](k, 0)
	knowMap[int, bool](k, 0)
	knowMap[int, int](k, 0)
	knowMap[int, string](k, 0)
	knowMap[int, struct{}](k, 0)
	knowMap[int64, bool](k, 0)
	knowMap[int64, int64](k, 0)
	knowMap[int64, string](k, 0)
	knowMap[int64, struct{}](k, 0)
	knowMap[uint64, uint64](k, 0)
	knowMap[uint64, string](k, 0)
	knowMap[uint64, struct{}](k, 0)
	knowNestedSlice(k, idAnys, (*state).anys)
	knowNestedSlice(k, idMaps, (*state).maps)
	knowNestedSlice(k, idFloatss, (*state).floatss)
	knowNestedMap(k, idMapAny, (*state).mapAny)
	knowNestedMap(k, idMapStrings, (*state).mapStrings)
	return k
}

// apply gives pl the fixers of the unnamed type u, which has the same elements.
func (k knownTypes) apply(pl *plan, u reflect.Type) {
	t, ok := k[u]
	if !ok {
		return
	}
	pl.fix, pl.ref, pl.direct = t.fix, t.ref, t.direct
	if pl.typ == u && t.id != 0 {
		pl.id = t.id
	}
}

// knowSlice adds []T, whose elements need no clone.
func knowSlice[T any](k knownTypes, id uint64) {
	k[reflect.TypeFor[[]T]()] = knownType{
		id: id,
		fix: func(s *state, pl *plan, p unsafe.Pointer) {
			if slot := (*[]T)(p); *slot != nil {
				*slot = keepSlice(s, pl.id, *slot)
			}
		},
		direct: cloneSlice[T],
	}
}

// knowMap adds map[K]E, whose keys and elements need no clone.
func knowMap[K comparable, E any](k knownTypes, id uint64) {
	k[reflect.TypeFor[map[K]E]()] = knownType{
		id:  id,
		fix: fixRef,
		ref: func(s *state, pl *plan, w unsafe.Pointer) unsafe.Pointer {
			return mapWord(keepMap(s, pl.id, wordMap[K, E](w)))
		},
		direct: maps.Clone[map[K]E],
	}
}

func knowNestedSlice[T any](k knownTypes, id uint64, clone func(*state, uint64, []T) []T) {
	k[reflect.TypeFor[[]T]()] = knownType{
		id: id,
		fix: func(s *state, pl *plan, p unsafe.Pointer) {
			if slot := (*[]T)(p); *slot != nil {
				*slot = clone(s, pl.id, *slot)
			}
		},
	}
}

func knowNestedMap[K comparable, E any](k knownTypes, id uint64, clone func(*state, uint64, map[K]E) map[K]E) {
	k[reflect.TypeFor[map[K]E]()] = knownType{
		id:  id,
		fix: fixRef,
		ref: func(s *state, pl *plan, w unsafe.Pointer) unsafe.Pointer {
			return mapWord(clone(s, pl.id, wordMap[K, E](w)))
		},
	}
}

// A strings.Builder holds its own address once it was written to, and panics when
// that is another. A clone gets none, which it will set at its first write.

var builderType = reflect.TypeFor[strings.Builder]()

var forget = &plan{fix: func(_ *state, _ *plan, p unsafe.Pointer) { *(*unsafe.Pointer)(p) = nil }}

func (c compiler) addBuilderSteps(pl *plan, off uintptr) {
	for i := range builderType.NumField() {
		f := builderType.Field(i)
		switch sub := c.plan(f.Type); {
		case f.Type == reflect.PointerTo(builderType):
			pl.steps = append(pl.steps, step{off + f.Offset, forget})
		case sub.fix != nil:
			pl.steps = append(pl.steps, step{off + f.Offset, sub})
		}
	}
}
