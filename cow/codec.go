package cow

import (
	"errors"
	"fmt"
	"iter"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/cowstore/cowstore/cow/internal/door"
	"github.com/cowstore/cowstore/snapshot"
)

// A Codec turns values into bytes and back. It must be safe for concurrent use,
// and what it decodes must be equal to what was encoded.
//
// What makes a DB durable or replicates it records the schema of each table, see
// [ErrSchema]. A Codec may have a method Schema() string, which says what its bytes are: it
// must return another text when they are read otherwise. A Codec without it is described
// by the name of its type, and by the exported fields of V.
type Codec[V any] interface {
	// Append appends v to b. What it appends is decoded once, before it is stored, and an
	// error of that is one of the update.
	Append(b []byte, v V) ([]byte, error)

	// Decode returns the value of what Append has appended. It must not keep b.
	Decode(b []byte) (V, error)
}

var errNoCodec = errors.New("it has no codec: set Options.Codec, or Options.Derive if it follows from other tables")

func (d *tableDef[K, V]) isStored() (bool, error) {
	err := d.keysErr
	switch {
	case d.isDerived():
		return false, nil
	case d.codec == nil:
		err = errNoCodec
	}
	if err != nil {
		return false, fmt.Errorf("cow: table %q cannot be stored: %w", d.name, err)
	}
	return true, nil
}

// rowError says which row of a table an error is about.
func (d *tableDef[K, V]) rowError(key any, err error) error {
	return fmt.Errorf("cow: table %q: %s: %w", d.name, keyText(key), err)
}

func (d *tableDef[K, V]) encodeRow(table int, row Row[K, V], revision uint64) (door.Row, error) {
	value, err := d.codec.Append(nil, row.Value())
	if err == nil {
		// What is acknowledged can be read again, whatever the codec does not know of a value.
		if _, derr := d.codec.Decode(value); derr != nil {
			err = fmt.Errorf("the codec does not decode what it has encoded: %w", derr)
		}
	}
	if err != nil {
		return door.Row{}, d.rowError(row.Key(), err)
	}
	return door.Row{Table: table, Key: d.keys.Append(nil, row.Key()), Value: value, Revision: revision}, nil
}

func (d *tableDef[K, V]) encode(rows []door.Row, table int, n tableNet, version uint64) ([]door.Row, error) {
	for _, c := range n.(*changes[K, V]).list {
		row := door.Row{Table: table, Removed: true, Revision: version}
		if _, is := c.Rows(); is != (Row[K, V]{}) {
			var err error
			if row, err = d.encodeRow(table, is, version); err != nil {
				return nil, err
			}
		} else {
			row.Key = d.keys.Append(nil, c.Key)
		}
		rows = append(rows, row)
	}
	return rows, nil
}

func (d *tableDef[K, V]) rows(table int, s *Snapshot) iter.Seq2[door.Row, error] {
	return func(yield func(door.Row, error) bool) {
		for row := range d.in(s).Rows() {
			if !yield(d.encodeRow(table, row, row.Revision())) {
				return
			}
		}
	}
}

func (d *tableDef[K, V]) lost(table int, s, later *Snapshot) iter.Seq2[door.Row, error] {
	return func(yield func(door.Row, error) bool) {
		for c := range d.in(later).Diff(d.in(s)) {
			if was, _ := c.Rows(); was != (Row[K, V]{}) && !yield(d.encodeRow(table, was, was.Revision())) {
				return
			}
		}
	}
}

// decode returns the key of a row, and its value unless it is removed.
func (d *tableDef[K, V]) decode(row door.Row) (key K, v V, err error) {
	if key, err = d.keys.Decode(row.Key); err != nil {
		return key, v, fmt.Errorf("cow: table %q: key %x: %w", d.name, row.Key, err)
	}
	if !row.Removed {
		if v, err = d.codec.Decode(row.Value); err != nil {
			return key, v, d.rowError(key, err)
		}
	}
	return key, v, nil
}

func (d *tableDef[K, V]) replay(tx *Tx, row door.Row) error {
	key, v, err := d.decode(row)
	if err != nil {
		return err
	}
	if e := d.edit(tx); row.Removed {
		e.Delete(key)
	} else {
		e.Set(key, v)
	}
	return nil
}

