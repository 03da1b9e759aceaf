package snapshottest

import (
	"container/list"
	"fmt"
	"math/rand/v2"
	"reflect"
	"time"
	"unsafe"
)

// Graph returns a pointer to a new value of t that is filled at random, always
// alike for one seed. References in it lead to what else is in it: to the same
// object, into one, to a part of the same array, back to where they are.
func Graph(t reflect.Type, seed uint64) reflect.Value { return graph(t, seed, 0.4) }

// TreeOf is like Graph, but no two references lead to the same memory.
func TreeOf(t reflect.Type, seed uint64) reflect.Value { return graph(t, seed, 0) }

func graph(t reflect.Type, seed uint64, reuse float64) reflect.Value {
	m := maker{
		r:      rand.New(rand.NewPCG(seed, 1)),
		reuse:  reuse,
		left:   4 + int(seed%40),
		places: map[reflect.Type][]unsafe.Pointer{},
		arrays: map[reflect.Type][]array{},
		maps:   map[reflect.Type][]reflect.Value{},
	}
	v := reflect.New(t)
	m.fill(v.Elem())
	return v
}

// A maker fills one value.
type maker struct {
	r     *rand.Rand
	reuse float64
	left  int // how many objects it may still make
	apart int // what is filled is not a variable that anything could point to

	places map[reflect.Type][]unsafe.Pointer
	types  []reflect.Type // the keys of places
	arrays map[reflect.Type][]array
	maps   map[reflect.Type][]reflect.Value
}

type array struct {
	p unsafe.Pointer
	n int
}

func (m *maker) chance(p float64) bool { return m.r.Float64() < p }

// again reports whether to use one of n things again.
func (m *maker) again(n int) bool { return n > 0 && m.chance(m.reuse) }

func pick[T any](m *maker, of []T) T { return of[m.r.IntN(len(of))] }

// writable returns v without the mark of an unexported field.
func writable(v reflect.Value) reflect.Value {
	return reflect.NewAt(v.Type(), v.Addr().UnsafePointer()).Elem()
}

// note remembers the variable v.
func (m *maker) note(v reflect.Value) {
	t := v.Type()
	if m.apart > 0 || t.Size() == 0 || len(m.places[t]) >= 30 {
		return
	}
	if m.places[t] == nil {
		m.types = append(m.types, t)
	}
	m.places[t] = append(m.places[t], v.Addr().UnsafePointer())
	if t.Kind() == reflect.Array {
		m.arrays[t.Elem()] = append(m.arrays[t.Elem()], array{v.Addr().UnsafePointer(), t.Len()})
	}
}

var (
	texts    = []string{"", "a", "bc", "def"}
	zones    = []*time.Location{time.UTC, time.Local, time.FixedZone("z", 60)}
	handlers = []Handler{nil, func() {}}
	signals  = []Signal{nil, make(Signal)}
	times    = []time.Time{{}, time.Unix(1e9, 7).UTC(), time.Unix(2e9, 0).In(zones[2])}
)

// fill fills the variable v.
func (m *maker) fill(v reflect.Value) {
	v = writable(v)
	t := v.Type()
	switch v.Addr().Interface().(type) {
	case *time.Time:
		v.Set(reflect.ValueOf(pick(m, times)))
		return
	case **time.Location:
		v.Set(reflect.ValueOf(pick(m, zones)))
		return
	case *Handler:
		v.Set(reflect.ValueOf(pick(m, handlers)))
		return
	case *Signal:
		v.Set(reflect.ValueOf(pick(m, signals)))
		return
	}
	if m.known(v) {
		return
	}
	m.note(v)
	switch t.Kind() {
	case reflect.Bool:
		v.SetBool(m.chance(0.5))
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(int64(m.r.IntN(100)))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		v.SetUint(uint64(m.r.IntN(100)))
	case reflect.Float32, reflect.Float64:
		v.SetFloat(float64(m.r.IntN(100)) / 2)
	case reflect.String:
		v.SetString(pick(m, texts))
	case reflect.Array:
		for i := range v.Len() {
			m.fill(v.Index(i))
		}
	case reflect.Struct:
		if l, ok := v.Addr().Interface().(*list.List); ok {
			for range m.r.IntN(4) {
				l.PushBack(m.any())
			}
			return
		}
		for i := range v.NumField() {
			if t.Field(i).Name != "_" {
				m.fill(v.Field(i))
			}
		}
	case reflect.Pointer:
		m.pointer(v)
	case reflect.Slice:
		m.slice(v)
	case reflect.Map:
		m.mapping(v)
	case reflect.Interface:
		m.dynamic(v)
	case reflect.Chan:
		if t.ChanDir() == reflect.BothDir && !m.stop() {
			v.Set(reflect.MakeChan(t, 0))
		}
	case reflect.Func:
		if !m.stop() {
			v.Set(reflect.MakeFunc(t, zeros(t)))
		}
	}
}

// zeros returns what a function of type t does that returns zero values.
func zeros(t reflect.Type) func([]reflect.Value) []reflect.Value {
	return func([]reflect.Value) []reflect.Value {
		all := make([]reflect.Value, t.NumOut())
		for i := range all {
			all[i] = reflect.Zero(t.Out(i))
		}
		return all
	}
}

