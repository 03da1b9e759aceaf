package cow

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"time"

	"github.com/cowstore/cowstore/snapshot/depth"
)

// How things look in a log: short and at once, as in package snapshot. A DB and a Table
// look like their current snapshots. What is nil is <nil>, but for a Snapshot.

const none = "<nil>"

// count returns how many there are of something.
func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// String returns the version and how many tables and rows there are, such as
// "cow@17 (2 tables, 3 rows)". It takes time proportional to the tables.
func (s *Snapshot) String() string { return describe(s, s.tables()) }

// LogValue returns the version and how many tables and rows there are.
func (s *Snapshot) LogValue() slog.Value {
	return slog.GroupValue(slog.Uint64("version", s.Version()), slog.Int("tables", len(s.tables())), slog.Int("rows", s.Len()))
}

func describe(s *Snapshot, tables []table) string {
	return fmt.Sprintf("cow@%d (%s, %s)", s.Version(), count(len(tables), "table"), count(s.Len(), "row"))
}

// String returns the String of the current snapshot.
func (db *DB) String() string {
	if db == nil {
		return none
	}
	return describe(db.Load(), db.catalog().all())
}

// Format formats the text of String by each verb: otherwise one such as %#v would read fields
// while updates write them.
func (db *DB) Format(f fmt.State, verb rune) { fmt.Fprintf(f, fmt.FormatString(f, verb), db.String()) }

// String returns the name of the table, the version that last changed it, and its number of rows,
// such as cow: table "users"@17 (3 rows).
func (t *Table[K, V]) String() string {
	if t == nil || t.db == nil {
		return none
	}
	return t.Load().String()
}

// String says which snapshot is updated.
func (tx *Tx) String() string {
	if tx == nil || tx.db == nil {
		return none
	}
	return "update of " + describe(tx.Base(), tx.db.catalog().all())
}

// String returns the version and how many changes there are, such as
// "commit 17 (3 changes)".
func (c *Commit) String() string {
	if c == nil {
		return none
	}
	return fmt.Sprintf("commit %d (%s)", c.Version(), count(c.commit().Len(), "change"))
}

// String returns the name of the index, such as index "by age".
func (x *Index[K, V, I]) String() string {
	if x == nil || x.def == nil {
		return none
	}
	return fmt.Sprintf("index %.100q", x.def.Name)
}

// String returns the name of the index and the number of all its entries, such as index "by age" (3
// entries), and says whether the range is only a part of it. It takes constant time.
func (r Range[K, V, I]) String() string {
	x := r.span.Index()
	if x == nil {
		return none
	}
	part, entries := "", "entries"
	if !r.span.IsWhole() {
		part = "part of "
	}
	n := r.span.Total()
	if n == 1 {
		entries = "entry"
	}
	return fmt.Sprintf("%sindex %.100q (%d %s)", part, x.Name, n, entries)
}

// MarshalJSON returns {"version":…,"tables":{"users":{…},…}}, with all tables that the DB has now,
// each as [snapshot.Map.MarshalJSON] returns it. An error names the table. A nil *Snapshot is null.
func (s *Snapshot) MarshalJSON() ([]byte, error) {
	maps := make(map[string]json.RawMessage)
	for _, t := range s.tables() {
		text, err := t.shown(s.root().Table(t.place()))
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

// MarshalJSON returns {"version":…,"time":…,"cursor":…,"changes":…}: what the methods return, with
// the time in UTC, and the number of changes. The changes themselves are read with [Table.Rows].
func (c *Commit) MarshalJSON() ([]byte, error) {
	return depth.Marshal(0, struct {
		Version uint64    `json:"version"`
		Time    time.Time `json:"time"`
		Cursor  string    `json:"cursor"`
		Changes int       `json:"changes"`
	}{c.Version(), c.Time().UTC(), c.Cursor(), c.commit().Len()})
}
