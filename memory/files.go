package memory

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"time"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/memory/internal/bare"
	"github.com/cowstore/cowstore/memory/internal/data"
	"github.com/cowstore/cowstore/memory/internal/derive"
	"github.com/cowstore/cowstore/memory/internal/jsonl"
	"github.com/cowstore/cowstore/memory/internal/tuple"
	"github.com/cowstore/cowstore/memory/text"
	"github.com/cowstore/cowstore/snapshot"
)

// Export writes all entries as JSON Lines, one a line, in the order of their
// spaces and keys, while writes to the Memory may go on. A line is, without the break:
//
//	{"space":["user","42"],"key":"name","value":…,"vector":[…],"metadata":{…},
//	 "created":"…","updated":"…","expires":"…","kept":true,"embedded":true,"superseded_by":"…"}
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
// A line has no member for what an entry does not have. Times are in RFC 3339, from 1677 to 2262.
// Values are as MarshalJSON has them: Bytes and Times become strings, and a float32 the float64
// with its few digits.
//
// The error is [ErrUTF8] for an entry with a string that is not UTF-8, and [value.ErrUnsupported]
// for one with a Handle; Export looks for these before it writes anything. Others are those of w.
func (s Snapshot) Export(w io.Writer) error {
	if s.tables == nil {
		return nil
	}
	lines, err := s.exported()
	if err != nil {
		return err
	}
	b, enc := jsonl.NewLinesOf(w)
	if err := s.export(enc, lines, false); err != nil {
		return err
	}
	return b.Flush()
}

// exported returns the lines of how spaces are configured, if there is nothing in the snapshot
// that cannot be exported.
func (s Snapshot) exported() (lines []jsonl.Configured, err error) {
	options := viewOf(s).T.Options.In(s.root)
	for _, path := range slices.Sorted(options.Keys()) {
		o, _ := options.Get(path)
		line, err := jsonl.NewConfigured(path, o)
		if err != nil {
			return nil, err
		}
		lines = append(lines, line)
	}
	return lines, eachLine(s, func(path, key string, row snapshot.Row[string, *data.Entry]) error {
		return jsonl.Check(path, key, row.Shared())
	})
}

// export writes the lines of an export, with revisions for a backup.
func (s Snapshot) export(enc *json.Encoder, lines []jsonl.Configured, revisions bool) error {
	for _, line := range lines {
		if err := enc.Encode(line); err != nil {
			return err
		}
	}
	return eachLine(s, func(path, key string, row snapshot.Row[string, *data.Entry]) error {
		r, err := jsonl.NewRecord(path, key, row.Shared())
		if err != nil {
			return err
		}
		if revisions {
			r.Revision = row.Revision()
		}
		return enc.Encode(r)
	})
}

// eachLine calls f for each entry that is exported, in order, until it returns an error.
func eachLine(s Snapshot, f func(path, key string, row snapshot.Row[string, *data.Entry]) error) error {
	v := viewOf(s)
	cleared := v.Clearings()
	for name, row := range v.InOrder().All() {
		path, key := tuple.Split(name)
		if row.Shared().Expired(s.instant) || !cleared.Alive(path, row.Revision()) {
			continue
		}
		if err := f(path, key, row); err != nil {
			return fmt.Errorf("memory: export of space %q, key %q: %w", tuple.Decode(path), key, bare.Wrap(err))
		}
	}
	return nil
}

// Import stores the entries that [Snapshot.Export] has written, or anybody in that format, in place
// of those under the same keys, and returns how many lines there were. It stores a few at a time,
// each time as one version, so that other writers need not wait long: an import of more than 16
// lines is several versions. Empty lines are skipped.
//
// Values get the Go types that [value.Parse] gives them. A line has a space and a key, and a value, a
// vector, or both; all other members may be null or absent. A null value is Null. An entry that is
// embedded has both, and one that is superseded has no vector. Without created and updated these
// times are now; without expires the entry never expires. Of several members of one name in a value
// the last counts, and an escape that is half of a surrogate pair is U+FFFD, as in encoding/json.
//
// Of a backup Import takes the entries, and not the versions: see [Memory.Restore].
//
// Reading a line takes memory of at most four times its length, besides what is stored. Of a value,
// that is 32 bytes and more for each number, string, list or object, which may be many times their
// text. MaxLine of [Options] limits it too.
//
// If a line is not such an entry, has other members, or is more than MaxLine allows, the error
// wraps [ErrMalformed] and says which line, and nothing is imported. After any other error, such as
// [ErrFull] or ctx's cause, the first n lines are imported. ErrFull says that limits leave no room
// for entries that are kept, see [Editor.Keep]: the space that was exported may have kept more than
// its limit. Restore takes them all.
func (m *Memory) Import(ctx context.Context, r io.Reader) (n int, err error) {
	m.made()
	given(ctx, "an Import")
	all, _, err := m.read(ctx, r)
	if err != nil {
		return 0, err
	}
	for step := range steps(all) {
		if err := m.store(ctx, step); err != nil {
			return n, err
		}
		n += len(step)
	}
	return n, nil
}

// An imported is a line that was read, with the words of its value.
type imported struct {
	jsonl.Line
	words text.Words
}

// read reads all lines, and where they begin with that of a backup, what that says. It finds the
// words of all values, so that no writer waits for that, and nothing is stored if it panics.
func (m *Memory) read(ctx context.Context, r io.Reader) ([]imported, *jsonl.Point, error) {
	lines, from, err := jsonl.Read(r, m.options.maxLine())
	if err != nil {
		return nil, nil, err
	}
	all := make([]imported, len(lines))
	for i, l := range lines {
		if err := context.Cause(ctx); err != nil {
			return nil, nil, err
		}
		all[i] = imported{l, tablesOf(m).Texts.WordsAhead(l.Space, l.Value)}
	}
	return all, from, nil
}