// stop reports whether a reference is to be left nil.
func (m *maker) stop() bool {
	m.left--
	return m.left < 0 || m.chance(0.1)
}

func (m *maker) pointer(v reflect.Value) {
	t := v.Type()
	if known := m.places[t.Elem()]; m.again(len(known)) {
		v.Set(reflect.NewAt(t.Elem(), pick(m, known)).Convert(t))
		return
	}
	if m.stop() {
		return
	}
	n := reflect.New(t.Elem())
	v.Set(n.Convert(t))
	if t.Elem() == reflect.TypeFor[Own]() {
		m.apart++ // nothing can lead into what its own method clones
		defer func() { m.apart-- }()
		*n.Interface().(*Own) = Own{m.r.IntN(100), make([]int, m.r.IntN(3))}
		return
	}
	was := m.apart
	m.apart = 0
	m.fill(n.Elem())
	m.apart = was
}

func (m *maker) slice(v reflect.Value) {
	t := v.Type()
	if known := m.arrays[t.Elem()]; m.again(len(known)) {
		a := pick(m, known)
		whole := reflect.NewAt(reflect.ArrayOf(a.n, t.Elem()), a.p).Elem()
		i := m.r.IntN(a.n + 1)
		j := i + m.r.IntN(a.n-i+1)
		s := whole.Slice(i, j)
		if m.chance(0.3) {
			s = whole.Slice3(i, j, j+m.r.IntN(a.n-j+1))
		}
		v.Set(s.Convert(t))
		return
	}
	if m.stop() {
		return
	}
	n := m.r.IntN(4)
	s := reflect.MakeSlice(t, n, n+m.r.IntN(3))
	v.Set(s)
	if s.Cap() > 0 && t.Elem().Size() > 0 {
		m.arrays[t.Elem()] = append(m.arrays[t.Elem()], array{s.UnsafePointer(), s.Cap()})
	}
	was := m.apart
	m.apart = 0
	for i := range n {
		m.fill(s.Index(i))
	}
	m.apart = was
}

func (m *maker) mapping(v reflect.Value) {
	t := v.Type()
	if known := m.maps[t]; m.again(len(known)) {
		v.Set(pick(m, known))
		return
	}
	if m.stop() {
		return
	}
	n := reflect.MakeMap(t)
	v.Set(n)
	m.maps[t] = append(m.maps[t], n)
	entries := m.r.IntN(4)
	if byAddress(t.Key()) {
		entries = min(entries, 1) // which of several is which nobody could tell
	}
	m.apart++
	for range entries {
		key, elem := reflect.New(t.Key()).Elem(), reflect.New(t.Elem()).Elem()
		if t.Key().Kind() == reflect.Interface {
			key.Set(reflect.ValueOf(pick(m, []any{1, "a", 2.5, true, Label("l"), sentinels[0]})))
		} else {
			m.fill(key)
		}
		m.fill(elem)
		n.SetMapIndex(key, elem)
	}
	m.apart--
}

func (m *maker) dynamic(v reflect.Value) {
	switch t := v.Type(); {
	case t == reflect.TypeFor[error]():
		if m.chance(0.5) {
			v.Set(reflect.ValueOf(pick(m, sentinels)))
		} else if !m.stop() {
			f := new(Failure)
			v.Set(reflect.ValueOf(f))
			m.fill(reflect.ValueOf(f).Elem())
		}
	case t == reflect.TypeFor[reflect.Type]():
		v.Set(reflect.ValueOf(reflect.TypeFor[Leaf]()))
	case t == reflect.TypeFor[fmt.Stringer]():
		v.Set(reflect.ValueOf(Label("l")))
	case t.NumMethod() == 0:
		if x := m.any(); x != nil {
			v.Set(reflect.ValueOf(x))
		}
	}
}

// dynamics are the types that are put into an any.
var dynamics = []reflect.Type{
	typ[int](), typ[string](), typ[bool](), typ[Leaf](), typ[[]any](), typ[map[string]any](), typ[[]string](), typ[[]byte](),
	typ[Names](), typ[[]float64](), typ[[][]float64](), typ[map[string]string](), typ[map[string][]string](),
	typ[[]map[string]any](), typ[Object](), typ[*Leaf](), typ[*Base](), typ[*any](), typ[Pair[*int]](), typ[Single[int]](),
	typ[*Entity](), typ[[2]any](), typ[*Doc](), typ[Pair[any]](), typ[*Own](), typ[*Failure](), typ[*time.Location](),
	typ[Box[any]](), typ[*[]any](), typ[**int](), typ[[]*int](), typ[*list.List](),
}

// any returns something to be put into an interface.
func (m *maker) any() any {
	if m.again(len(m.types)) {
		t := pick(m, m.types)
		return reflect.NewAt(t, pick(m, m.places[t])).Interface()
	}
	if m.stop() {
		return nil
	}
	v := reflect.New(pick(m, dynamics)).Elem()
	m.apart++
	m.fill(v)
	m.apart--
	return v.Interface()
}
