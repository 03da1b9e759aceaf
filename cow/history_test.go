package cow_test

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/snapshot"
)

// A timeline is a table alone in its DB, or a DB with two tables, for tests of what both
// promise about the past.
type timeline struct {
	tables   int
	update   func(f func(edit func(table int) *cow.Editor[string, int]) error) error
	rows     func(c *cow.Commit) [][]snapshot.Change[string, int] // by table
	fork     func(s state) timeline
	load     func() state
	at       func(version uint64) (state, error)
	asOf     func(t time.Time) (state, error)
	pins     func() map[string]state
	versions func() iter.Seq2[uint64, time.Time]
	pin      func(name string, version uint64) error
	unpin    func(name string) bool
	retain   func(r cow.Retention)
	compact  func(version uint64) error
	changes  func(ctx context.Context, since uint64) iter.Seq2[*cow.Commit, error]
	stats    func() cow.Stats
}

// A state is a snapshot, as the maps of its tables.
type state struct {
	version uint64
	maps    []*snapshot.Map[string, int]
	of      any
}

// past is what a One and a DB have in common.
type past[S any] interface {
	Load() *S
	At(uint64) (*S, error)
	AsOf(time.Time) (*S, error)
	Versions() iter.Seq2[uint64, time.Time]
	Pin(string, uint64) error
	Unpin(string) bool
	Pins() iter.Seq2[string, *S]
	Retain(cow.Retention)
	Compact(uint64) error
	Changes(context.Context, uint64) iter.Seq2[*cow.Commit, error]
	Stats() cow.Stats
}

func newTimeline[S any](p past[S], tables int, see func(*S) state) timeline {
	orError := func(s *S, err error) (state, error) {
		if err != nil {
			if s != nil {
				panic("a snapshot beside an error")
			}
			return state{}, err
		}
		return see(s), nil
	}
	return timeline{
		tables: tables,
		load:   func() state { return see(p.Load()) },
		at:     func(version uint64) (state, error) { return orError(p.At(version)) },
		asOf:   func(t time.Time) (state, error) { return orError(p.AsOf(t)) },
		pins: func() map[string]state {
			all := map[string]state{}
			for name, s := range p.Pins() {
				all[name] = see(s)
			}
			return all
		},
		versions: p.Versions, pin: p.Pin, unpin: p.Unpin, retain: p.Retain, compact: p.Compact, changes: p.Changes, stats: p.Stats,
	}
}

func aloneTimeline(s cow.One[string, int]) timeline {
	l := newTimeline(s, 1, func(m *snapshot.Map[string, int]) state {
		return state{m.Version(), []*snapshot.Map[string, int]{m}, m}
	})
	l.update = func(f func(edit func(int) *cow.Editor[string, int]) error) error {
		return s.Update(func(e *cow.Editor[string, int]) error {
			return f(func(int) *cow.Editor[string, int] { return e })
		})
	}
	l.rows = func(c *cow.Commit) [][]snapshot.Change[string, int] {
		return [][]snapshot.Change[string, int]{slices.Collect(s.Rows(c))}
	}
	l.fork = func(of state) timeline { return aloneTimeline(s.Fork(of.of.(*snapshot.Map[string, int]))) }
	return l
}

func dbTimeline(db *cow.DB, tables ...*cow.Table[string, int]) timeline {
	l := newTimeline(db, len(tables), func(s *cow.Snapshot) state {
		st := state{version: s.Version(), of: s}
		for _, t := range tables {
			st.maps = append(st.maps, t.In(s))
		}
		return st
	})
	l.update = func(f func(edit func(int) *cow.Editor[string, int]) error) error {
		return db.Update(func(tx *cow.Tx) error {
			return f(func(i int) *cow.Editor[string, int] { return tables[i].Edit(tx) })
		})
	}
	l.rows = func(c *cow.Commit) (all [][]snapshot.Change[string, int]) {
		for _, t := range tables {
			all = append(all, slices.Collect(t.Rows(c)))
		}
		return all
	}
	l.fork = func(of state) timeline { return dbTimeline(db.Fork(of.of.(*cow.Snapshot)), tables...) }
	return l
}

