package check

import (
	"cmp"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cowstore/cowstore/cow"
)

// A row is a row of the model. It is immutable.
type row struct {
	value []int
	rev   uint64
	write int // which write it was: a merge takes that along
}

// A version is what a DB has to be at one version, and its snapshot.
type version struct {
	number uint64
	tables [2]map[string]row
	held   *cow.Snapshot
}

// A line is a DB or a fork, and all its versions, the current one last.
type line struct {
	db       *cow.DB
	versions []*version
	parent   *line       // nil: not a fork
	base     [2]*version // that the fork and the parent agree on: as either has it
}

func (l *line) current() *version { return l.versions[len(l.versions)-1] }

// A machine is a DB of two tables, one of them indexed, with its forks, and what they have to
// be.
type machine struct {
	tables [2]*cow.Table[string, []int]
	index  *cow.Index[string, []int, int]
	lines  []*line
	writes int
}

func newMachine(t *rapid.T) *machine {
	db := new(cow.DB)
	m := &machine{tables: [2]*cow.Table[string, []int]{
		cow.NewTable[string](db, "low", cow.Options[[]int]{}), cow.NewTable[string](db, "high", cow.Options[[]int]{}),
	}}
	var err error
	m.index, err = cow.NewMultiIndex(m.tables[0], "numbers",
		func(r cow.Row[string, []int], add func(int)) { numbers(r.Value(), add) }, cow.IndexOptions[string]{})
	require.NoError(t, err)
	m.lines = []*line{{db: db, versions: []*version{{tables: [2]map[string]row{{}, {}}, held: db.Load()}}}}
	return m
}

// numbers are the index keys of a value: each of its numbers.
func numbers(v []int, add func(int)) {
	for _, n := range v {
		add(n)
	}
}

// draw draws one of a list, by its index, which is what is printed.
func draw[E any](t *rapid.T, list []E, label string) E {
	return list[rapid.IntRange(0, len(list)-1).Draw(t, label)]
}

// published adds what may be the next version of a line: it is if any row was written or is
// gone.
func (m *machine) published(t *rapid.T, l *line, tables [2]map[string]row) {
	now := l.current()
	same := func(a, b row) bool { return a.write == b.write }
	if maps.EqualFunc(tables[0], now.tables[0], same) && maps.EqualFunc(tables[1], now.tables[1], same) {
		require.Same(t, now.held, l.db.Load())
		return
	}
	l.versions = append(l.versions, &version{now.number + 1, tables, l.db.Load()})
}

// Update edits both tables, and fails now and then.
func (m *machine) Update(t *rapid.T) {
	l := draw(t, m.lines, "line")
	now := l.current()
	next := [2]map[string]row{maps.Clone(now.tables[0]), maps.Clone(now.tables[1])}
	fails := rapid.IntRange(0, 4).Draw(t, "fails") == 0
	update := l.db.Update
	if rapid.Bool().Draw(t, "begun") {
		update = func(f func(tx *cow.Tx) error) error {
			tx := l.db.Begin()
			defer tx.Abort()
			if err := f(tx); err != nil {
				return err
			}
			return tx.Commit()
		}
	}
	err := update(func(tx *cow.Tx) error {
		require.Equal(t, now.number+1, tx.Version())
		for range rapid.IntRange(1, 4).Draw(t, "steps") {
			i := rapid.IntRange(0, 1).Draw(t, "table")
			e := m.tables[i].Edit(tx)
			m.edit(t, e, next[i])
			requireRows(t, next[i], e.Map())
			if i == 0 {
				requireIndex(t, next[i], m.index.During(e))
			}
		}
		if fails {
			return errAbort
		}
		return nil
	})
	if fails {
		require.ErrorIs(t, err, errAbort)
		next = now.tables
	} else {
		require.NoError(t, err)
	}
	m.published(t, l, next)
}

// edit does one thing to a table and to its model.
func (m *machine) edit(t *rapid.T, e *cow.Editor[string, []int], rows map[string]row) {
	k := rapid.SampledFrom([]string{"", "a", "b", "c"}).Draw(t, "key")
	old, found := rows[k]
	v := rapid.SliceOfN(rapid.IntRange(0, 5), 0, 3).Draw(t, "value")
	kept := slices.Clone(v)
	wrote := func(err, unless error, when bool) {
		if when {
			require.ErrorIs(t, err, unless)
			return
		}
		require.NoError(t, err)
		m.writes++
		rows[k] = row{kept, e.Version(), m.writes}
	}
	switch rapid.SampledFrom([]string{"set", "insert", "setIf", "modify", "modify badly", "delete", "clear"}).Draw(t, "do") {
	case "set":
		e.Set(k, v)
		wrote(nil, nil, false)
	case "insert":
		wrote(e.Insert(k, v), cow.ErrExists, found)
	case "setIf":
		rev := rapid.SampledFrom([]uint64{old.rev, 0, old.rev + 1}).Draw(t, "rev")
		wrote(e.SetIf(k, rev, v), cow.ErrRevision, rev != old.rev || rev == e.Version()) // what is written here is pending
	case "modify":
		wrote(e.Modify(k, func(is *[]int) error { *is = v; return nil }), cow.ErrNotFound, !found)
	case "modify badly":
		require.Error(t, e.Modify(k, func(is *[]int) error { spoil(*is); return errAbort }))
	case "delete":
		require.Equal(t, found, e.Delete(k))
		delete(rows, k)
	case "clear":
		e.Clear()
		clear(rows)
	}
	spoil(v)
}

