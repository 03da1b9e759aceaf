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
