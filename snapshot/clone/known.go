package clone

import (
	"maps"
	"reflect"
	"time"
	"unsafe"
)

// The identities of the types that are cloned without a look at their plan. Their
// plans have the same, so that sharing is kept whichever way one is met.
const (
	idMapAny = (iota + 1) << lenBits
	idAnys
	idStrings
	idBytes
	idInts
	idFloats
	idMapString
	idFloatss
	idMapStrings
	idMaps
	firstFreeID = iota
)

// any returns a clone of v with v's dynamic type. The types of decoded JSON, and
// those that Go code puts among them, go without a plan.
func (s *state) any(v any) any {
	// Few cases first: a switch is a search by the hash of the type.
	switch x := v.(type) {
	case nil, string, bool, float64, int:
		return v // with the word it has: a scalar is not boxed again
	case map[string]any:
		if x != nil {
			return s.mapAny(idMapAny, x)
		}
	case []any:
		if x != nil {
			return s.anys(idAnys, x)
		}
	default:
		return s.lessCommon(v)
	}
	return v
}

func (s *state) lessCommon(v any) any {
	switch x := v.(type) {
	case int64, int32, int16, int8, uint, uint64, uint32, uint16, uint8, float32, time.Time, time.Duration:
		return v
	case []string:
		if x != nil {
			return keepSlice(s, idStrings, x, false)
		}
	case []byte:
		if x != nil {
			return keepSlice(s, idBytes, x, true)
		}
	case []int:
		if x != nil {
			return keepSlice(s, idInts, x, true)
		}
	case []float64:
		if x != nil {
			return keepSlice(s, idFloats, x, true)
		}
	case map[string]string:
		if x != nil {
			return keepMap(s, idMapString, x)
		}
	case [][]float64:
		if x != nil {
			return s.floatss(idFloatss, x)
		}
	case map[string][]string:
		if x != nil {
			return s.mapStrings(idMapStrings, x)
		}
	case []map[string]any:
		if x != nil {
			return s.maps(idMaps, x)
		}
	default:
		return s.dynamic(v)
	}
	return v
}

// dynamic is any for a type that has only its plan.
func (s *state) dynamic(v any) any {
	e := (*eface)(unsafe.Pointer(&v))
	pl := s.plan
	if s.word != e.word {
		pl = planOf(reflect.TypeOf(v))
		s.word, s.plan = e.word, pl
	}
	switch {
	case pl.fix == nil:
		return v
	case pl.ref != nil:
		if e.data == nil {
			return v
		}
		return box(e.word, pl.ref(s, pl, e.data))
	case pl.inline:
		// A struct or an array around one pointer.
		slot := new(unsafe.Pointer)
		*slot = e.data
		pl.fix(s, pl, unsafe.Pointer(slot))
		return box(e.word, *slot)
	}
	// The memory behind an interface never changes, so that boxes are shared by the
	// copies of an interface. They are remembered: to clone one for each copy would
	// take exponential time for boxes in boxes.
	s.boxes++
	if n := s.seen(pl.id, e.data); n != nil {
		if pl.slices && s.care == asGraph {
			s.stop = true // two references to those
		}
		return box(e.word, n)
	}
	if !s.enter(e.data, pl.size) {
		return v
	}
	n := pl.copyOf(s, e.data)
	s.note(pl.id, e.data, n)
	s.fill(fillMany, pl, n, nil, 1)
	return box(e.word, n)
}

// fixAny is the fixer of interface types without methods. The clone has the type of
// the original, so that one word changes at most.
func fixAny(s *state, _ *plan, p unsafe.Pointer) {
	v := *(*any)(p)
	n := s.any(v)
	if d := (*eface)(unsafe.Pointer(&n)).data; d != (*eface)(unsafe.Pointer(&v)).data {
		(*eface)(p).data = d
	}
}

// fixInterface is fixAny for interface types with methods.
func fixInterface(s *state, _ *plan, p unsafe.Pointer) {
	v := any(*(*iface)(p))
	n := s.any(v)
	if d := (*eface)(unsafe.Pointer(&n)).data; d != (*eface)(unsafe.Pointer(&v)).data {
		(*eface)(p).data = d
	}
}

