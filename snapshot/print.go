package snapshot

import (
	"cmp"
	"fmt"
	"log/slog"
	"reflect"
	"strconv"
	"strings"
)

// How things look in a log: short and at once, however much there is in them. A
// map is its name, version and number of rows; a row is its key. Values never
// show: they may be large, secret, cyclic or somebody's to modify, and whoever
// wants one can ask for it. Nothing here looks at what an Editor may be writing.

// String returns the name, version and number of rows, such as "snapshot@17 (3 rows)".
// It takes constant time.
func (m *Map[K, V]) String() string {
	rows := " rows)"
	if m.Len() == 1 {
		rows = " row)"
	}
	return fmt.Sprintf("%s@%d (%d%s", cut(m.title()), m.Version(), m.Len(), rows)
}

// Format formats String, whatever the verb.
func (m *Map[K, V]) Format(f fmt.State, verb rune) { format(f, verb, m.String()) }

// LogValue returns the name, version and number of rows.
func (m *Map[K, V]) LogValue() slog.Value {
	return slog.GroupValue(slog.String("name", cut(m.title())), slog.Uint64("version", m.Version()), slog.Int("rows", m.Len()))
}

// title returns the name that errors begin with. It makes no config.
func (m *Map[K, V]) title() string {
	if m == nil || m.cfg == nil {
		return "snapshot"
	}
	return cmp.Or(m.cfg.name, "snapshot")
}

// String returns that of the map.
func (s Shared[K, V]) String() string { return s.m.String() }

// Format formats String, whatever the verb.
func (s Shared[K, V]) Format(f fmt.State, verb rune) { format(f, verb, s.String()) }

// LogValue returns that of the map.
func (s Shared[K, V]) LogValue() slog.Value { return s.m.LogValue() }

// String says which map is edited, as it was when the edit began.
func (e *Editor[K, V]) String() string {
	if e == nil {
		return "<nil>"
	}
	return "edit of " + e.base.String()
}

// Format formats String, whatever the verb.
func (e *Editor[K, V]) Format(f fmt.State, verb rune) { format(f, verb, e.String()) }

// LogValue returns String.
func (e *Editor[K, V]) LogValue() slog.Value { return slog.StringValue(e.String()) }

// String returns the key, shortened if it is long, and the revision, such as
// "ada"@17.
func (r Row[K, V]) String() string {
	switch {
	case r.e == nil:
		return "<nil>"
	case r.Revision() == Pending:
		return quoted(r.Key()) + "@pending"
	}
	return quoted(r.Key()) + "@" + strconv.FormatUint(r.Revision(), 10)
}

// Format formats String, whatever the verb.
func (r Row[K, V]) Format(f fmt.State, verb rune) { format(f, verb, r.String()) }

// LogValue returns the key, shortened if it is long, and the revision, 0 if that is
// Pending.
func (r Row[K, V]) LogValue() slog.Value {
	if r.e == nil {
		return slog.Value{}
	}
	return slog.GroupValue(slog.String("key", text(r.Key())), slog.Uint64("revision", r.Revision()&^Pending))
}

// String returns the kind and the key, shortened if it is long, such as
// added "ada".
func (c Change[K, V]) String() string { return c.Kind.String() + " " + quoted(c.Key) }

// Format formats String, whatever the verb.
func (c Change[K, V]) Format(f fmt.State, verb rune) { format(f, verb, c.String()) }

// LogValue returns the kind and the key, shortened if it is long.
func (c Change[K, V]) LogValue() slog.Value {
	return slog.GroupValue(slog.String("kind", c.Kind.String()), slog.String("key", text(c.Key)))
}

// String returns the key, shortened if it is long, such as conflict "ada".
func (c Conflict[K, V]) String() string { return "conflict " + quoted(c.Key) }

// Format formats String, whatever the verb.
func (c Conflict[K, V]) Format(f fmt.State, verb rune) { format(f, verb, c.String()) }

// LogValue returns String.
func (c Conflict[K, V]) LogValue() slog.Value { return slog.StringValue(c.String()) }

// String returns the type of the value, such as isolated map[string]int.
func (v Isolated[V]) String() string { return "isolated " + cut(reflect.TypeFor[V]().String()) }

// Format formats String, whatever the verb.
func (v Isolated[V]) Format(f fmt.State, verb rune) { format(f, verb, v.String()) }

// LogValue returns String.
func (v Isolated[V]) LogValue() slog.Value { return slog.StringValue(v.String()) }

// format formats text, for any verb: what has it instead of a method String is not
// looked into by %d or %#v either.
func format(f fmt.State, verb rune, text string) { fmt.Fprintf(f, fmt.FormatString(f, verb), text) }

// most is how many bytes of a text are shown.
const most = 100

// cut returns s, or as much of it as is shown.
func cut(s string) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}

// text returns a key as text. The methods that a key has for that are called; they
// may panic, which fmt writes down. A pointer without is an address, or what it leads
// to might lead back to it.
func text(key any) string {
	switch key.(type) {
	case fmt.Formatter, fmt.Stringer, error:
		return cut(fmt.Sprint(key))
	}
	switch v := reflect.ValueOf(key); {
	case v.Kind() == reflect.String:
		return cut(v.String())
	case v.Kind() == reflect.Pointer:
		return fmt.Sprintf("%p", key)
	case v.IsValid() && !v.Comparable():
		return cut(v.Type().String()) // never in a map
	}
	return cut(fmt.Sprint(key))
}

// quoted returns text, in quotes if key is a string.
func quoted(key any) string {
	t := text(key)
	if reflect.ValueOf(key).Kind() == reflect.String {
		t = cut(strconv.Quote(t))
	}
	return t
}
