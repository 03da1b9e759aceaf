package jsonl

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/cowstore/cowstore/memory/internal/bare"
	"github.com/cowstore/cowstore/memory/internal/data"
	"github.com/cowstore/cowstore/memory/internal/jsontext"
	"github.com/cowstore/cowstore/memory/value"
	"github.com/cowstore/cowstore/memory/vector"
)

// A Line is a line that was read.
type Line struct {
	Value, Metadata           value.Value
	Vector                    []float32
	Line, Bytes               int
	Space, Key                string
	Created, Updated, Expires int64
	Options                   *data.Config // nil: the line is an entry
	Kept, Embedded            bool
	By                        *string // nil: it was not superseded
	Revision                  uint64  // in a backup
	Point                             // the line is the first of a backup, if it is not zero
}

// Read reads all lines, and where they begin with that of a backup, what that says.
func Read(r io.Reader, max int) (all []Line, from *Point, err error) {
	in := newLines(r, max)
	for line := 1; ; line++ {
		text, err := in.next()
		if err == io.EOF {
			return all, from, nil
		}
		if err == nil && len(bytes.TrimSpace(text)) > 0 {
			var i Line
			i, err = parse(text, max)
			i.Line, i.Bytes = line, len(text)
			switch {
			case err != nil:
			case i.Cursor == "":
				all = append(all, i)
			case len(all) > 0 || from != nil:
				err = fmt.Errorf("%w: a cursor is for the first line", ErrMalformed)
			default:
				from = &i.Point
			}
		}
		if err != nil {
			return nil, nil, LineError(line, err)
		}
	}
}

// LineError returns an error about a line, counted from 1.
func LineError(line int, err error) error {
	return fmt.Errorf("memory: line %d: %w", line, bare.Wrap(err))
}

// memberNames are the members that a line may have. All but the first may be null, which
// is as if they were absent.
var memberNames = []string{"space", "key", "value", "vector", "metadata", "created", "updated", "expires", "options", "kept", "embedded", "superseded_by", "revision", "cursor", "time"}

const needed = 3

// parse reads a line.
func parse(line []byte, max int) (Line, error) {
	i := Line{Created: data.Unset, Updated: data.Unset}
	if !utf8.Valid(line) {
		return i, fmt.Errorf("%w: %w", ErrMalformed, ErrUTF8)
	}
	if err := jsontext.Valid(line); err != nil {
		return i, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	if bytes.TrimLeft(line, " \t\r")[0] != '{' {
		return i, fmt.Errorf("%w: it is not an object", ErrMalformed)
	}
	met := make(map[string]bool, len(memberNames))
	err := jsontext.EachMember(line, func(name string, text []byte) error {
		at := slices.Index(memberNames, name)
		if at < 0 {
			return fmt.Errorf("%w: unknown member %.40q", ErrMalformed, name)
		}
		if _, again := met[name]; again {
			return fmt.Errorf("%w: two members %q", ErrMalformed, name)
		}
		met[name] = at < needed || text[0] != 'n'
		if !met[name] {
			return nil
		}
		if err := i.member(name, text, max); err != nil {
			return fmt.Errorf("%w: %s: %w", ErrMalformed, name, bare.Wrap(err))
		}
		return nil
	})
	switch {
	case err != nil:
		return i, err
	case met["cursor"] || met["time"]:
		if i.Cursor == "" || !met["time"] || len(met) > 2 {
			return i, fmt.Errorf("%w: a cursor and its time are a line of their own", ErrMalformed)
		}
		return i, nil
	case !met["space"]:
		return i, fmt.Errorf("%w: no space", ErrMalformed)
	case i.Options != nil && len(met) > 2:
		return i, fmt.Errorf("%w: options besides an entry", ErrMalformed)
	case i.Options != nil:
		return i, nil
	case !met["key"]:
		return i, fmt.Errorf("%w: no key", ErrMalformed)
	case !met["value"] && i.Vector == nil:
		return i, fmt.Errorf("%w: neither value nor vector", ErrMalformed)
	case i.Embedded && (i.Vector == nil || !met["value"]):
		return i, fmt.Errorf("%w: embedded, without a value and its vector", ErrMalformed)
	case i.By != nil && (i.Vector != nil || !met["value"]):
		return i, fmt.Errorf("%w: superseded, without a value or with a vector", ErrMalformed)
	}
	return i, nil
}

// member reads a member of a line.
func (i *Line) member(name string, text []byte, max int) (err error) {
	switch name {
	case "space":
		i.Space, err = memberSpace(text)
	case "key":
		i.Key, err = jsontext.ParseString(text)
	case "value":
		i.Value, err = memberValue(text, max)
	case "vector":
		if i.Vector, err = memberVector(text); err == nil {
			err = vector.Check(i.Vector)
		}
	case "metadata":
		i.Metadata, err = memberValue(text, max)
		if err == nil && i.Metadata.Kind() != value.Map {
			err = errors.New("it is not an object")
		}
	case "options":
		i.Options, err = memberOptions(text)
	case "kept":
		i.Kept, err = strconv.ParseBool(string(text))
	case "embedded":
		i.Embedded, err = strconv.ParseBool(string(text))
	case "superseded_by":
		var by string
		by, err = jsontext.ParseString(text)
		i.By = &by
	case "revision":
		i.Revision, err = strconv.ParseUint(string(text), 10, 64)
	case "cursor":
		i.Cursor, err = jsontext.ParseString(text)
	case "time":
		i.At, err = memberTime(text)
	case "created":
		i.Created, err = memberTime(text)
	case "updated":
		i.Updated, err = memberTime(text)
	case "expires":
		if i.Expires, err = memberTime(text); i.Expires == 0 {
			i.Expires = -1 // a moment before: 0 is never, and it has expired anyway
		}
	}
	return err
}

// A Point is the first line of a backup: where in a line of versions it was made.
type Point struct {
	Cursor string
	At     int64 // when that version was published
}

// Entry returns the entry of the line, which is not measured.
func (i *Line) Entry() *data.Entry {
	e := &data.Entry{Value: i.Value, Metadata: i.Metadata, Created: i.Created, Updated: i.Updated, Expires: i.Expires}
	e.SetVector(i.Vector, i.Embedded)
	if i.By != nil {
		e.Supersede(*i.By)
	}
	if i.Kept {
		e.Keep(true)
	}
	return e
}
