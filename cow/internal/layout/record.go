package layout

import (
	"encoding/binary"
	"fmt"
	"maps"
	"slices"

	"github.com/cowstore/cowstore/cow/internal/sink"
	"github.com/cowstore/cowstore/cow/internal/wire"
)

// A Record has what is recorded of each table, by its name. It must not be modified once it
// is in use.
type Record map[string]string

// Encode returns the record as bytes, the same for the same record.
func (r Record) Encode() []byte {
	b := binary.AppendUvarint(nil, uint64(len(r)))
	for _, name := range slices.Sorted(maps.Keys(r)) {
		b = wire.Append(wire.Append(b, name), r[name])
	}
	return b
}

// Decode is the reverse of Encode.
func Decode(b []byte) (Record, error) {
	from, r := wire.NewReader(b), Record{}
	for n := from.Uvarint(); n > 0 && from.Err() == nil; n-- {
		name := from.Text()
		r[name] = from.Text()
	}
	return r, from.End()
}

// Join returns the record of these tables, and of those that it has besides. An error wraps
// sink.ErrSchema: a table cannot take what is recorded of it.
func (r Record) Join(tables []sink.Table) (Record, error) {
	next := make(Record, len(r)+len(tables))
	maps.Copy(next, r)
	for _, t := range tables {
		text, err := t.Schema(r[t.Name])
		if err != nil {
			return nil, err
		}
		next[t.Name] = text
	}
	return next, nil
}

// Unknown returns an error for tables that are stored and that the program does not have,
// or nil if there are none.
func Unknown(names []string) error {
	if len(names) == 0 {
		return nil
	}
	const most = 10
	more := ""
	if n := len(names) - most; n > 0 {
		names, more = names[:most], fmt.Sprintf(" and %d more", n)
	}
	return fmt.Errorf("%w: the program does not have %q%s: make these tables, or set Options.KeepUnknown", sink.ErrSchema, names, more)
}
