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
	Rows   uint64 // at the version Oldest
	Schema string // see cow.ErrSchema; "" if the file does not know
}

func infoOf(s *scan) *Info {
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
	for _, t := range s.state.tables {
		i.Tables = append(i.Tables, TableInfo{t.name, t.count, s.state.record[t.name]})
	}
	return i
}

// maxDamage bounds how many errors a damaged file has.
const maxDamage = 100

// Check reads the whole file and verifies every page and row. It does not need to know
// its tables. No DB may have it open: ErrLocked. If the file is damaged the error wraps
// ErrDamaged, and lists the first hundred Damages, which errors.As and Unwrap find.
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
	if err == nil && s.state != nil {
		err = s.all(func(int, []byte, row) error { return nil }, func(uint64, int, []byte, row) error { return nil }, func(record) error { return nil })
	}
	if err == errStopped {
		err = nil
	}
	err = errors.Join(err, errors.Join(found...), f.close())
	if err != nil {
		return nil, named(path, err)
	}
	return infoOf(s), nil
}
