package value

import (
	"bytes"
	"cmp"
	"math"
	"slices"
	"strings"
)

// Equal reports whether a and b show the same, whatever Go types they came in as.
// See [Field] for what is equal; Absent equals Absent.
func Equal(a, b Value) bool {
	// What is still to be compared is not on the stack of the goroutine: values are
	// nested up to a thousand levels.
	var pending []valuePair
	for {
		if !equalBut(a, b, &pending) {
			return false
		}
		last := len(pending) - 1
		if last < 0 {
			return true
		}
		a, b = pending[last].a, pending[last].b
		pending = pending[:last]
	}
}

type valuePair struct{ a, b Value }

// equalBut is Equal but for the lists and maps inside of a and b, which it adds
// to pending.
func equalBut(a, b Value, pending *[]valuePair) bool {
	if a.n == b.n {
		return true
	}
	kind := a.Kind()
	if kind != b.Kind() || kind != List && kind != Map {
		return equalScalars(a, b)
	}
	// What was frozen once and is a part of several is the same memory.
	if a.n.ptr == b.n.ptr && a.n.bits == b.n.bits {
		return true
	}
	if a.Len() != b.Len() {
		return false
	}
	var as, bs []node
	if kind == List {
		as, bs = a.elements(), b.elements()
	} else {
		if !slices.Equal(a.keys(), b.keys()) {
			return false
		}
		as, bs = a.fields(), b.fields()
	}
	for i := range as {
		x, y := Value{&as[i]}, Value{&bs[i]}
		if k := x.Kind(); k == y.Kind() && (k == List || k == Map) {
			*pending = append(*pending, valuePair{x, y})
		} else if !equalScalars(x, y) {
			return false
		}
	}
	return true
}

// equalScalars is Equal for values that are not both lists or both maps.
func equalScalars(a, b Value) bool {
	k := a.Kind()
	if number(k) && number(b.Kind()) {
		order, ok := compareNumbers(a, b)
		return ok && order == 0
	}
	if k != b.Kind() {
		return false
	}
	switch k {
	case Bool:
		return a.Bool() == b.Bool()
	case String:
		return a.String() == b.String()
	case Bytes:
		return bytes.Equal(a.bytes(), b.bytes())
	case Time:
		return a.Time().Equal(b.Time())
	case Handle:
		return equalHandles(a, b)
	}
	return true // Absent, Null
}

// Compare returns the order of a and b, if they have one: numbers by their value, exactly,
// Strings and Bytes byte by byte, and Times as instants.
func Compare(a, b Value) (order int, ok bool) {
	k := a.Kind()
	if number(k) && number(b.Kind()) {
		return compareNumbers(a, b)
	}
	if k != b.Kind() {
		return 0, false
	}
	switch k {
	case String:
		return strings.Compare(a.String(), b.String()), true
	case Bytes:
		return bytes.Compare(a.bytes(), b.bytes()), true
	case Time:
		return a.Time().Compare(b.Time()), true
	}
	return 0, false
}

func number(k Kind) bool { return k == Int || k == Uint || k == Float }

// compareNumbers returns the order of two numbers, none for a NaN.
func compareNumbers(a, b Value) (order int, ok bool) {
	if a.n.ptr != nil || b.n.ptr != nil {
		return a.decimal().compare(b.decimal()), true // what was text is no NaN
	}
	return compareFloats(a, b)
}

// compareFloats is compareNumbers for numbers that were not text.
func compareFloats(a, b Value) (order int, ok bool) {
	if a.Kind() == Float {
		x := a.Float()
		if b.Kind() == Float {
			y := b.Float()
			return cmp.Compare(x, y), x == x && y == y
		}
		order, ok = compareFloats(b, a)
		return -order, ok
	}
	// A is an integer: a sign, and how far from zero.
	aNegative, aSize := integer(a)
	if b.Kind() == Float {
		return compareFloat(aNegative, aSize, b.Float())
	}
	bNegative, bSize := integer(b)
	switch {
	case aNegative != bNegative:
		if aNegative {
			return -1, true
		}
		return 1, true
	case aNegative:
		return cmp.Compare(bSize, aSize), true
	}
	return cmp.Compare(aSize, bSize), true
}

// integer returns an Int or Uint as its sign and absolute value.
func integer(v Value) (negative bool, size uint64) {
	if v.Kind() == Int && int64(v.n.bits) < 0 {
		return true, -v.n.bits
	}
	return false, v.n.bits
}

// compareFloat returns the order of an integer and a float. No integer is rounded
// to a float: that would make different ones equal.
func compareFloat(negative bool, size uint64, f float64) (order int, ok bool) {
	if f != f {
		return 0, false
	}
	if negative {
		order, ok = compareFloat(false, size, -f)
		return -order, ok
	}
	switch {
	case f < 0:
		return 1, true
	case f >= 1<<64:
		return -1, true
	}
	whole := math.Trunc(f)
	if order = cmp.Compare(size, uint64(whole)); order == 0 && f > whole {
		order = -1
	}
	return order, true
}
