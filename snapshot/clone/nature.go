package clone

import (
	"reflect"
	"regexp"
	"strings"
	"time"
)

// This file is all that the package knows about particular types: which values
// stay themselves in a clone, and which must not be copied at all.

// A Nature says what a copy of a value, deep or shallow, is worth by the type of
// the value. It is what the clone goes by, for other packages that copy values
// in their own way.
type Nature uint8

const (
	// Ordinary: a copy is as good as the value, if what it refers to is copied too.
	Ordinary Nature = iota
	// Constant: the value is immutable by the contract of its type, and may be
	// known by its address. It stays itself: reflect types, time zones, regular
	// expressions, elliptic curves, handles of package unique, pointers to what has
	// no size.
	Constant
	// Sentinel: a pointer to an error that only its own package can write to, all
	// of whose fields are unexported and hold no more than numbers, strings and
	// other errors. Errors are told apart by such pointers. The value stays itself
	// if all errors in it do; see IsConstant.
	Sentinel
	// Uncopyable: the memory of the value holds a lock, an atomic, a timer, a
	// reflect.Value or an unsafe.Pointer, which a copy breaks. That a pointer
	// leads to such memory does not make the pointer Uncopyable.
	Uncopyable
)

// NatureOf returns the nature of the values of t. A type with a method Clone that
// returns the type itself is Ordinary: that method copies it.
func NatureOf(t reflect.Type) Nature {
	switch {
	case isConstant(t):
		return Constant
	case holdsLock(t):
		return Uncopyable
	case !hasClone(t) && isSentinel(t):
		return Sentinel
	}
	return Ordinary
}

// constants are the types whose values are immutable by their own contract, so
// that a copy of the value is a clone. Handles to interned and weakly held objects
// (packages unique and weak) belong to them; netip's types follow from unique's.
// Big numbers do not: they are mutable, and ordinary structs to a deep clone.
var constants = map[reflect.Type]bool{
	reflect.TypeFor[time.Time]():      true,
	reflect.TypeFor[time.Location]():  true,
	reflect.TypeFor[*time.Location](): true,
	reflect.TypeFor[regexp.Regexp]():  true,
	reflect.TypeFor[*regexp.Regexp](): true,
}

// constantPointers are the types, by their names, of objects that are reached
// through pointers, never modified, and known by their addresses. They are named
// so that nobody has to link their packages.
var constantPointers = map[string]bool{
	"crypto/ecdh.nistCurve":    true,
	"crypto/ecdh.x25519Curve":  true,
	"encoding/base32.Encoding": true,
	"encoding/base64.Encoding": true,
	"go/types.Basic":           true,
	"hash/crc32.Table":         true,
	"hash/crc64.Table":         true,
	"image/color.modelFunc":    true,
	"net/http.ProtocolError":   true, // the sentinels of net/http
	"net/http.contextKey":      true,
	"reflect.rtype":            true,
	"strings.Replacer":         true,
	"unicode.RangeTable":       true,
}

// isConstant reports whether values of t are immutable by their own contract.
func isConstant(t reflect.Type) bool {
	if constants[t] {
		return true
	}
	if t.Kind() == reflect.Pointer && t.Name() == "" {
		e := t.Elem()
		if e.Size() == 0 && !holdsLock(e) && !hasClone(t) {
			return true // it leads to nothing
		}
		switch path := e.PkgPath(); path {
		case "":
		case "internal/abi":
			return true // what the compiler says about types and functions
		case "runtime":
			return !isExported(e.Name()) // what it knows about the program
		case "crypto/elliptic":
			return strings.HasPrefix(e.Name(), "nistCurve[") // the standard curves
		default:
			return constantPointers[path+"."+e.Name()]
		}
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
	}
	return false
}

func isExported(name string) bool { return name != "" && 'A' <= name[0] && name[0] <= 'Z' }

var errorType = reflect.TypeFor[error]()

// isSentinel reports whether t is a pointer to an error that only its own package
// can write to.
func isSentinel(t reflect.Type) bool {
	if t.Kind() != reflect.Pointer || t.Elem().Kind() != reflect.Struct || !t.Implements(errorType) {
		return false
	}
	return !isLock(t.Elem()) && onlyTold(t.Elem())
}

