package check

import (
	"errors"
	"fmt"

	"github.com/cowstore/cowstore/cow"
)

// cells is how many cells a target has: few, so that everybody meets. The first
// half of them is in one table or space, the other in another, where there are two.
const (
	cells = 16
	half  = cells / 2
)

// names are the keys of the cells.
var names = func() (n [cells]string) {
	for c := range n {
		n[c] = fmt.Sprintf("cell%d", c)
	}
	return n
}()

// A cell is what one has: the zero cell nothing. No two writes of a history write
// the same value.
type cell struct {
	value    int64
	revision uint64
}

// A target is a store of cells, to be used by any number of goroutines.
type target interface {
	verbs(c int) verbs // for that cell
	load() reader
	at(version uint64) reader
	update(f func(x tx) error) error
	feed() (feed, error)
}

// verbs are the writes of one cell, and Get. Stores, tables, spaces and their
// editors all have them.
type verbs interface {
	Get(key string) (int64, bool)
	Set(key string, v int64)
	Insert(key string, v int64) error
	SetIf(key string, rev uint64, v int64) error
	Delete(key string) bool
	Take(key string) (int64, bool)
	Modify(key string, f func(v *int64) error) error
}

// A reader is a snapshot.
type reader struct {
	version uint64
	read    func(c int) cell
}

// A tx is an update that will publish version.
type tx struct {
	version uint64
	verbs   func(c int) verbs
}

// A feed is what all commits did, by the value they wrote or removed.
type feed struct{ wrote, removed map[int64]uint64 }

func newFeed() feed { return feed{make(map[int64]uint64), make(map[int64]uint64)} }

// add adds what a commit did to one cell; 0 is nothing.
func (f feed) add(version uint64, old, is int64) {
	switch {
	case is != 0:
		f.wrote[is] = version
	case old != 0:
		f.removed[old] = version
	}
}

// errAbort ends an update that is to publish nothing.
var errAbort = errors.New("abort")

// sentinel returns the one that err wraps, or err.
func sentinel(err error) error {
	for _, s := range []error{cow.ErrExists, cow.ErrNotFound, cow.ErrRevision, errAbort} {
		if errors.Is(err, s) {
			return s
		}
	}
	return err
}

// must panics on an error that cannot be.
func must(err error) {
	if err != nil {
		panic(err)
	}
}
