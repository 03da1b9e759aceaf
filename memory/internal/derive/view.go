package derive

import (
	"runtime"
	"unsafe"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/memory/internal/data"
	"github.com/cowstore/cowstore/memory/internal/tuple"
	"github.com/cowstore/cowstore/snapshot"
)

// A View is what the tables have in a version, at an instant.
type View struct {
	T       *Tables
	Root    *cow.Snapshot
	Instant int64 // ns since 1970; 0: nothing can have expired
}

// Row returns the row of an entry, and whether it is there.
func (v View) Row(path, key string) (row snapshot.Row[string, *data.Entry], ok bool) {
	if v.T == nil {
		return row, false
	}
	row, ok = v.T.Entries.In(v.Root).Row(tuple.Name(path, key))
	if !ok || row.Shared().Expired(v.Instant) || !v.Clearings().Alive(path, row.Revision()) {
		return snapshot.Row[string, *data.Entry]{}, false
	}
	return row, true
}

// Space returns what is known of a space, which must not be modified.
func (v View) Space(path string) *data.Space {
	if v.T != nil {
		if row, ok := v.T.Spaces.In(v.Root).Row(path); ok && v.Clearings().Alive(path, row.Revision()) {
			return row.Shared()
		}
	}
	return new(data.Space)
}

// Total returns what a space has in a snapshot, with all spaces below it.
func (v View) Total(path string) data.Total {
	n := v.Space(path).Total()
	if row, ok := v.T.Below.In(v.Root).Row(path); ok && v.Clearings().AliveBelow(path, row.Revision()) {
		n = n.Plus(*row.Shared())
	}
	return n
}

// Clearings returns the marks of a snapshot.
func (v View) Clearings() data.Marks {
	if v.T == nil || !v.T.Clears.Load() {
		return data.Marks{}
	}
	return data.Marks{Map: v.T.Cleared.In(v.Root)}
}

// Within returns the paths of a space and those below it that have entries, in order.
func (v View) Within(path string) []string {
	return v.T.within(v.T.Spaces.In(v.Root), v.Clearings(), path)
}

// InOrder returns all entries, by name.
func (v View) InOrder() cow.Range[string, *data.Entry, string] {
	return v.T.Order.In(v.T.Entries.In(v.Root))
}

// Dead returns how many entries with names that begin with prefix have expired, and are
// still there.
func (v View) Dead(prefix string) int {
	n := 0
	if v.Instant != 0 {
		cleared := v.Clearings()
		for _, row := range v.T.ByExpiry.In(v.T.Entries.In(v.Root)).Through(v.Instant).All() {
			if name := row.Key(); len(name) >= len(prefix) && name[:len(prefix)] == prefix {
				if path, _ := tuple.Split(name); cleared.Alive(path, row.Revision()) {
					n++
				}
			}
		}
	}
	return n
}

// Lookup returns the row of key, or nil.
func (v View) Lookup(path, key string) *data.Entry {
	if v.T == nil {
		return nil
	}
	// The name is put together on the stack. The map only reads it, which the
	// compiler cannot see.
	var buf [128]byte
	name := append(append(append(buf[:0], path...), tuple.OpensKey), key...)
	p := noescape(unsafe.Pointer(unsafe.SliceData(name)))
	e, _ := v.T.Entries.In(v.Root).Get(unsafe.String((*byte)(p), len(name)))
	// Until here, or the place of buf on the stack could be used for something
	// else, and a longer name be collected: p does not show that it is in use.
	runtime.KeepAlive(unsafe.SliceData(name))
	if e == nil || e.Expired(v.Instant) {
		return nil
	}
	if v.T.Clears.Load() {
		if cleared := v.Clearings(); cleared.Left() > 0 && !cleared.Alive(path, v.T.Entries.In(v.Root).Revision(tuple.Name(path, key))) {
			return nil
		}
	}
	return e
}

// noescape hides a pointer from escape analysis.
//
// While x has the address nothing may move the stack: no call to grow it, not even of the
// checks that the race detector adds (package internal/abi's NoEscape is the same).
//
//go:nosplit
//go:nocheckptr
func noescape(p unsafe.Pointer) unsafe.Pointer {
	x := uintptr(p)
	return *(*unsafe.Pointer)(unsafe.Pointer(&x))
}
