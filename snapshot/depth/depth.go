// Package depth tells whether a value is nested too deeply for functions that call
// themselves for each level, as those of packages encoding/json and fmt do.
//
// A stack has a limit, 1 GB by default, and a goroutine that exceeds it ends the
// process: no recover helps. Values that package snapshot clones without trouble may be
// millions of levels deep. So whoever hands a value to such a function asks a [Rule]
// first. A type that holds neither an interface nor itself has no deep values: a Rule finds
// that out once, and does not walk them.
package depth

import (
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"unsafe"
)

// Limit is how many levels a value may have: as many as encoding/json reads. A level is a
// slice, array, map or struct, or a pointer to a pointer or an interface. An embedded struct
// adds none.
const Limit = 10_000

// ErrTooDeep says that a value has too many levels. One that contains itself has no end of
// them.
var ErrTooDeep = errors.New("value is nested too deeply")

var (
	errDeep  = fmt.Errorf("%w: more than %d levels, with those around it", ErrTooDeep, Limit)
	errCycle = fmt.Errorf("%w: it contains itself in a cycle", ErrTooDeep)
)

// A Rule says which parts of a value a function goes into. It must not be modified or
// copied once it is used, and is safe for concurrent use.
type Rule struct {
	// Own are interfaces, as json.Marshaler: what is in a value whose type, or the pointer to
	// it, has such a method, only that method knows.
	Own []reflect.Type

	// Tags are the names of the tags, the first that a field has counting, whose value "-"
	// leaves the field out. Unexported fields are left out in any case.
	Tags []string

	// Keys says that the function goes into the keys of maps too, as into values.
	Keys bool

	addressed bool // a method of the pointer is called only where there is one
	text      bool // as fmt: unexported fields too, and pointers are not followed
	plans     sync.Map
}

// JSON is the Rule of encoding/json.
var JSON = &Rule{
	Own:       []reflect.Type{reflect.TypeFor[json.Marshaler](), reflect.TypeFor[encoding.TextMarshaler]()},
	Tags:      []string{"json"},
	addressed: true,
}

// Text is the Rule of package fmt. It does not go into values that have a method String,
// Error or Format: only the method knows what it prints.
var Text = &Rule{
	Own: []reflect.Type{
		reflect.TypeFor[fmt.Formatter](), reflect.TypeFor[error](), reflect.TypeFor[fmt.Stringer](),
	},
	Keys:      true,
	addressed: true,
	text:      true,
}

// Key is the Rule of == and of what hashes keys: it knows no methods.
var Key = &Rule{Keys: true, text: true}

// Check returns an error that wraps [ErrTooDeep] if v, as far as the Rule goes into it, has
// more than [Limit] levels or contains itself. It only reads v. It takes no stack, and time
// proportional to what is in v, however often that is referred to.
func (r *Rule) Check(v any) error { return r.CheckIn(0, v) }

// CheckIn is [Rule.Check] for a v that will lie inside as many levels as around says.
func (r *Rule) CheckIn(around int, v any) error {
	_, err := r.levels(around, v)
	return err
}

// levels is CheckIn, and returns how many levels v has, or its type allows.
func (r *Rule) levels(around int, v any) (int, error) {
	x := reflect.ValueOf(v)
	if r == Text && x.Kind() == reflect.Pointer && !r.planOf(x.Type()).own {
		// As fmt does, with the one that it is given.
		switch x = x.Elem(); x.Kind() {
		case reflect.Array, reflect.Slice, reflect.Struct, reflect.Map:
		default:
			return 0, nil
		}
	}
	if isScalar(x.Kind()) {
		return 0, nil
	}
	if pl := r.planOf(x.Type()); pl.shallow && around+pl.levels <= Limit {
		return pl.levels, nil
	}
	// Most values are small trees: nothing needs to be remembered of them.
	w := walker{rule: r, visits: few}
	if levels, err := w.walk(x, flat); err == nil && around+levels <= Limit {
		return levels, nil
	}
	w = walker{rule: r, visits: many, heights: make(map[object]int)}
	return w.walk(x, Limit-around)
}

// CheckText returns an error that wraps [ErrTooDeep] if a JSON text has more levels than limit. It
// also counts what methods of values wrote. What passes with [Limit], encoding/json reads. The text
// need not be valid.
func CheckText(json []byte, limit int) error {
	if len(json) <= limit {
		return nil // each level takes a byte
	}
	levels := 0
	for i := 0; i < len(json); i++ {
		switch json[i] {
		case '[', '{':
			if levels++; levels > limit {
				return fmt.Errorf("%w: more than %d levels", ErrTooDeep, limit)
			}
		case ']', '}':
			levels--
		case '"':
			for i++; i < len(json) && json[i] != '"'; i++ {
				if json[i] == '\\' {
					i++
				}
			}
		}
	}
	return nil
}

