package bolt

import (
	"bytes"
	"slices"

	"go.etcd.io/bbolt"

	"github.com/cowstore/cowstore/cow/internal/sink"
)

// Erases is sink.Eraser.
func (s *fileSink) Erases() {}

// An erased is what is to be gone.
type erased map[erasedKey]struct{}

// An erasedKey is the id of a table, and a key.
type erasedKey struct {
	table int
	key   string
}

func (e erased) has(r sink.Row) bool {
	_, ok := e[erasedKey{r.Table, string(r.Key)}]
	return ok
}

// without returns the rows of an earlier commit without what is to be gone: of a row that says so
// itself, that stays.
func (e erased) without(rows []sink.Row) []sink.Row {
	if len(e) == 0 {
		return rows
	}
	rows = slices.DeleteFunc(rows, func(r sink.Row) bool { return !r.Erased && e.has(r) })
	for i, r := range rows {
		if e.has(r) {
			rows[i].Removed, rows[i].Value = true, nil
		}
	}
	return rows
}

// from takes what is to be gone out of all that the file has: the tables, the log, and what is
// kept for pins.
func (e erased) from(tx *bbolt.Tx, next *state) error {
	next.erased = true
	for k := range e {
		t, key := &next.tables[k.table], []byte(k.key)
		name := tableBucket(k.table, t.name)
		if _, err := put(tx.Bucket(name), sealOf(name), t, sink.Row{Key: key, Removed: true}); err != nil {
			return err
		}
		for _, p := range slices.Clone(next.pins) {
			if _, err := next.take(tx, p.version, k.table, key); err != nil {
				return err
			}
		}
	}
	return e.fromLog(tx, next)
}

func (e erased) fromLog(tx *bbolt.Tx, next *state) error {
	log, seal := tx.Bucket(logBucket), sealOf(logBucket)
	var changed []record
	at := log.Cursor()
	for key, value := at.First(); key != nil; key, value = at.Next() {
		c, sum, err := decodeRecord(seal, key, value)
		if err != nil {
			return damage("", nil, err)
		}
		if !slices.ContainsFunc(c.rows, e.has) {
			continue
		}
		next.log.remove(sum, c.version)
		c.rows = e.without(c.rows)
		for i := range c.rows { // they are the file's until it is written to
			c.rows[i].Key, c.rows[i].Value = bytes.Clone(c.rows[i].Key), bytes.Clone(c.rows[i].Value)
		}
		changed = append(changed, c)
	}
	for _, c := range changed {
		key, value := logKey(c.version), c.append(nil)
		next.log.add(seal.sum(key, value), c.version)
		if err := log.Put(key, seal.close(key, value)); err != nil {
			return err
		}
	}
	return nil
}

// without returns what a transaction did, without what is to be gone, in memory of its own: that of
// a record has all of its rows.
func (l *replaced) without(gone erased) *replaced {
	if l == nil {
		return nil
	}
	l = &replaced{l.from, slices.Clone(l.rows), slices.Clone(l.olds)}
	for i, r := range l.rows {
		if gone.has(r) {
			r.Removed, r.Value, l.olds[i] = true, nil, row{}
		}
		r.Key, r.Value = bytes.Clone(r.Key), bytes.Clone(r.Value)
		l.rows[i] = r
	}
	return l
}
