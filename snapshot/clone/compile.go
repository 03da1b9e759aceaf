package clone

import (
	"reflect"
	"slices"
	"unsafe"
)

func init() { compile = compilePlan }

// lastID is the last plan.id. It is guarded by compiling.
var lastID = uint64(firstFreeID)

// compilePlan is planOf for a type that has no plan yet.
func compilePlan(t reflect.Type) *plan {
	compiling.Lock()
	defer compiling.Unlock()
	if known == nil {
		known = newKnownTypes()
	}
	c := compiler{}
	pl := c.plan(t)
	// Only now that all are complete: a recursive type has a part that is not.
	for t, pl := range c {
		plans.Store(t, pl)
	}
	return pl
}

// compiler holds the plans that are not published yet.
type compiler map[reflect.Type]*plan

func (c compiler) plan(t reflect.Type) *plan {
	if pl, ok := plans.Load(t); ok {
		return pl.(*plan)
	}
	if pl := c[t]; pl != nil {
		return pl
	}
	lastID++
	pl := &plan{
		typ:     t,
		class:   classify(t),
		why:     keptType(t),
		id:      lastID << lenBits,
		size:    t.Size(),
		noscan:  !hasPointers(t),
		ptrWord: typeWord(reflect.PointerTo(t)),
	}
	c[t] = pl
	if t.Kind() != reflect.Interface {
		zero := reflect.Zero(t).Interface()
		pl.word = (*eface)(unsafe.Pointer(&zero)).word
		// Else the data word points to a zero.
		pl.inline = (*eface)(unsafe.Pointer(&zero)).data == nil
	}
	// The type may be in its own parts, behind a reference. Hence all have a fixer
	// before their parts are looked at: a struct leaves out what has none. A struct or
	// an array that is met again so has that reference, and needs the fixer.
	switch pl.class {
	case classPointer:
		pl.fix, pl.ref = fixRef, refPointer
		pl.elem = c.plan(t.Elem())
	case classWrap:
		pl.fix, pl.ref = fixRef, refWrap
		pl.elem = c.plan(t.Elem())
	case classGroup:
		pl.fix, pl.slices = fixGroup, true
		c.addGroup(pl, t)
	case classSlice:
		pl.fix, pl.slices = fixRef, true // something, for now
		pl.elem = c.plan(t.Elem())
		pl.fix = sliceFixer(pl.elem)
		c.unnamed(pl, reflect.SliceOf(t.Elem()))
	case classMap:
		pl.fix, pl.ref = fixRef, refMap
		pl.key, pl.elem = c.plan(t.Key()), c.plan(t.Elem())
		c.unnamed(pl, reflect.MapOf(t.Key(), t.Elem()))
	case classInterface:
		pl.fix = fixInterface
		if t.NumMethod() == 0 {
			pl.fix = fixAny
		}
	case classStruct:
		pl.fix, pl.share = fixStruct, shared[nameOf(t)]
		c.addSteps(pl, t, 0)
		for _, st := range pl.steps {
			pl.slices = pl.slices || st.pl.slices
		}
		if len(pl.steps) == 0 {
			pl.class, pl.fix = classFlat, nil
		}
	case classArray:
		if t.Len() > 0 {
			pl.fix, pl.slices = fixArray, true // for now
		}
		pl.elem = c.plan(t.Elem())
		pl.slices = pl.elem.slices
		if t.Len() == 0 || pl.elem.fix == nil {
			pl.class, pl.fix = classFlat, nil
		}
	case classMethod:
		pl.fix = fixMethod
		m, _ := t.MethodByName("Clone")
		pl.method = m.Func
		switch t.Kind() {
		case reflect.Pointer, reflect.Slice:
			pl.elem = c.plan(t.Elem())
		}
		switch t.Kind() {
		case reflect.Interface:
			pl.fix = fixInterfaceMethod
		case reflect.Pointer, reflect.Map:
			pl.fix, pl.ref = fixRef, refMethod
		default:
			if isValue(t) {
				pl.class, pl.fix = classFlat, nil
			}
		}
	case classLock:
		pl.fix = fixLock
		if isGroupPointer(t) {
			c.addAttrs(pl, t)
		}
	}
	if pl.named = sentinels[t]; pl.named != nil {
		pl.follow, pl.ref = pl.ref, refNamed
	}
	return pl
}

