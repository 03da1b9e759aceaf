package snapshot

import (
	"cmp"
	"encoding/json"
	"fmt"
	"iter"
	"log/slog"
	"strconv"

	"github.com/cowstore/cowstore/snapshot/depth"
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

// LogValue returns the kind and the key, shortened if it is long.
func (c Change[K, V]) LogValue() slog.Value {
	return slog.GroupValue(slog.String("kind", c.Kind.String()), slog.String("key", text(c.Key)))
}

// String returns the key, shortened if it is long, such as conflict "ada".
func (c Conflict[K, V]) String() string { return "conflict " + quoted(c.Key) }

// String says which map is edited, as it was when the edit began.
func (e *Editor[K, V]) String() string {
	if e == nil {
		return "<nil>"
	}
	return "edit of " + e.base.String()
}

// MarshalJSON returns the map as encoding/json has a map[K]V of the same rows: an
// object with its keys in the order of their texts. K must be a string, an integer or an
// encoding.TextMarshaler; otherwise the error wraps that of encoding/json. If a value has no
// JSON, the error is a *KeyError. It wraps [ErrTooDeep] if there are more than 10,000 levels,
// as encoding/json would not read them; those around the value count, and those of maps and
// views within it. Values are isolated, one after the other, so that their methods may do
// anything. A nil *Map is null.
//
// There is no UnmarshalJSON, since a Map never changes: decode into a map[K]V, and
// give maps.All of it to Collect, or to Replace or Sync of package cow.
func (m *Map[K, V]) MarshalJSON() ([]byte, error) { return m.json(0) }

// json is Builder.JSON.
func (m *Map[K, V]) json(around int) ([]byte, error) { return rowsJSON(m, around, m.All()) }

func rowsJSON[K comparable, V any](m *Map[K, V], around int, rows iter.Seq2[K, V]) ([]byte, error) {
	// A type that JSON does not have is known before any row is looked at.
	if _, err := json.Marshal(map[K]V(nil)); err != nil {
		return nil, fmt.Errorf("%s: %w", m.title(), err)
	}
	texts := make(map[K]json.RawMessage, m.Len())
	for key, v := range rows {
		text, err := depth.Marshal(around+1, v)
		if err != nil {
			return nil, &KeyError[K]{m.title(), key, err}
		}
		texts[key] = text
	}
	text, err := depth.Marshal(around, texts)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", m.title(), err)
	}
	return text, nil
}

// MarshalJSON returns {"key":…,"revision":…,"value":…}, without the revision if that
// is Pending, and null for the zero Row.
func (r Row[K, V]) MarshalJSON() ([]byte, error) {
	if r.e == nil {
		return []byte("null"), nil
	}
	value, err := depth.Marshal(1, r.Value())
	if err != nil {
		return nil, r.cfg.keyError(r.Key(), err)
	}
	return keyedJSON(r.cfg, r.Key(), struct {
		Key      K               `json:"key"`
		Revision uint64          `json:"revision,omitempty"`
		Value    json.RawMessage `json:"value"`
	}{r.Key(), r.Revision() &^ Pending, value})
}

// MarshalJSON returns {"key":…,"kind":"changed","old":…,"new":…}, without the value
// that there is not.
func (c Change[K, V]) MarshalJSON() ([]byte, error) {
	old, err := valueJSON(c.was, c.old)
	new, err2 := valueJSON(c.cfg, c.new)
	if err := cmp.Or(err, err2); err != nil {
		return nil, err
	}
	return keyedJSON(cmp.Or(c.cfg, c.was), c.Key, struct {
		Key  K               `json:"key"`
		Kind Kind            `json:"kind"`
		Old  json.RawMessage `json:"old,omitempty"`
		New  json.RawMessage `json:"new,omitempty"`
	}{c.Key, c.Kind, old, new})
}

// valueJSON returns the value of e, isolated, as JSON, and nothing if there is no e.
func valueJSON[K comparable, V any](c *config[K, V], e *entry[V]) (json.RawMessage, error) {
	v, ok := isolated(c, e)
	if !ok {
		return nil, nil
	}
	text, err := depth.Marshal(1, v)
	if err != nil {
		return nil, c.keyError(c.key(e), err)
	}
	return text, nil
}

// keyedJSON returns v, which holds key, as JSON.
func keyedJSON[K comparable, V any](c *config[K, V], key K, v any) ([]byte, error) {
	text, err := depth.Marshal(0, v)
	if err != nil && c != nil {
		return nil, c.keyError(key, err)
	}
	return text, err
}

// MarshalText returns String of one of the kinds.
func (k Kind) MarshalText() ([]byte, error) {
	if k < Added || k > Erased {
		return nil, fmt.Errorf("snapshot: no kind of change: %d", uint8(k))
	}
	return []byte(k.String()), nil
}

// UnmarshalText sets k to the kind that text is String of.
func (k *Kind) UnmarshalText(text []byte) error {
	for kind := Added; kind <= Erased; kind++ {
		if string(text) == kind.String() {
			*k = kind
			return nil
		}
	}
	return fmt.Errorf("snapshot: no kind of change: %.100q", text)
}
