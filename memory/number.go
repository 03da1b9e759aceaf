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
	n.from, n.ptr = originOf(numberType, Int), unsafe.Pointer(&text)
	if text == "" {
		return nil // 0, as in encoding/json
	}
	if i, err := strconv.ParseInt(text, 10, 64); err == nil && (i != 0 || text[0] != '-') {
		n.bits = uint64(i)
		return nil
	}
	if u, err := strconv.ParseUint(text, 10, 64); err == nil {
		n.from, n.bits = originOf(numberType, Uint), u
		return nil
	}
	x, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return unsupported(numberType, err)
	}
	n.from = originOf(numberType, Float)
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
	if i, err := strconv.ParseInt(text, 10, 64); err == nil {
		n.from, n.bits = intOrigin, uint64(i)
		if int64(int(i)) != i {
			n.from = int64Origin
		}
		return nil
	}
	if u, err := strconv.ParseUint(text, 10, 64); err == nil {
		n.from, n.bits = uint64Origin, u
		return nil
	}
	return n.number(text)
}

var (
	int64Origin  = originOf(reflect.TypeFor[int64](), Int)
	uint64Origin = originOf(reflect.TypeFor[uint64](), Uint)
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
