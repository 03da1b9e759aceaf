package cow

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/cowstore/cowstore/cow/internal/door"
	"github.com/cowstore/cowstore/cow/internal/layout"
)

// ErrSchema says that a file or a replica has other tables than the program: one that the
// program does not have, or one that it has with other keys, another codec, or values
// without something that is stored. The error spells out both, and each difference.
//
// What counts is the schema of a table, a text: of its keys, the kinds and the names of
// the fields, in order, where int is int64, and uint and uintptr are uint64; the codec, with
// its version; and of its values what the codec writes by name. It is recorded when rows are
// first stored, and again when a program opens them that has more. These are
// no differences:
//
//   - the name of a type, unless it encodes itself
//   - a field of a value that is new, or became a pointer to what it was, or is at another
//     place among the others
//   - another size or sign of an integer of a value in JSON or CBOR: one that does not fit is
//     an error
//   - another version of a [Versioned], if its Other and Newest read it
//   - what Options.Accept of the table lists
//
// Of a value the schema has no more than 8 KiB and 32 levels; what lies deeper does not
// count. Nor does the inside of a type that encodes itself: give the codec a version.
var ErrSchema = door.ErrSchema

// record returns what is to be recorded of the table, given what is recorded: its schema,
// unless that of a newer version of a Versioned is there, which it reads.
func (d *tableDef[K, V]) record(recorded string) (string, error) {
	is := layout.NewText(d.keys.Schema(), layout.CodecSchema[V](d.codec))
	text, err := record(recorded, is, d.codec, d.accept)
	if err != nil {
		return "", fmt.Errorf("cow: table %q: %w", d.name, err)
	}
	return text, nil
}

func record(recorded string, is layout.Text, codec any, accept []string) (string, error) {
	if recorded == "" {
		return is.String(), nil
	}
	was := layout.Parse(recorded)
	next := is
	var other []string
	if c, ok := codec.(versioned); ok {
		if v, ok := versionOf(was.Value); ok && !strings.HasPrefix(was.Value, c.describe()) {
			if c.newer(v) {
				next.Value = was.Value
			}
			if !c.reads(v) {
				other = append(other, layout.Other("value", fmt.Sprint(versionMark, v), strings.TrimSuffix(c.describe(), ", ")))
			}
			was.Value = is.Value
		}
	}
	other = append(was.Differences(is), other...)
	other = slices.DeleteFunc(other, func(s string) bool { return slices.Contains(accept, s) })
	if len(other) == 0 {
		return next.String(), nil
	}
	const most, length = 10, 2 << 10
	more := ""
	if n := len(other) - most; n > 0 {
		other, more = other[:most], fmt.Sprintf(", and %d more", n)
	}
	return "", fmt.Errorf("%w: %s%s (stored are %s; the program has %s): see Options.Accept", ErrSchema,
		strings.Join(other, ", "), more, layout.Bounded(recorded, length), layout.Bounded(is.String(), length))
}

// versionOf returns the version that a schema begins with.
func versionOf(value string) (byte, bool) {
	text, ok := strings.CutPrefix(value, versionMark)
	n, _, found := strings.Cut(text, ",")
	v, err := strconv.ParseUint(n, 10, 8)
	return byte(v), ok && found && err == nil
}