// onlyTold reports whether all fields of the struct t are unexported and hold
// numbers, strings, what is Constant, interfaces and structs of those, or, in the
// errors of packages errors and fmt, other errors.
func onlyTold(t reflect.Type) bool {
	for i := range t.NumField() {
		f := t.Field(i)
		switch {
		case f.IsExported():
			return false
		case isConstant(f.Type) || isNumberOrString(f.Type) || f.Type.Kind() == reflect.Interface:
		case f.Type.Kind() == reflect.Struct && !isLock(f.Type) && onlyTold(f.Type):
		case f.Type == reflect.SliceOf(errorType) && (t.PkgPath() == "errors" || t.PkgPath() == "fmt"):
		default:
			return false
		}
	}
	return true
}

func isNumberOrString(t reflect.Type) bool {
	k := t.Kind()
	return reflect.Bool <= k && k <= reflect.Complex128 || k == reflect.String
}

var timerType, tickerType = reflect.TypeFor[time.Timer](), reflect.TypeFor[time.Ticker]()

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
		case "sync", "sync/atomic", "internal/sync":
			return true
		case "internal/poll":
			return t.Size() > 0 // and is not an error
		case "reflect":
			return t.Name() == "Value"
		case "internal/runtime/sys", "runtime/internal/sys":
			return t.Name() == "NotInHeap"
		}
		if t.ConvertibleTo(timerType) || t.ConvertibleTo(tickerType) {
			return true
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

// hasClone reports whether t has a method Clone that returns a t, and that was written
// for it: not by cowview.
func hasClone(t reflect.Type) bool {
	// By a constant name, for which the linker keeps methods of that name and can
	// still drop others.
	m, ok := t.MethodByName("Clone")
	if !ok {
		return false
	}
	in := 1
	if t.Kind() == reflect.Interface {
		in = 0 // no receiver in the type of the method
	}
	f := m.Type
	return f.NumIn() == in && f.NumOut() == 1 && f.Out(0) == t && !isGenerated(t)
}

// isGenerated reports whether cowview generated the method Clone of t. Its mark is a
// method with a parameter of that type, so that a struct that embeds a t has none.
func isGenerated(t reflect.Type) bool {
	if t.Kind() != reflect.Struct {
		return false
	}
	m, ok := t.MethodByName("ClonedByCowview")
	return ok && m.Type.NumIn() == 2 && m.Type.In(1) == t
}

// class is what has to be done about a type, in general.
type class uint8

const (
	classFlat      class = iota // nothing: all of it is in the copy, or may be shared
	classPointer                // follow
	classSentinel               // follow, unless all in it stays itself
	classSlice                  //
	classMap                    //
	classInterface              // find out
	classStruct                 // look into
	classArray                  //
	classMethod                 // call its method Clone
	classLock                   // refuse
)

// classify returns the class of t by what t itself is. The class of a struct or an
// array may turn out to be classFlat when its parts are known.
func classify(t reflect.Type) class {
	switch {
	case isConstant(t):
		return classFlat
	case hasClone(t):
		return classMethod
	case isLock(t):
		return classLock
	case isSentinel(t):
		return classSentinel
	}
	switch t.Kind() {
	case reflect.Pointer:
		return classPointer
	case reflect.Slice:
		return classSlice
	case reflect.Map:
		return classMap
	case reflect.Interface:
		return classInterface
	case reflect.Struct:
		return classStruct
	case reflect.Array:
		return classArray
	}
	return classFlat
}

func hasPointers(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Struct:
		for i := range t.NumField() {
			if hasPointers(t.Field(i).Type) {
				return true
			}
		}
		return false
	case reflect.Array:
		return t.Len() > 0 && hasPointers(t.Elem())
	case reflect.Chan, reflect.Func, reflect.Interface, reflect.Map, reflect.Pointer, reflect.Slice,
		reflect.String, reflect.UnsafePointer:
		return true
	}
	return false
}
