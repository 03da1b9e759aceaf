package bolt

import (
	"errors"
	"time"
)

// Info is what a file has.
type Info struct {
	Lineage string
	Version uint64    // the latest
	Oldest  uint64    // the oldest that the file knows
	Time    time.Time // of Version; the zero time for version 0
	Tables  []TableInfo
	Commits uint64 // retained, after Oldest

	// Pins are the pinned versions by name. What of them is no longer in the tables or the
	// commits takes room of its own.
	Pins map[string]uint64

	// Free is how many bytes of the file are for writes to come. The list of them is
	// written with each transaction, 8 bytes for 4096; Compact gives them back.
	Free uint64

	// Erased says that something was erased, by cow.DB.Erase, since the file was made or
	// compacted: what is free may still have it, until Compact.
	Erased bool

	// Torn says that one of the two pages that tell where everything is cannot be read. That
	// is so after a crash in the middle of a write, which leaves the version before, or if
	// that page is damaged: then Renews says whether anything is lost.
	Torn bool

	// Renews says that versions after the latest may have been seen: Open begins a new
	// lineage. The file is a backup, or was not closed by a DB that used Every, or the page
	// that tells where the last transaction is was damaged.
	Renews bool
}

// TableInfo is what a file has of one table.
type TableInfo struct {
	Name   string
	Rows   uint64 // at the latest version
	Schema string // see cow.ErrSchema; "" if the file does not know
}

func infoOf(s *scan, rows []uint64) *Info {
	i := &Info{
		Lineage: s.state.lineage,
		Version: s.state.tip.version,
		Oldest:  s.state.base.version,
		Time:    s.state.tip.time(),
		Commits: s.state.log.count,
		Free:    s.unused * uint64(s.pageSize),
		Erased:  s.state.erased,
		Torn:    s.torn,
		Renews:  s.renews(),
	}
	for _, p := range s.state.pins {
		for _, name := range p.names {
			if i.Pins == nil {
				i.Pins = make(map[string]uint64)
			}
			i.Pins[name] = p.version
		}
	}
	for id, t := range s.state.tables {
		i.Tables = append(i.Tables, TableInfo{t.name, rows[id], s.state.record[t.name]})
	}
	return i
}

// A logged has the keys of a table that commits have changed, and whether the last left a row.
type logged map[string]bool

// rows returns how many rows each table has after the commits, which have left so much: its own
// number is that before them.
func (f *file) rows(s *scan, left []logged) ([]uint64, error) {
	again, err := f.scan(refuse) // a scan reads a table once
	if err != nil {
		return nil, err
	}
	counts := make([]uint64, len(left))
	for id, t := range s.state.tables {
		counts[id] = t.count
		if len(left[id]) == 0 {
			continue
		}
		for _, is := range left[id] {
			if is {
				counts[id]++
			}
		}
		err := again.table(id, t, func(key []byte, _ row) error {
			if _, ok := left[id][string(key)]; ok {
				counts[id]-- // it is counted above, or gone
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return counts, nil
}

// maxDamage bounds how many errors a damaged file has.
const maxDamage = 100

// Check reads the whole file and verifies every page and row, but for free pages and what is behind
// the last page, where nothing is stored. It does not need to know
// its tables. It has the keys of the retained past in memory meanwhile. No DB may have the file
// open: [ErrLocked]. If the file is damaged the error wraps [ErrDamaged], and lists the first hundred
// Damages, which errors.As and Unwrap find. With an error there is no Info.
func Check(path string) (*Info, error) {
	f, err := openFile(path, true)
	if err != nil {
		return nil, named(path, err)
	}
	var found []error
	s, err := f.scan(func(err error) error {
		if found = append(found, err); len(found) >= maxDamage {
			return errStopped
		}
		return nil
	})
	var left []logged
	if err == nil && s.state != nil {
		left = make([]logged, len(s.state.tables))
		err = s.all(func(int, []byte, row) error { return nil }, func(uint64, int, []byte, row) error { return nil }, func(c record) error {
			for _, r := range c.rows {
				if left[r.Table] == nil {
					left[r.Table] = make(logged)
				}
				left[r.Table][string(r.Key)] = !r.Removed
			}
			return nil
		})
	}
	if err == errStopped {
		err = nil
	}
	var rows []uint64
	if err == nil && len(found) == 0 {
		rows, err = f.rows(s, left)
	}
	err = errors.Join(err, errors.Join(found...), f.close())
	if err != nil {
		return nil, named(path, err)
	}
	return infoOf(s, rows), nil
}
