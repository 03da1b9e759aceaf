package data

import (
	"strings"
	"weak"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/memory/internal/tuple"
	"github.com/cowstore/cowstore/snapshot"
)

// A Clearing is the mark of a space that is cleared: nothing is there any more that was
// written up to a version. It is immutable.
type Clearing struct {
	At   uint64
	Hand NameText `json:",omitempty"` // no row up to this name is to be removed any more
	Done bool     `json:",omitempty"` // all are removed: the mark can go

	By weak.Pointer[cow.Tx] `json:"-"` // the update that set it; zero: it was decoded
}

// A Mark is a clearing by its key, for those who read the commits later.
type Mark struct {
	Key NameText
	At  uint64
}

// Covers reports whether a mark with that key is for a space.
func Covers(key, path string) bool {
	if all, below := tuple.CutBelow(key); below {
		rest, ok := strings.CutPrefix(path, all)
		return ok && !strings.HasPrefix(rest, tuple.AboveBelow) // which is another element
	}
	return key == path
}

// Marks are the marks of a version.
type Marks struct {
	*snapshot.Map[string, *Clearing]
}

// Alive reports whether what was written to a space at a revision, or is Pending, is
// still there.
func (c Marks) Alive(path string, revision uint64) bool {
	return revision > c.Latest(path).At
}

// AliveBelow is Alive for what is below a path, of which those that are for one space
// alone do not tell.
func (c Marks) AliveBelow(path string, revision uint64) bool {
	return revision > c.latestBelow(path).At
}

// Latest returns the latest mark that is for a space; at 0, if there is none.
func (c Marks) Latest(path string) Mark {
	return c.later(path, c.latestBelow(path))
}

// latestBelow is Latest for what is below a path.
func (c Marks) latestBelow(path string) Mark {
	if c.Left() == 0 {
		return Mark{}
	}
	last := c.later(path+tuple.AboveBelow, Mark{})
	for path := range tuple.Above(path) {
		last = c.later(path+tuple.AboveBelow, last)
	}
	return last
}

// later returns the mark of a key, if there is one that is later than another.
func (c Marks) later(key string, than Mark) Mark {
	if c.Left() > 0 {
		if m, ok := c.Get(key); ok && m.At > than.At {
			return Mark{NameText(key), m.At}
		}
	}
	return than
}

// Left returns how many marks there are.
func (c Marks) Left() int {
	if c.Map == nil {
		return 0
	}
	return c.Len()
}

// Gone reports whether what a space had in an older snapshot was cleared until a newer one.
func Gone(newer, older Marks, path string) bool {
	for key, is := range newer.All() {
		if Covers(key, path) {
			if was, ok := older.Get(key); !ok || was.At != is.At {
				return true
			}
		}
	}
	return false
}