// isSimple reports whether pl is of a struct in which only slices and maps of known
// types need a clone: fixers that keep no pointer to what they fix.
func (pl *plan) isSimple() bool {
	if pl.class != classStruct {
		return false
	}
	for _, st := range pl.steps {
		if st.pl.direct == nil {
			return false
		}
	}
	return true
}

// unnamed gives pl, the plan of a slice or a map, what it has in common with that
// of the unnamed type u of the same elements: perhaps fixers, and the identity,
// since one may be converted to the other.
func (c compiler) unnamed(pl *plan, u reflect.Type) {
	known.apply(pl, u)
	if pl.typ != u {
		pl.id = c.plan(u).id
	}
}

// addSteps adds the fields of the struct t, which is off bytes into pl's type, and
// those of the structs in it: a nested struct is not a step of its own.
func (c compiler) addSteps(pl *plan, t reflect.Type, off uintptr) {
	if t == builderType {
		c.addBuilderSteps(pl, off)
		return
	}
	for i := range t.NumField() {
		f := t.Field(i)
		if slices.Contains(shared[nameOf(t)], f.Name) {
			continue
		}
		sub := c.plan(f.Type)
		switch {
		case sub.fix == nil:
		case sub.class == classStruct:
			c.addSteps(pl, f.Type, off+f.Offset)
		default:
			pl.steps = append(pl.steps, step{off + f.Offset, sub})
		}
	}
}

// isValue reports whether t holds nothing but numbers, bools and strings, so that
// its method Clone has nothing to do.
func isValue(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Struct:
		for i := range t.NumField() {
			if !isValue(t.Field(i).Type) {
				return false
			}
		}
		return true
	case reflect.Array:
		return isValue(t.Elem())
	case reflect.Chan, reflect.Func, reflect.Interface, reflect.Map, reflect.Pointer, reflect.Slice,
		reflect.UnsafePointer:
		return false
	}
	return true
}

// A strings.Builder holds its own address once it was written to, and panics when
// that is another. A clone gets none, which it will set at its first write.

var forget = &plan{fix: func(_ *state, _ *plan, p unsafe.Pointer) { *(*unsafe.Pointer)(p) = nil }}

func (c compiler) addBuilderSteps(pl *plan, off uintptr) {
	for i := range builderType.NumField() {
		f := builderType.Field(i)
		switch sub := c.plan(f.Type); {
		case f.Type == builderPointer:
			pl.steps = append(pl.steps, step{off + f.Offset, forget})
		case sub.fix != nil:
			pl.steps = append(pl.steps, step{off + f.Offset, sub})
		}
	}
}

// addGroup completes pl, the plan of t, a slog.Value.
func (c compiler) addGroup(pl *plan, t reflect.Type) {
	f, _ := groupNumber(t)
	last := t.Field(t.NumField() - 1)
	pl.num, pl.steps = f.Offset, []step{{last.Offset, c.plan(last.Type)}}
}

// addAttrs completes pl, the plan of the pointer of a group, if a slog.Value made of such a
// pointer and a number is the group that it should be.
func (c compiler) addAttrs(pl *plan, t reflect.Type) {
	attr := t.Elem()
	f, ok := attr.FieldByName("Value")
	if !ok || !isGroup(f.Type) {
		return
	}
	value := c.plan(f.Type)
	attrs, v := reflect.MakeSlice(reflect.SliceOf(attr), 2, 2), reflect.New(f.Type)
	at := v.UnsafePointer()
	*(*uint64)(unsafe.Add(at, value.num)) = 2
	*(*any)(unsafe.Add(at, value.steps[0].off)) = box(pl.word, attrs.UnsafePointer())
	if groupOf(v.Elem(), attrs) {
		pl.attrs = c.plan(attrs.Type())
	}
}

// groupOf reports whether the method Group of v returns attrs.
func groupOf(v, attrs reflect.Value) (ok bool) {
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	m := v.MethodByName("Group")
	if !m.IsValid() || m.Type().NumIn() != 0 || m.Type().NumOut() != 1 || m.Type().Out(0) != attrs.Type() {
		return false
	}
	got := m.Call(nil)[0]
	return got.Len() == attrs.Len() && got.UnsafePointer() == attrs.UnsafePointer()
}
