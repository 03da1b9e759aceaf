package memory

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"reflect"
	"strconv"
	"strings"
	"unsafe"
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
	if kind, bits := parseWhole(text); kind != Absent {
		n.from, n.bits = numberOrigins[kind], bits
		return nil
	}
	x, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return unsupported(numberType, err)
	}
	n.from = numberOrigins[Float]
	return n.float(x, numberType)
}

// decodedNumber makes n hold a number of valid JSON, as the Go type that fits it: int,
// int64, uint64, json.Number for more digits, and float64. It does not keep the text.
func (n *node) decodedNumber(text string) error {
	if strings.ContainsAny(text, ".eE") || text == "-0" {
		x, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return fmt.Errorf("%.40q is not a float64", text)
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

var (
	int64Origin  = originOf(reflect.TypeFor[int64](), Int)
	uint64Origin = originOf(reflect.TypeFor[uint64](), Uint)

	numberOrigins = [...]*origin{Int: originOf(numberType, Int), Uint: originOf(numberType, Uint), Float: originOf(numberType, Float)}
)

// literal returns the text of a number that came in as text, and whether it did.
func (n *node) literal() (string, bool) {
	if !number(n.from.kind) || n.ptr == nil {
		return "", false
	}
	return *(*string)(n.ptr), true
}

// appendLiteral appends the literal of a number, if it is one of JSON.
func (n *node) appendLiteral(b []byte) ([]byte, bool) {
	text, ok := n.literal()
	if !ok || !json.Valid([]byte(text)) {
		return b, false
	}
	return append(b, text...), true
}

// whole returns a number that has no fraction, exactly, or nil.
func (v Value) whole() *big.Int {
	switch v.Kind() {
	case Int:
		return big.NewInt(int64(v.n.bits))
	case Uint:
		return new(big.Int).SetUint64(v.n.bits)
	}
	if text, ok := v.n.literal(); ok && strings.Trim(text, "-0123456789") == "" {
		if i, ok := new(big.Int).SetString(text, 10); ok {
			return i
		}
	}
	f := v.Float()
	if f != math.Trunc(f) {
		return nil
	}
	i, _ := big.NewFloat(f).Int(nil)
	return i
}

// compareWhole returns the order of two numbers whose floats are equal, exactly
// where they have a literal of digits.
func compareWhole(a, b Value) int {
	if a.n.ptr == nil && b.n.ptr == nil {
		return 0
	}
	x, y := a.whole(), b.whole()
	if x == nil || y == nil {
		return 0
	}
	return x.Cmp(y)
}
