package memory

import (
	"cmp"
	"errors"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unsafe"
)

// maxDepth is how many levels a value may be nested.
const maxDepth = 1000

// Freeze returns v as a Value that shares nothing with it, so that whatever
// happens to v later does not show. A Value is returned as it is.
//
// Bools, numbers, strings, byte slices, time.Time, slices, arrays, maps whose
// keys are strings or integers, structs, and pointers to and interfaces with
// all of those can be frozen, named types included. A nil pointer, map, slice or
// interface is Null. A struct becomes a Map of its exported fields, named as
// encoding/json names them. A type that marshals itself, to text or to JSON,
// becomes what it marshals to.
//
// Freeze returns a *ValueError that wraps ErrUnsupported for other kinds, such as
// channels and functions, and for numbers that JSON has not, NaN and infinities;
// ErrCycle for a value that contains itself; and ErrTooDeep for one nested more
// than a thousand levels. [FreezeHandles] takes channels and functions too.
func Freeze(v any) (Value, error) { return freeze(v, false) }

func freeze(v any, handles bool) (Value, error) {
	if v, ok := v.(Value); ok {
		return v, nil
	}
	n := new(node)
	f := freezer{handles: handles}
	if err := f.any(n, v); err != nil {
		return Value{}, err
	}
	if n.from.kind == Map && f.front != nil && n.ptr == unsafe.Add(unsafe.Pointer(f.front), unsafe.Sizeof(*n)) {
		*f.front = *n // nearer to what will be asked for next
		n = f.front
	}
	return Value{n}, nil
}

// An origin is the kind of a value and the Go type that it came in as.
type origin struct {
	kind Kind
	typ  reflect.Type // nil: of the untyped nil
}

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
	o := origin{k, t}
	if p, ok := origins.Load(o); ok {
		return p.(*origin)
	}
	p, _ := origins.LoadOrStore(o, &o)
	return p.(*origin)
}

// A freezer freezes one value. It knows the pointers, maps and slices that it is
// inside of.
type freezer struct {
	front   *node // room for the value, in front of its fields; nil: none yet
	handles bool  // what cannot be frozen for its kind becomes a Handle
	depth   int
	inside  map[visit]bool
}

type visit struct {
	p   unsafe.Pointer
	len int // of a slice: a part of one is not the same
	typ reflect.Type
}

// any freezes v into n.
func (f *freezer) any(n *node, v any) error {
	switch v := v.(type) {
	case nil:
		n.from = nilOrigin
	case bool:
		n.from = boolOrigin
		if v {
			n.bits = 1
		}
	case int:
		n.from, n.bits = intOrigin, uint64(v)
	case float64:
		n.from = floatOrigin
		return n.float(v, n.from.typ)
	case string:
		n.from = stringOrigin
		n.string(strings.Clone(v))
	case time.Time:
		n.from = timeOrigin
		n.time(v)
	case []any:
		if v == nil {
			n.from = originOf(listOrigin.typ, Null)
			return nil
		}
		n.from = listOrigin
		return f.within(visit{unsafe.Pointer(unsafe.SliceData(v)), len(v), listOrigin.typ}, len(v) > 0, func() error {
			return n.list(len(v), func(i int, e *node) error { return f.any(e, v[i]) })
		})
	case map[string]any:
		if v == nil {
			n.from = originOf(mapOrigin.typ, Null)
			return nil
		}
		n.from = mapOrigin
		return f.within(visit{*(*unsafe.Pointer)(unsafe.Pointer(&v)), 0, mapOrigin.typ}, true, func() error {
			fs := f.newFields(len(v))
			for k := range v {
				fs.keys = append(fs.keys, k)
			}
			slices.Sort(fs.keys)
			for i, k := range fs.keys {
				if err := f.any(&fs.values[i], v[k]); err != nil {
					return inside(err, k)
				}
			}
			n.keyed(fs)
			return nil
		})
	case Value:
		return f.frozen(n, v)
	default:
		return f.value(n, reflect.ValueOf(v))
	}
	return nil
}

// within calls do one level deeper, inside v if it is a reference.
func (f *freezer) within(v visit, reference bool, do func() error) error {
	if f.depth++; f.depth > maxDepth {
		return &ValueError{Type: v.typ.String(), Err: ErrTooDeep}
	}
	defer func() { f.depth-- }()
	// What contains itself is deep: only there it is worth remembering where.
	if reference && f.depth > 50 {
		if f.inside[v] {
			return &ValueError{Type: v.typ.String(), Err: ErrCycle}
		}
		if f.inside == nil {
			f.inside = make(map[visit]bool)
		}
		f.inside[v] = true
		defer delete(f.inside, v)
	}
	return do()
}