// Shallow reports whether no value of type t needs a [Rule.Check].
func (r *Rule) Shallow(t reflect.Type) bool { return r.planOf(t).shallow }

// A plan is what a Rule knows about a type.
type plan struct {
	own       bool // the type has a method of the Rule
	byPointer bool // the pointer to it has, which counts where there is one
	methods   bool // what is in a value may have, if it is shallow
	shallow   bool // no value has more levels than this:
	levels    int
	fields    [][]int // of a struct: those to go into, through what is embedded
}

func (r *Rule) planOf(t reflect.Type) *plan {
	if pl, ok := r.plans.Load(t); ok {
		return pl.(*plan)
	}
	return r.plan(t, make(map[reflect.Type]bool))
}

// plan makes the plan of t, a part of the types that are open.
func (r *Rule) plan(t reflect.Type, open map[reflect.Type]bool) *plan {
	if pl, ok := r.plans.Load(t); ok {
		return pl.(*plan)
	}
	if open[t] {
		return new(plan) // a type within itself
	}
	open[t] = true
	pl := &plan{own: implements(t, r.Own), shallow: true}
	pl.methods = pl.own || implements(reflect.PointerTo(t), r.Own) || t.Kind() == reflect.Map && implements(t.Key(), r.Own)
	switch {
	case r.text:
	case r.addressed:
		pl.byPointer = implements(reflect.PointerTo(t), r.Own)
	default:
		pl.own = pl.own || implements(reflect.PointerTo(t), r.Own)
	}
	if !pl.own || r.text { // which calls no method of what is in unexported fields
		for _, part := range r.parts(t, pl) {
			p := r.plan(part, open)
			pl.levels, pl.shallow = max(pl.levels, p.levels), pl.shallow && p.shallow
			pl.methods = pl.methods || p.methods
		}
		pl.levels += level(t)
		pl.shallow = pl.shallow && t.Kind() != reflect.Interface
	}
	delete(open, t)
	r.plans.Store(t, pl)
	return pl
}

// parts returns the types of what the Rule goes into in a t.
func (r *Rule) parts(t reflect.Type, pl *plan) (parts []reflect.Type) {
	switch t.Kind() {
	case reflect.Pointer:
		if !r.text {
			return []reflect.Type{t.Elem()}
		}
	case reflect.Slice, reflect.Array:
		return []reflect.Type{t.Elem()}
	case reflect.Map:
		if r.Keys {
			return []reflect.Type{t.Key(), t.Elem()}
		}
		return []reflect.Type{t.Elem()}
	case reflect.Struct:
		pl.fields = r.fields(t, nil, map[reflect.Type]bool{})
		for _, index := range pl.fields {
			parts = append(parts, t.FieldByIndex(index).Type)
		}
	}
	return parts
}

// level returns how many levels a t is itself. A pointer to a struct is none, or lists of
// which encoding/json reads 10,000 nodes could not be written again.
func level(t reflect.Type) int {
	switch t.Kind() {
	case reflect.Slice, reflect.Array, reflect.Map, reflect.Struct:
		return 1
	case reflect.Pointer:
		if k := t.Elem().Kind(); k == reflect.Pointer || k == reflect.Interface {
			return 1
		}
	}
	return 0
}

func implements(t reflect.Type, any []reflect.Type) bool {
	for _, i := range any {
		if t.Implements(i) {
			return true
		}
	}
	return false
}

// fields returns the fields of the struct t, at index of another, that the Rule goes into.
func (r *Rule) fields(t reflect.Type, index []int, seen map[reflect.Type]bool) (all [][]int) {
	seen[t] = true
	for i := range t.NumField() {
		f := t.Field(i)
		at := append(index[:len(index):len(index)], i)
		if r.text {
			all = append(all, at)
			continue
		}
		tag, tagged := r.tag(f)
		embedded := f.Type
		if embedded.Kind() == reflect.Pointer {
			embedded = embedded.Elem()
		}
		switch {
		case tagged && tag == "-":
		case f.Anonymous && embedded.Kind() == reflect.Struct && name(tag) == "":
			if !seen[embedded] {
				all = append(all, r.fields(embedded, at, seen)...)
			}
		case f.IsExported():
			all = append(all, at)
		}
	}
	return all
}

func (r *Rule) tag(f reflect.StructField) (string, bool) {
	for _, name := range r.Tags {
		if tag, ok := f.Tag.Lookup(name); ok {
			return tag, true
		}
	}
	return "", false
}

func name(tag string) string {
	name, _, _ := strings.Cut(tag, ",")
	return name
}

// How many levels and visits there are before it is worth remembering what was seen, and
// how many visits if it cannot be.
const (
	flat = 100
	few  = 1 << 14
	many = 1 << 20
)

// A walker finds out how many levels a value has. It keeps what it is in by itself, and so
// takes no stack.
type walker struct {
	rule    *Rule
	visits  int            // to go, of what is not remembered
	heights map[object]int // of what references have led to, if not nil; open: the walk is in it
	in      []frame
}

