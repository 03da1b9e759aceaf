package cow

import (
	"errors"
	"fmt"
	"strings"
)

// ErrConflict says that both sides of a merge have changed a key; see [MergeError].
var ErrConflict = errors.New("changed on both sides")

// A MergeError lists the keys that both sides of a merge have changed, where
// nothing was given to resolve them. It wraps ErrConflict.
type MergeError struct {
	Conflicts []MergeConflict
}

// A MergeConflict is one of them.
type MergeConflict struct {
	Table string // "" in a Store
	Key   any
}

// Error names the first few keys.
func (e *MergeError) Error() string {
	const few = 5
	var b strings.Builder
	fmt.Fprintf(&b, "cow: changed on both sides, %d in all:", len(e.Conflicts))
	for i, c := range e.Conflicts {
		if i == few {
			b.WriteString(" …")
			break
		}
		fmt.Fprintf(&b, " %s%s", strings.TrimPrefix(c.Table+"/", "/"), keyText(c.Key))
	}
	return b.String()
}

// keyText returns a key, shortened if it is long.
func keyText(key any) string { return builder[int, int]{}.Text(key) }

// Format formats Error, whatever the verb: keys may be nested too deeply for fmt.
func (e *MergeError) Format(f fmt.State, verb rune) { format(f, verb, e.Error()) }

func (e *MergeError) Unwrap() error { return ErrConflict }

// Merge makes the changes from base to theirs here as well, in one update: a
// three-way merge. Base is the snapshot that a fork began with, and after a merge,
// in either direction, what that returned; theirs is the fork's snapshot now. Both
// must come from the same origin: a map with other Options panics, before anything
// is done, since values leave by the Options of the map they lie in. A row that an
// earlier merge brought over is the same on both sides until one of them writes it.
//
// A key that was changed on both sides since is a conflict, unless both removed
// it. For each, resolve returns the value to keep, or false to remove the key, or
// an error, which ends the merge. If resolve is nil the conflicts are returned in
// a *MergeError. On an error nothing is published.
func (s *Store[K, V]) Merge(base, theirs *Map[K, V], resolve func(c Conflict[K, V]) (v V, keep bool, err error)) (next *Map[K, V], err error) {
	err = s.Update(func(e *Editor[K, V]) error {
		conflicts, err := merge(e, "", base, theirs, resolve)
		return mergeError(conflicts, err)
	})
	if err != nil {
		return nil, err
	}
	return theirs, nil
}

// merge merges one map, and returns the conflicts if there is nothing to resolve
// them.
func merge[K comparable, V any](e *Editor[K, V], table string, base, theirs *Map[K, V], resolve func(c Conflict[K, V]) (V, bool, error)) (conflicts []MergeConflict, err error) {
	if resolve == nil {
		resolve = func(c Conflict[K, V]) (V, bool, error) {
			conflicts = append(conflicts, MergeConflict{table, c.Key})
			v, ok := c.Ours()
			return v, ok, nil
		}
	}
	err = e.Merge(base, theirs, resolve)
	return conflicts, err
}

func mergeError(conflicts []MergeConflict, err error) error {
	if err == nil && len(conflicts) > 0 {
		err = &MergeError{conflicts}
	}
	return err
}

// A Resolver says how to resolve the conflicts in one table. It is made by
// Table.Resolve.
type Resolver struct {
	schema  *schema
	table   int
	resolve any
}

// Resolve returns a Resolver for conflicts in the table; see Store.Merge for
// what it returns.
func (t *Table[K, V]) Resolve(resolve func(c Conflict[K, V]) (v V, keep bool, err error)) Resolver {
	t.made()
	return Resolver{t.def.schema, t.def.index, resolve}
}

// Merge makes the changes from base to theirs here as well, in all tables but
// derived ones, which follow, in one update: see Store.Merge. What it returns is
// theirs, the base of the next merge. The conflicts of a table that has no Resolver
// are returned in a *MergeError.
func (db *DB) Merge(base, theirs *Snapshot, resolvers ...Resolver) (next *Snapshot, err error) {
	of := make(map[int]any)
	for _, r := range resolvers {
		if r.schema != db.schema() {
			panic("cow: Merge with a Resolver for a table of another DB")
		}
		of[r.table] = r.resolve
	}
	err = db.Update(func(tx *Tx) error {
		var all []MergeConflict
		for i, t := range db.schema().all() {
			if t.isDerived() {
				continue // follows from the others, here too
			}
			conflicts, err := t.merge(tx, base, theirs, of[i])
			if err != nil {
				return err
			}
			all = append(all, conflicts...)
		}
		return mergeError(all, nil)
	})
	if err != nil {
		return nil, err
	}
	return theirs, nil
}

func (d *tableDef[K, V]) merge(tx *Tx, base, theirs *Snapshot, resolve any) ([]MergeConflict, error) {
	from, to := d.in(base), d.in(theirs)
	if from == to {
		return nil, nil
	}
	f, _ := resolve.(func(Conflict[K, V]) (V, bool, error))
	return merge(d.edit(tx), d.name, from, to, f)
}