// fixInterfaceMethod is the fixer of interface types that have Clone among their
// methods. What it leads to may be met by another reference, which knows nothing of that
// method: then a layout has made the clone, by the method only if that reference leads to
// a part of the object.
func fixInterfaceMethod(s *state, pl *plan, p unsafe.Pointer) {
	word, data := (*eface)(p).word, (*eface)(p).data
	if data == nil {
		return
	}
	dyn := planOf(reflect.TypeOf(any(*(*iface)(p))))
	if dyn.stays(data) {
		return
	}
	v := pl.at(p)
	before := (*clonedInterface)(s.seen(pl.id, data))
	if before != nil && before.word == word {
		v.Set(before.clone)
		return
	}
	src, n := dyn.referent(data)
	if !s.enter(src, n) {
		return
	}
	if s.care == asWhole {
		if dyn.typ.Kind() == reflect.Map && s.whole.isMet(dyn, data) {
			(*eface)(p).data = dyn.ref(s, dyn, data)
			return
		}
		if n := s.memo.find(pl.through(dyn, data)); n != nil {
			if dyn.typ.Kind() == reflect.Slice {
				h := *(*header)(data)
				n = unsafe.Pointer(&header{n, h.len, h.len})
			}
			(*eface)(p).data = n
			return
		}
	}
	clone := v.MethodByName("Clone").Call(nil)[0]
	if before == nil { // else a value of another type lies there, such as a zero
		s.note(pl.id, data, unsafe.Pointer(&clonedInterface{word, clone}))
	}
	v.Set(clone)
}

// fixGroup is the fixer of a slog.Value.
func fixGroup(s *state, pl *plan, p unsafe.Pointer) {
	h, attrs := pl.group(p)
	at := unsafe.Add(p, pl.steps[0].off)
	switch {
	case attrs == nil:
		fixAny(s, nil, at)
	case h.ptr != nil:
		attrs.fix(s, attrs, unsafe.Pointer(&h))
		(*eface)(at).data = h.ptr
	}
}

// referent returns the memory that others may refer to too, of a value of pl's type whose
// word in an interface is w: what a pointer, map or slice leads to. Of others that is a
// byte of the box.
func (pl *plan) referent(w unsafe.Pointer) (unsafe.Pointer, uintptr) {
	switch pl.typ.Kind() {
	case reflect.Pointer:
		return w, max(pl.typ.Elem().Size(), 1)
	case reflect.Map:
		return w, mapSize
	case reflect.Slice:
		if h := *(*header)(w); h.cap > 0 && pl.typ.Elem().Size() > 0 {
			return h.ptr, uintptr(h.cap) * pl.typ.Elem().Size()
		}
	}
	return w, 1
}

// A clonedInterface is what the memo knows of one: its first word, and the clone.
type clonedInterface struct {
	word  unsafe.Pointer
	clone reflect.Value
}

func (s *state) mapAny(id uint64, m map[string]any) map[string]any {
	w := mapWord(m)
	if n := s.seen(id, w); n != nil {
		return wordMap[string, any](n)
	}
	if !s.enter(w, mapSize) {
		return m
	}
	out := maps.Clone(m)
	s.note(id, w, mapWord(out))
	if s.depth == maxDepth {
		s.queue = append(s.queue, task{fill: fillMapAny, dst: mapWord(out), src: w})
		return out
	}
	s.depth++
	fillMapAny(s, nil, mapWord(out), w, 0)
	s.depth--
	return out
}

// fillMapAny replaces the values that dst has in common with src and must not.
func fillMapAny(s *state, _ *plan, dst, src unsafe.Pointer, _ int) {
	out := wordMap[string, any](dst)
	for k, v := range wordMap[string, any](src) {
		if n := s.any(v); (*eface)(unsafe.Pointer(&n)).data != (*eface)(unsafe.Pointer(&v)).data {
			out[k] = n
		}
	}
}

func (s *state) anys(id uint64, v []any) []any {
	if c, ok := cloned(s, id, v); ok {
		return c
	}
	kind, src := sliceKind(id, len(v)), unsafe.Pointer(unsafe.SliceData(v))
	out := make([]any, len(v))
	dst := unsafe.Pointer(unsafe.SliceData(out))
	s.note(kind, src, dst)
	if s.depth == maxDepth {
		s.queue = append(s.queue, task{fill: fillAnys, dst: dst, src: src, n: len(v)})
		return out
	}
	s.depth++
	for i, e := range v {
		out[i] = s.any(e)
	}
	s.depth--
	return out
}

