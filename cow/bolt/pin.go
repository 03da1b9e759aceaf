package bolt

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"go.etcd.io/bbolt"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/cow/internal/sink"
	"github.com/cowstore/cowstore/cow/internal/wire"
)

// A file with pins has, besides, at the top
//
//	pins                            version, 8 bytes → its names and tallies
//	p, version, 8 bytes, id, 4      'k', key → row: what of a table is kept for that pin
//
// and in meta a tally of pins. A row that is replaced or removed in a table goes to the
// newest of the pins that have it, and when that is let go of, to the next older one, or
// nowhere. So a pinned version has, of the tables and of the pins from it on, the rows that are
// not younger than it; and of a pin that no table is past yet, nothing is kept.

var (
	pinsBucket = []byte("pins")
	pinsKey    = []byte("pins") // in meta
)

// A pin is a pinned version. It is immutable.
type pin struct {
	version uint64
	names   []string
	rows    []tally // by id of the table; short: none
}

func pinBucket(version uint64, table int) []byte {
	return binary.BigEndian.AppendUint32(append([]byte{'p'}, logKey(version)...), uint32(table))
}

func (p *pin) append(b []byte) []byte {
	b = binary.AppendUvarint(b, uint64(len(p.names)))
	for _, name := range p.names {
		b = wire.Append(b, name)
	}
	b = binary.AppendUvarint(b, uint64(len(p.rows)))
	for _, t := range p.rows {
		b = t.append(b)
	}
	return b
}

func decodePin(s seal, key, value []byte) (p *pin, sum uint32, err error) {
	value, sum, err = s.open(key, value)
	if err != nil {
		return nil, 0, err
	}
	if len(key) != 8 {
		return nil, 0, errors.New("its key is not a version")
	}
	p = &pin{version: binary.BigEndian.Uint64(key)}
	r := wire.NewReader(value)
	for n := r.Uvarint(); n > 0 && r.Err() == nil; n-- {
		p.names = append(p.names, r.Text())
	}
	for n := r.Uvarint(); n > 0 && r.Err() == nil; n-- {
		p.rows = append(p.rows, readTally(r))
	}
	return p, sum, r.End()
}

// decodePins reads the tally of the pins.
func decodePins(b []byte) (t tally, err error) {
	if b, _, err = sealOf(metaBucket).open(pinsKey, b); err != nil {
		return t, err
	}
	r := wire.NewReader(b)
	return readTally(r), r.End()
}

// place returns where the first pin from a version on is, and whether it is of that version.
func (s *state) place(version uint64) (int, bool) {
	return slices.BinarySearchFunc(s.pins, version, func(p *pin, version uint64) int {
		switch {
		case p.version < version:
			return -1
		case p.version > version:
			return 1
		}
		return 0
	})
}

// pin returns a pin of a version that is this state's own, and makes it if there is none.
func (s *state) pin(version uint64) *pin {
	i, ok := s.place(version)
	own := &pin{version: version}
	if ok {
		own.names, own.rows = slices.Clone(s.pins[i].names), slices.Clone(s.pins[i].rows)
		s.pins[i] = own
	} else {
		s.pins = slices.Insert(s.pins, i, own)
	}
	return own
}

// named returns the version that is pinned by a name.
func (s *state) named(name string) (version uint64, ok bool) {
	for _, p := range s.pins {
		if slices.Contains(p.names, name) {
			return p.version, true
		}
	}
	return 0, false
}

// keep keeps a row that is replaced, or removed, by a version: for the newest pin that has it,
// if there is one.
func (s *state) keep(tx *bbolt.Tx, table int, key []byte, r row, until uint64) error {
	i, _ := s.place(until)
	if i == 0 || s.pins[i-1].version < r.revision {
		return nil
	}
	return s.give(tx, s.pins[i-1].version, table, key, r)
}

// give gives a row to a pin, unless that has it.
func (s *state) give(tx *bbolt.Tx, version uint64, table int, key []byte, r row) error {
	name := pinBucket(version, table)
	bucket, err := tx.CreateBucketIfNotExists(name)
	if err != nil {
		return err
	}
	key = rowKey(key)
	if bucket.Get(key) != nil {
		return nil
	}
	of, value := sealOf(name), r.append(make([]byte, 0, len(r.value)+16))
	s.tallyOf(version, table).add(of.sum(key, value), r.revision)
	return bucket.Put(key, of.close(key, value))
}

// lift gives a row to a new pin, and takes it from the older one that had it until now.
func (s *state) lift(tx *bbolt.Tx, version uint64, table int, key []byte, r row) error {
	if i, _ := s.place(version); i > 0 && s.pins[i-1].version >= r.revision {
		older := s.pins[i-1].version
		had, err := s.take(tx, older, table, key)
		if err == nil && !had {
			err = damage(s.tables[table].name, key, fmt.Errorf("what is kept of it for the pin of version %d is missing", older))
		}
		if err != nil {
			return err
		}
	}
	return s.give(tx, version, table, key, r)
}

// take takes from a pin what is kept of a row for it, and reports whether there was anything.
func (s *state) take(tx *bbolt.Tx, version uint64, table int, key []byte) (had bool, err error) {
	name, key := pinBucket(version, table), rowKey(key)
	bucket := tx.Bucket(name)
	if bucket == nil {
		return false, nil
	}
	value := bucket.Get(key)
	if value == nil {
		return false, nil
	}
	r, sum, err := decodeRow(sealOf(name), key, value)
	if err != nil {
		return true, damage(s.tables[table].name, key[1:], err)
	}
	t := s.tallyOf(version, table)
	t.remove(sum, r.revision)
	if err := bucket.Delete(key); err != nil || t.count > 0 {
		return true, err
	}
	return true, tx.DeleteBucket(name)
}