// forTimelines runs f for a table alone in its DB and for a DB of two, both new.
func forTimelines(t *testing.T, f func(t *testing.T, l timeline)) {
	t.Helper()
	t.Run("alone", func(t *testing.T) { f(t, aloneTimeline(cow.NewOne[string](cow.Options[int]{}))) })
	t.Run("DB", func(t *testing.T) {
		db := new(cow.DB)
		f(t, dbTimeline(db, cow.NewTable[string](db, "a", cow.Options[int]{}), cow.NewTable[string](db, "b", cow.Options[int]{})))
	})
}

// inBubbles is forTimelines with a clock of its own, and no goroutine left.
func inBubbles(t *testing.T, f func(t *testing.T, l timeline)) {
	t.Helper()
	forTimelines(t, func(t *testing.T, l timeline) {
		synctest.Test(t, func(t *testing.T) { f(t, l) })
	})
}

func (l timeline) set(t testing.TB, key string, v int) {
	t.Helper()
	require.NoError(t, l.update(func(edit func(int) *cow.Editor[string, int]) error {
		edit(v%l.tables).Set(key, v)
		return nil
	}))
}

// listed returns what Versions does.
func (l timeline) listed() (versions []uint64, times []time.Time) {
	for v, at := range l.versions() {
		versions, times = append(versions, v), append(times, at)
	}
	return versions, times
}

// A cell is what the model has under a key; no two writes of a key have the
// same.
type cell struct {
	value int
	rev   uint64
}

// A page is the model of one map.
type page struct {
	cells   map[string]cell
	version uint64 // that last changed it
}

// requireState requires that s is exactly what the model says.
func requireState(t testing.TB, version uint64, want []page, s state) {
	t.Helper()
	require.Equal(t, version, s.version)
	require.Len(t, s.maps, len(want))
	for i, m := range s.maps {
		requireMap(t, want[i], m)
	}
}

func requireMap(t testing.TB, want page, m *snapshot.Map[string, int]) {
	t.Helper()
	if m.Version() != want.version || m.Len() != len(want.cells) {
		require.Fail(t, "another map", "version %d, %d rows; want %d, %d rows", m.Version(), m.Len(), want.version, len(want.cells))
	}
	for k, c := range want.cells {
		if v, ok := m.Get(k); !ok || v != c.value || m.Revision(k) != c.rev {
			require.Fail(t, "another row", "version %d: %s is %d, %v, at %d; want %+v", want.version, k, v, ok, m.Revision(k), c)
		}
	}
	n := 0
	for k := range m.All() {
		if _, ok := want.cells[k]; !ok {
			require.Fail(t, "a row too many", k)
		}
		n++
	}
	require.Equal(t, len(want.cells), n)
}

// A chronicle is a timeline beside a plain slice of all that it ever was.
type chronicle struct {
	timeline
	t      testing.TB
	r      *rand.Rand
	serial int
	past   [][]page // by version
	limit  cow.Retention
	base   uint64            // the oldest retained version
	pinned map[string]uint64 // versions by name
}

func newChronicle(t testing.TB, l timeline, seed uint64) *chronicle {
	return &chronicle{timeline: l, t: t, r: rand.New(rand.NewPCG(seed, 0)),
		past: [][]page{make([]page, l.tables)}, pinned: map[string]uint64{}}
}

func (c *chronicle) current() uint64 { return uint64(len(c.past) - 1) }

func (c *chronicle) key(n int) string { return fmt.Sprint("key", c.r.IntN(n)) }

// commit does what f does to an Editor and its model, in one update.
func (c *chronicle) commit(fail bool, f func(edit func(table int) (*cow.Editor[string, int], map[string]cell))) {
	c.t.Helper()
	version := c.current() + 1
	next := slices.Clone(c.past[version-1])
	touched := map[int]bool{}
	err := c.update(func(edit func(int) *cow.Editor[string, int]) error {
		f(func(table int) (*cow.Editor[string, int], map[string]cell) {
			if !touched[table] {
				touched[table] = true
				cells := maps.Clone(next[table].cells)
				if cells == nil {
					cells = map[string]cell{}
				}
				next[table] = page{cells, version}
			}
			return edit(table), next[table].cells
		})
		if fail {
			return errTest
		}
		return nil
	})
	if fail {
		require.Same(c.t, errTest, err)
		return
	}
	require.NoError(c.t, err)
	changed := false
	for table := range touched {
		if was := c.past[version-1][table]; maps.Equal(was.cells, next[table].cells) {
			next[table] = was
		} else {
			changed = true
		}
	}
	if changed {
		c.past = append(c.past, next)
	}
}

