package memory

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"
	"unicode/utf8"
)

// What is printed or logged is short, some 200 bytes at most, and made in constant time:
// a count stands for what is large. MarshalJSON and Export have it all.

const (
	mostShown = 180 // bytes of a String alone
	partShown = 40  // bytes of what is shown with others
)

// clip returns s, or its first n bytes and how many there are.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	all := len(s)
	for !utf8.RuneStart(s[n]) && n > 0 {
		n--
	}
	return fmt.Sprintf("%s… (%d bytes)", s[:n], all)
}

// clipPath returns the path of a space for people.
func clipPath(path []string) string {
	var b strings.Builder
	for i, s := range path {
		if b.Len() >= partShown {
			fmt.Fprintf(&b, "… (%d elements)", len(path))
			break
		}
		if i > 0 {
			b.WriteByte('/')
		}
		b.WriteString(clip(s, partShown/2))
	}
	return b.String()
}

// short returns a bool, a number, or a text, of which about n bytes are of the value.
func (v Value) short(n int) any {
	switch k := v.Kind(); k {
	case Bool:
		return v.Bool()
	case Int, Uint, Float:
		if text, ok := v.n.literal(); ok {
			return clip(text, n)
		}
		switch k {
		case Int:
			return v.Int()
		case Uint:
			return v.n.bits
		}
		return v.Float()
	case String:
		return clip(v.String(), n)
	case Time:
		return v.Time().Format(time.RFC3339Nano)
	case Bytes, List, Map:
		return fmt.Sprintf("%v of %d", k, v.Len())
	case Handle:
		return clip("handle of "+v.n.from.typ.String(), n)
	default:
		return k.String()
	}
}

// Format prints a bool, a number, a Time, or the beginning of a String, as fmt prints
// these, and of anything else its kind and its length: "map of 3". For all of it there is
// MarshalJSON.
func (v Value) Format(f fmt.State, verb rune) {
	x := v.short(mostShown)
	if verb == 's' || verb == 'q' {
		x = fmt.Sprint(x)
	}
	fmt.Fprintf(f, fmt.FormatString(f, verb), x)
}

// LogValue returns what Format prints, for log/slog.
func (v Value) LogValue() slog.Value { return slog.AnyValue(v.short(mostShown)) }

// print is the method Format of what has a text.
func print(f fmt.State, verb rune, v slog.Value) {
	fmt.Fprintf(f, fmt.FormatString(f, verb), v.String())
}

func (e Entry) attrs() []slog.Attr {
	a := []slog.Attr{slog.String("key", clip(e.Key, partShown)), slog.Any("value", e.Value.short(partShown))}
	if e.Metadata.Exists() {
		a = append(a, slog.Any("metadata", e.Metadata.short(partShown)))
	}
	if e.Dim > 0 {
		a = append(a, slog.Int("dim", e.Dim))
	}
	if !e.Expires.IsZero() {
		a = append(a, slog.String("expires", e.Expires.Format(time.RFC3339Nano)))
	}
	return append(a, slog.Uint64("revision", e.Revision))
}

// LogValue returns the key, the value and the revision in short, and what else there is.
func (e Entry) LogValue() slog.Value { return slog.GroupValue(e.attrs()...) }

// String returns what LogValue does in one line.
func (e Entry) String() string { return e.LogValue().String() }

// Format prints String, whatever the verb.
func (e Entry) Format(f fmt.State, verb rune) { print(f, verb, e.LogValue()) }

// LogValue returns the score, and the entry in short.
func (h Hit) LogValue() slog.Value {
	return slog.GroupValue(append([]slog.Attr{slog.Float64("score", h.Score)}, h.attrs()...)...)
}

// String returns what LogValue does in one line.
func (h Hit) String() string { return h.LogValue().String() }

// Format prints String, whatever the verb.
func (h Hit) Format(f fmt.State, verb rune) { print(f, verb, h.LogValue()) }

// LogValue returns the type of the value, and what else there is, in short.
func (it Item) LogValue() slog.Value {
	a := []slog.Attr{slog.String("value", clip(fmt.Sprintf("%T", it.Value), partShown))}
	if it.Metadata != nil {
		a = append(a, slog.String("metadata", clip(fmt.Sprintf("%T", it.Metadata), partShown)))
	}
	return slog.GroupValue(append(a, slog.Int("dim", len(it.Vector)), slog.String("ttl", it.TTL.String()))...)
}

// String returns what LogValue does in one line.
func (it Item) String() string { return it.LogValue().String() }

// Format prints String, whatever the verb.
func (it Item) Format(f fmt.State, verb rune) { print(f, verb, it.LogValue()) }

// LogValue returns what was done to which entry in short, with the value that it has now,
// or had.
func (c Change) LogValue() slog.Value {
	v := c.New.Value
	if !v.Exists() {
		v = c.Old.Value
	}
	return slog.GroupValue(slog.Uint64("version", c.Version), slog.String("kind", c.Kind.String()),
		slog.String("space", clipPath(c.Space)), slog.String("key", clip(c.Key, partShown)), slog.Any("value", v.short(partShown)))
}

// String returns what LogValue does in one line.
func (c Change) String() string { return c.LogValue().String() }

// Format prints String, whatever the verb.
func (c Change) Format(f fmt.State, verb rune) { print(f, verb, c.LogValue()) }

// LogValue returns the entry and its three values in short.
func (c Conflict) LogValue() slog.Value {
	const n = partShown / 2
	return slog.GroupValue(slog.String("space", clipPath(c.Space)), slog.String("key", clip(c.Key, n)),
		slog.Any("base", c.Base.Value.short(n)), slog.Any("ours", c.Ours.Value.short(n)), slog.Any("theirs", c.Theirs.Value.short(n)))
}

// String returns what LogValue does in one line.
func (c Conflict) String() string { return c.LogValue().String() }

// Format prints String, whatever the verb.
func (c Conflict) Format(f fmt.State, verb rune) { print(f, verb, c.LogValue()) }

// LogValue returns the version and how many entries and spaces there are, with those that
// have expired and are not swept yet.
func (s Snapshot) LogValue() slog.Value {
	entries, spaces := 0, 0
	if s.t != nil {
		entries, spaces = s.t.entries.In(s.root).Len(), s.t.spaces.In(s.root).Len()
	}
	return slog.GroupValue(slog.Uint64("version", s.Version()), slog.Int("entries", entries), slog.Int("spaces", spaces))
}

// String returns what LogValue does in one line.
func (s Snapshot) String() string { return s.LogValue().String() }

// Format prints String, whatever the verb.
func (s Snapshot) Format(f fmt.State, verb rune) { print(f, verb, s.LogValue()) }

// MarshalJSON returns an error: see Export.
func (s Snapshot) MarshalJSON() ([]byte, error) {
	return nil, errors.New("memory: a Snapshot is not a JSON value: call Export for JSON Lines")
}
