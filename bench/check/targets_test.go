package check

import (
	"context"
	"errors"
	"time"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/memory"
	"github.com/cowstore/cowstore/snapshot"
)

// targets are the stores that are checked.
var targets = []struct {
	name string
	make func(kept cow.Retention) target
}{
	{"Store", newStoreTarget},
	{"DB", newDBTarget},
	{"Memory", newMemoryTarget},
}

// everything keeps all versions, for at and feed.
var everything = cow.Retention{Versions: 1 << 30}

// readMap reads a cell of a map.
func readMap(m *snapshot.Map[string, int64], c int) cell {
	v, _ := m.Get(names[c])
	return cell{v, m.Revision(names[c])}
}

// soon returns a context for reading a feed that has come to its end: one that is
// broken must not be waited for.
func soon() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), time.Minute)
}

// A storeTarget has all cells in a Store.
type storeTarget struct{ s cow.Store[string, int64] }

func newStoreTarget(kept cow.Retention) target {
	t := new(storeTarget)
	t.s.Retain(kept)
	return t
}

func (t *storeTarget) verbs(int) verbs { return keyedVerbs{&t.s} }
func (t *storeTarget) load() reader    { return t.reader(t.s.Load()) }

func (t *storeTarget) reader(m *snapshot.Map[string, int64]) reader {
	return reader{m.Version(), func(c int) cell { return readMap(m, c) }}
}

func (t *storeTarget) at(version uint64) reader {
	m, err := t.s.At(version)
	must(err)
	return t.reader(m)
}

func (t *storeTarget) update(f func(x tx) error) error {
	return t.s.Update(func(e *cow.Editor[string, int64]) error {
		return f(tx{e.Version(), func(int) verbs { return e }})
	})
}

func (t *storeTarget) feed() (feed, error) {
	f := newFeed()
	soon, stop := soon()
	defer stop()
	to := t.s.Load().Version()
	if to == 0 {
		return f, nil
	}
	for commit, err := range t.s.Changes(soon, 0) {
		if err != nil {
			return f, err
		}
		f.addRows(commit.Version(), t.s.Rows(commit))
		if commit.Version() == to {
			break
		}
	}
	return f, nil
}

// addRows adds what a commit did to one map.
func (f feed) addRows(version uint64, rows func(func(snapshot.Change[string, int64]) bool)) {
	for c := range rows {
		old, _ := c.Old()
		is, _ := c.New()
		f.add(version, old, is)
	}
}

// A dbTarget has the halves of the cells in two tables of a DB.
type dbTarget struct {
	db     cow.DB
	tables [2]*cow.Table[string, int64]
}

func newDBTarget(kept cow.Retention) target {
	t := new(dbTarget)
	for i, name := range []string{"low", "high"} {
		t.tables[i] = cow.NewTable[string](&t.db, name, cow.Options[int64]{})
	}
	t.db.Retain(kept)
	return t
}

func (t *dbTarget) verbs(c int) verbs { return keyedVerbs{t.tables[c/half]} }
func (t *dbTarget) load() reader      { return t.reader(t.db.Load()) }

func (t *dbTarget) reader(s *cow.Snapshot) reader {
	return reader{s.Version(), func(c int) cell { return readMap(t.tables[c/half].In(s), c) }}
}

func (t *dbTarget) at(version uint64) reader {
	s, err := t.db.At(version)
	must(err)
	return t.reader(s)
}

func (t *dbTarget) update(f func(x tx) error) error {
	return t.db.Update(func(x *cow.Tx) error {
		return f(tx{x.Version(), func(c int) verbs { return t.tables[c/half].Edit(x) }})
	})
}

func (t *dbTarget) feed() (feed, error) {
	f := newFeed()
	soon, stop := soon()
	defer stop()
	to := t.db.Load().Version()
	if to == 0 {
		return f, nil
	}
	for commit, err := range t.db.Changes(soon, 0) {
		if err != nil {
			return f, err
		}
		for _, table := range t.tables {
			f.addRows(commit.Version(), table.Rows(commit))
		}
		if commit.Version() == to {
			break
		}
	}
	return f, nil
}

