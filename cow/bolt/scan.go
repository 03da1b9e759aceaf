package bolt

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/cowstore/cowstore/cow/internal/layout"
)

// Damage says what of a file is damaged. It wraps [ErrDamaged].
type Damage struct {
	Table string // "" if it is not of one table
	Key   []byte // of the row, as the key is encoded; nil if it is not of one row
	Err   error
}

// Error names the table and the key.
func (d *Damage) Error() string {
	switch {
	case d.Key != nil:
		return fmt.Sprintf("%v: table %q: key %q: %v", ErrDamaged, d.Table, d.Key, d.Err)
	case d.Table != "":
		return fmt.Sprintf("%v: table %q: %v", ErrDamaged, d.Table, d.Err)
	}
	return fmt.Sprintf("%v: %v", ErrDamaged, d.Err)
}

// Unwrap returns [ErrDamaged] and Err.
func (d *Damage) Unwrap() []error { return []error{ErrDamaged, d.Err} }

func damage(table string, key []byte, err error) error {
	return &Damage{table, bytes.Clone(key), err}
}

// A scan reads a file and verifies everything that it reads. It must be read in order:
// tables, pinned, commits, end.
type scan struct {
	*pages
	state   *state
	buckets map[string][]byte // the values of those at the top
	bad     func(error) error // what to do with a *Damage; nil from it: go on without
	unused  uint64            // so many pages are free: after end
	record  layout.Record     // of the tables, where there is no state
}

// scanFile begins a scan of a file. Bad is called for each *Damage, and says whether
// to go on without what is damaged, by nil.
func scanFile(file io.ReaderAt, size int64, bad func(error) error) (*scan, error) {
	p, err := openPages(file, size)
	if err != nil {
		return nil, err
	}
	s := &scan{pages: p, bad: bad, buckets: make(map[string][]byte)}
	root := &walk{pages: p, bad: s.damaged(""), visit: func(e element) error {
		if !e.bucket {
			return ErrFormat
		}
		s.buckets[string(e.key)] = e.value
		return nil
	}}
	if err := root.from(p.root, nil, 0); err != nil {
		return nil, err
	}
	err = s.meta()
	return s, err
}

// renews reports whether versions after those that the file has may have been seen. What
// writes no marks leaves a torn meta page by a crash, or has lost what that page was of.
func (s *scan) renews() bool { return s.state.early || s.lost || s.torn && !s.state.marks }

// damaged makes the errors of a walk a Damage of a table.
func (s *scan) damaged(table string) func(error) error {
	return func(err error) error { return s.bad(damage(table, nil, err)) }
}

// meta reads the state.
func (s *scan) meta() error {
	bucket, ok := s.buckets[string(metaBucket)]
	if !ok && len(s.buckets) > 0 && s.buckets[string(logBucket)] == nil {
		return ErrFormat // somebody else's
	}
	missing := errors.New("what it says of itself is missing")
	if !ok {
		return s.bad(damage("", nil, missing))
	}
	var ofPins tally
	var record layout.Record
	var schema uint64
	err := (&walk{pages: s.pages, bad: s.damaged(""), visit: func(e element) (err error) {
		switch {
		case bytes.Equal(e.key, pinsKey):
			if ofPins, err = decodePins(e.value); err != nil {
				return s.bad(damage("", nil, fmt.Errorf("what it says of its pins: %w", err)))
			}
			return nil
		case bytes.Equal(e.key, schemaKey):
			if record, schema, err = readRecord(e.value); err != nil {
				record, schema = nil, 0
			}
			return nil
		case !bytes.Equal(e.key, stateKey):
			return nil
		}
		if s.state, err = decodeState(e.value); err != nil && !errors.Is(err, ErrFormat) {
			s.state = nil
			return s.bad(damage("", nil, fmt.Errorf("what it says of itself: %w", err)))
		}
		return err
	}}).bucket(bucket)
	switch {
	case err != nil:
	case s.state == nil:
		s.record = record
		err = s.bad(damage("", nil, missing))
	case s.state.schema == schema:
		s.state.record = record
	default:
		s.state.schema = 0 // and no record
		err = s.bad(damage("", nil, errors.New("the schema of its tables is missing, or another than was written")))
	}
	if err == nil && s.state != nil && ofPins.count > 0 {
		err = s.readPins(ofPins)
	}
	return err
}

// table visits the rows of a table, and compares them with the tally of it.
func (s *scan) table(id int, t tableState, visit func(key []byte, r row) error) error {
	return s.rows(tableBucket(id, t.name), t, visit)
}

// rows visits the rows of a bucket for a table, and compares them with the tally of it.
func (s *scan) rows(name []byte, t tableState, visit func(key []byte, r row) error) error {
	bucket, ok := s.buckets[string(name)]
	if !ok {
		return s.bad(damage(t.name, nil, errors.New("it is missing")))
	}
	var is tally
	seal := sealOf(name)
	w := &walk{pages: s.pages, bad: s.damaged(t.name)}
	w.visit = func(e element) error {
		r, sum, err := decodeRow(seal, e.key, e.value)
		if err == nil && (e.bucket || e.key[0] != 'k') {
			err = errors.New("it is not a row")
		}
		if err != nil {
			w.skip()
			return s.bad(damage(t.name, e.key[1:], err))
		}
		is.add(sum, r.revision)
		return visit(e.key[1:], r)
	}
	err := w.bucket(bucket)
	if err == nil && is != t.tally {
		err = s.bad(damage(t.name, nil, unlike(fmt.Sprintf("rows of version %d", s.state.base.version), t.tally, is)))
	}
	return err
}

