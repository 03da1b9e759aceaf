package bolt

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"

	"go.etcd.io/bbolt"

	"github.com/cowstore/cowstore/cow/internal/sink"
)

// Commits that need not be kept are folded into the tables once there are foldAt of them:
// together they change fewer pages. And no more than about foldBytes in one transaction, so
// that none takes long.
const (
	foldAt    = 256
	foldBytes = 16 << 20
)

// A writer writes groups of commits, each in one transaction.
type writer struct {
	file  *file
	state *state // what the file has
	ids   []int  // by table of the DB
	wrote bool
	last  *replaced // by the last transaction that changed tables; nil: nobody asks
}

func newWriter(l *loader) writer {
	w := writer{file: l.file, state: l.state, ids: make([]int, len(l.tables))}
	for id, table := range l.known {
		if table >= 0 {
			w.ids[table] = id
		}
	}
	return w
}

// write writes a group. The tables in the file are those of its base, and the commits
// after that are in the log: as long as the DB keeps no past, the log is empty and commits
// go straight to the tables. Pins come first, for what comes after them to be kept.
func (w *writer) write(group []proposal, pins []pinning, oldest uint64) error {
	next := w.state.clone()
	last := moment{next.tip.version, next.tip.at}
	if n := len(group); n > 0 {
		last = moment{group[n-1].Version, nanos(group[n-1].Time)}
	}
	did := w.last
	commits, gone := w.records(group)
	err := w.file.update(!next.early, func(tx *bbolt.Tx) error {
		var rows []sink.Row
		var err error
		for i := range pins {
			if err := w.pin(tx, next, &pins[i]); err != nil {
				return err
			}
		}
		if len(gone) > 0 {
			if err := gone.from(tx, next); err != nil {
				return err
			}
			did = did.without(gone)
		}
		if oldest == sink.NoPast || oldest >= next.base.version+foldAt {
			// At least twice as many as come, so that the log gets shorter where less is kept.
			if rows, err = w.fold(tx, next, oldest, max(foldAt, 2*len(group))); err != nil {
				return err
			}
		}
		if oldest == sink.NoPast && next.log.count == 0 {
			for _, c := range commits {
				rows = append(rows, c.rows...)
			}
			next.base = last
		} else if err := w.append(tx, next, commits); err != nil {
			return err
		}
		if len(rows) > 0 {
			did = &replaced{from: w.state.base.version}
		}
		if err := apply(tx, next, rows, did); err != nil {
			return err
		}
		next.tip = last
		if err := next.writePins(tx, w.state); err != nil {
			return err
		}
		return tx.Bucket(metaBucket).Put(stateKey, next.encode())
	})
	if err == nil {
		w.state, w.wrote, w.last = next, true, did
	}
	return err
}

// records returns the commits of a group, without rows that a later one of them erases, and what
// they erase.
func (w *writer) records(group []proposal) (all []record, gone erased) {
	for _, p := range slices.Backward(group) {
		c := record{moment: moment{p.Version, nanos(p.Time)}, rows: slices.Clone(p.Rows), bytes: p.bytes}
		for i := range c.rows {
			c.rows[i].Table = w.ids[c.rows[i].Table]
		}
		c.rows = gone.without(c.rows)
		for _, r := range c.rows {
			if r.Erased {
				if gone == nil {
					gone = make(erased)
				}
				gone[erasedKey{r.Table, string(r.Key)}] = struct{}{}
			}
		}
		all = append(all, c)
	}
	slices.Reverse(all)
	return all, gone
}

// append appends commits to the log.
func (w *writer) append(tx *bbolt.Tx, next *state, commits []record) error {
	log, seal := tx.Bucket(logBucket), sealOf(logBucket)
	log.FillPercent = 0.9 // versions come in their order
	for _, c := range commits {
		key, value := logKey(c.version), c.append(make([]byte, 0, c.bytes+32+16*len(c.rows)))
		next.log.add(seal.sum(key, value), c.version)
		if err := log.Put(key, seal.close(key, value)); err != nil {
			return err
		}
	}
	return nil
}