// spoil modifies a value that must be nobody else's.
func spoil(v []int) {
	for i := range v {
		v[i]--
	}
}

// Retain keeps a history, or none: versions are made in another way where there is one.
func (m *machine) Retain(t *rapid.T) {
	n := rapid.IntRange(0, 6).Draw(t, "versions")
	draw(t, m.lines, "line").db.Retain(cow.Retention{Versions: n})
}

// Fork forks from any version of any line.
func (m *machine) Fork(t *rapid.T) {
	if len(m.lines) == 4 {
		t.Skip("forks enough")
	}
	l := draw(t, m.lines, "line")
	v := draw(t, l.versions, "version")
	f := &line{db: l.db.Fork(v.held), parent: l}
	begin := &version{v.number, v.tables, f.db.Load()}
	f.versions, f.base = []*version{begin}, [2]*version{begin, v}
	m.lines = append(m.lines, f)
}

// Merge merges a fork into its parent, or the other way round.
func (m *machine) Merge(t *rapid.T) {
	f := draw(t, m.lines, "line")
	if f.parent == nil {
		t.Skip("no fork")
	}
	into, from := f.parent, f
	if rapid.Bool().Draw(t, "back") {
		into, from = from, into
	}
	base := draw(t, f.base[:], "base")
	ours, theirs := into.current(), from.current()
	var merged [2]map[string]row
	conflicts := 0
	for i := range merged {
		var n int
		merged[i], n = mergeRows(ours.tables[i], base.tables[i], theirs.tables[i], ours.number+1)
		conflicts += n
	}
	next, err := into.db.Merge(base.held, theirs.held)
	if conflicts > 0 {
		require.ErrorIs(t, err, cow.ErrConflict)
		require.Len(t, err.(interface{ Unwrap() []error }).Unwrap(), conflicts)
		require.Same(t, ours.held, into.db.Load())
		return
	}
	require.NoError(t, err)
	require.Same(t, theirs.held, next)
	m.published(t, into, merged)
	f.base = [2]*version{theirs, theirs}
}

// mergeRows brings what changed from base to theirs into ours, as of a version. It returns
// the result, and how many keys were changed on both sides.
func mergeRows(ours, base, theirs map[string]row, version uint64) (next map[string]row, conflicts int) {
	next = maps.Clone(ours)
	keys := maps.Clone(base)
	maps.Copy(keys, theirs)
	for k := range keys {
		switch was, is, other := base[k].write, ours[k].write, theirs[k].write; {
		case other == was, other == is:
		case is != was:
			conflicts++
		case other == 0:
			delete(next, k)
		default:
			next[k] = row{theirs[k].value, version, other}
		}
	}
	return next, conflicts
}

// Check compares all versions of all lines with what they were.
func (m *machine) Check(t *rapid.T) {
	for _, l := range m.lines {
		require.Same(t, l.current().held, l.db.Load())
		for _, v := range l.versions {
			m.require(t, v, v.held)
		}
	}
}

// require requires that a snapshot is as a version has to be.
func (m *machine) require(t *rapid.T, v *version, s *cow.Snapshot) {
	require.Equal(t, v.number, s.Version())
	for i, table := range m.tables {
		requireRows(t, v.tables[i], table.In(s))
	}
	requireIndex(t, v.tables[0], m.index.In(m.tables[0].In(s)))
}

// requireRows requires that a map is what the model says, and spoils what it gives out.
func requireRows(t *rapid.T, want map[string]row, m *cow.Map[string, []int]) {
	require.Equal(t, len(want), m.Len())
	for k, v := range m.All() {
		require.Equal(t, want[k].value, v)
		require.Equal(t, want[k].rev, m.Revision(k))
		spoil(v)
	}
}

// requireIndex requires that the index is what the model says.
func requireIndex(t *rapid.T, want map[string]row, is cow.Range[string, []int, int]) {
	type entry struct {
		number int
		key    string
	}
	var a, b []entry
	for k, r := range want {
		numbers(r.value, func(n int) { a = append(a, entry{n, k}) })
	}
	slices.SortFunc(a, func(x, y entry) int { return cmp.Or(x.number-y.number, cmp.Compare(x.key, y.key)) })
	for n, r := range is.All() {
		require.Equal(t, want[r.Key()].value, r.Value())
		b = append(b, entry{n, r.Key()})
	}
	require.Equal(t, slices.Compact(a), b) // a number may be twice in a value
}

// What a DB, its forks and their merges are is what plain maps are.
func TestMachine(t *testing.T) {
	for range 10 {
		rapid.Check(t, func(t *rapid.T) {
			m := newMachine(t)
			actions := rapid.StateMachineActions(m)
			actions["Update, again"] = m.Update // more of these than of the others
			t.Repeat(actions)
		})
	}
}
