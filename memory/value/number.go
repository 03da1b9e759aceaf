package value

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unsafe"

	"github.com/cowstore/cowstore/memory/internal/decimal"
)

// A number that was text keeps it as its literal: more digits than a float64 has,
// and the way in which they were written.

// number makes n hold what a json.Number says, as an Int or a Uint if it is one.
func (n *node) number(text string) error {
	text = strings.Clone(text)
	n.from, n.ptr = numberOrigins[Int], unsafe.Pointer(&text)
	if text == "" {
		return nil // 0, as in encoding/json
	}
	if !isNumber(text) {
		return unsupported(numberType, errors.New("it is no number of JSON"))
	}
	if kind, bits := parseWhole(text); kind != Absent {
		n.from, n.bits = numberOrigins[kind], bits
		return nil
	}
	x, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return unsupported(numberType, err)
	}
	if _, ok := decimal.Parse(text); !ok && x == 0 {
		return unsupported(numberType, errors.New("the exponent is out of range"))
	}
	n.from = numberOrigins[Float]
	return n.float(x, numberType)
}

// isNumber reports whether a text, which is not empty, is a number of JSON.
func isNumber(text string) bool {
	begin, end := text[0], text[len(text)-1]
	return (begin == '-' || begin-'0' <= 9) && end-'0' <= 9 && json.Valid([]byte(text))
}

// decodedNumber makes n hold a number of valid JSON, as the Go type that fits it: int,
// int64, uint64, float64, and json.Number for more digits than those have. It does not
// keep the text.
func (n *node) decodedNumber(text string) error {
	if strings.ContainsAny(text, ".eE") || text == "-0" {
		x, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return fmt.Errorf("%.40q is not a float64", text)
		}
		if text != "-0" && !decimal.WrittenBack(x, text) {
			return n.number(text)
		}
		n.from = floatOrigin
		return n.float(x, floatOrigin.typ)
	}
	switch kind, bits := parseWhole(text); kind {
	case Int:
		if n.from, n.bits = intOrigin, bits; int64(int(bits)) != int64(bits) {
			n.from = int64Origin
		}
		return nil
	case Uint:
		n.from, n.bits = uint64Origin, bits
		return nil
	}
	return n.number(text)
}

// parseWhole returns the Int or Uint that digits with a sign are, if they are one and
// not -0. Unlike package strconv it makes no error where they are not.
func parseWhole(text string) (kind Kind, bits uint64) {
	digits := strings.TrimLeft(text, "+-")
	if digits == "" || len(text) > len(digits)+1 {
		return Absent, 0
	}
	for _, c := range []byte(digits) {
		d := uint64(c) - '0'
		if d > 9 || bits > (math.MaxUint64-d)/10 {
			return Absent, 0
		}
		bits = 10*bits + d
	}
	switch negative := text[0] == '-'; {
	case negative && 0 < bits && bits <= 1<<63:
		return Int, -bits
	case negative:
		return Absent, 0
	case bits <= math.MaxInt64:
		return Int, bits
	}
	return Uint, bits
}

// literal returns the text of a number that came in as text, and whether it did.
func (n *node) literal() (string, bool) {
	if !number(n.from.kind) || n.ptr == nil {
		return "", false
	}
	return *(*string)(n.ptr), true
}

// appendLiteral appends the literal of a number, if it has one.
func (n *node) appendLiteral(b []byte) ([]byte, bool) {
	text, ok := n.literal()
	if !ok || text == "" {
		return b, false
	}
	return append(b, text...), true
}

// decimal returns the number that v is. Text with a fraction or an exponent is a
// float64 if that is how one is written. A float64 without a fraction, below 1e21, is
// what it is in base 2, as an Int; others are what they are written as.
func (v Value) decimal() decimal.Decimal {
	if text, ok := v.n.literal(); ok && !(v.Kind() == Float && strings.ContainsAny(text, ".eE") && decimal.WrittenBack(v.Float(), text)) {
		if d, ok := decimal.Parse(text); ok {
			return d
		}
	}
	var text string
	switch f := v.Float(); {
	case v.Kind() == Int:
		text = strconv.FormatInt(int64(v.n.bits), 10)
	case v.Kind() == Uint:
		text = strconv.FormatUint(v.n.bits, 10)
	case f == math.Trunc(f) && math.Abs(f) < 1e21:
		text = strconv.FormatFloat(f, 'f', 0, 64)
	default:
		text = strconv.FormatFloat(f, 'g', -1, 64)
	}
	d, _ := decimal.Parse(text)
	return d
}

// Equal reports whether a and b show the same, whatever Go types they came in as. The rules are
// those that package filter documents at Field. Absent equals Absent.
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

// Compare returns -1, 0 or +1, and true if a and b have an order: numbers by their value, exactly,
// Strings and Bytes byte by byte, and Times as instants. Values of other kinds, and of different
// kinds, have none.
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

// compareNumbers returns the order of two numbers, none for a NaN.
func compareNumbers(a, b Value) (order int, ok bool) {
	if a.n.ptr != nil || b.n.ptr != nil {
		return a.decimal().Compare(b.decimal()), true // what was text is no NaN
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

// equalHandles reports whether two Handles hold the same. Functions cannot be
// compared: only what was frozen once is the same.
func equalHandles(a, b Value) bool {
	if a.n.ptr == b.n.ptr {
		return true
	}
	x, y := a.handle(), b.handle()
	return reflect.TypeOf(x).Comparable() && x == y
}

// handle returns what a Handle holds.
func (v Value) handle() any { return *(*any)(v.n.ptr) }