// write sets or deletes a key of the first n.
func (c *chronicle) write(e *cow.Editor[string, int], cells map[string]cell, n int) {
	k := c.key(n)
	if c.r.IntN(4) == 0 {
		_, found := cells[k]
		require.Equal(c.t, found, e.Delete(k))
		delete(cells, k)
		return
	}
	c.serial++
	e.Set(k, c.serial)
	cells[k] = cell{c.serial, e.Version()}
}

// edits makes n writes to random tables in one update.
func (c *chronicle) edits(n, keys int, fail bool) {
	c.t.Helper()
	c.commit(fail, func(edit func(int) (*cow.Editor[string, int], map[string]cell)) {
		for range n {
			e, cells := edit(c.r.IntN(c.tables))
			c.write(e, cells, keys)
		}
	})
}

func (c *chronicle) step() {
	switch op := c.r.IntN(40); op {
	default:
		c.edits(1, 60, false)
	case 20, 21, 22, 23:
		c.edits(c.r.IntN(20), 60, false)
	case 24, 25:
		c.edits(1+c.r.IntN(5), 60, true)
	case 26: // what is added and removed within is no change
		c.commit(false, func(edit func(int) (*cow.Editor[string, int], map[string]cell)) {
			e, _ := edit(c.r.IntN(c.tables))
			e.Set("passing", 1)
			e.Delete("passing")
		})
	case 27:
		if c.r.IntN(3) == 0 {
			c.commit(false, func(edit func(int) (*cow.Editor[string, int], map[string]cell)) {
				e, cells := edit(c.r.IntN(c.tables))
				e.Clear()
				clear(cells)
			})
		}
	case 28: // enough for a whole snapshot in the log
		c.edits(2500, 1300, false)
	case 29, 30, 31:
		c.limits()
	case 32, 33, 34:
		c.pinOne()
	case 35:
		name := fmt.Sprint(c.r.IntN(4))
		_, found := c.pinned[name]
		require.Equal(c.t, found, c.unpin(name))
		delete(c.pinned, name)
	case 36, 37:
		c.forkOne()
	case 38:
		if c.r.IntN(3) == 0 {
			c.compactTo(c.base + c.r.Uint64N(c.current()-c.base+2))
		}
	}
	c.trim()
}

// limits calls Retain.
func (c *chronicle) limits() {
	was := c.limit
	switch c.r.IntN(6) {
	case 0:
		c.limit = cow.Retention{}
	case 1:
		c.limit = cow.Retention{Bytes: 1 + c.r.Int64N(100_000)}
	case 2:
		c.limit = cow.Retention{Versions: 1 + c.r.IntN(30), Bytes: 1 + c.r.Int64N(100_000), Age: time.Hour}
	default:
		c.limit = cow.Retention{Versions: 1 + c.r.IntN(30)}
	}
	if was == (cow.Retention{}) {
		c.base = c.current()
	}
	c.retain(c.limit)
}

// compactTo calls Compact.
func (c *chronicle) compactTo(version uint64) {
	if err := c.compact(version); version > c.current() {
		require.ErrorIs(c.t, err, cow.ErrUnpublished)
		return
	} else {
		require.NoError(c.t, err)
	}
	c.base = max(c.base, version)
}

// trim does in the model what the limits demand.
func (c *chronicle) trim() {
	if c.limit == (cow.Retention{}) {
		c.base = c.current()
		return
	}
	if n := uint64(c.limit.Versions); n > 0 && c.current() > n {
		c.base = max(c.base, c.current()-n)
	}
	if c.limit.Bytes > 0 { // how many that leaves is not for the model to say
		versions, _ := c.listed()
		require.GreaterOrEqual(c.t, versions[0], c.base)
		c.base = versions[0]
		if st := c.stats(); len(c.pinned) == 0 && st.Retained > 1 {
			require.LessOrEqual(c.t, int64(st.HeldBytes), c.limit.Bytes)
		}
	}
}

func (c *chronicle) reachable(version uint64) bool {
	return version >= c.base || slices.Contains(slices.Collect(maps.Values(c.pinned)), version)
}

