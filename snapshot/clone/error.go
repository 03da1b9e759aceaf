package clone

import (
	"cmp"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unsafe"
)

// Error says that a value holds something that must not be copied. If the type of the
// values of a map shows that, making the map panics with an *Error, and so does [Of]. If it
// is found behind an interface, storing the value returns the error and changes nothing, and
// the function that Of returned panics with it. An Error is immutable.
type Error struct {
	// Path leads from the value to what must not be copied, the way an expression
	// would: ["conn"].(*pool.Conn).mu. For what a type holds it starts with the
	// type's name, and an index stands for all: Session.conns[].mu. A long path
	// lacks its middle.
	Path string
	// Type is the type of what must not be copied.
	Type reflect.Type

	owner reflect.Type // the type that could get a Clone method
	why   string       // if not that it must not be copied
}

func (e *Error) Error() string {
	path := e.Path
	if path == "" {
		path = "value"
	}
	why := e.why
	if why == "" {
		why = "must not be copied"
	}
	return "snapshot: cannot clone " + e.owner.String() + ": " + path + ": " + e.Type.String() + " " + why +
		"; " + e.fix()
}

// fix says what can be done.
func (e *Error) fix() string {
	if e.Type.PkgPath() != "google.golang.org/protobuf/internal/pragma" {
		return "give the type that holds it a Clone method or set Options.Clone, or share it with Options.Immutable"
	}
	switch p := reflect.PointerTo(e.owner); {
	case isMessage(e.owner):
		return "it is a protobuf message, for which there is Options{Clone: proto.CloneOf[" + e.owner.String() + "]}"
	case isMessage(p):
		return "it is a protobuf message: store pointers to it, with Options{Clone: proto.CloneOf[" + p.String() + "]}"
	}
	return "it is in a protobuf message: give the type that holds the message a Clone method that calls proto.CloneOf"
}

// isMessage reports whether t has the method of a protobuf message.
func isMessage(t reflect.Type) bool {
	_, ok := t.MethodByName("ProtoReflect")
	return ok && t.Kind() == reflect.Pointer
}

// whyNot returns why a t must not be copied, if that is not what everybody knows, or "".
func whyNot(t reflect.Type) string {
	switch t.PkgPath() {
	case "crypto/elliptic":
		return "must not be copied, since it is known by its address, nor shared, since it gives out numbers that anybody can write to: name it with clone.Sentinel"
	case "unique":
		return "must not be copied, nor shared, since it gives out what can be modified"
	}
	return ""
}

// crumb is a step of a path, linked to the one before.
type crumb struct {
	before *crumb
	text   string
}

// String returns the path that ends here.
func (c *crumb) String() string {
	const ends = 16 // steps kept at either end of a path
	var texts []string
	n := 0
	for ; c != nil; c = c.before {
		if c.text == "" {
			continue
		}
		texts = append(texts, c.text)
		if n++; len(texts) > 2*ends {
			// Drop from the middle: what is nearest to the start is not known yet.
			texts = slices.Delete(texts, ends, ends+1)
		}
	}
	slices.Reverse(texts)
	if n > 2*ends {
		texts = slices.Insert(texts, ends, "…")
	}
	return strings.Join(texts, "")
}

// findStatic returns an error for the nearest thing in t that must not be copied
// and is there by type, or nil.
func findStatic(t reflect.Type) *Error {
	type node struct {
		t    reflect.Type
		path *crumb
	}
	root := t
	for root.Kind() == reflect.Pointer && root.Name() == "" {
		root = root.Elem()
	}
	name := root.Name()
	if name == "" {
		name = "(" + root.String() + ")"
	}
	seen := map[reflect.Type]bool{}
	queue := []node{{t, &crumb{text: name}}}
	for len(queue) > 0 {
		n := queue[0]
		queue = queue[1:]
		if seen[n.t] {
			continue
		}
		seen[n.t] = true
		add := func(t reflect.Type, text string) {
			queue = append(queue, node{t, &crumb{n.path, text}})
		}
		switch classify(n.t) {
		case classLock:
			return &Error{Path: n.path.String(), Type: n.t, owner: t, why: whyNot(n.t)}
		case classPointer, classWrap:
			add(n.t.Elem(), "")
		case classSlice:
			add(n.t.Elem(), "[]")
		case classArray:
			if n.t.Len() > 0 {
				add(n.t.Elem(), "[]")
			}
		case classMap:
			add(n.t.Key(), "[key]")
			add(n.t.Elem(), "[]")
		case classStruct:
			for i := range n.t.NumField() {
				f := n.t.Field(i)
				add(f.Type, "."+f.Name)
			}
		}
	}
	return nil
}

