// Package decimal compares numbers by their digits, of which there may be more than a float64 has.
package decimal

import (
	"cmp"
	"math"
	"strconv"
	"strings"
)

// A Decimal is a number as digits, without zeros at either end, behind the point, and
// a power of ten: exactly, in as much memory as its text.
type Decimal struct {
	negative bool
	exponent int64
	digits   string // "": zero
}

// maxExponent is how large the exponent of a number may be in its text: none of a
// number that is not 0 and not too large for a float64 is larger, but smaller.
const maxExponent = 1e18

// Parse returns the decimal that a text is that strconv.ParseFloat takes, unless
// it is none, as those in base 16, or its exponent is out of range.
func Parse(text string) (d Decimal, ok bool) {
	mantissa, exponent := text, ""
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		mantissa, exponent = text[:i], text[i+1:]
	}
	if strings.Trim(mantissa, "+-.0123456789") != "" {
		return Decimal{}, false
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
		return Decimal{}, true
	}
	if exponent != "" {
		e, err := strconv.ParseInt(exponent, 10, 64)
		if err != nil || e > maxExponent || e < -maxExponent {
			return Decimal{}, false
		}
		d.exponent += e
	}
	d.negative = text[0] == '-'
	return d, true
}

func (d Decimal) Compare(e Decimal) int {
	switch {
	case d.sign() != e.sign():
		return cmp.Compare(d.sign(), e.sign())
	case d.negative:
		d, e = e, d
	}
	return cmp.Or(cmp.Compare(d.exponent, e.exponent), strings.Compare(d.digits, e.digits))
}

func (d Decimal) sign() int {
	switch {
	case d.digits == "":
		return 0
	case d.negative:
		return -1
	}
	return 1
}

// WrittenBack reports whether x, the float64 nearest to a text, is written as the same
// number that the text is.
func WrittenBack(x float64, text string) bool {
	size := math.Abs(x)
	if len(text) <= 15 && size > 1e-300 {
		return true // a float64 has that many digits
	}
	var buf [32]byte
	if 1e-6 <= size && size < 1e21 && string(strconv.AppendFloat(buf[:0], x, 'f', -1, 64)) == text {
		return true
	}
	d, ok := Parse(text)
	shortest, _ := Parse(strconv.FormatFloat(x, 'g', -1, 64))
	return ok && d == shortest
}
