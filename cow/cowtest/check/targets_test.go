package check

import (
	"context"
	"testing"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/memory"
)

// cells is how many cells a target has: few, so that everybody meets. The first half of them
// is in one table or space, the other half in another, where there are two.
const (
	cells = 16
	half  = cells / 2
)

// names are the keys of the cells.
var names = [cells]string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n", "o", "p"}

// A cell is what lies under a key: the zero cell nothing. No two writes of a history write
// the same value.
type cell struct {
	value    int64
	revision uint64
}

// A target is a store of cells, for any number of goroutines.
type target struct {
	load   func() reader
	wait   func(ctx context.Context, after uint64) (reader, error)
	verbs  func(c int) verbs // for that cell, each in a version of its own
	update func(f func(version uint64, verbs func(c int) verbs) error) error
	fork   func(of reader) *target
	merge  func(base, theirs reader) error
}

// A reader is a snapshot.
type reader struct {
	of      any // what it is to the store
	version uint64
	read    func(c int) cell
}

// verbs are Get and the writes of a cell, which return the version that they publish. In an
// update the version that a write returns says only whether it changed anything.
type verbs interface {
	Get(key string) (int64, bool)
	Set(key string, v int64) (uint64, error)
	Insert(key string, v int64) (uint64, error)
	SetIf(key string, rev uint64, v int64) (uint64, error)
	Delete(key string) (uint64, error)
	Take(key string) (int64, bool, error)
	Modify(key string, f func(v *int64) error) (uint64, error)
}

// targets are the stores that are checked. Each keeps as many versions as it is told.
var targets = map[string]func(t *testing.T, kept cow.Retention) *target{
	"Table": func(t *testing.T, kept cow.Retention) *target {
		table := cow.New[string](cow.Options[int64]{})
		table.DB().Retain(kept)
		return tableTarget(table)
	},
	"DB":   func(t *testing.T, kept cow.Retention) *target { return dbTarget(newDB(kept)) },
	"Sink": sinkTarget,
	"Memory": func(t *testing.T, kept cow.Retention) *target {
		m := memory.New(memory.Options{})
		m.DB().Retain(kept)
		return memoryTarget(m)
	},
}

// targetOf returns a target without its writes: what a DB and a Memory of
// snapshots S have in common.
func targetOf[S interface{ Version() uint64 }](load func() S, wait func(ctx context.Context, after uint64) (S, error), read func(s S, c int) cell,
	fork func(s S) *target, merge func(base, theirs S) error) *target {
	readerOf := func(s S) reader { return reader{s, s.Version(), func(c int) cell { return read(s, c) }} }
	return &target{
		load: func() reader { return readerOf(load()) },
		wait: func(ctx context.Context, after uint64) (reader, error) {
			s, err := wait(ctx, after)
			if err != nil {
				return reader{}, err
			}
			return readerOf(s), nil
		},
		fork:  func(of reader) *target { return fork(of.of.(S)) },
		merge: func(base, theirs reader) error { return merge(base.of.(S), theirs.of.(S)) },
	}
}

// readMap reads a cell of a map.
func readMap(m *cow.Map[string, int64], c int) cell {
	v, _ := m.Get(names[c])
	return cell{v, m.Revision(names[c])}
}

// tableTarget has all cells in a Table.
func tableTarget(table *cow.Table[string, int64]) *target {
	db := table.DB()
	t := targetOf(db.Load, db.Wait,
		func(s *cow.Snapshot, c int) cell { return readMap(table.In(s), c) },
		func(s *cow.Snapshot) *target { return tableTarget(table.Of(db.Fork(s))) },
		func(base, theirs *cow.Snapshot) error { _, err := db.Merge(base, theirs); return err })
	t.verbs = func(int) verbs { return table }
	t.update = func(f func(uint64, func(int) verbs) error) error {
		return table.Update(func(e *cow.Editor[string, int64]) error {
			return f(e.Version(), func(int) verbs { return editing{e} })
		})
	}
	return t
}

// newDB returns a DB with a table for each half of the cells.
func newDB(kept cow.Retention) (*cow.DB, []*cow.Table[string, int64]) {
	db := new(cow.DB)
	db.Retain(kept)
	o := cow.Options[int64]{Codec: cow.Versioned[int64]{}}
	return db, []*cow.Table[string, int64]{cow.NewTable[string](db, "low", o), cow.NewTable[string](db, "high", o)}
}

func dbTarget(db *cow.DB, tables []*cow.Table[string, int64]) *target {
	t := targetOf(db.Load, db.Wait,
		func(s *cow.Snapshot, c int) cell { return readMap(tables[c/half].In(s), c) },
		func(s *cow.Snapshot) *target { return dbTarget(db.Fork(s), tables) },
		func(base, theirs *cow.Snapshot) error { _, err := db.Merge(base, theirs); return err })
	t.verbs = func(c int) verbs { return tables[c/half].Of(db) }
	t.update = func(f func(uint64, func(int) verbs) error) error {
		return db.Update(func(tx *cow.Tx) error {
			return f(tx.Version(), func(c int) verbs { return editing{tables[c/half].Edit(tx)} })
		})
	}
	return t
}

