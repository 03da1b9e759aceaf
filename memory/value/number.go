package value

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
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
	if _, ok := parseDecimal(text); !ok && x == 0 {
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
		if text != "-0" && !writtenBack(x, text) {
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

// appendLiteral appends the literal of a number, if it has one.
func (n *node) appendLiteral(b []byte) ([]byte, bool) {
	text, ok := n.literal()
	if !ok || text == "" {
		return b, false
	}
	return append(b, text...), true
}

// A decimal is a number as digits, without zeros at either end, behind the point, and
// a power of ten: exactly, in as much memory as its text.
type decimal struct {
	negative bool
	exponent int64
	digits   string // "": zero
}

// maxExponent is how large the exponent of a number may be in its text: none of a
// number that is not 0 and not too large for a float64 is larger, but smaller.
const maxExponent = 1e18

// parseDecimal returns the decimal that a text is that strconv.ParseFloat takes, unless
// it is none, as those in base 16, or its exponent is out of range.
func parseDecimal(text string) (d decimal, ok bool) {
	mantissa, exponent := text, ""
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		mantissa, exponent = text[:i], text[i+1:]
	}
	if strings.Trim(mantissa, "+-.0123456789") != "" {
		return decimal{}, false
	}
	whole, fraction, _ := strings.Cut(strings.TrimLeft(mantissa, "+-"), ".")
	if whole = strings.TrimLeft(whole, "0"); fraction != "" {
		d.digits = whole + fraction
	} else {
		d.digits = whole
	}
	d.exponent = int64(len(whole))
	length := len(d.digits)
	d.digits = strings.TrimLeft(d.digits, "0")
	d.exponent -= int64(length - len(d.digits))
	if d.digits = strings.TrimRight(d.digits, "0"); d.digits == "" {
		return decimal{}, true
	}
	if exponent != "" {
		e, err := strconv.ParseInt(exponent, 10, 64)
		if err != nil || e > maxExponent || e < -maxExponent {
			return decimal{}, false
		}
		d.exponent += e
	}
	d.negative = text[0] == '-'
	return d, true
}

func (d decimal) compare(e decimal) int {
	switch {
	case d.sign() != e.sign():
		return cmp.Compare(d.sign(), e.sign())
	case d.negative:
		d, e = e, d
	}
	return cmp.Or(cmp.Compare(d.exponent, e.exponent), strings.Compare(d.digits, e.digits))
}

func (d decimal) sign() int {
	switch {
	case d.digits == "":
		return 0
	case d.negative:
		return -1
	}
	return 1
}

// writtenBack reports whether x, the float64 nearest to a text, is written as the same
// number that the text is.
func writtenBack(x float64, text string) bool {
	size := math.Abs(x)
	if len(text) <= 15 && size > 1e-300 {
		return true // a float64 has that many digits
	}
	var buf [32]byte
	if 1e-6 <= size && size < 1e21 && string(strconv.AppendFloat(buf[:0], x, 'f', -1, 64)) == text {
		return true
	}
	d, ok := parseDecimal(text)
	shortest, _ := parseDecimal(strconv.FormatFloat(x, 'g', -1, 64))
	return ok && d == shortest
}

// decimal returns the number that v is. Text with a fraction or an exponent is a
// float64 if that is how one is written. A float64 without a fraction, below 1e21, is
// what it is in base 2, as an Int; others are what they are written as.
func (v Value) decimal() decimal {
	if text, ok := v.n.literal(); ok && !(v.Kind() == Float && strings.ContainsAny(text, ".eE") && writtenBack(v.Float(), text)) {
		if d, ok := parseDecimal(text); ok {
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
	d, _ := parseDecimal(text)
	return d
}