// fixLock is the fixer of what must not be copied. For what is there by the type
// of a map's values newCloner has panicked: this was behind an interface.
func fixLock(s *state, pl *plan, p unsafe.Pointer) {
	if pl.typ.Kind() == reflect.UnsafePointer && *(*unsafe.Pointer)(p) == nil {
		return
	}
	panic(findDynamic(reflect.NewAt(s.rootType, s.root).Elem(), pl.typ))
}

// findDynamic returns the error for the nearest thing in root that must not be
// copied; of type lock, if the path to one cannot be found again. A clone keeps no
// path, so that it costs nothing where none is needed.
func findDynamic(root reflect.Value, lock reflect.Type) *Error {
	type node struct {
		v    reflect.Value
		path *crumb
	}
	type object struct {
		t    reflect.Type
		p    unsafe.Pointer
		size int
	}
	seen := map[object]bool{}
	queue := []node{{root, nil}}
	for len(queue) > 0 {
		n := queue[0]
		queue[0] = node{}
		queue = queue[1:]
		v := n.v
		pl := planOf(v.Type())
		if pl.fix == nil {
			continue
		}
		add := func(v reflect.Value, text string) {
			queue = append(queue, node{v, &crumb{n.path, text}})
		}
		first := func(size int) bool {
			o := object{v.Type(), v.UnsafePointer(), size}
			if o.p == nil || seen[o] {
				return false
			}
			seen[o] = true
			return true
		}
		switch pl.class {
		case classLock:
			if v.Kind() != reflect.UnsafePointer || !v.IsNil() {
				return &Error{Path: n.path.String(), Type: v.Type(), owner: root.Type(), why: whyNot(v.Type())}
			}
		case classPointer, classWrap:
			if first(0) && !pl.stays(v.UnsafePointer()) {
				add(v.Elem(), "")
			}
		case classInterface:
			if !v.IsNil() {
				add(v.Elem(), ".("+v.Elem().Type().String()+")")
			}
		case classStruct, classGroup:
			for name, part := range Parts(v) {
				add(part, "."+name)
			}
		case classSlice:
			if pl.elem.fix != nil && first(v.Len()) {
				for i := range v.Len() {
					add(v.Index(i), "["+strconv.Itoa(i)+"]")
				}
			}
		case classArray:
			for i := range v.Len() {
				add(v.Index(i), "["+strconv.Itoa(i)+"]")
			}
		case classMap:
			if (pl.key.fix != nil || pl.elem.fix != nil) && first(0) {
				for _, e := range sorted(v) {
					add(e.key, "[key "+e.text+"]")
					add(e.elem, "["+e.text+"]")
				}
			}
		}
	}
	return &Error{Type: lock, owner: root.Type(), why: whyNot(lock)}
}

// entryValue is an entry of a map and how its key is written in a path.
type entryValue struct {
	key, elem reflect.Value
	text      string
}

// sorted returns the entries of m in the order of their texts, so that of several
// paths it is always the same one that is found.
func sorted(m reflect.Value) []entryValue {
	entries := make([]entryValue, 0, m.Len())
	for i := m.MapRange(); i.Next(); {
		entries = append(entries, entryValue{i.Key(), i.Value(), keyText(i.Key())})
	}
	slices.SortFunc(entries, func(a, b entryValue) int { return cmp.Compare(a.text, b.text) })
	return entries
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
	case k.CanFloat():
		return strconv.FormatFloat(k.Float(), 'g', -1, 64)
	case k.Kind() == reflect.Bool:
		return strconv.FormatBool(k.Bool())
	}
	return k.Type().String()
}