// keyed is a Store or a Table.
type keyed interface {
	Get(key string) (int64, bool)
	Set(key string, v int64) (uint64, error)
	Insert(key string, v int64) (uint64, error)
	SetIf(key string, rev uint64, v int64) (uint64, error)
	Delete(key string) (uint64, error)
	Take(key string) (int64, bool, error)
	Modify(key string, f func(v *int64) error) (uint64, error)
}

// keyedVerbs are the verbs of a Store or a Table, whose revisions the feed tells.
type keyedVerbs struct{ keyed }

func (v keyedVerbs) Set(key string, value int64) {
	_, err := v.keyed.Set(key, value)
	must(err)
}

func (v keyedVerbs) Insert(key string, value int64) error {
	_, err := v.keyed.Insert(key, value)
	return err
}

func (v keyedVerbs) SetIf(key string, rev uint64, value int64) error {
	_, err := v.keyed.SetIf(key, rev, value)
	return err
}

func (v keyedVerbs) Delete(key string) bool {
	rev, err := v.keyed.Delete(key)
	must(err)
	return rev > 0
}

func (v keyedVerbs) Take(key string) (int64, bool) {
	value, found, err := v.keyed.Take(key)
	must(err)
	return value, found
}

func (v keyedVerbs) Modify(key string, f func(v *int64) error) error {
	_, err := v.keyed.Modify(key, f)
	return err
}

// A memoryTarget has the halves of the cells in two spaces of a Memory.
type memoryTarget struct{ m *memory.Memory }

func newMemoryTarget(kept cow.Retention) target {
	t := memoryTarget{memory.New(memory.Options{})}
	t.m.Retain(kept)
	return t
}

// spaceOf returns the path of the space that a cell is in: one below the other.
func spaceOf(c int) []string { return []string{"low", "high"}[:1+c/half] }

func (t memoryTarget) verbs(c int) verbs { return spaceVerbs{spaceEditor{t.m.Space(spaceOf(c)...)}} }
func (t memoryTarget) load() reader      { return t.reader(t.m.Load()) }

func (t memoryTarget) reader(s memory.Snapshot) reader {
	return reader{s.Version(), func(c int) cell {
		e, _ := s.Space(spaceOf(c)...).Entry(names[c])
		return cell{e.Value.Int(), e.Revision}
	}}
}

func (t memoryTarget) at(version uint64) reader {
	s, err := t.m.At(version)
	must(err)
	return t.reader(s)
}

func (t memoryTarget) update(f func(x tx) error) error {
	return t.m.Batch(func(b *memory.Batch) error {
		return f(tx{b.Version(), func(c int) verbs { return spaceVerbs{b.Space(spaceOf(c)...)} }})
	})
}

func (t memoryTarget) feed() (feed, error) {
	f := newFeed()
	to := t.m.Load().Version()
	if to == 0 {
		return f, nil
	}
	soon, stop := soon()
	defer stop()
	for change, err := range t.m.Changes(soon, 0) {
		if errors.Is(err, context.Canceled) {
			break
		}
		if err != nil {
			return f, err
		}
		f.add(change.Version, change.Old.Value.Int(), change.New.Value.Int())
		if change.Version == to {
			stop() // once the changes of this version are through
		}
	}
	return f, nil
}

// spaceVerbs are the verbs of a Space or its Editor, for numbers.
type spaceVerbs struct{ s spaceWrites }

func (v spaceVerbs) Get(key string) (int64, bool) {
	value, ok := v.s.Get(key)
	return value.Int(), ok
}

func (v spaceVerbs) Set(key string, value int64)          { must(v.s.Put(key, value)) }
func (v spaceVerbs) Insert(key string, value int64) error { return v.s.Insert(key, value) }
func (v spaceVerbs) Delete(key string) bool               { return v.s.Delete(key) }

func (v spaceVerbs) SetIf(key string, rev uint64, value int64) error {
	return v.s.SetIf(key, rev, value)
}

func (v spaceVerbs) Take(key string) (int64, bool) {
	value, ok := v.s.Take(key)
	return value.Int(), ok
}

func (v spaceVerbs) Modify(key string, f func(v *int64) error) error {
	return v.s.Modify(key, func(value memory.Value) (any, error) {
		n := value.Int()
		err := f(&n)
		return n, err
	})
}
