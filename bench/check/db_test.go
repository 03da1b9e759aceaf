package check

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cowstore/cowstore/cow"
)

// A dbVersion is what a DB has to be at one version, and its snapshot.
type dbVersion struct {
	version uint64
	numbers table[string, int]
	lists   table[int, []int]
	held    *cow.Snapshot
}

// A dbLine is a DB or a fork, and all its versions, the current one last.
type dbLine struct {
	db       *cow.DB
	versions []*dbVersion
	keep     int    // Retention.Versions; 0: off
	oldest   uint64 // retained

	parent *dbLine       // nil: not a fork
	base   [2]*dbVersion // that the fork and the parent agree on: as either has it
}

func (l *dbLine) current() *dbVersion { return l.versions[len(l.versions)-1] }

// A dbMachine is a DB with its forks, and what they have to be.
type dbMachine struct {
	numbers *cow.Table[string, int]
	lists   *cow.Table[int, []int]
	groups  *cow.Index[string, int, int]
	lines   []*dbLine
	writes  int
}

// groupsOf are the index keys of a number: none, one or two.
func groupsOf(v int, add func(int)) {
	for _, g := range []int{2, 3} {
		if v%g == 0 && v != 0 {
			add(g)
		}
	}
}

func newDBMachine(t *rapid.T) *dbMachine {
	db := new(cow.DB)
	m := &dbMachine{
		numbers: cow.NewTable[string](db, "numbers", cow.Options[int]{}),
		lists:   cow.NewTable[int](db, "lists", cow.Options[[]int]{}),
	}
	var err error
	m.groups, err = cow.NewMultiIndex(m.numbers, "groups", groupsOf, cow.IndexOptions[string]{})
	require.NoError(t, err)
	l := &dbLine{db: db, versions: []*dbVersion{{numbers: make(table[string, int]), lists: make(table[int, []int]), held: db.Load()}}}
	m.lines = []*dbLine{l}
	m.retain(l, 5)
	return m
}

// draw draws one of a list, by its index, which is what is printed.
func draw[E any](t *rapid.T, list []E, label string) E {
	return list[rapid.IntRange(0, len(list)-1).Draw(t, label)]
}

func (m *dbMachine) line(t *rapid.T) *dbLine { return draw(t, m.lines, "line") }

// published is to be called when next may be the version of a line; it is if it
// holds anything else than the one before.
func (m *dbMachine) published(t *rapid.T, l *dbLine, next *dbVersion) {
	now := l.current()
	if next.numbers.same(now.numbers) && next.lists.same(now.lists) {
		require.Same(t, now.held, l.db.Load())
		return
	}
	next.version = now.version + 1
	next.held = l.db.Load()
	l.versions = append(l.versions, next)
	m.trim(l)
}

func (m *dbMachine) trim(l *dbLine) {
	if now := l.current().version; l.keep == 0 {
		l.oldest = now
	} else if now > uint64(l.keep) {
		l.oldest = max(l.oldest, now-uint64(l.keep))
	}
}

func (m *dbMachine) retain(l *dbLine, n int) {
	l.db.Retain(cow.Retention{Versions: n})
	if l.keep == 0 {
		l.oldest = l.current().version
	}
	l.keep = n
	m.trim(l)
}

// Update edits both tables, and fails now and then.
func (m *dbMachine) Update(t *rapid.T) {
	l := m.line(t)
	now := l.current()
	next := &dbVersion{numbers: maps.Clone(now.numbers), lists: maps.Clone(now.lists)}
	fails := rapid.IntRange(0, 4).Draw(t, "fails") == 0
	err := l.db.Update(func(tx *cow.Tx) error {
		require.Equal(t, now.version+1, tx.Version())
		numbers := edit[string, int]{m.numbers.Edit(tx), next.numbers, rapid.SampledFrom([]string{"", "a", "b", "c"}), rapid.IntRange(0, 12), func(v int) int { return v }, func(int) {}, &m.writes}
		lists := edit[int, []int]{m.lists.Edit(tx), next.lists, rapid.IntRange(0, 3), rapid.SliceOfN(rapid.Int(), 0, 3), slices.Clone[[]int], spoilList, &m.writes}
		for range rapid.IntRange(1, 4).Draw(t, "steps") {
			if rapid.Bool().Draw(t, "lists") {
				lists.step(t)
			} else {
				numbers.step(t)
				requireGroups(t, next.numbers, m.groups.During(numbers.editor))
			}
		}
		if fails {
			return errAbort
		}
		return nil
	})
	if fails {
		require.ErrorIs(t, err, errAbort)
		require.Same(t, now.held, l.db.Load())
		return
	}
	require.NoError(t, err)
	m.published(t, l, next)
}

