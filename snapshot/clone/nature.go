package clone

import (
	"reflect"
	"strings"
	"time"
)

// This file says what has to be done about a type, and what must not be copied at all.

// A Nature says what a copy of a value, deep or shallow, is worth by the type of
// the value. It is what the clone goes by, for other packages that copy values
// in their own way.
type Nature uint8

const (
	// Ordinary: a copy is as good as the value, if what it refers to is copied too.
	Ordinary Nature = iota
	// Constant: the value stays itself, as nobody outside of its own package can
	// change what it shows: reflect types, time zones, errors made by errors.New,
	// handles of package unique, pointers to what has no size.
	Constant
	// Varying: some values stay themselves, as IsConstant says: those that the program
	// named by Sentinel, and errors that wrap what stays itself.
	Varying
	// Uncopyable: the memory of the value holds a lock, an atomic, a timer, a
	// reflect.Value or an unsafe.Pointer, which a copy breaks. That a pointer
	// leads to such memory does not make the pointer Uncopyable.
	Uncopyable
)

var timerType, tickerType = reflect.TypeFor[time.Timer](), reflect.TypeFor[time.Ticker]()

// isLock reports whether a value of t must not be copied because of what t itself
// is: a type of package sync or sync/atomic, an unsafe.Pointer, what the runtime
// finds by its address, or, by the rule of vet's copylocks, a type that has Lock
// and Unlock on its pointer alone.
func isLock(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.UnsafePointer:
		return true
	case reflect.Pointer:
		return isGroupPointer(t) // of which only a slog.Value knows the length
	case reflect.Interface:
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
		case "crypto/elliptic":
			// The standard curves are known by their addresses, and give out numbers
			// that anybody can write to.
			return strings.HasPrefix(t.Name(), "nistCurve[")
		case "unique":
			return strings.HasPrefix(t.Name(), "Handle[") && !isUnique(t)
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
	if t.Kind() == reflect.Pointer {
		return isLock(t) // not looking at what it leads to, perhaps to a marker for it
	}
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
	if !ok || t.PkgPath() == "log/slog" && t.Name() == "Record" {
		return false // a Record's is no deep copy
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
	classWrap                   // an error: follow, unless what it wraps stays itself
	classGroup                  // a slog.Value: its attributes, or find out
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
	case keptType(t) != "":
		return classFlat
	case hasClone(t):
		return classMethod
	case isLock(t):
		return classLock
	case isWrap(t):
		return classWrap
	case isGroup(t):
		return classGroup
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

// isGroup reports whether t is slog.Value, and looks as expected: a number, and last an
// interface. Else a group is found behind the interface, and refused.
func isGroup(t reflect.Type) bool {
	if t.Kind() != reflect.Struct || t.PkgPath() != "log/slog" || t.Name() != "Value" {
		return false
	}
	_, ok := groupNumber(t)
	last := t.NumField() - 1
	return ok && t.Field(last).Type == reflect.TypeFor[any]()
}

func groupNumber(t reflect.Type) (reflect.StructField, bool) {
	f, ok := t.FieldByName("num")
	return f, ok && f.Type.Kind() == reflect.Uint64
}

func isGroupPointer(t reflect.Type) bool {
	return t.Kind() == reflect.Pointer && t.PkgPath() == "log/slog" && t.Name() == "groupptr"
}

// kept are the types of the standard library whose values stay themselves, each with the
// reason. A type argument is left out. A star stands for the pointers to the type, of
// which the object stays itself. Their packages are named, so that nobody has to link
// them. What is made of nothing but kept types, numbers, strings, channels and functions
// stays itself too.
var kept = map[string]string{
	"time.Time":     "no method modifies it, save those on a pointer, which is to a copy; its zone stays itself",
	"time.Location": "no method modifies it, or returns more than text; a copy shares the table of changes, which nobody gets",

	// Anybody who holds the pointer can assign over the whole struct. To be known by the
	// address is what these are for, or they would be useless as a copy.
	"*time.Location":            exceptWhole + "the == of times compares it, and that of time.Local is known by its address",
	"*encoding/base32.Encoding": exceptWhole + "WithPadding returns another one",
	"*encoding/base64.Encoding": exceptWhole + "WithPadding and Strict return another one",
	"*strings.Replacer":         exceptWhole + "it holds a lock, and could not be copied",
	"*go/types.Basic":           exceptWhole + "package go/types knows each by its address",

	"*errors.errorString":      "Error returns its text; errors are told apart by its address",
	"*crypto/ecdh.nistCurve":   "keys are made by it, and hold nothing of it but its address",
	"*crypto/ecdh.x25519Curve": "it has no fields",
	"*image/color.modelFunc":   "it holds one function, which only Convert calls",
	"*net/http.contextKey":     "String returns its text; contexts compare its address",
	"*reflect.rtype":           "it is what the compiler says about a type, in memory that is not written to",
	"*runtime._func":           "it is what the compiler says about a function, in memory that is not written to",
	"*runtime.moduledata":      "only package runtime can read it",

	"log/slog.stringptr": "it leads to the bytes of a string, and only package slog has it",

	"weak.Pointer":  "it is a handle, as a channel is: a copy of what it leads to would die at once",
	"unique.Handle": "Value returns a copy, of a type that needs no clone; handles of others are refused",
}

const exceptWhole = "nobody can modify it, save by assigning over the whole struct; "

// keptType returns why values of t stay themselves, or "".
func keptType(t reflect.Type) string {
	if t.Kind() == reflect.Pointer {
		if why := kept[t.PkgPath()+"."+t.Name()]; why != "" {
			return why
		}
		e := t.Elem()
		switch {
		case hasClone(t):
			return ""
		case e.PkgPath() == "internal/abi":
			return "it is what the compiler says about a type or a function, in memory that is not written to"
		case e.PkgPath() != "" && kept["*"+nameOf(e)] != "":
			return kept["*"+nameOf(e)]
		case e.Size() == 0 && !holdsLock(e):
			return "it leads to nothing"
		}
		return ""
	}
	if t.PkgPath() == "" || t.PkgPath() == "unique" && !isUnique(t) {
		return ""
	}
	return kept[nameOf(t)]
}

// nameOf returns the path and the name of a type, without type arguments.
func nameOf(t reflect.Type) string {
	name, _, _ := strings.Cut(t.Name(), "[")
	return t.PkgPath() + "." + name
}

// isUnique reports whether t, of package unique, is a handle of a type whose values need
// no clone: Value gives out what is interned.
func isUnique(t reflect.Type) bool { return isFlat(t, map[reflect.Type]bool{}) }

// isFlat reports whether values of t lead to nothing that can be modified, as far as that
// shows by its parts. Handles that were met may be in what they are handles of.
func isFlat(t reflect.Type, met map[reflect.Type]bool) bool {
	switch t.Kind() {
	case reflect.Struct:
		switch {
		case t.PkgPath() == "unique" && !met[t]:
			met[t] = true
			return t.NumField() == 1 && t.Field(0).Type.Kind() == reflect.Pointer && isFlat(t.Field(0).Type.Elem(), met)
		case kept[nameOf(t)] != "":
			return true
		}
		for i := range t.NumField() {
			if !isFlat(t.Field(i).Type, met) {
				return false
			}
		}
		return true
	case reflect.Array:
		return t.Len() == 0 || isFlat(t.Elem(), met)
	case reflect.Pointer:
		return kept["*"+nameOf(t.Elem())] != ""
	case reflect.Interface, reflect.Map, reflect.Slice, reflect.UnsafePointer:
		return false
	}
	return true
}

// shared are the fields of structs that nobody gets at, and that no method writes to, so
// that the copies of a struct share them. The others are cloned. Nothing outside can
// point into such a struct.
//
// A regexp is cloned because Longest and UnmarshalText write to it and SubexpNames
// returns its slice. Longest sets a flag, and UnmarshalText assigns over the whole
// struct: the program is never written to once it is compiled.
var shared = map[string][]string{
	"regexp.Regexp": {"prog", "onepass", "prefixBytes"},
}

// isWrap reports whether t is the error of fmt.Errorf with one %w, which only its own
// package can write to, and looks as expected.
func isWrap(t reflect.Type) bool {
	if t.Kind() != reflect.Pointer || t.Elem().Kind() != reflect.Struct || nameOf(t.Elem()) != "fmt.wrapError" {
		return false
	}
	e := t.Elem()
	return e.NumField() == 2 && e.Field(0).Type.Kind() == reflect.String && e.Field(1).Type == errorType
}

var errorType = reflect.TypeFor[error]()
