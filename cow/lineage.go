package cow

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/cowstore/cowstore/cow/internal/door"
)

// A Lineage identifies a line of versions: two snapshots of one version are the
// same if they are of the same lineage. Each Store and DB has its own, and so has
// each fork. What a sink makes durable or replicates is one lineage, wherever and
// however often it is opened.
type Lineage struct {
	ID     string // 26 letters from A to Z and digits from 2 to 7, random
	Parent string // the ID of what it was forked from; "" if it was not
	Forked uint64 // the version of the parent that it began with, if that was published
}

// The errors of cursors, to be tested with errors.Is.
var (
	// ErrLineage says that a cursor is of another line of versions.
	ErrLineage = errors.New("cursor of another lineage")

	// ErrCursor says that a text is not one that Cursor returns.
	ErrCursor = errors.New("not a cursor")
)

// An identity is a Lineage whose texts are made when somebody asks for them.
type identity struct {
	id, parent *name // not the parent's identity, or forks of forks would be kept
	forked     uint64
}

// A name is a random text, made at its first use. Nil is not a name.
type name struct{ text atomic.Pointer[string] }

// named returns the name with that text.
func named(text string) *name {
	n := new(name)
	n.text.Store(&text)
	return n
}

func (n *name) String() string {
	if n == nil {
		return ""
	}
	if text := n.text.Load(); text != nil {
		return *text
	}
	text := door.NewLineage()
	n.text.CompareAndSwap(nil, &text)
	return *n.text.Load()
}

// identify returns the identity of l.
func (l *line[P]) identify() *identity {
	if is := l.identity.Load(); is != nil {
		return is
	}
	l.identity.CompareAndSwap(nil, &identity{id: new(name)})
	return l.identity.Load()
}

// Lineage returns what identifies this line of versions.
func (l *line[P]) Lineage() Lineage {
	is := l.identify()
	return Lineage{ID: is.id.String(), Parent: is.parent.String(), Forked: is.forked}
}

// Cursor returns a text for a version of this line, from which Resume goes on: the ID of
// the lineage, a full stop, and the version in decimal digits. It serves as an id of an event
// and as an entity tag: it is that of no other process. See also [Commit.Cursor].
func (l *line[P]) Cursor(version uint64) string { return cursor(l.identify().id, version) }

func cursor(lineage *name, version uint64) string {
	return lineage.String() + "." + strconv.FormatUint(version, 10)
}

// ParseCursor returns the version that a cursor of this line is at, published or not. It
// returns ErrCursor for a text that is not a cursor, to the letter, and ErrLineage for one of
// another line, a fork included.
func (l *line[P]) ParseCursor(cursor string) (version uint64, err error) {
	id, version, err := parseCursor(cursor)
	if err != nil {
		return 0, fmt.Errorf("cow: %.100q: %w", cursor, err)
	}
	if is := l.identify().id.String(); id != is {
		return 0, fmt.Errorf("cow: %.100q: %w: this is %s", cursor, ErrLineage, is)
	}
	return version, nil
}

// fork gives f, a line that was forked from l at a version, its identity.
func (l *line[P]) fork(f *line[P], version uint64) {
	f.identity.Store(&identity{new(name), l.identify().id, version})
}

// parseCursor returns what a cursor says: it takes what cursor returns and nothing else.
func parseCursor(cursor string) (lineage string, version uint64, err error) {
	lineage, text, ok := strings.Cut(cursor, ".")
	version, err = strconv.ParseUint(text, 10, 64)
	if !ok || !door.IsLineage(lineage) || err != nil || text != strconv.FormatUint(version, 10) {
		return "", 0, ErrCursor
	}
	return lineage, version, nil
}