func (c *chronicle) pinOne() {
	name, version := fmt.Sprint(c.r.IntN(4)), c.r.Uint64N(c.current()+2)
	if c.r.IntN(2) == 0 {
		version = c.base + c.r.Uint64N(c.current()-c.base+1)
	}
	err := c.pin(name, version)
	switch {
	case version > c.current():
		require.ErrorIs(c.t, err, cow.ErrUnpublished)
	case !c.reachable(version):
		require.ErrorIs(c.t, err, cow.ErrCompacted)
	default:
		require.NoError(c.t, err)
		c.pinned[name] = version
	}
}

func (c *chronicle) forkOne() {
	version := c.base + c.r.Uint64N(c.current()-c.base+1)
	s, err := c.at(version)
	require.NoError(c.t, err)
	f := c.fork(s)
	requireState(c.t, version, c.past[version], f.load())
	require.Equal(c.t, cow.Stats{}, f.stats())
	f.retain(cow.Retention{Versions: 3})
	for i := range 5 {
		f.set(c.t, c.key(60), i)
	}
	require.Equal(c.t, version+5, f.load().version)
	_, err = f.at(version + 1)
	require.ErrorIs(c.t, err, cow.ErrCompacted)
	_, err = f.at(version + 2)
	require.NoError(c.t, err)
	requireState(c.t, version, c.past[version], s)
}

// gone counts rows that are in older but not, as the same write, in newer.
func gone(older, newer []page) (n int) {
	for i, p := range older {
		for k, c := range p.cells {
			if newer[i].cells[k] != c {
				n++
			}
		}
	}
	return n
}

// check compares everything that can be asked about the past with the model;
// of the versions themselves a sample, or all.
func (c *chronicle) check(all bool) {
	current := c.current()
	requireState(c.t, current, c.past[current], c.load())
	versions, times := c.listed()
	want := []uint64{}
	for v := c.base; v <= current; v++ {
		want = append(want, v)
	}
	require.Equal(c.t, want, versions)
	require.True(c.t, slices.IsSortedFunc(times, time.Time.Compare), times)
	one := c.r.Uint64N(current + 1)
	held := 0
	for v := range current + 1 {
		if v > c.base {
			held += gone(c.past[v-1], c.past[v])
		}
		if !all && v != one && v != c.base {
			continue
		}
		s, err := c.at(v)
		if !c.reachable(v) {
			require.ErrorIs(c.t, err, cow.ErrCompacted, "version %d", v)
			continue
		}
		require.NoError(c.t, err)
		requireState(c.t, v, c.past[v], s)
	}
	for _, v := range []uint64{current + 1, current + 2, math.MaxUint64} {
		_, err := c.at(v)
		require.ErrorIs(c.t, err, cow.ErrUnpublished)
	}
	pins := c.pins()
	require.Len(c.t, pins, len(c.pinned))
	for name, v := range c.pinned {
		held += gone(c.past[v], c.past[current])
		if all || v == one {
			requireState(c.t, v, c.past[v], pins[name])
		}
	}
	st := c.stats()
	require.Equal(c.t, held > 0 || st.Retained > 0, st.HeldBytes > 0)
	st.HeldBytes = 0
	require.Equal(c.t, cow.Stats{
		Pins: len(c.pinned), Retained: int(current - c.base), HeldRows: held,
	}, st)
}

// Random updates, limits, pins and forks, beside a slice of whole copies: every
// version that is to be reached is what it was, and the others are gone.
func TestThePastIsWhatItWas(t *testing.T) {
	noDeadlock(t)
	seeds, steps := uint64(6), 250
	if raceEnabled {
		seeds, steps = uint64(inShort(1, 2)), 120
	}
	for seed := range seeds {
		forTimelines(t, func(t *testing.T, l timeline) {
			c := newChronicle(t, l, seed)
			for i := range steps {
				c.step()
				c.check(i%12 == 0)
			}
			c.check(true)
		})
	}
}

// Large commits leave whole snapshots in the log. At begins with the nearest
// one, whichever that is.
func TestAtPassesWholeSnapshots(t *testing.T) {
	forTimelines(t, func(t *testing.T, l timeline) {
		c := newChronicle(t, l, 1)
		c.limit = cow.Retention{Versions: 1000}
		l.retain(c.limit)
		for i := range 40 {
			n := 3
			if i%5 == 4 {
				n = 3000
			}
			c.edits(n, 1200, false)
		}
		c.check(true)
	})
}