// readPins reads which versions are pinned.
func (s *scan) readPins(want tally) error {
	bucket, ok := s.buckets[string(pinsBucket)]
	if !ok {
		return s.bad(damage("", nil, errors.New("the pins are missing")))
	}
	var is tally
	seal := sealOf(pinsBucket)
	w := &walk{pages: s.pages, bad: s.damaged("")}
	w.visit = func(e element) error {
		p, sum, err := decodePin(seal, e.key, e.value)
		if err == nil && (e.bucket || p.version > s.state.tip.version || len(p.rows) > len(s.state.tables)) {
			err = fmt.Errorf("a pin of version %d cannot be", p.version)
		}
		if err != nil {
			w.skip()
			return s.bad(damage("", nil, fmt.Errorf("the pins: %w", err)))
		}
		is.add(sum, p.version)
		s.state.pins = append(s.state.pins, p)
		return nil
	}
	err := w.bucket(bucket)
	if err == nil && is != want {
		err = s.bad(damage("", nil, unlike("pins", want, is)))
	}
	s.state.ofPins = is
	return err
}

// pinned visits what is kept for the pins, the oldest first.
func (s *scan) pinned(visit func(version uint64, table int, key []byte, r row) error) error {
	for _, p := range s.state.pins {
		for id, t := range p.rows {
			if t.count == 0 {
				continue
			}
			of := tableState{s.state.tables[id].name, t}
			if err := s.rows(pinBucket(p.version, id), of, func(key []byte, r row) error {
				return visit(p.version, id, key, r)
			}); err != nil {
				return err
			}
		}
	}
	return nil
}

// commits visits the commits of the log, and compares them with the tally of it. Those that follow
// a gap are visited too.
func (s *scan) commits(visit func(c record) error) error {
	bucket, ok := s.buckets[string(logBucket)]
	if !ok {
		return s.bad(damage("", nil, errors.New("the retained past is missing")))
	}
	var is tally
	seal := sealOf(logBucket)
	last := s.state.base.version
	w := &walk{pages: s.pages, bad: s.damaged("")}
	w.visit = func(e element) error {
		c, sum, err := decodeRecord(seal, e.key, e.value)
		if err == nil && (e.bucket || c.version <= last) {
			err = fmt.Errorf("version %d comes after %d", c.version, last)
		}
		for _, r := range c.rows {
			if r.Table >= len(s.state.tables) {
				err = fmt.Errorf("version %d: there is no table %d", c.version, r.Table)
			}
		}
		if err != nil {
			at := "the retained past"
			if len(e.key) == 8 { // or the key is damaged too
				if v := binary.BigEndian.Uint64(e.key); v <= s.state.tip.version {
					at = fmt.Sprintf("%s: version %d", at, v)
				}
			}
			w.skip()
			return s.bad(damage("", nil, fmt.Errorf("%s: %w", at, err)))
		}
		if c.version > last+1 {
			if err := s.bad(damage("", nil, fmt.Errorf("the retained past: versions %d to %d are missing", last+1, c.version-1))); err != nil {
				return err
			}
		}
		last = c.version
		is.add(sum, c.version)
		return visit(c)
	}
	err := w.bucket(bucket)
	if err == nil && (is != s.state.log || last != s.state.tip.version) {
		err = s.bad(damage("", nil, fmt.Errorf("the retained past: %w", unlike("versions", s.state.log, is))))
	}
	return err
}

// unlike says in what a tally is not the one that was written.
func unlike(what string, want, is tally) error {
	if is.count != want.count {
		return fmt.Errorf("%s written: %d, sound: %d", what, want.count, is.count)
	}
	return fmt.Errorf("%s written: %d, others are there", what, want.count)
}

// end verifies what is left: that no page is both used and free, and that nothing is
// there that the state does not know.
func (s *scan) end() error {
	known := map[string]bool{string(metaBucket): true, string(logBucket): true}
	for id, t := range s.state.tables {
		known[string(tableBucket(id, t.name))] = true
	}
	for _, p := range s.state.pins {
		known[string(pinsBucket)] = true
		for id, t := range p.rows {
			if t.count > 0 {
				known[string(pinBucket(p.version, id))] = true
			}
		}
	}
	for name := range s.buckets {
		if !known[name] {
			if err := s.bad(damage("", nil, fmt.Errorf("a bucket %q that it does not know", name))); err != nil {
				return err
			}
		}
	}
	if err := s.free(func(id uint64) error { s.unused++; return s.use(id, 1) }); err != nil {
		return s.bad(damage("", nil, err))
	}
	return nil
}

// all scans everything.
func (s *scan) all(visit func(table int, key []byte, r row) error, visitPinned func(version uint64, table int, key []byte, r row) error, visitCommit func(c record) error) error {
	for id, t := range s.state.tables {
		if err := s.table(id, t, func(key []byte, r row) error { return visit(id, key, r) }); err != nil {
			return err
		}
	}
	if err := s.pinned(visitPinned); err != nil {
		return err
	}
	if err := s.commits(visitCommit); err != nil {
		return err
	}
	return s.end()
}

// refuse is the bad of a scan that ends at the first damage.
func refuse(err error) error { return err }
