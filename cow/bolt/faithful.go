package bolt

import (
	"encoding"
	"fmt"
	"math/big"
	"reflect"
	"sync"

	"github.com/fxamacker/cbor/v2"
)

// What CBOR would change without a word, and so refuses.

// A faithful looks whether a value comes back from CBOR as far as its exported fields go.
type faithful struct {
	merges bool // there is a map of which several keys may be one in CBOR
}

// look returns an error for a value of which nothing would be encoded, as one of big.Rat: it
// has unexported fields alone, and no method that encodes it. V must be no deeper than
// encoders go.
func (f *faithful) look(v reflect.Value) error {
	for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
		if v.IsNil() || encodes(v.Type()) {
			return nil
		}
		v = v.Elem()
	}
	if !v.IsValid() || isFaithful(v.Type()) {
		return nil
	}
	switch t := v.Type(); t.Kind() {
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			if err := f.look(v.Index(i)); err != nil {
				return err
			}
		}
	case reflect.Map:
		f.merges = f.merges || v.Len() > 1 && mayMerge(t.Key())
		for iter := v.MapRange(); iter.Next(); {
			if err := f.look(iter.Key()); err != nil {
				return err
			}
			if err := f.look(iter.Value()); err != nil {
				return err
			}
		}
	case reflect.Struct:
		if isHidden(t) && !v.IsZero() {
			return fmt.Errorf("it holds a %v, all of whose fields are unexported, and which has no MarshalCBOR or MarshalBinary: store what it is made of", t)
		}
		for i := range t.NumField() {
			if isEncoded(t.Field(i)) {
				if err := f.look(v.Field(i)); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// known has what isFaithful has found out, by type.
var known sync.Map

// isFaithful reports whether no value of t needs a look.
func isFaithful(t reflect.Type) bool {
	if is, ok := known.Load(t); ok {
		return is.(bool)
	}
	is := reachesFaithful(t, make(map[reflect.Type]bool))
	known.Store(t, is)
	return is
}

// reachesFaithful reports whether t, and all types that its values are made of, need no look.
// Those that were met need no second one.
func reachesFaithful(t reflect.Type, met map[reflect.Type]bool) bool {
	if met[t] || encodes(t) {
		return true
	}
	met[t] = true
	switch t.Kind() {
	case reflect.Interface:
		return false
	case reflect.Pointer, reflect.Slice, reflect.Array:
		return reachesFaithful(t.Elem(), met)
	case reflect.Map:
		return !mayMerge(t.Key()) && reachesFaithful(t.Elem(), met)
	case reflect.Struct:
		if isHidden(t) {
			return false
		}
		for i := range t.NumField() {
			if f := t.Field(i); isEncoded(f) && !reachesFaithful(f.Type, met) {
				return false
			}
		}
	}
	return true
}

// mayMerge reports whether several keys of that type may be one when they are decoded.
func mayMerge(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Interface, reflect.Pointer, reflect.Struct, reflect.Array:
		return true
	}
	return encodes(t)
}

// isHidden reports whether t is a struct that has fields and shows none.
func isHidden(t reflect.Type) bool {
	if t.Kind() != reflect.Struct || encodes(t) {
		return false
	}
	hidden := false
	for i := range t.NumField() {
		f := t.Field(i)
		if f.IsExported() || f.Anonymous {
			return false
		}
		hidden = hidden || f.Name != "_"
	}
	return hidden
}

// isEncoded reports whether a field of a struct is encoded, or those of what it embeds are.
func isEncoded(f reflect.StructField) bool {
	tag, ok := f.Tag.Lookup("cbor")
	if !ok {
		tag = f.Tag.Get("json")
	}
	return tag != "-" && (f.IsExported() || f.Anonymous)
}

// encodes reports whether values of t encode themselves, or the encoder knows them.
func encodes(t reflect.Type) bool {
	for _, own := range []reflect.Type{reflect.TypeFor[cbor.Marshaler](), reflect.TypeFor[encoding.BinaryMarshaler]()} {
		if t.Kind() != reflect.Interface && (t.Implements(own) || reflect.PointerTo(t).Implements(own)) {
			return true
		}
	}
	return t == reflect.TypeFor[big.Int]()
}
