package line

import (
	"errors"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/cowstore/cowstore/cow/internal/sink"
)

// The errors of cursors.
var (
	ErrLineage = errors.New("cursor of another lineage")
	ErrCursor  = errors.New("not a cursor")
)

// A Lineage identifies a line of versions.
type Lineage struct {
	ID     string // 26 letters from A to Z and digits from 2 to 7, random
	Parent string // the ID of the line whose Fork made this one; "" if none did
	Forked uint64 // the version that it began with
}

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
	text := sink.NewLineage()
	n.text.CompareAndSwap(nil, &text)
	return *n.text.Load()
}

func cursor(lineage *name, version uint64) string {
	return lineage.String() + "." + strconv.FormatUint(version, 10)
}

// ParseCursor returns what a cursor says: the ID of the lineage, a full stop, and the version
// in decimal digits. It takes nothing else.
func ParseCursor(cursor string) (lineage string, version uint64, err error) {
	lineage, text, ok := strings.Cut(cursor, ".")
	version, err = strconv.ParseUint(text, 10, 64)
	if !ok || !sink.IsLineage(lineage) || err != nil || text != strconv.FormatUint(version, 10) {
		return "", 0, ErrCursor
	}
	return lineage, version, nil
}
