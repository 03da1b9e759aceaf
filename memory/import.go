package memory

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/cowstore/cowstore/memory/internal/bare"
	"github.com/cowstore/cowstore/memory/value"

	"github.com/cowstore/cowstore/memory/vector"
)

// Import stores the entries that Export has written, or anybody in that format,
// in place of those under the same keys, and returns how many lines there were. It
// stores a few at a time, each time as one version, so that other writers need not wait
// long: an import of more than 16 lines is several versions. Empty lines are skipped. Of a value, whole numbers become
// int, or int64 or uint64 where they do not fit, others float64, and those that have
// more digits than any of these json.Number; objects and lists become map[string]any
// and []any. Where created and updated are absent
// they are now; where expires is, the entry never expires. All but space and key may
// be null: a value is Null then, and the others are as if they were absent. Of several
// members of an object in a value that have one name the last counts, and an escape that
// is half of a surrogate pair is U+FFFD, as in encoding/json.
//
// Of a backup the contents are imported; what it says of versions is not used: see Restore.
//
// To read a line takes at most four times its length, besides what is stored of it.
// That is 32 bytes and more for each number, string, list or object in a value,
// which may be many times their text, and is limited too: see [Options.MaxLine].
//
// A line that is not such an entry, has other members, or is more than MaxLine allows,
// is an error that wraps ErrMalformed and says which line, and nothing is imported. After
// any other error, such as ErrFull, the first n lines are.
func (m *Memory) Import(r io.Reader) (n int, err error) {
	m.made()
	all, _, err := m.read(r)
	if err != nil {
		return 0, err
	}
	for step := range steps(all) {
		if err := m.store(step); err != nil {
			return n, err
		}
		n += len(step)
	}
	return n, nil
}

// read reads all lines, and where they begin with that of a backup, what that says.
func (m *Memory) read(r io.Reader) (all []imported, from *point, err error) {
	in := newLines(r, m.options.maxLine())
	for line := 1; ; line++ {
		text, err := in.next()
		if err == io.EOF {
			return all, from, nil
		}
		if err == nil && len(bytes.TrimSpace(text)) > 0 {
			var i imported
			i, err = m.parse(text)
			i.line, i.bytes = line, len(text)
			switch {
			case err != nil:
			case i.cursor == "":
				all = append(all, i)
			case len(all) > 0 || from != nil:
				err = fmt.Errorf("%w: a cursor is for the first line", ErrMalformed)
			default:
				from = &i.point
			}
		}
		if err != nil {
			return nil, nil, lineError(line, err)
		}
	}
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
			for bytes := 0; to < len(all) && to-from < importAtOnce && (to == from || bytes+all[to].bytes <= importBytesAtOnce); to++ {
				bytes += all[to].bytes
			}
			if !yield(all[from:to]) {
				return
			}
		}
	}
}

// store stores entries that were read, as one version.
func (m *Memory) store(all []imported) error {
	return m.Batch(func(b *Batch) error {
		for _, i := range all {
			if err := b.editor(i.space).restore(i); err != nil {
				return lineError(i.line, err)
			}
		}
		return nil
	})
}

// An imported is a line that was read.
type imported struct {
	draft
	line, bytes               int
	space, key                string
	created, updated, expires int64
	options                   *SpaceOptions // nil: the line is an entry
	revision                  uint64        // in a backup
	point                                   // the line is the first of a backup, if it is not zero
}

func lineError(line int, err error) error {
	return fmt.Errorf("memory: line %d: %w", line, bare.Wrap(err))
}

// restore stores what was read, as it was.
func (e *Editor) restore(i imported) error {
	if i.options != nil {
		e.Configure(*i.options)
		return nil
	}
	if err := e.fits(i.key, i.vector); err != nil {
		return err
	}
	next := &entry{created: i.created, updated: i.updated, expires: i.expires}
	e.value(next, &i.draft)
	next.metadata, next.vector = i.metadata, i.vector
	e.b.store(e.name(i.key), next)
	return nil
}

// memberNames are the members that a line may have. All but the first may be null, which
// is as if they were absent.
var memberNames = []string{"space", "key", "value", "vector", "metadata", "created", "updated", "expires", "options", "revision", "cursor", "time"}

const needed = 3

// parse reads a line.
func (m *Memory) parse(line []byte) (imported, error) {
	i := imported{created: unset, updated: unset}
	if !utf8.Valid(line) {
		return i, fmt.Errorf("%w: %w", ErrMalformed, ErrUTF8)
	}
	if err := value.Valid(line); err != nil {
		return i, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	if bytes.TrimLeft(line, " \t\r")[0] != '{' {
		return i, fmt.Errorf("%w: it is not an object", ErrMalformed)
	}
	met := make(map[string]bool, len(memberNames))
	err := value.EachMember(line, func(name string, text []byte) error {
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
		if err := m.member(&i, name, text); err != nil {
			return fmt.Errorf("%w: %s: %w", ErrMalformed, name, bare.Wrap(err))
		}
		return nil
	})
	switch {
	case err != nil:
		return i, err
	case met["cursor"] || met["time"]:
		if i.cursor == "" || !met["time"] || len(met) > 2 {
			return i, fmt.Errorf("%w: a cursor and its time are a line of their own", ErrMalformed)
		}
		return i, nil
	case !met["space"]:
		return i, fmt.Errorf("%w: no space", ErrMalformed)
	case i.options != nil && len(met) > 2:
		return i, fmt.Errorf("%w: options besides an entry", ErrMalformed)
	case i.options != nil:
		return i, nil
	case !met["key"]:
		return i, fmt.Errorf("%w: no key", ErrMalformed)
	case !met["value"] && i.vector == nil:
		return i, fmt.Errorf("%w: neither value nor vector", ErrMalformed)
	}
	i.words = m.texts.wordsAhead(i.space, i.value)
	return i, nil
}

// member reads a member of a line.
func (m *Memory) member(i *imported, name string, text []byte) (err error) {
	switch name {
	case "space":
		i.space, err = memberSpace(text)
	case "key":
		i.key, err = value.ParseString(text)
	case "value":
		i.value, err = m.options.memberValue(text)
	case "vector":
		if i.vector, err = memberVector(text); err == nil {
			err = vector.Check(i.vector)
		}
	case "metadata":
		i.metadata, err = m.options.memberValue(text)
		if err == nil && i.metadata.Kind() != Map {
			err = errors.New("it is not an object")
		}
	case "options":
		i.options, err = memberOptions(text)
	case "revision":
		i.revision, err = strconv.ParseUint(string(text), 10, 64)
	case "cursor":
		i.cursor, err = value.ParseString(text)
	case "time":
		i.at, err = memberTime(text)
	case "created":
		i.created, err = memberTime(text)
	case "updated":
		i.updated, err = memberTime(text)
	case "expires":
		if i.expires, err = memberTime(text); i.expires == 0 {
			i.expires = -1 // a moment before: 0 is never, and it has expired anyway
		}
	}
	return err
}