func TestATableMadeLaterIsEmptyInTheVersionsBefore(t *testing.T) {
	db := new(cow.DB)
	db.Retain(cow.Retention{Versions: 10})
	a := cow.NewTable[string](db, "a", cow.Options[int]{})
	require.NoError(t, db.Update(func(tx *cow.Tx) error { a.Edit(tx).Set("k", 1); return nil }))
	b := cow.NewTable[string](db, "b", cow.Options[int]{})
	require.NoError(t, db.Update(func(tx *cow.Tx) error { b.Edit(tx).Set("k", 2); return nil }))
	s, err := db.At(1)
	require.NoError(t, err)
	require.Equal(t, 1, s.Len())
	require.Zero(t, b.In(s).Len())
	require.Zero(t, b.In(s).Version())
	s, err = db.At(0)
	require.NoError(t, err)
	require.Zero(t, s.Len())
	for c, err := range db.Changes(t.Context(), 0) {
		require.NoError(t, err)
		require.Len(t, slices.Collect(a.Rows(c)), int(2-c.Version()))
		require.Len(t, slices.Collect(b.Rows(c)), int(c.Version()-1))
		if c.Version() == 2 {
			break
		}
	}
}

// Large values use the bytes up; the last commit stays whatever it weighs.
func TestBytesBoundsWhatIsHeldBack(t *testing.T) {
	s := cow.NewOne[string](cow.Options[string]{})
	s.Retain(cow.Retention{Bytes: 100_000})
	for range 50 {
		s.Set("k", string(make([]byte, 9000)))
		st := s.Stats()
		require.LessOrEqual(t, st.HeldBytes, 100_000)
	}
	// Of 9000 bytes and some more eleven at most are in it, and no fewer than ten.
	require.Contains(t, []int{10, 11}, s.Stats().Retained)
	s.Set("k", string(make([]byte, 1_000_000)))
	require.Contains(t, []int{10, 11}, s.Stats().Retained, "a commit weighs what it replaced")
	s.Set("k", "")
	require.Equal(t, 1, s.Stats().Retained)
	s.Set("k", "")
	require.Equal(t, 1, s.Stats().Retained)
	require.Less(t, s.Stats().HeldBytes, 1000)
}

func TestRetainRefusesNegativeLimits(t *testing.T) {
	s := cow.NewOne[string](cow.Options[int]{})
	for _, r := range []cow.Retention{{Versions: -1}, {Age: -1}, {Bytes: -1}} {
		require.Equal(t, "cow: Retain with a negative limit: 0 is none", panicOf(func() { s.Retain(r) }))
	}
	s.Set("a", 1)
	require.NoError(t, s.Update(func(*cow.Editor[string, int]) error {
		requireNested(t, "Retain", func() { s.Retain(cow.Retention{Versions: 1}) })
		_, err := s.At(1) // reading is fine
		return err
	}))
}

// asOf requires that a time is that of a version.
func (l timeline) requireAsOf(t *testing.T, version uint64, at time.Time) {
	t.Helper()
	s, err := l.asOf(at)
	require.NoError(t, err)
	require.Equal(t, version, s.version)
}

func (l timeline) requireNoneAsOf(t *testing.T, at time.Time) {
	t.Helper()
	_, err := l.asOf(at)
	require.ErrorIs(t, err, cow.ErrCompacted)
}

