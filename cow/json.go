package cow

import (
	"encoding/json"
	"errors"
	"time"

	"github.com/cowstore/cowstore/snapshot/depth"
)

// MarshalJSON returns the current snapshot as snapshot.Map.MarshalJSON has it: that
// of Load. There is no UnmarshalJSON: decode into a map[K]V, and give maps.All of it
// to Replace or Sync.
func (s *Store[K, V]) MarshalJSON() ([]byte, error) { return s.Load().MarshalJSON() }

// MarshalJSON is Store.MarshalJSON for the table.
func (t *Table[K, V]) MarshalJSON() ([]byte, error) { return t.Load().MarshalJSON() }

// MarshalJSON returns the current snapshot as Snapshot.MarshalJSON has it.
func (db *DB) MarshalJSON() ([]byte, error) { return tablesJSON(db.Load(), db.schema().all()) }

// MarshalJSON returns {"version":…,"tables":{"users":{…},…}}, with all tables that
// the DB has by now, each as snapshot.Map.MarshalJSON has it. An error says which
// table it is of. A nil *Snapshot is null.
func (s *Snapshot) MarshalJSON() ([]byte, error) { return tablesJSON(s, s.tables()) }

func tablesJSON(s *Snapshot, tables []table) ([]byte, error) {
	maps := make(map[string]json.RawMessage, len(tables))
	for _, t := range tables {
		text, err := t.shown(s)
		if err != nil {
			return nil, err
		}
		maps[t.title()] = text
	}
	return depth.Marshal(0, struct {
		Version uint64                     `json:"version"`
		Tables  map[string]json.RawMessage `json:"tables"`
	}{s.Version(), maps})
}

// tables returns the tables that the DB of s has.
func (s *Snapshot) tables() []table {
	if s == nil || s.of == nil {
		return nil
	}
	return s.of.schema.all()
}

// shown returns the table as it is in s, on the third level of JSON.
func (d *tableDef[K, V]) shown(s *Snapshot) (json.RawMessage, error) {
	return builder[K, V]{}.JSON(d.in(s), 2)
}

// MarshalJSON returns {"version":…,"time":…,"cursor":…,"changes":…}: what the methods
// return, the time in UTC, and how many changes there are. These are read by
// Store.Rows or Table.Rows.
func (c *Commit) MarshalJSON() ([]byte, error) {
	return depth.Marshal(0, struct {
		Version uint64    `json:"version"`
		Time    time.Time `json:"time"`
		Cursor  string    `json:"cursor"`
		Changes int       `json:"changes"`
	}{c.version, c.Time().UTC(), c.Cursor(), c.len()})
}

// MarshalJSON returns {"Table":…,"Key":…}, with the key as Error of a MergeError has it if
// it is nested too deeply to be read from the JSON of one.
func (c MergeConflict) MarshalJSON() ([]byte, error) {
	const around = 3 // the error, its conflicts and the conflict
	type plain MergeConflict
	text, err := depth.Marshal(around-1, plain(c))
	if errors.Is(err, ErrTooDeep) {
		c.Key = keyText(c.Key)
		return depth.Marshal(around-1, plain(c))
	}
	return text, err
}

// len returns how many changes there are.
func (c *Commit) len() int {
	if c.changes == nil {
		return 0
	}
	return c.changes.len()
}