// value freezes v, of any type, into n.
func (f *freezer) value(n *node, v reflect.Value) error {
	t := v.Type()
	k := t.Kind()
	switch k {
	case reflect.Interface:
		if v.IsNil() {
			n.from = nilOrigin // there is no value of an interface type
			return nil
		}
		return f.any(n, v.Elem().Interface())
	case reflect.Pointer, reflect.Map, reflect.Slice:
		if v.IsNil() {
			n.from = originOf(t, Null)
			return nil
		}
	}
	switch t {
	case timeOrigin.typ:
		n.from = timeOrigin
		n.time(v.Interface().(time.Time))
		return nil
	case valueType:
		return f.frozen(n, v.Interface().(Value))
	case valuePointer:
		return f.frozen(n, *v.Interface().(*Value))
	case numberType:
		return n.number(v)
	}
	if k != reflect.Pointer {
		if done, err := f.marshaled(n, v); done || err != nil {
			return err
		}
	}
	switch k {
	case reflect.Bool:
		n.from = originOf(t, Bool)
		if v.Bool() {
			n.bits = 1
		}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		n.from, n.bits = originOf(t, Int), uint64(v.Int())
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		n.from, n.bits = originOf(t, Uint), v.Uint()
	case reflect.Float32, reflect.Float64:
		n.from = originOf(t, Float)
		return n.float(v.Float(), t)
	case reflect.String:
		n.from = originOf(t, String)
		n.string(strings.Clone(v.String()))
	case reflect.Pointer:
		return f.within(visit{v.UnsafePointer(), 0, t}, true, func() error {
			if err := f.value(n, v.Elem()); err != nil {
				return err
			}
			n.from = originOf(t, n.from.kind)
			if n.from.kind == Null {
				return n.keep(v) // or it would come back as a nil pointer
			}
			return nil
		})
	case reflect.Slice, reflect.Array:
		if t.Elem().Kind() == reflect.Uint8 && k == reflect.Slice {
			n.from = originOf(t, Bytes)
			n.string(string(v.Bytes()))
			return nil
		}
		n.from = originOf(t, List)
		in := visit{nil, v.Len(), t}
		reference := k == reflect.Slice && v.Len() > 0
		if reference {
			in.p = v.UnsafePointer()
		}
		return f.within(in, reference, func() error {
			return n.list(v.Len(), func(i int, e *node) error { return f.value(e, v.Index(i)) })
		})
	case reflect.Map:
		n.from = originOf(t, Map)
		return f.within(visit{v.UnsafePointer(), 0, t}, true, func() error { return f.mapOf(n, v) })
	case reflect.Struct:
		n.from = originOf(t, Map)
		return f.within(visit{typ: t}, false, func() error { return f.structOf(n, v) })
	default:
		if !f.handles {
			return &ValueError{Type: t.String(), Err: ErrUnsupported}
		}
		n.handle(v)
	}
	return nil
}

// mapOf freezes a map of any type.
func (f *freezer) mapOf(n *node, v reflect.Value) error {
	type pair struct {
		key   string
		value reflect.Value
	}
	pairs := make([]pair, 0, v.Len())
	for it := v.MapRange(); it.Next(); {
		var key string
		switch k := it.Key(); k.Kind() {
		case reflect.String:
			key = k.String()
		case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
			key = strconv.FormatInt(k.Int(), 10)
		case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
			key = strconv.FormatUint(k.Uint(), 10)
		default:
			return &ValueError{Type: v.Type().String(), Err: ErrUnsupported}
		}
		pairs = append(pairs, pair{key, it.Value()})
	}
	slices.SortFunc(pairs, func(a, b pair) int { return cmp.Compare(a.key, b.key) })
	fs := f.newFields(len(pairs))
	for i, p := range pairs {
		fs.keys = append(fs.keys, p.key)
		if err := f.value(&fs.values[i], p.value); err != nil {
			return inside(err, p.key)
		}
	}
	n.keyed(fs)
	return nil
}

// structOf freezes a struct, and keeps a clone of it if some of it is not seen in
// JSON, such as a field that is not exported.
func (f *freezer) structOf(n *node, v reflect.Value) error {
	shape := shapeOf(v.Type())
	fs := f.newFields(len(shape.fields))
	for _, field := range shape.fields {
		fv, err := v.FieldByIndexErr(field.index)
		if err != nil || field.omitEmpty && empty(fv) || field.omitZero && fv.IsZero() {
			continue // also what is embedded by a nil pointer
		}
		fs.keys = append(fs.keys, field.name)
		if err := f.value(&fs.values[len(fs.keys)-1], fv); err != nil {
			return inside(err, field.name)
		}
	}
	n.keyed(fs)
	if shape.complete {
		return nil
	}
	return n.keep(v)
}

// frozen puts a Value into n.
func (f *freezer) frozen(n *node, v Value) error {
	v = v.orNull()
	if f.depth+v.n.depth() > maxDepth {
		return &ValueError{Type: valueType.String(), Err: ErrTooDeep}
	}
	*n = *v.n
	return nil
}

// inside adds a step to the path of an error.
func inside(err error, step string) error {
	var e *ValueError
	if errors.As(err, &e) {
		e.Path = strings.TrimSuffix(step+"."+e.Path, ".")
	}
	return err
}

// orNull returns v, or Null for Absent.
func (v Value) orNull() Value {
	if v.n == nil {
		return Value{&node{from: nilOrigin}}
	}
	return v
}