func TestAsOf(t *testing.T) {
	inBubbles(t, func(t *testing.T, l timeline) {
		begin := time.Now()
		l.requireNoneAsOf(t, begin) // nothing is retained
		l.retain(cow.Retention{Versions: 1000})
		c := newChronicle(t, l, 1)
		c.limit = cow.Retention{Versions: 1000}
		var times []time.Time // by version, from 1
		for i := range 30 {
			if i%3 != 0 { // several commits have one time
				time.Sleep(time.Duration(i) * time.Second)
			}
			c.edits(5, 60, false)
			times = append(times, time.Now())
		}
		require.Len(t, times, int(c.current()))
		_, listed := l.listed()
		require.True(t, listed[0].IsZero())
		for i, at := range times {
			require.True(t, at.Equal(listed[i+1]))
			// Of the commits of one time the last counts, and what was before
			// that time is what the first of them found.
			first, last := i, i
			for first > 0 && times[first-1].Equal(at) {
				first--
			}
			for last < len(times)-1 && times[last+1].Equal(at) {
				last++
			}
			l.requireAsOf(t, uint64(first), at.Add(-1))
			l.requireAsOf(t, uint64(last+1), at)
			l.requireAsOf(t, uint64(last+1), at.Add(1))
			s, err := l.asOf(at)
			require.NoError(t, err)
			requireState(t, uint64(last+1), c.past[last+1], s)
		}
		l.requireAsOf(t, 0, time.Time{})
		l.requireAsOf(t, 0, begin.Add(-1))
		for _, later := range []time.Duration{1, time.Hour, 1000 * time.Hour} {
			l.requireAsOf(t, c.current(), time.Now().Add(later))
		}
		l.retain(cow.Retention{})
		l.requireNoneAsOf(t, time.Now())
	})
}

// Times that no int64 of nanoseconds can say are times all the same.
func TestAsOfTimesFarAway(t *testing.T) {
	inBubbles(t, func(t *testing.T, l timeline) {
		l.set(t, "a", 1)
		l.retain(cow.Retention{Versions: 10})
		l.set(t, "a", 2)
		for _, year := range []int{2262, 2263, 2500, 3000, 9999, 200_000} {
			l.requireAsOf(t, 2, time.Date(year, 12, 31, 0, 0, 0, 0, time.UTC))
		}
		for _, year := range []int{-200_000, -5000, 1, 1000, 1600, 1677, 1969} {
			l.requireNoneAsOf(t, time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC))
		}
		l.requireNoneAsOf(t, time.Time{})
	})
}

func TestAsOfBeforeTheOldestVersion(t *testing.T) {
	inBubbles(t, func(t *testing.T, l timeline) {
		l.retain(cow.Retention{Versions: 3})
		begin := time.Now() // version n is published n seconds later
		for i := range 10 {
			time.Sleep(time.Second)
			l.set(t, "a", i)
		}
		at := func(version int) time.Time { return begin.Add(time.Duration(version) * time.Second) }
		l.requireNoneAsOf(t, time.Time{})
		l.requireNoneAsOf(t, at(6))
		l.requireNoneAsOf(t, at(7).Add(-1))
		l.requireAsOf(t, 7, at(7))
		l.requireAsOf(t, 7, at(8).Add(-1))
		l.requireAsOf(t, 8, at(8))

		// A pin keeps a version, not its time.
		require.NoError(t, l.pin("p", 7))
		l.set(t, "a", 11)
		_, err := l.at(7)
		require.NoError(t, err)
		l.requireNoneAsOf(t, at(7))
	})
}

func TestRetainThatComesLate(t *testing.T) {
	inBubbles(t, func(t *testing.T, l timeline) {
		for i := range 5 {
			l.set(t, "a", i)
			time.Sleep(time.Hour)
		}
		_, err := l.at(4)
		require.ErrorIs(t, err, cow.ErrCompacted)
		versions, times := l.listed()
		require.Equal(t, []uint64{5}, versions)
		require.True(t, times[0].IsZero())
		on := time.Now()
		l.retain(cow.Retention{Age: 24 * time.Hour})
		time.Sleep(time.Hour)
		l.requireNoneAsOf(t, on.Add(-1)) // though version 5 is an hour older
		l.requireAsOf(t, 5, on)
		l.set(t, "a", 6)
		versions, times = l.listed()
		require.Equal(t, []uint64{5, 6}, versions)
		require.True(t, on.Equal(times[0]))
		require.True(t, on.Add(time.Hour).Equal(times[1]))
		_, err = l.at(4)
		require.ErrorIs(t, err, cow.ErrCompacted)
		_, err = l.at(5)
		require.NoError(t, err)
	})
}

