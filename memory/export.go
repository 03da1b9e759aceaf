package memory

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/cowstore/cowstore/memory/internal/bare"
)

// A configured is a line of an export that says how a space is configured.
type configured struct {
	Space   []string       `json:"space"`
	Options optionsInLines `json:"options"`
}

// A record is a line of an export, an entry as JSON. Import reads it member by
// member.
type record struct {
	Space    *[]string       `json:"space"`
	Key      *string         `json:"key"`
	Value    json.RawMessage `json:"value,omitempty"`    // absent: no value
	Vector   []float32       `json:"vector,omitempty"`   // absent: no vector
	Metadata json.RawMessage `json:"metadata,omitempty"` // absent: none
	Created  *time.Time      `json:"created,omitempty"`
	Updated  *time.Time      `json:"updated,omitempty"`
	Expires  *time.Time      `json:"expires,omitempty"`  // absent: never
	Revision uint64          `json:"revision,omitempty"` // in a backup
}

// Export writes all entries as JSON Lines, one a line, in the order of their
// spaces and keys, while writes to the Memory may go on. A line is, without the break:
//
//	{"space":["user","42"],"key":"name","value":…,"vector":[…],"metadata":{…},
//	 "created":"…","updated":"…","expires":"…"}
//
// Before the entries there is a line for each space that is configured, by its path:
//
//	{"space":["user","42"],"options":{"max_entries":100,"max_bytes":65536,"ttl":"1h0m0s",
//	 "all":{"max_entries":…,"max_bytes":…},"each":{"max_entries":…,"max_bytes":…,"ttl":…}}}
//
// What does not come back by Import is:
//
//	the Go types of values      they are those of JSON; Bytes and Times are Strings
//	what JSON does not show     unexported fields, and that pointers led to one object
//	Handles                     they cannot be exported
//	revisions and versions      each entry gets that of the update that stores it, see Backup
//	history, pins, cursors      a cursor of the Memory that was exported is of another lineage
//	when an entry was last read
//
// An entry without value, vector, metadata or expiry has no such member. Times
// are in RFC 3339. Values are as MarshalJSON has them, so that Bytes and Times
// become strings, and a float32 the float64 with its few digits. An entry with a string
// that is not UTF-8 is ErrUTF8; what was written until then is of no use.
func (s Snapshot) Export(w io.Writer) error {
	if s.t == nil {
		return nil
	}
	b, enc := newLinesOf(w)
	if err := s.export(enc, false); err != nil {
		return err
	}
	return b.Flush()
}

// newLinesOf returns what writes JSON Lines to w.
func newLinesOf(w io.Writer) (*bufio.Writer, *json.Encoder) {
	b := bufio.NewWriterSize(w, 1<<16)
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	return b, enc
}

// export writes the lines of an export, with revisions for a backup.
func (s Snapshot) export(enc *json.Encoder, revisions bool) error {
	cleared := s.clearings()
	if err := s.exportOptions(enc); err != nil {
		return err
	}
	for name, row := range s.t.order.In(s.t.entries.In(s.root)).All() {
		e := row.Shared()
		path, key := split(name)
		if e.expired(s.instant) || !cleared.alive(path, row.Revision()) {
			continue
		}
		r, err := s.record(path, key, e)
		if err == nil {
			if revisions {
				r.Revision = row.Revision()
			}
			err = enc.Encode(r)
		}
		if err != nil {
			return fmt.Errorf("memory: export of space %q, key %q: %w", decodePath(path), key, bare.Wrap(err))
		}
	}
	return nil
}

func (s Snapshot) record(path, key string, e *entry) (*record, error) {
	space := decodePath(path)
	r := &record{Space: &space, Key: &key, Vector: e.vector}
	if slices.ContainsFunc(space, invalid) || invalid(key) || !e.value.ValidUTF8() || !e.metadata.ValidUTF8() {
		return nil, ErrUTF8
	}
	var err error
	if e.value.Exists() {
		if r.Value, err = e.value.MarshalJSON(); err != nil {
			return nil, err
		}
	}
	if e.metadata.Exists() {
		if r.Metadata, err = e.metadata.MarshalJSON(); err != nil {
			return nil, err
		}
	}
	created, updated := time.Unix(0, e.created).UTC(), time.Unix(0, e.updated).UTC()
	r.Created, r.Updated = &created, &updated
	if e.expires != 0 {
		expires := time.Unix(0, e.expires).UTC()
		r.Expires = &expires
	}
	return r, nil
}

func invalid(s string) bool { return !utf8.ValidString(s) }

// exportOptions writes how spaces are configured.
func (s Snapshot) exportOptions(enc *json.Encoder) error {
	options := s.t.options.In(s.root)
	for _, path := range slices.Sorted(options.Keys()) {
		o, _ := options.Get(path)
		c := configured{decodePath(path), newOptionsInLines(o)}
		if slices.ContainsFunc(c.Space, invalid) {
			return fmt.Errorf("memory: export of the options of space %q: %w", c.Space, ErrUTF8)
		}
		if err := enc.Encode(c); err != nil {
			return err
		}
	}
	return nil
}