// Import stores up to so many entries, of so many bytes, in one version: other writers wait
// for no more.
const (
	importAtOnce      = 16
	importBytesAtOnce = 1 << 16
)

// steps cuts what is to be imported into what is stored at once.
func steps(all []imported) iter.Seq[[]imported] {
	return func(yield func([]imported) bool) {
		for from, to := 0, 0; from < len(all); from = to {
			for bytes := 0; to < len(all) && to-from < importAtOnce && (to == from || bytes+all[to].Bytes <= importBytesAtOnce); to++ {
				bytes += all[to].Bytes
			}
			if !yield(all[from:to]) {
				return
			}
		}
	}
}

// store stores entries that were read, as one version.
func (m *Memory) store(ctx context.Context, all []imported) error {
	return m.BatchContext(ctx, func(b *Batch) error {
		for _, i := range all {
			if err := b.editor(i.Space).restore(i); err != nil {
				return jsonl.LineError(i.Line.Line, err)
			}
		}
		return nil
	})
}

// restore stores what was read, as it was.
func (e *Editor) restore(i imported) error {
	if i.Options != nil {
		updateOf(e.b).Configure(e.space, *i.Options)
		return nil
	}
	if err := updateOf(e.b).Fits(e.space, i.Key, i.Vector); err != nil {
		return err
	}
	updateOf(e.b).Settler.Know(e.space, i.Value, i.words)
	updateOf(e.b).Store(e.name(i.Key), i.Entry())
	return nil
}

// Backup writes the current version, for [Memory.Restore], while writes to the Memory may go on. It
// is an export with the revision of each entry, after this line:
//
//	{"cursor":"ABCDEFGHIJKLMNOPQRSTUVWXYZ.42","time":"…"}
//
// Restore brings back what Import does, see [Snapshot.Export], and also revisions, version and
// lineage: cursors of the Memory are good for the one that is restored. The retained past, pins,
// and when an entry was last read do not come back. Backup writes nothing for a Memory at version
// 0. The errors are those of Export. To replace a backup, write a file beside it, and rename that.
func (m *Memory) Backup(w io.Writer) error {
	m.made()
	s := m.Load()
	if s.Version() == 0 {
		return nil
	}
	lines, err := s.exported()
	if err != nil {
		return err
	}
	b, enc := jsonl.NewLinesOf(w)
	if err := enc.Encode(struct {
		Cursor string    `json:"cursor"`
		Time   time.Time `json:"time"`
	}{m.db.Cursor(s.Version()), m.published(s).UTC()}); err != nil {
		return err
	}
	if err := s.export(enc, lines, true); err != nil {
		return err
	}
	return b.Flush()
}

// published returns when a version was published, or, if that is no longer known, when the
// Memory was last written to, or now.
func (m *Memory) published(s Snapshot) time.Time {
	for version, at := range m.db.Versions() {
		if version == s.Version() && !at.IsZero() {
			return at
		}
	}
	if last := m.at(s.root).instant; last != 0 {
		return time.Unix(0, last)
	}
	return time.Now()
}

// Restore makes a Memory go on from a backup, and returns how many lines of contents it had. The
// Memory and its DB must be at version 0. All entries come in one version, and none is evicted:
// what is too much for the limits of the Memory goes with later writes.
//
// The errors are those of [Memory.Import], and [cow.ErrNotEmpty] if the Memory is not empty, or its
// DB has a sink. After an error nothing is restored. Restore a backup once: two memories must not go
// on in one lineage. To make several memories out of one backup, Import it.
func (m *Memory) Restore(ctx context.Context, r io.Reader) (n int, err error) {
	m.made()
	given(ctx, "a Restore")
	all, from, err := m.read(ctx, r)
	if err != nil {
		return 0, err
	}
	if from == nil {
		return 0, jsonl.LineError(1, fmt.Errorf("%w: it is not that of a backup: what Export has written is for Import", ErrMalformed))
	}
	err = m.db.Restore(from.Cursor, time.Unix(0, from.At), func(tx *cow.Tx) error {
		settler := tablesOf(m).Settler(tx) // which derives the rest when this returns
		for _, i := range all {
			if err := context.Cause(ctx); err != nil {
				return err
			}
			if err := restore(m, tx, settler, i, from.At); err != nil {
				return jsonl.LineError(i.Line.Line, err)
			}
		}
		tablesOf(m).Heads.Edit(tx).Set(data.HeadKey(from.At, 0), &data.Head{Began: from.At, At: from.At})
		return context.Cause(ctx)
	})
	switch {
	case errors.Is(err, cow.ErrCursor):
		return 0, jsonl.LineError(1, fmt.Errorf("%w: %w", ErrMalformed, bare.Wrap(err)))
	case err != nil:
		return 0, bare.Named(err)
	}
	return len(all), nil
}

// restore stores what was read of a backup, as it was.
func restore(m *Memory, tx *cow.Tx, s *derive.Settler, i imported, at int64) error {
	if i.Options != nil {
		tablesOf(m).Options.Edit(tx).Set(i.Space, i.Options)
		return nil
	}
	if i.Revision == 0 || i.Revision > tx.Version() {
		return fmt.Errorf("%w: revision %d of version %d", ErrMalformed, i.Revision, tx.Version())
	}
	e := i.Entry()
	if e.Updated == data.Unset {
		e.Updated = at
	}
	if e.Created == data.Unset {
		e.Created = at
	}
	e.Measure()
	s.Know(i.Space, i.Value, i.words)
	return tablesOf(m).Entries.Restore(tx, tuple.Name(i.Space, i.Key), e, i.Revision)
}