func spoilList(v []int) {
	for i := range v {
		v[i]++
	}
}

// Retain keeps another number of versions, or none.
func (m *dbMachine) Retain(t *rapid.T) { m.retain(m.line(t), rapid.IntRange(0, 6).Draw(t, "keep")) }

// At reads a past version, whether or not it is kept, and one to come.
func (m *dbMachine) At(t *rapid.T) {
	l := m.line(t)
	v := draw(t, l.versions, "version")
	s, err := l.db.At(v.version)
	if v.version < l.oldest {
		require.ErrorIs(t, err, cow.ErrCompacted)
	} else {
		require.NoError(t, err)
		m.require(t, v, s)
	}
	_, err = l.db.At(l.current().version + 1)
	require.ErrorIs(t, err, cow.ErrUnpublished)
	first := true
	want := l.oldest
	for version := range l.db.Versions() {
		require.Equal(t, want, version)
		first, want = false, version+1
	}
	require.False(t, first)
	require.Equal(t, l.current().version+1, want)
}

// Fork forks from any version of any line.
func (m *dbMachine) Fork(t *rapid.T) {
	if len(m.lines) == 4 {
		t.Skip("forks enough")
	}
	l := m.line(t)
	v := draw(t, l.versions, "version")
	f := &dbLine{db: l.db.Fork(v.held), parent: l}
	begin := *v
	begin.held = f.db.Load()
	f.versions = []*dbVersion{&begin}
	f.oldest = v.version
	f.base = [2]*dbVersion{&begin, v}
	m.lines = append(m.lines, f)
}

// Merge merges a fork into its parent, or the other way round.
func (m *dbMachine) Merge(t *rapid.T) {
	f := m.line(t)
	if f.parent == nil {
		t.Skip("no fork")
	}
	into, from := f.parent, f
	if rapid.Bool().Draw(t, "back") {
		into, from = from, into
	}
	base := draw(t, f.base[:], "base")
	ours, theirs := into.current(), from.current()
	numbers, n1 := merge(ours.numbers, base.numbers, theirs.numbers, ours.version+1)
	lists, n2 := merge(ours.lists, base.lists, theirs.lists, ours.version+1)
	next, err := into.db.Merge(base.held, theirs.held)
	if n1+n2 > 0 {
		var conflicts *cow.MergeError
		require.True(t, errors.As(err, &conflicts))
		require.Len(t, conflicts.Conflicts, n1+n2)
		require.Same(t, ours.held, into.db.Load())
		return
	}
	require.NoError(t, err)
	require.Same(t, theirs.held, next)
	m.published(t, into, &dbVersion{numbers: numbers, lists: lists})
	f.base = [2]*dbVersion{theirs, theirs}
}

// Check compares all versions of all lines with what they were.
func (m *dbMachine) Check(t *rapid.T) {
	for _, l := range m.lines {
		require.Equal(t, l.current().held, l.db.Load())
		for _, v := range l.versions {
			m.require(t, v, v.held)
		}
	}
}

// require requires that a snapshot is as a version has to be.
func (m *dbMachine) require(t *rapid.T, v *dbVersion, s *cow.Snapshot) {
	require.Equal(t, v.version, s.Version())
	require.Equal(t, len(v.numbers)+len(v.lists), s.Len())
	numbers := m.numbers.In(s)
	requireTable(t, v.numbers, numbers, func(int) {})
	requireTable(t, v.lists, m.lists.In(s), spoilList)
	requireGroups(t, v.numbers, m.groups.In(numbers))
}

// A grouped is an entry of the index.
type grouped struct {
	group int
	key   string
	value int
}

// requireGroups requires that the index is what the model says.
func requireGroups(t *rapid.T, want table[string, int], is cow.Range[string, int, int]) {
	var a, b []grouped
	for k, r := range want {
		groupsOf(r.value, func(g int) { a = append(a, grouped{g, k, r.value}) })
	}
	slices.SortFunc(a, func(x, y grouped) int { return cmp.Or(x.group-y.group, cmp.Compare(x.key, y.key)) })
	for g, r := range is.All() {
		b = append(b, grouped{g, r.Key(), r.Value()})
	}
	require.Equal(t, a, b)
	require.Equal(t, len(a), is.Len())
}

// A DB, its history, its forks and what they merge are what plain maps are.
func TestDBMachine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := newDBMachine(t)
		actions := rapid.StateMachineActions(m)
		actions["Update, again"] = m.Update // of all actions two are updates
		t.Repeat(actions)
	})
}
