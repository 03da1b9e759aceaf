package layout

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// A Text is what is recorded of a table: the type of its keys, and its values, which is the
// text of their codec, or that and the shape of their type after " of ".
type Text struct{ Key, Value string }

const (
	keyMark   = "key "
	valueMark = ", value "
	shapeMark = " of "
	maxText   = 16 << 10 // bytes of either
)

// NewText returns a text, of which both parts are bounded.
func NewText(key, value string) Text { return Text{Bounded(key, maxText), Bounded(value, maxText)} }

func (t Text) String() string { return keyMark + t.Key + valueMark + t.Value }

// Parse is the reverse of String.
func Parse(text string) Text {
	key, value, _ := strings.Cut(strings.TrimPrefix(text, keyMark), valueMark)
	return Text{key, value}
}

// Differences returns how rows that were recorded with a text may be lost where they are
// read as another says. Each is a text that is bounded and stays the same. Fields that are
// new make none, nor does a value that becomes a pointer to one.
func (t Text) Differences(is Text) (all []string) {
	if t.Key != is.Key {
		all = append(all, Other("key", t.Key, is.Key))
	}
	if t.Value == is.Value {
		return all
	}
	codec, was, okWas := splitShape(t.Value)
	now, shape, ok := splitShape(is.Value)
	if !ok || !okWas || codec != now {
		return append(all, Other("value", t.Value, is.Value))
	}
	return append(all, differences("value", was, shape)...)
}

// splitShape splits what is before the first shape from it.
func splitShape(value string) (codec string, shape any, ok bool) {
	for at := 0; ; {
		n := strings.Index(value[at:], shapeMark)
		if n < 0 {
			return value, nil, false
		}
		at += n + len(shapeMark)
		if json.Unmarshal([]byte(value[at:]), &shape) == nil {
			return value[:at], shape, true
		}
	}
}

// Other says that something was one thing and is another.
func Other(what, was, is string) string {
	const most = 160
	return fmt.Sprintf("%s: %s, now %s", what, Bounded(was, most), Bounded(is, most))
}

// differences compares shapes, which are not deeper than json.Unmarshal reads.
func differences(at string, was, is any) (all []string) {
	if was == any(rest) || is == any(rest) {
		return nil
	}
	if list, ok := is.([]any); ok && len(list) == 2 && list[0] == "*" {
		if list, ok := was.([]any); !ok || len(list) != 2 || list[0] != "*" {
			return differences(at, was, is.([]any)[1]) // nil is new
		}
	}
	switch was := was.(type) {
	case map[string]any:
		if is, ok := is.(map[string]any); ok {
			for _, name := range slices.Sorted(maps.Keys(was)) {
				field, ok := is[name]
				at := at + "." + quoted(name)
				if !ok {
					all = append(all, fmt.Sprintf("%s: %s, now gone", at, text(was[name])))
				} else {
					all = append(all, differences(at, was[name], field)...)
				}
			}
			return all
		}
	case []any:
		if is, ok := is.([]any); ok && len(was) == len(is) && len(was) > 1 && text(was[0]) == text(is[0]) && was[0] != any("fields") {
			for i := 1; i < len(was); i++ {
				part := text(was[0])
				if part == "map" {
					part = map[bool]string{true: "{key}", false: "{}"}[i == 1]
				}
				all = append(all, differences(at+part, was[i], is[i])...)
			}
			return all
		}
	}
	if was, is := text(was), text(is); was != is {
		all = append(all, Other(at, was, is))
	}
	return all
}

func quoted(name string) string {
	for _, c := range name {
		if c != '_' && (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') {
			return strconv.Quote(name)
		}
	}
	return name
}

// text returns a shape as it is recorded, a name without its quotes.
func text(shape any) string {
	if name, ok := shape.(string); ok {
		return name
	}
	b, _ := json.Marshal(shape)
	return string(b)
}
