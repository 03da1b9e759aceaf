package memory

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/cowstore/cowstore/memory/value"
)

// What is printed or logged is short, some 200 bytes at most, and made in constant time:
// a count stands for what is large. MarshalJSON and Export have it all.

const partShown = 40 // bytes of what is shown with others

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
		b.WriteString(value.Clip(s, partShown/2))
	}
	return b.String()
}

// print is the method Format of what has a text.
func print(f fmt.State, verb rune, v slog.Value) {
	fmt.Fprintf(f, fmt.FormatString(f, verb), v.String())
}

func (e Entry) attrs() []slog.Attr {
	a := []slog.Attr{slog.String("key", value.Clip(e.Key, partShown)), slog.Any("value", e.Value.Short(partShown))}
	if e.Metadata.Exists() {
		a = append(a, slog.Any("metadata", e.Metadata.Short(partShown)))
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
	a := []slog.Attr{slog.String("value", value.Clip(fmt.Sprintf("%T", it.Value), partShown))}
	if it.Metadata != nil {
		a = append(a, slog.String("metadata", value.Clip(fmt.Sprintf("%T", it.Metadata), partShown)))
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
		slog.String("space", clipPath(c.Space)), slog.String("key", value.Clip(c.Key, partShown)), slog.Any("value", v.Short(partShown)))
}

// String returns what LogValue does in one line.
func (c Change) String() string { return c.LogValue().String() }

// Format prints String, whatever the verb.
func (c Change) Format(f fmt.State, verb rune) { print(f, verb, c.LogValue()) }

// LogValue returns the entry and its three values in short.
func (c Conflict) LogValue() slog.Value {
	const n = partShown / 2
	return slog.GroupValue(slog.String("space", clipPath(c.Space)), slog.String("key", value.Clip(c.Key, n)),
		slog.Any("base", c.Base.Value.Short(n)), slog.Any("ours", c.Ours.Value.Short(n)), slog.Any("theirs", c.Theirs.Value.Short(n)))
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
		entries, spaces = s.total("").count, s.t.spaces.In(s.root).Len()
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
