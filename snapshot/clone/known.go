package clone

import (
	"maps"
	"reflect"
	"time"
	"unsafe"
)

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
	flat := !hasPointers(reflect.TypeFor[T]())
	k[reflect.TypeFor[[]T]()] = knownType{
		id: id,
		fix: func(s *state, pl *plan, p unsafe.Pointer) {
			if slot := (*[]T)(p); *slot != nil {
				*slot = keepSlice(s, pl.id, *slot, flat)
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
