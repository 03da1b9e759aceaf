// Package records reads what a benchmark is to be run on: the memories of an
// agent, in the format of memory.Snapshot.Export, and queries for them, with what
// they have to find.
package records

import (
	"errors"
	"io"

	"github.com/cowstore/cowstore/memory"
)

// A Record is an entry of a memory.
type Record struct {
	Space  []string
	Key    string
	Value  any       // as memory.Memory.Import has it; nil if there is none, too
	Vector []float32 // as it was written, of whatever length; nil: none
}

// ErrEmpty is what Load returns if there is nothing to load.
var ErrEmpty = errors.New("no records")

// Load returns the records that r has, as JSON Lines, ordered by space and key.
// Of several with one key the last counts. What has expired is left out. It
// returns the errors of memory.Memory.Import, which say in which line they are,
// those of r, and ErrEmpty.
func Load(r io.Reader) ([]Record, error) {
	m := memory.New(memory.Options{NoText: true})
	if _, err := m.Import(r); err != nil {
		return nil, err
	}
	var all []Record
	s := m.Load()
	for path := range s.Spaces(memory.SpacesOptions{}) {
		view := s.Space(path...)
		for e := range view.List(memory.ListOptions{}) {
			v, _ := view.Vector(e.Key)
			all = append(all, Record{path, e.Key, e.Value.Any(), v})
		}
	}
	if len(all) == 0 {
		return nil, ErrEmpty
	}
	return all, nil
}