// memoryTarget has the halves of the cells in two spaces of a Memory, one below the other.
func memoryTarget(m *memory.Memory) *target {
	path := func(c int) []string { return []string{"low", "high"}[:1+c/half] }
	wait := func(ctx context.Context, after uint64) (memory.Snapshot, error) {
		s, err := m.DB().Wait(ctx, after)
		if err != nil {
			return memory.Snapshot{}, err
		}
		return m.In(s), nil
	}
	t := targetOf(m.Load, wait,
		func(s memory.Snapshot, c int) cell {
			e, _ := s.Space(path(c)...).Entry(names[c])
			return cell{e.Value.Int(), e.Revision}
		},
		func(s memory.Snapshot) *target { return memoryTarget(m.Fork(s)) },
		func(base, theirs memory.Snapshot) error {
			_, err := m.Merge(context.Background(), base, theirs, nil)
			return err
		})
	t.verbs = func(c int) verbs { return spaceVerbs{m.Space(path(c)...)} }
	t.update = func(f func(uint64, func(int) verbs) error) error {
		return m.Batch(func(b *memory.Batch) error {
			return f(b.Version(), func(c int) verbs { return batchVerbs{b.Space(path(c)...)} })
		})
	}
	return t
}

// editing has the verbs of an Editor.
type editing struct {
	*cow.Editor[string, int64]
}

// changed returns 1, for a version, if something was changed.
func changed(was bool, err error) (uint64, error) {
	if !was || err != nil {
		return 0, err
	}
	return 1, nil
}

func (e editing) Set(key string, v int64) (uint64, error) { e.Editor.Set(key, v); return 1, nil }
func (e editing) Insert(key string, v int64) (uint64, error) {
	return changed(true, e.Editor.Insert(key, v))
}
func (e editing) Delete(key string) (uint64, error) { return changed(e.Editor.Delete(key), nil) }

func (e editing) SetIf(key string, rev uint64, v int64) (uint64, error) {
	return changed(true, e.Editor.SetIf(key, rev, v))
}

func (e editing) Take(key string) (int64, bool, error) {
	v, ok := e.Editor.Take(key)
	return v, ok, nil
}

func (e editing) Modify(key string, f func(v *int64) error) (uint64, error) {
	return changed(true, e.Editor.Modify(key, f))
}

// spaceVerbs has the verbs of a Space, for numbers.
type spaceVerbs struct{ memory.Space }

func number(v memory.Value, ok bool) (int64, bool) { return v.Int(), ok }

// ofNumber returns f as a function for a Value.
func ofNumber(f func(v *int64) error) func(v memory.Value) (any, error) {
	return func(v memory.Value) (any, error) {
		n := v.Int()
		err := f(&n)
		return n, err
	}
}

func (s spaceVerbs) Get(key string) (int64, bool)               { return number(s.Space.Get(key)) }
func (s spaceVerbs) Set(key string, v int64) (uint64, error)    { return s.Put(key, v) }
func (s spaceVerbs) Insert(key string, v int64) (uint64, error) { return s.Space.Insert(key, v) }

func (s spaceVerbs) SetIf(key string, rev uint64, v int64) (uint64, error) {
	return s.Space.SetIf(key, rev, v)
}

func (s spaceVerbs) Take(key string) (int64, bool, error) {
	v, ok, err := s.Space.Take(key)
	return v.Int(), ok, err
}

func (s spaceVerbs) Modify(key string, f func(v *int64) error) (uint64, error) {
	return s.Space.Modify(key, ofNumber(f))
}

// batchVerbs has the verbs of an Editor of a Space, for numbers.
type batchVerbs struct{ *memory.Editor }

func (e batchVerbs) Get(key string) (int64, bool)            { return number(e.Editor.Get(key)) }
func (e batchVerbs) Set(key string, v int64) (uint64, error) { return changed(true, e.Put(key, v)) }
func (e batchVerbs) Insert(key string, v int64) (uint64, error) {
	return changed(true, e.Editor.Insert(key, v))
}
func (e batchVerbs) Delete(key string) (uint64, error) { return changed(e.Editor.Delete(key), nil) }

func (e batchVerbs) SetIf(key string, rev uint64, v int64) (uint64, error) {
	return changed(true, e.Editor.SetIf(key, rev, v))
}

func (e batchVerbs) Take(key string) (int64, bool, error) {
	v, ok := number(e.Editor.Take(key))
	return v, ok, nil
}

func (e batchVerbs) Modify(key string, f func(v *int64) error) (uint64, error) {
	return changed(true, e.Editor.Modify(key, ofNumber(f)))
}
