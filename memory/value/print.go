package value

import (
	"fmt"
	"iter"
	"log/slog"
	"time"
	"unicode/utf8"
)

const mostShown = 180 // bytes of a String alone

// Clip returns s for people to read: all of it, or its first n bytes, or fewer so as not to cut a
// rune, and how many bytes there are.
func Clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	all := len(s)
	for !utf8.RuneStart(s[n]) && n > 0 {
		n--
	}
	return fmt.Sprintf("%s… (%d bytes)", s[:n], all)
}

// Short returns v for people to read: a bool, a number, or a string with about n bytes of v.
func (v Value) Short(n int) any {
	switch k := v.Kind(); k {
	case Bool:
		return v.Bool()
	case Int, Uint, Float:
		if text, ok := v.n.literal(); ok {
			return Clip(text, n)
		}
		switch k {
		case Int:
			return v.Int()
		case Uint:
			return v.n.bits
		}
		return v.Float()
	case String:
		return Clip(v.String(), n)
	case Time:
		return v.Time().Format(time.RFC3339Nano)
	case Bytes, List, Map:
		return fmt.Sprintf("%v of %d", k, v.Len())
	case Handle:
		return Clip("handle of "+v.n.from.typ.String(), n)
	default:
		return k.String()
	}
}

// Format prints a bool, a number, a Time, or the beginning of a String, as fmt prints
// these. Of anything else it prints the kind and the length: "map of 3". [Value.MarshalJSON]
// has all of it.
func (v Value) Format(f fmt.State, verb rune) {
	x := v.Short(mostShown)
	if verb == 's' || verb == 'q' {
		x = fmt.Sprint(x)
	}
	fmt.Fprintf(f, fmt.FormatString(f, verb), x)
}

// LogValue returns what [Value.Format] prints, for log/slog.
func (v Value) LogValue() slog.Value { return slog.AnyValue(v.Short(mostShown)) }

// Texts returns an iterator over every String in v, at any depth, but not the keys of Maps.
func (v Value) Texts() iter.Seq[string] {
	return func(yield func(string) bool) { v.eachText(yield) }
}

func (v Value) eachText(yield func(string) bool) bool {
	switch v.Kind() {
	case String:
		return yield(v.String())
	case List:
		for _, e := range v.Values() {
			if !e.eachText(yield) {
				return false
			}
		}
	case Map:
		for _, e := range v.All() {
			if !e.eachText(yield) {
				return false
			}
		}
	}
	return true
}
