package jsonl

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/cowstore/cowstore/memory/internal/data"
	"github.com/cowstore/cowstore/memory/internal/tuple"
	"github.com/cowstore/cowstore/memory/value"
)

// A Configured is a line of an export that says how a space is configured.
type Configured struct {
	Space   []string       `json:"space"`
	Options optionsInLines `json:"options"`
}

// A Record is a line of an export, an entry as JSON. Import reads it member by
// member.
type Record struct {
	Space    *[]string       `json:"space"`
	Key      *string         `json:"key"`
	Value    json.RawMessage `json:"value,omitempty"`    // absent: no value
	Vector   []float32       `json:"vector,omitempty"`   // absent: no vector
	Metadata json.RawMessage `json:"metadata,omitempty"` // absent: none
	Created  *time.Time      `json:"created,omitempty"`
	Updated  *time.Time      `json:"updated,omitempty"`
	Expires  *time.Time      `json:"expires,omitempty"` // absent: never
	Kept     bool            `json:"kept,omitempty"`
	Embedded bool            `json:"embedded,omitempty"`      // the vector is of the text
	By       *string         `json:"superseded_by,omitempty"` // absent: it was not superseded
	Revision uint64          `json:"revision,omitempty"`      // in a backup
}

// NewLinesOf returns what writes JSON Lines to w.
func NewLinesOf(w io.Writer) (*bufio.Writer, *json.Encoder) {
	b := bufio.NewWriterSize(w, 1<<16)
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	return b, enc
}

// Check returns why an entry has no line that says all of it.
func Check(path, key string, e *data.Entry) error {
	by, _ := e.SupersededBy()
	if slices.ContainsFunc(tuple.Decode(path), invalid) || invalid(key) || invalid(by) {
		return ErrUTF8
	}
	if err := e.Value.CheckJSON(); err != nil {
		return err
	}
	return e.Metadata.CheckJSON()
}

// NewRecord returns the line of an entry that Check finds no fault with.
func NewRecord(path, key string, e *data.Entry) (*Record, error) {
	space := tuple.Decode(path)
	r := &Record{Space: &space, Key: &key, Vector: e.Vector()}
	var err error
	if e.Value.Exists() {
		if r.Value, err = e.Value.MarshalJSON(); err != nil {
			return nil, err
		}
	}
	if e.Metadata.Exists() {
		if r.Metadata, err = e.Metadata.MarshalJSON(); err != nil {
			return nil, err
		}
	}
	created, updated := time.Unix(0, e.Created).UTC(), time.Unix(0, e.Updated).UTC()
	r.Created, r.Updated = &created, &updated
	if e.Expires != 0 {
		expires := time.Unix(0, e.Expires).UTC()
		r.Expires = &expires
	}
	r.Kept, r.Embedded = e.Kept(), e.Embedded()
	if by, is := e.SupersededBy(); is {
		r.By = &by
	}
	return r, nil
}

func invalid(s string) bool { return !utf8.ValidString(s) }

// NewConfigured returns the line of how a space is configured.
func NewConfigured(path string, o *data.Config) (c Configured, err error) {
	c = Configured{tuple.Decode(path), newOptionsInLines(o)}
	if slices.ContainsFunc(c.Space, invalid) {
		err = fmt.Errorf("memory: export of the options of space %q: %w", c.Space, ErrUTF8)
	}
	return c, err
}

// The errors of lines.
var (
	ErrMalformed = errors.New("malformed entry")
	ErrUTF8      = value.ErrUTF8
)
