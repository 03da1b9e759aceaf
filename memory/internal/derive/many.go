package derive

import (
	"runtime"
	"sync"
	"unsafe"

	"github.com/cowstore/cowstore/memory/internal/data"
	"github.com/cowstore/cowstore/memory/internal/tuple"
	"github.com/cowstore/cowstore/snapshot"
)

// Entries are rows by their names.
type Entries = snapshot.Map[string, *data.Entry]

// A Row is that of an entry.
type Row = snapshot.Row[string, *data.Entry]

// Many calls yield with the place in keys of each key of a space that is there, and its row, until
// it returns false.
func (v View) Many(path string, keys []string, yield func(int, Row) bool) {
	if v.T != nil {
		Many(v.T.Entries.In(v.Root), v.Clearings(), v.Instant, path, keys, yield)
	}
}

// Many is View.Many in entries at an instant, with the marks that there are.
func Many(in *Entries, cleared data.Marks, instant int64, path string, keys []string, yield func(int, Row) bool) {
	var rows [32]Row
	for from := 0; from < len(keys); from += len(rows) {
		some := keys[from:min(from+len(rows), len(keys))]
		Together(in, rows[:len(some)], func(i int) (string, string) { return path, some[i] })
		for i, row := range rows[:len(some)] {
			if row != (Row{}) && !row.Shared().Expired(instant) && cleared.Alive(path, row.Revision()) && !yield(from+i, row) {
				return
			}
		}
	}
}

// Together sets each of rows to that of the space and key which name returns for its place, the
// zero Row where there is none. All are looked up together, and what that finds is read together
// too: these are rows all over the heap.
func Together(in *Entries, rows []Row, name func(i int) (path, key string)) {
	clear(rows)
	n := pool.Get().(*names)
	for i := range rows {
		n.add(name(i))
	}
	for i, row := range (snapshot.Builder[string, *data.Entry]{}).RowsOf(in, n.strings()) {
		rows[i] = row
	}
	n.free()
	touched := int64(0)
	for i := range rows {
		if rows[i] != (Row{}) {
			touched |= rows[i].Shared().Created
		}
	}
	runtime.KeepAlive(touched)
}

// names are names of entries one after the other in one piece of memory.
type names struct {
	bytes []byte
	ends  []int
	all   []string
}

var pool = sync.Pool{New: func() any { return new(names) }}

func (n *names) add(path, key string) {
	n.bytes = append(append(append(n.bytes, path...), tuple.OpensKey), key...)
	n.ends = append(n.ends, len(n.bytes))
}

// strings returns the names, to be read until free.
func (n *names) strings() []string {
	from := 0
	for _, end := range n.ends {
		n.all = append(n.all, unsafe.String(&n.bytes[from], end-from))
		from = end
	}
	return n.all
}

// free gives n back.
func (n *names) free() {
	clear(n.all)
	n.bytes, n.ends, n.all = n.bytes[:0], n.ends[:0], n.all[:0]
	if cap(n.bytes) <= 1<<16 && cap(n.all) <= 1<<10 {
		pool.Put(n)
	}
}
