package cow

import (
	"errors"
	"fmt"
	"strings"

	"github.com/cowstore/cowstore/cow/internal/line"
)

// ErrConflict says that both sides of a merge have changed a key, and not both removed it. It may
// also mean that base is older than their last merge: see [DB.Merge].
var ErrConflict = errors.New("changed on both sides")

// A Resolver says how to resolve the conflicts in one table. It is made by [Table.Resolve].
type Resolver struct {
	catalog *catalog
	place   int
	resolve any
}

// Resolve returns a Resolver for conflicts in the table. For each conflict, resolve returns the
// value to keep, or false to remove the key, or an error, which ends the merge. If resolve is nil,
// no conflict is resolved.
func (t *Table[K, V]) Resolve(resolve func(c Conflict[K, V]) (v V, keep bool, err error)) Resolver {
	t.made()
	return Resolver{t.def.catalog, t.def.at, resolve}
}

// Merge makes the changes from base to theirs in db too, in one update. It is a three-way merge of
// all tables; derived tables follow. Base is what both sides last had in common, and theirs the other
// side's current snapshot. For the first merge of a fork, base is the snapshot that the fork began
// with; for that of a fork's fork, the snapshot of db that the first fork began with. Merge returns
// theirs, which is the base of the next merge of the two, in either direction. The snapshot of db
// after a merge is no base: what db alone had written is in it, and would never reach the other side.
// A row that an earlier merge brought over counts as the same on both sides, until one of them writes
// it. What a Resolver returned is a write of db.
//
// A key that both sides have changed since base is a conflict, also if one of them removed it. It is
// none if both removed it and neither has it now. Without a Resolver for the table, Merge
// returns one error for all conflicts; it wraps a *KeyError with [ErrConflict] for each. A Resolver is
// also how to see what both sides have. Merge panics if it is given two Resolvers for one table. On
// an error nothing is published.
//
// A key that is absent, and was absent in base, counts as one that its side has not changed. A row
// that has expired is there until Sweep deletes it, and is removed then.
func (db *DB) Merge(base, theirs *Snapshot, resolvers ...Resolver) (next *Snapshot, err error) {
	for _, s := range []*Snapshot{base, theirs} {
		if s != nil && s.root().Owner().Tables != line.Tables(db.catalog()) {
			panic("cow: Merge of a snapshot of another DB: it must be of the DB's own, or of a fork")
		}
	}
	resolve := make(map[int]any)
	for _, r := range resolvers {
		if r.catalog != db.catalog() {
			panic("cow: Merge with a Resolver for a table of another DB: make it by Resolve of the DB's own table")
		}
		if _, twice := resolve[r.place]; twice {
			panic(fmt.Sprintf("cow: Merge with two Resolvers for %s: give it one for each table", db.catalog().all()[r.place]))
		}
		resolve[r.place] = r.resolve
	}
	err = db.Update(func(tx *Tx) error {
		left := new(conflicts)
		for _, t := range db.catalog().all() {
			if t.isDerived() {
				continue // follows from the others, here too
			}
			if err := t.merge(tx, base, theirs, resolve[t.place()], left.add); err != nil {
				return err
			}
		}
		if len(left.all) > 0 {
			return left
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return theirs, nil
}

// merge merges the table, and calls left with what there is no resolver for.
func (d *tableDef[K, V]) merge(tx *Tx, base, theirs *Snapshot, resolve any, left func(error)) error {
	from, to := d.in(base), d.in(theirs)
	if from == to {
		return nil
	}
	f, ok := resolve.(func(Conflict[K, V]) (V, bool, error))
	if !ok || f == nil {
		f = func(c Conflict[K, V]) (V, bool, error) {
			left(&KeyError[K]{Name: builder[K, V]{}.Name(d.empty), Key: c.Key, Err: ErrConflict})
			v, ok := c.Ours()
			return v, ok, nil
		}
	}
	return d.edit(tx).Merge(from, to, f)
}

// conflicts are the keys that both sides of a merge have changed, each a *KeyError.
type conflicts struct{ all []error }

func (c *conflicts) add(err error) { c.all = append(c.all, err) }

// Error names the first few keys.
func (c *conflicts) Error() string {
	const few = 5
	var b strings.Builder
	for i, err := range c.all {
		if i == few {
			fmt.Fprintf(&b, "; and %d more", len(c.all)-few)
			break
		}
		if i > 0 {
			b.WriteString("; ")
		}
		b.WriteString(err.Error())
	}
	return b.String()
}

func (c *conflicts) Unwrap() []error { return c.all }
