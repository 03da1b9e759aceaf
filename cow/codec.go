package cow

import (
	"errors"
	"fmt"
	"iter"
	"runtime"
	"slices"
	"sync"

	"github.com/cowstore/cowstore/cow/internal/door"
	"github.com/cowstore/cowstore/snapshot"
)

// A Codec turns values into bytes and back. It must be safe for concurrent use,
// and what it decodes must be equal to what was encoded.
type Codec[V any] interface {
	// Append appends v to b.
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
	return fmt.Errorf("cow: table %q: %v: %w", d.name, key, err)
}

func (d *tableDef[K, V]) encodeRow(table int, row Row[K, V], revision uint64) (door.Row, error) {
	value, err := d.codec.Append(nil, row.Value())
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

// A tableRestorer is a restorer of a table. It takes rows in batches, each of which it
// decodes on all processors, and puts into the table while the next is read and decoded.
type tableRestorer[K comparable, V any] struct {
	def   *tableDef[K, V]
	e     *Editor[K, V] // used by one flush at a time
	base  *Map[K, V]
	seen  map[K]struct{} // nil: the table was empty
	batch []door.Row
	rows  []restored[K, V] // those of batch
	spare []restored[K, V] // those of the batch before, while they are put into the table

	putting chan error // gets the outcome of that; nil: nothing is put
}

type restored[K comparable, V any] struct {
	key   K
	value snapshot.Isolated[V]
}

func (d *tableDef[K, V]) restore(tx *Tx) restorer {
	r := &tableRestorer[K, V]{def: d, e: d.edit(tx), base: d.in(tx.base)}
	if r.base.Len() > 0 {
		r.seen = make(map[K]struct{}, r.base.Len())
	}
	return r
}

func (r *tableRestorer[K, V]) row(row door.Row) error {
	const atOnce = 1 << 15
	if r.seen != nil {
		key, err := r.def.keys.Decode(row.Key)
		if err == nil {
			r.seen[key] = struct{}{}
			if r.base.Revision(key) == row.Revision && r.base.Has(key) {
				return nil
			}
		}
	}
	if r.batch = append(r.batch, row); len(r.batch) < atOnce {
		return nil
	}
	return r.flush()
}

// flush puts the rows of the batch into the table.
func (r *tableRestorer[K, V]) flush() error {
	const perWorker = 1 << 9 // below that a goroutine is not worth it
	n := len(r.batch)
	workers := max(1, min(runtime.GOMAXPROCS(0), n/perWorker))
	r.rows = slices.Grow(r.rows[:0], n)[:n]
	errs := make([]error, workers)
	var all sync.WaitGroup
	for w := range workers {
		part := func() {
			errs[w] = errGoexit // unless this returns
			_, errs[w] = recovered(func() (_ struct{}, err error) {
				for i := w * n / workers; i < (w+1)*n/workers && err == nil; i++ {
					r.rows[i], err = r.decode(r.batch[i])
				}
				return struct{}{}, err
			})
		}
		if w == workers-1 {
			part() // here
		} else {
			all.Go(part)
		}
	}
	all.Wait()
	for _, err := range errs { // the first in the order of the rows
		if err != nil {
			return err
		}
	}
	clear(r.batch)
	r.batch = r.batch[:0]
	if err := r.wait(); err != nil {
		return err
	}
	r.rows, r.spare = r.spare, r.rows
	r.putting = make(chan error, 1)
	go r.put(r.spare, r.putting)
	return nil
}

// put puts rows into the table, and says when it has.
func (r *tableRestorer[K, V]) put(rows []restored[K, V], done chan<- error) {
	err := errGoexit // unless this returns
	defer func() { done <- err }()
	_, err = recovered(func() (_ struct{}, err error) {
		builder[K, V]{}.PutAll(r.e, func(yield func(K, snapshot.Isolated[V]) bool) {
			for _, row := range rows {
				if !yield(row.key, row.value) {
					return
				}
			}
		})
		clear(rows)
		return struct{}{}, nil
	})
}

func (r *tableRestorer[K, V]) wait() (err error) {
	if r.putting != nil {
		err = <-r.putting
		r.putting = nil
	}
	return err
}

func (r *tableRestorer[K, V]) decode(row door.Row) (is restored[K, V], err error) {
	key, v, err := r.def.decode(row)
	switch {
	case err != nil:
		return is, err
	case row.Removed:
		return is, r.def.rowError(key, errors.New("a row of contents that is removed"))
	}
	clone, err := builder[K, V]{}.Isolate(r.base, key, v)
	if err != nil {
		return is, err
	}
	return restored[K, V]{key, builder[K, V]{}.At(clone, row.Revision)}, nil
}

func (r *tableRestorer[K, V]) end() error {
	if err := r.flush(); err != nil {
		return err
	}
	if err := r.wait(); err != nil {
		return err
	}
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
