package cow

import (
	"fmt"
	"log/slog"
)

// How things look in a log: short and at once, as in package snapshot. A Store and a
// DB look like their current snapshots. What is nil is <nil>, but for a Snapshot.

// String returns the version and how many tables and rows there are, such as
// "cow@17 (2 tables, 3 rows)". It takes time proportional to the tables.
func (s *Snapshot) String() string { return describe(s, s.tables()) }

// Format formats String, whatever the verb.
func (s *Snapshot) Format(f fmt.State, verb rune) { format(f, verb, s.String()) }

// LogValue returns the version and how many tables and rows there are.
func (s *Snapshot) LogValue() slog.Value { return figures(s, s.tables()) }

func describe(s *Snapshot, tables []table) string {
	return fmt.Sprintf("cow@%d (%s, %s)", s.Version(), count(len(tables), "table"), count(s.Len(), "row"))
}

func figures(s *Snapshot, tables []table) slog.Value {
	return slog.GroupValue(slog.Uint64("version", s.Version()), slog.Int("tables", len(tables)), slog.Int("rows", s.Len()))
}

// String returns that of the current snapshot.
func (db *DB) String() string {
	if db == nil {
		return none
	}
	return describe(db.Load(), db.schema().all())
}

// Format formats String, whatever the verb.
func (db *DB) Format(f fmt.State, verb rune) { format(f, verb, db.String()) }

// LogValue returns that of the current snapshot.
func (db *DB) LogValue() slog.Value {
	if db == nil {
		return slog.Value{}
	}
	return figures(db.Load(), db.schema().all())
}

// String returns that of the current snapshot, such as "cow@17 (3 rows)".
func (s *Store[K, V]) String() string {
	if s == nil {
		return none
	}
	return s.Load().String()
}

// Format formats String, whatever the verb.
func (s *Store[K, V]) Format(f fmt.State, verb rune) { format(f, verb, s.String()) }

// LogValue returns that of the current snapshot.
func (s *Store[K, V]) LogValue() slog.Value {
	if s == nil {
		return slog.Value{}
	}
	return s.Load().LogValue()
}

// String returns that of the table's map in the current snapshot, such as
// `cow: table "users"@17 (3 rows)`, where 17 is the version that last wrote it.
func (t *Table[K, V]) String() string {
	if t == nil || t.def == nil {
		return none
	}
	return t.Load().String()
}

// Format formats String, whatever the verb.
func (t *Table[K, V]) Format(f fmt.State, verb rune) { format(f, verb, t.String()) }

// LogValue returns that of the table's map in the current snapshot.
func (t *Table[K, V]) LogValue() slog.Value {
	if t == nil || t.def == nil {
		return slog.Value{}
	}
	return t.Load().LogValue()
}

// String says which snapshot is updated.
func (tx *Tx) String() string {
	if tx == nil || tx.db == nil {
		return none
	}
	return "update of " + describe(tx.base, tx.db.schema().all())
}

// Format formats String, whatever the verb.
func (tx *Tx) Format(f fmt.State, verb rune) { format(f, verb, tx.String()) }

// LogValue returns String.
func (tx *Tx) LogValue() slog.Value { return slog.StringValue(tx.String()) }

// String returns the version and how many changes there are, such as
// "commit 17 (3 changes)".
func (c *Commit) String() string {
	if c == nil {
		return none
	}
	return fmt.Sprintf("commit %d (%s)", c.version, count(c.len(), "change"))
}

// Format formats String, whatever the verb.
func (c *Commit) Format(f fmt.State, verb rune) { format(f, verb, c.String()) }

// LogValue returns the version, the time, and how many changes there are.
func (c *Commit) LogValue() slog.Value {
	if c == nil {
		return slog.Value{}
	}
	return slog.GroupValue(slog.Uint64("version", c.version), slog.Time("time", c.Time()), slog.Int("changes", c.len()))
}

// String returns the name, such as index "by age".
func (x *Index[K, V, I]) String() string {
	if x == nil || x.def == nil {
		return none
	}
	return fmt.Sprintf("index %.100q", x.def.name)
}

// Format formats String, whatever the verb.
func (x *Index[K, V, I]) Format(f fmt.State, verb rune) { format(f, verb, x.String()) }

// LogValue returns String.
func (x *Index[K, V, I]) LogValue() slog.Value { return slog.StringValue(x.String()) }

// String returns the name of the index and how many entries all of it has, such as
// index "by age" (3 entries), and says whether the range is only a part of it. It takes
// constant time.
func (r Range[K, V, I]) String() string {
	if r.content == nil {
		return none
	}
	part := ""
	if r.low != nil || r.high != nil {
		part = "part of "
	}
	entries := "entries"
	n := r.content.sorted.Len()
	if n == 1 {
		entries = "entry"
	}
	return fmt.Sprintf("%sindex %.100q (%d %s)", part, r.content.index.name, n, entries)
}

// Format formats String, whatever the verb.
func (r Range[K, V, I]) Format(f fmt.State, verb rune) { format(f, verb, r.String()) }

// LogValue returns String.
func (r Range[K, V, I]) LogValue() slog.Value { return slog.StringValue(r.String()) }

// String returns the key, shortened if it is long, and the table if there is one,
// such as conflict "ada" in table "users".
func (c MergeConflict) String() string {
	text := Conflict[any, struct{}]{Key: c.Key}.String()
	if c.Table != "" {
		text += fmt.Sprintf(" in table %.100q", c.Table)
	}
	return text
}

// Format formats String, whatever the verb.
func (c MergeConflict) Format(f fmt.State, verb rune) { format(f, verb, c.String()) }

// LogValue returns String.
func (c MergeConflict) LogValue() slog.Value { return slog.StringValue(c.String()) }

const none = "<nil>"

// count returns how many there are of something.
func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// format formats text, for any verb: what has it instead of a method String is not
// looked into by %d or %#v either, which would not wait for writers.
func format(f fmt.State, verb rune, text string) { fmt.Fprintf(f, fmt.FormatString(f, verb), text) }