// A tableRestorer is a restorer of a table. It takes rows in parts, which are decoded in
// goroutines of their own, and puts all of them into the table at the end.
type tableRestorer[K comparable, V any] struct {
	def   *tableDef[K, V]
	e     *Editor[K, V]
	base  *Map[K, V]
	seen  map[K]struct{} // nil: the table was empty, or what it has stays
	more  bool           // what it has stays, unless it is removed
	next  []door.Row     // of the next part
	parts []*restoredPart[K, V]

	running sync.WaitGroup
	turns   chan struct{} // has one for each part that is being decoded
	failed  atomic.Bool   // a part has an error
}

type restoredPart[K comparable, V any] struct {
	rows *snapshot.Batch[K, V]
	err  error
}

func (d *tableDef[K, V]) restore(tx *Tx, more bool) restorer {
	r := &tableRestorer[K, V]{def: d, e: d.edit(tx), base: d.in(tx.base), more: more}
	r.turns = make(chan struct{}, runtime.GOMAXPROCS(0))
	if !more && r.base.Len() > 0 {
		r.seen = make(map[K]struct{}, r.base.Len())
	}
	return r
}

func (r *tableRestorer[K, V]) row(row door.Row) error {
	const inPart = 1 << 12
	if r.more && row.Removed {
		key, _, err := r.def.decode(row)
		if err == nil {
			r.e.Delete(key)
		}
		return err
	}
	if r.seen != nil {
		key, err := r.def.keys.Decode(row.Key)
		if err == nil {
			r.seen[key] = struct{}{}
			if r.base.Revision(key) == row.Revision && r.base.Has(key) {
				return nil
			}
		}
	}
	if r.next == nil {
		r.next = make([]door.Row, 0, inPart)
	}
	if r.next = append(r.next, row); len(r.next) < inPart {
		return nil
	}
	return r.flush()
}

// flush has the rows of the next part decoded, and returns the error of an earlier one,
// if there is one by now.
func (r *tableRestorer[K, V]) flush() error {
	rows := r.next
	r.next = nil
	p := &restoredPart[K, V]{rows: builder[K, V]{}.Batch(r.e, len(rows)), err: errGoexit} // unless it returns
	r.parts = append(r.parts, p)
	r.turns <- struct{}{}
	r.running.Go(func() {
		defer func() {
			if p.err != nil {
				r.failed.Store(true)
			}
			<-r.turns
		}()
		_, p.err = recovered(func() (_ struct{}, err error) {
			for i := 0; i < len(rows) && err == nil; i++ {
				err = r.decode(rows[i], p.rows)
			}
			return struct{}{}, err
		})
	})
	if r.failed.Load() {
		return r.firstError()
	}
	return nil
}

// firstError returns the first error in the order of the rows.
func (r *tableRestorer[K, V]) firstError() error {
	r.running.Wait()
	for _, p := range r.parts {
		if p.err != nil {
			return p.err
		}
	}
	return nil
}

func (r *tableRestorer[K, V]) wait() { r.running.Wait() }

func (r *tableRestorer[K, V]) decode(row door.Row, into *snapshot.Batch[K, V]) error {
	key, v, err := r.def.decode(row)
	switch {
	case err != nil:
		return err
	case row.Removed:
		return r.def.rowError(key, errors.New("a row of contents that is removed"))
	}
	return into.Add(key, v, row.Revision)
}

func (r *tableRestorer[K, V]) end() error {
	if len(r.next) > 0 {
		_ = r.flush()
	}
	if err := r.firstError(); err != nil {
		return err
	}
	batches := make([]*snapshot.Batch[K, V], len(r.parts))
	for i, p := range r.parts {
		batches[i] = p.rows
	}
	r.parts = nil
	builder[K, V]{}.PutBatches(r.e, batches, inParallel)
	if r.seen == nil {
		return nil
	}
	for key := range r.base.Keys() {
		if _, ok := r.seen[key]; !ok {
			r.e.Delete(key)
		}
	}
	return nil
}

// inParallel calls do with 0 to n-1 on all processors.
func inParallel(n int, do func(i int)) {
	var next atomic.Int64
	var all sync.WaitGroup
	for range min(n, runtime.GOMAXPROCS(0)) {
		all.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				do(i)
			}
		})
	}
	all.Wait()
}