// A version is as old as its end: what was current an hour ago stays an hour.
func TestAge(t *testing.T) {
	inBubbles(t, func(t *testing.T, l timeline) {
		l.retain(cow.Retention{Age: 10 * time.Second})
		oldest := func() uint64 {
			for v := range l.versions() {
				return v
			}
			panic("no version")
		}
		for version := uint64(1); version <= 30; version++ {
			time.Sleep(time.Second)
			l.set(t, "a", int(version))
			// Version v ended when v+1 came: ten seconds ago at the most.
			want := uint64(0)
			if version > 11 {
				want = version - 11
			}
			require.Equal(t, int(version-want), l.stats().Retained)
			require.Equal(t, want, oldest())
			_, err := l.at(want)
			require.NoError(t, err)
			if want > 0 {
				_, err = l.at(want - 1)
				require.ErrorIs(t, err, cow.ErrCompacted)
				l.requireNoneAsOf(t, time.Now().Add(-11*time.Second-1))
			}
			l.requireAsOf(t, want, time.Now().Add(-10*time.Second-1))
		}
		// Without a commit each kind of read drops what has become too old.
		last := time.Now()
		reads := []func(now uint64){
			func(want uint64) { _, err := l.at(want - 1); require.ErrorIs(t, err, cow.ErrCompacted) },
			func(want uint64) { require.Equal(t, want, oldest()) },
			func(want uint64) { require.Equal(t, int(30-want), l.stats().Retained) },
			func(want uint64) { l.requireNoneAsOf(t, last.Add(-time.Duration(30-want)*time.Second-1)) },
			func(want uint64) {
				for _, err := range l.changes(t.Context(), want-1) {
					require.ErrorIs(t, err, cow.ErrCompacted)
				}
			},
			func(want uint64) { require.ErrorIs(t, l.pin("p", want-1), cow.ErrCompacted) },
		}
		want := oldest()
		for _, read := range reads {
			time.Sleep(time.Second)
			want++
			read(want)
		}
		time.Sleep(time.Hour)
		require.Equal(t, uint64(30), oldest())
		require.Zero(t, l.stats().HeldRows)
		l.requireAsOf(t, 30, last)
		l.requireNoneAsOf(t, last.Add(-1))
		l.set(t, "a", 31)
		l.requireAsOf(t, 30, time.Now().Add(-1))
		l.requireAsOf(t, 31, time.Now())
	})
}

// Everything happens at one instant, as with a coarse clock.
func TestAClockThatStandsStill(t *testing.T) {
	inBubbles(t, func(t *testing.T, l timeline) {
		now := time.Now()
		l.set(t, "a", 0)
		l.retain(cow.Retention{Age: 1, Versions: 50})
		c := newChronicle(t, l, 1)
		c.past = append(c.past, []page{{map[string]cell{"a": {0, 1}}, 1}, {}}[:l.tables])
		c.limit, c.base = cow.Retention{Age: 1, Versions: 50}, 1
		for range 40 {
			c.edits(3, 50, false)
		}
		c.trim()
		c.check(true)
		l.requireAsOf(t, c.current(), now)
		l.requireNoneAsOf(t, now.Add(-1))
		require.Equal(t, now, time.Now())
	})
}

// Whoever asks for a version while the history is turned off, and updates go
// on, gets that version or an error. Versions keeps them waiting in between.
func TestAtWhileHistoryIsTurnedOff(t *testing.T) {
	noDeadlock(t)
	rounds, kept := 15, 20_000
	if raceEnabled {
		rounds, kept = 5, 3000
	}
	s := cow.NewOne[string](cow.Options[int]{})
	n := 0
	set := func() { n++; s.Set("k", n) }
	for range rounds {
		s.Retain(cow.Retention{Versions: kept})
		for range kept {
			set()
		}
		var stop atomic.Bool
		var readers sync.WaitGroup
		var wrong, asked atomic.Int64
		for i := range 8 {
			readers.Go(func() {
				for !stop.Load() {
					for range s.Versions() {
						break
					}
					v := uint64(n - 5 - i) // n is at rest meanwhile
					m, err := s.At(v)
					asked.Add(1)
					if err != nil {
						continue
					}
					// Each version has set one key to its number.
					got, _ := m.Get("k")
					after, _ := m.Get("after0")
					if uint64(got) != v || m.Version() != v || after >= got {
						wrong.Add(1)
					}
				}
			})
		}
		for asked.Load() < 20 {
			runtime.Gosched()
		}
		s.Retain(cow.Retention{})
		for i := range 5 {
			s.Set(fmt.Sprint("after", i), n) // nothing that the history knows
		}
		stop.Store(true)
		readers.Wait()
		n += 5
		require.Zero(t, wrong.Load())
	}
}