// fold takes at most n commits up to oldest out of the log, the first at least if there is
// one, and returns their rows, which are to be applied.
func (w *writer) fold(tx *bbolt.Tx, next *state, oldest uint64, n int) (rows []sink.Row, err error) {
	if next.log.count == 0 {
		return nil, nil
	}
	log, seal := tx.Bucket(logBucket), sealOf(logBucket)
	var keys [][]byte
	size := 0
	at := log.Cursor()
	for key, value := at.First(); key != nil && len(keys) < n && size < foldBytes; key, value = at.Next() {
		if len(key) == 8 && binary.BigEndian.Uint64(key) > oldest {
			break
		}
		// Of its own memory: what it replaces may be wanted after the transaction.
		c, sum, err := decodeRecord(seal, key, bytes.Clone(value))
		if err != nil {
			return nil, damage("", nil, err)
		}
		rows = append(rows, c.rows...)
		keys = append(keys, bytes.Clone(key))
		size += len(value)
		next.log.remove(sum, c.version)
		next.base = c.moment
	}
	for _, key := range keys {
		if err := log.Delete(key); err != nil {
			return nil, err
		}
	}
	return rows, nil
}

// apply brings tables, which are given by id, up to rows, of which later ones count, and
// keeps for the pins what they have of the others. What it did is added to did, unless that is
// nil.
func apply(tx *bbolt.Tx, next *state, rows []sink.Row, did *replaced) error {
	slices.SortStableFunc(rows, func(a, b sink.Row) int {
		return cmp.Or(cmp.Compare(a.Table, b.Table), bytes.Compare(a.Key, b.Key))
	})
	var bucket *bbolt.Bucket
	var of seal
	var olds []row
	if did != nil && len(rows) > 0 {
		olds = make([]row, len(rows))
		did.rows, did.olds = rows, olds
	}
	first := 0 // of the rows of this key
	for i, r := range rows {
		if i == 0 || r.Table != rows[i-1].Table {
			name := tableBucket(r.Table, next.tables[r.Table].name)
			bucket, of = tx.Bucket(name), sealOf(name)
		}
		if i > 0 && (rows[i-1].Table != r.Table || !bytes.Equal(rows[i-1].Key, r.Key)) {
			first = i
		}
		if i+1 < len(rows) && rows[i+1].Table == r.Table && bytes.Equal(rows[i+1].Key, r.Key) {
			if !r.Removed && len(next.pins) > 0 {
				if err := next.keep(tx, r.Table, r.Key, row{r.Revision, r.Value}, rows[i+1].Revision); err != nil {
					return err
				}
			}
			continue
		}
		was, err := put(bucket, of, &next.tables[r.Table], r)
		if err != nil {
			return err
		}
		if was.revision == 0 {
			continue
		}
		if olds != nil {
			olds[first] = row{was.revision, bytes.Clone(was.value)}
		}
		if len(next.pins) > 0 {
			if err := next.keep(tx, r.Table, r.Key, was, rows[first].Revision); err != nil {
				return err
			}
		}
	}
	return nil
}

// put puts a row into its bucket, or removes it, and returns what was there: it is valid until
// the transaction ends.
func put(bucket *bbolt.Bucket, of seal, t *tableState, r sink.Row) (was row, err error) {
	key := rowKey(r.Key)
	if old := bucket.Get(key); old != nil {
		var sum uint32
		if was, sum, err = decodeRow(of, key, old); err != nil {
			return was, damage(t.name, r.Key, err)
		}
		t.remove(sum, was.revision)
	}
	if r.Removed {
		return was, bucket.Delete(key)
	}
	value := row{r.Revision, r.Value}.append(make([]byte, 0, len(r.Value)+16))
	t.add(of.sum(key, value), r.Revision)
	return was, bucket.Put(key, of.close(key, value))
}

// end says that the file ends cleanly, and folds what need not be kept. It says so twice,
// which leaves both of bbolt's meta pages with the same contents: then one can get
// damaged, and nothing is lost.
func (w *writer) end(oldest uint64) error {
	forget := w.state.log.count > 0 && oldest > w.state.base.version
	if !w.wrote && !w.state.early && !forget {
		return nil
	}
	for same := 0; same < 2; {
		next := w.state.clone()
		next.early = false
		if err := w.file.update(false, func(tx *bbolt.Tx) error {
			rows, err := w.fold(tx, next, oldest, foldAt)
			if err != nil {
				return err
			}
			if err := apply(tx, next, rows, nil); err != nil {
				return err
			}
			if err := next.writePins(tx, w.state); err != nil {
				return err
			}
			return tx.Bucket(metaBucket).Put(stateKey, next.encode())
		}); err != nil {
			return err
		}
		if same++; next.log.count != w.state.log.count {
			same = 1
		}
		w.state = next
	}
	return nil
}
