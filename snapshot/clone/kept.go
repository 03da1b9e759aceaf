package clone

import (
	"reflect"
	"strings"
)

// This file says which values stay themselves in a clone, and why. Such a value may be
// reached from a snapshot and from outside at once, so nobody outside of its own package
// must be able to change what it shows: not by an exported field, nor by a method, nor by
// anything that a method returns. Nothing stays itself because its documentation calls it
// immutable.

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