// A frame is a value that the walk is in.
type frame struct {
	v     reflect.Value
	pl    *plan
	level int // how many levels it is itself,
	left  int // how many the parts may have,
	most  int // and how many those have that are done

	next  int              // part
	iter  *reflect.MapIter // of a map
	value bool             // after the key, if the Rule goes into keys
	known bool             // to be remembered as:
	o     object
}

// An object is what a reference leads to.
type object struct {
	t reflect.Type
	p unsafe.Pointer
	n int
}

const open = -1

// walk returns how many levels v has, and an error if they are more than limit.
func (w *walker) walk(v reflect.Value, limit int) (levels int, err error) {
	if levels, err = w.enter(v, limit); err != nil {
		return 0, err
	}
	for len(w.in) > 0 {
		last := len(w.in) - 1
		f := &w.in[last]
		part, ok := f.part(w.rule.Keys)
		if !ok {
			levels = f.most + f.level
			if f.known {
				w.heights[f.o] = levels
			}
			w.in[last] = frame{}
			if w.in = w.in[:last]; last > 0 {
				w.in[last-1].most = max(w.in[last-1].most, levels)
			}
			continue
		}
		below, err := w.enter(part, f.left)
		if err != nil {
			return 0, err
		}
		f = &w.in[last] // there may be more of them now
		f.most = max(f.most, below)
	}
	return levels, nil
}

// part returns the next part of the value, and whether there is one.
func (f *frame) part(keys bool) (part reflect.Value, ok bool) {
	switch f.v.Kind() {
	case reflect.Pointer:
		part, ok = f.v.Elem(), f.next == 0
	case reflect.Slice, reflect.Array:
		if ok = f.next < f.v.Len(); ok {
			part = f.v.Index(f.next)
		}
	case reflect.Struct:
		for ; !ok && f.next < len(f.pl.fields); f.next++ {
			field, err := f.v.FieldByIndexErr(f.pl.fields[f.next])
			part, ok = field, err == nil // else it is embedded by a nil pointer
		}
		return part, ok
	case reflect.Map:
		if f.value {
			f.value = false
			return f.iter.Value(), true
		}
		if f.iter == nil {
			f.iter = f.v.MapRange()
		}
		switch ok = f.iter.Next(); {
		case ok && keys:
			part, f.value = f.iter.Key(), true
		case ok:
			part = f.iter.Value()
		}
	}
	f.next++
	return part, ok
}

// enter goes into v, which may have so many levels. If it need not, it returns how many v
// has.
func (w *walker) enter(v reflect.Value, left int) (levels int, err error) {
	var box unsafe.Pointer
	boxed := v.Kind() == reflect.Interface
	if boxed {
		if v.CanInterface() {
			x := v.Interface()
			box = (*[2]unsafe.Pointer)(unsafe.Pointer(&x))[1]
		}
		v = v.Elem()
	}
	if isScalar(v.Kind()) {
		return 0, nil
	}
	t := v.Type()
	pl := w.rule.planOf(t)
	if pl.own && v.CanInterface() || pl.byPointer && v.CanAddr() {
		return 0, nil
	}
	if pl.shallow {
		return pl.levels, within(pl.levels, left)
	}
	f := frame{v: v, pl: pl, level: level(t), o: object{t: t}}
	switch t.Kind() {
	case reflect.Struct, reflect.Array:
		f.o.p = box
	case reflect.Pointer:
		if w.rule.text {
			return 0, nil
		}
		f.o.p = v.UnsafePointer()
	case reflect.Slice:
		f.o.p, f.o.n = v.UnsafePointer(), v.Len()
	case reflect.Map:
		f.o.p = v.UnsafePointer()
	default:
		return 0, nil
	}
	if f.o.p == nil && isReference(t.Kind()) {
		return 0, nil
	}
	if f.left = left - f.level; f.left < 0 {
		return 0, errDeep
	}
	switch {
	case !boxed && !isReference(t.Kind()):
		// It is a part of one thing.
	case f.o.p == nil || w.heights == nil:
		// What is in an interface in an unexported field has no address to be known by.
		if w.visits--; w.visits < 0 {
			return 0, errDeep
		}
	default:
		switch h, ok := w.heights[f.o]; {
		case ok && h == open:
			return 0, errCycle
		case ok:
			return h, within(h, left)
		}
		w.heights[f.o], f.known = open, true
	}
	w.in = append(w.in, f)
	return 0, nil
}

func within(levels, left int) error {
	if levels > left {
		return errDeep
	}
	return nil
}

// isScalar reports whether values of that kind have no parts, the zero Value included.
func isScalar(k reflect.Kind) bool { return k <= reflect.Complex128 || k == reflect.String }

func isReference(k reflect.Kind) bool {
	return k == reflect.Pointer || k == reflect.Slice || k == reflect.Map
}