// With all of it off again a store is as cheap as one that never had any.
func TestHistoryThatIsOffCostsNothing(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	s := cow.NewOne[string](cow.Options[int]{})
	for i := range 1000 {
		s.Set(fmt.Sprint("key", i), i)
	}
	allocs := func() (set, get float64) {
		set = allocations(func() { s.Set("key7", 7) })
		get = allocations(func() { s.Get("key7") })
		return set, get
	}
	set, get := allocs()
	require.Zero(t, get)
	s.Retain(cow.Retention{Versions: 10})
	require.NoError(t, s.Pin("p", s.Load().Version()))
	ctx, cancel := context.WithCancel(t.Context())
	for _, err := range s.Changes(ctx, s.Load().Version()-1) {
		require.Error(t, err) // from before it was retained
	}
	cancel()
	on, get := allocs()
	require.Greater(t, on, set)
	require.Zero(t, get)
	s.Retain(cow.Retention{})
	s.Unpin("p")
	off, get := allocs()
	require.Equal(t, set, off)
	require.Zero(t, get)
}

// What history or a pin needs lives, and dies when it is dropped.
func TestWhatIsDroppedIsCollected(t *testing.T) {
	collected := func(p weak.Pointer[snapshot.Map[string, *[8]int]]) bool {
		for range 3 {
			runtime.GC()
		}
		return p.Value() == nil
	}
	s := cow.NewOne[string](cow.Options[*[8]int]{Immutable: true})
	s.Retain(cow.Retention{Versions: 10})
	kept := weak.Make(new([8]int))
	func() {
		v := new([8]int)
		kept = weak.Make(v)
		s.Set("k", v)
	}()
	s.Set("k", nil)
	runtime.GC()
	require.NotNil(t, kept.Value(), "the row of a retained version")

	// The snapshot before a large commit stands whole in the log.
	whole := weak.Make(s.Load())
	require.NoError(t, s.Update(func(e *cow.Editor[string, *[8]int]) error {
		for i := range 1100 {
			e.Set(fmt.Sprint("key", i), nil)
		}
		return nil
	}))
	s.Set("k", nil)
	require.False(t, collected(whole))
	s.Retain(cow.Retention{Versions: 1})
	require.True(t, collected(whole))
	require.Nil(t, kept.Value())

	pinned := weak.Make(s.Load())
	require.NoError(t, s.Pin("p", s.Load().Version()))
	s.Set("k", nil)
	other := weak.Make(s.Load())
	s.Set("k", nil)
	s.Set("k", nil)
	require.False(t, collected(pinned))
	require.True(t, collected(other))
	require.True(t, s.Unpin("p"))
	require.True(t, collected(pinned))
	require.False(t, s.Unpin("p"))

	func() {
		v := new([8]int)
		kept = weak.Make(v)
		s.Set("k", v)
	}()
	s.Set("k", nil)
	runtime.GC()
	require.NotNil(t, kept.Value())
	s.Retain(cow.Retention{})
	for range 3 {
		runtime.GC()
	}
	require.Nil(t, kept.Value())
	runtime.KeepAlive(s)
}

func TestPinsAreListedByName(t *testing.T) {
	forTimelines(t, func(t *testing.T, l timeline) {
		require.NoError(t, l.pin("zero", 0)) // also of what was never written
		l.set(t, "a", 1)
		for _, name := range []string{"c", "a", "b"} {
			require.NoError(t, l.pin(name, 1))
		}
		require.Equal(t, 4, l.stats().Pins)
		require.NoError(t, l.pin("a", 0), "by another pin")
		require.True(t, l.unpin("zero"))
		require.False(t, l.unpin("zero"))
		s, err := l.at(0)
		require.NoError(t, err)
		require.Zero(t, s.version)
		require.True(t, l.unpin("a"))
		_, err = l.at(0)
		require.ErrorIs(t, err, cow.ErrCompacted)
	})
	s := cow.NewOne[string](cow.Options[int]{})
	for _, name := range []string{"c", "a", "b"} {
		require.NoError(t, s.Pin(name, 0))
	}
	var names []string
	for name := range s.Pins() {
		s.Unpin(name) // they are as they were when it began
		names = append(names, name)
	}
	require.Equal(t, []string{"a", "b", "c"}, names)
	for range s.Pins() {
		require.Fail(t, "a pin left")
	}
}