// tallyOf returns the tally of what a pin keeps of a table, to be changed.
func (s *state) tallyOf(version uint64, table int) *tally {
	p := s.pin(version)
	for table >= len(p.rows) {
		p.rows = append(p.rows, tally{})
	}
	return &p.rows[table]
}

// release lets go of a pin, and gives what older ones have of its rows to the next.
func (s *state) release(tx *bbolt.Tx, version uint64) error {
	i, _ := s.place(version)
	gone := s.pins[i]
	s.pins = slices.Delete(s.pins, i, i+1)
	for table, t := range gone.rows {
		if t.count == 0 {
			continue
		}
		name := pinBucket(version, table)
		bucket, of := tx.Bucket(name), sealOf(name)
		if bucket == nil {
			return damage("", nil, fmt.Errorf("what is kept for the pin of version %d is missing", version))
		}
		at := bucket.Cursor()
		for key, value := at.First(); key != nil && i > 0; key, value = at.Next() { // 0: nobody older has them
			r, _, err := decodeRow(of, key, value)
			if err != nil {
				return damage(s.tables[table].name, key[1:], err)
			}
			if older := s.pins[i-1].version; older >= r.revision {
				if err := s.give(tx, older, table, bytes.Clone(key[1:]), r); err != nil {
					return err
				}
			}
		}
		if err := tx.DeleteBucket(name); err != nil {
			return err
		}
	}
	return nil
}

// writePins writes what of the pins is other than in the state before.
func (s *state) writePins(tx *bbolt.Tx, before *state) error {
	if slices.Equal(s.pins, before.pins) {
		return nil
	}
	bucket, err := tx.CreateBucketIfNotExists(pinsBucket)
	if err != nil {
		return err
	}
	of := sealOf(pinsBucket)
	for _, p := range before.pins {
		if i, ok := s.place(p.version); !ok || s.pins[i] != p {
			key := logKey(p.version)
			s.ofPins.remove(of.sum(key, p.append(nil)), p.version)
			if err := bucket.Delete(key); err != nil {
				return err
			}
		}
	}
	for _, p := range s.pins {
		if i, ok := before.place(p.version); !ok || before.pins[i] != p {
			key, value := logKey(p.version), p.append(nil)
			s.ofPins.add(of.sum(key, value), p.version)
			if err := bucket.Put(key, of.close(key, value)); err != nil {
				return err
			}
		}
	}
	meta := tx.Bucket(metaBucket)
	if len(s.pins) == 0 {
		return errors.Join(tx.DeleteBucket(pinsBucket), meta.Delete(pinsKey))
	}
	return meta.Put(pinsKey, sealOf(metaBucket).close(pinsKey, s.ofPins.append(nil)))
}

// A pinning is what a DB wants of the pin of a name, and what it is told.
type pinning struct {
	name    string
	version uint64
	gone    bool // let go of it
	err     error
	done    chan error
}

func (s *fileSink) Pin(name string, version uint64) (wait func() error) {
	return s.pin(pinning{name: name, version: version})
}

func (s *fileSink) Unpin(name string) (wait func() error) {
	return s.pin(pinning{name: name, gone: true})
}

func (s *fileSink) pin(p pinning) (wait func() error) {
	p.done = make(chan error, 1)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		p.done <- fmt.Errorf("bolt: %w", cow.ErrClosed)
	} else {
		s.pins = append(s.pins, p)
		s.change()
	}
	return func() error { return <-p.done }
}

// late reports whether what the last transaction has replaced may still be wanted: for a
// pin that came while it was written, or because the DB has begun meanwhile to keep a past
// from before it.
func (s *fileSink) late() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.pins) > 0 || s.oldest != sink.NoPast && s.oldest < s.writer.state.base.version
}

// A replaced is what a transaction did to the tables.
type replaced struct {
	from uint64     // they were at this version
	rows []sink.Row // by table, key and version
	olds []row      // what was there before, by the first of the rows of a key; the zero row: nothing
}

// pin does to the pins of a file what the DB wants.
func (w *writer) pin(tx *bbolt.Tx, next *state, p *pinning) error {
	if _, is := next.place(p.version); !p.gone && !is && p.version < next.base.version {
		// It was current when the DB pinned it, but what comes after it was being written.
		if w.last == nil || p.version < w.last.from {
			p.err = fmt.Errorf("bolt: version %d: the file does not have it: %w", p.version, cow.ErrCompacted)
			return nil
		}
		next.pin(p.version)
		if err := w.last.give(tx, next, p.version); err != nil {
			return err
		}
	}
	was, had := next.named(p.name)
	if had && !p.gone && was == p.version {
		return nil
	}
	if !p.gone {
		to := next.pin(p.version)
		to.names = append(to.names, p.name)
	}
	if !had {
		return nil
	}
	from := next.pin(was)
	from.names = slices.DeleteFunc(from.names, func(name string) bool { return name == p.name })
	if len(from.names) > 0 {
		return nil
	}
	return next.release(tx, was)
}

// give gives a new pin of a version from from on what it has of the rows that were replaced.
func (l *replaced) give(tx *bbolt.Tx, next *state, version uint64) error {
	var was row
	has := false
	for i, r := range l.rows {
		if i == 0 || r.Table != l.rows[i-1].Table || !bytes.Equal(r.Key, l.rows[i-1].Key) {
			was, has = l.olds[i], l.olds[i].revision > 0
		}
		if r.Revision > version {
			// A newer pin, if there is one, has the row already.
			if i, _ := next.place(r.Revision); has && next.pins[i-1].version == version {
				if err := next.lift(tx, version, r.Table, r.Key, was); err != nil {
					return err
				}
			}
			has = false
			continue
		}
		was, has = row{r.Revision, r.Value}, !r.Removed
	}
	return nil
}