func fillAnys(s *state, _ *plan, dst, src unsafe.Pointer, n int) {
	out := unsafe.Slice((*any)(dst), n)
	for i, e := range unsafe.Slice((*any)(src), n) {
		out[i] = s.any(e)
	}
}

func (s *state) maps(id uint64, v []map[string]any) []map[string]any {
	if c, ok := cloned(s, id, v); ok {
		return c
	}
	kind, src := sliceKind(id, len(v)), unsafe.Pointer(unsafe.SliceData(v))
	out := make([]map[string]any, len(v))
	s.note(kind, src, unsafe.Pointer(unsafe.SliceData(out)))
	// No deeper than the maps, which count.
	for i, m := range v {
		if m != nil {
			out[i] = s.mapAny(idMapAny, m)
		}
	}
	return out
}

func (s *state) floatss(id uint64, v [][]float64) [][]float64 {
	if c, ok := cloned(s, id, v); ok {
		return c
	}
	kind, src := sliceKind(id, len(v)), unsafe.Pointer(unsafe.SliceData(v))
	out := make([][]float64, len(v))
	s.note(kind, src, unsafe.Pointer(unsafe.SliceData(out)))
	for i, row := range v {
		if row != nil {
			out[i] = keepSlice(s, idFloats, row, true)
		}
	}
	return out
}

func (s *state) mapStrings(id uint64, m map[string][]string) map[string][]string {
	w := mapWord(m)
	if n := s.seen(id, w); n != nil {
		return wordMap[string, []string](n)
	}
	if !s.enter(w, mapSize) {
		return m
	}
	out := make(map[string][]string, len(m))
	s.note(id, w, mapWord(out))
	for k, v := range m {
		if v != nil {
			v = keepSlice(s, idStrings, v, false)
		}
		out[k] = v
	}
	return out
}

// cloned is state.slice for one that is not a header.
func cloned[T any](s *state, id uint64, v []T) ([]T, bool) {
	h, ok := s.slice(id, *(*header)(unsafe.Pointer(&v)), unsafe.Sizeof(*new(T)))
	return *(*[]T)(unsafe.Pointer(&h)), ok
}

// keepSlice returns the clone of v, which is not nil and whose elements need none.
// They are flat if they have no pointers.
func keepSlice[T any](s *state, id uint64, v []T, flat bool) []T {
	if c, ok := cloned(s, id, v); ok {
		return c
	}
	kind, src := sliceKind(id, len(v)), unsafe.Pointer(unsafe.SliceData(v))
	var out []T
	if flat {
		out = pieceSlice(s, v)
	} else {
		out = cloneSlice(v)
	}
	s.note(kind, src, unsafe.Pointer(unsafe.SliceData(out)))
	return out
}

// keepMap is keepSlice for maps.
func keepMap[K comparable, E any](s *state, id uint64, m map[K]E) map[K]E {
	w := mapWord(m)
	if n := s.seen(id, w); n != nil {
		return wordMap[K, E](n)
	}
	if !s.enter(w, mapSize) {
		return m
	}
	out := maps.Clone(m)
	s.note(id, w, mapWord(out))
	return out
}

// pieceSlice is cloneSlice that may find room in a chunk, for elements without
// pointers.
func pieceSlice[T any](s *state, v []T) []T {
	if n := uintptr(len(v)) * unsafe.Sizeof(*new(T)); s != nil && n <= maxPiece {
		if p := s.piece(n); p != nil {
			out := unsafe.Slice((*T)(p), len(v))
			copy(out, v)
			return out
		}
	}
	return cloneSlice(v)
}

// cloneSlice copies v with no more capacity than length. Nil stays nil.
func cloneSlice[T any](v []T) []T {
	if v == nil {
		return nil
	}
	out := make([]T, len(v))
	copy(out, v)
	return out
}

// mapWord returns the pointer that a map is, and wordMap the map of a pointer.
func mapWord[K comparable, E any](m map[K]E) unsafe.Pointer {
	return *(*unsafe.Pointer)(unsafe.Pointer(&m))
}

func wordMap[K comparable, E any](w unsafe.Pointer) map[K]E {
	return *(*map[K]E)(unsafe.Pointer(&w))
}

// knownType is a slice or a map type with fixers of its own.
type knownType struct {
	id     uint64 // 0: like that of any other type
	fix    fixer
	ref    refFixer
	direct any
}

type knownTypes map[reflect.Type]knownType

// known is filled by the first compilation, under its lock, so that a program which clones
// nothing does not pay for it.
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
