package cow_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/snapshot"
)

// A stamped is a value and the version that wrote it.
type stamped[V comparable] struct {
	v   V
	rev uint64
}

// A picture is all rows of a table at one version. It is not modified.
type picture[K, V comparable] map[K]stamped[V]

// An item is one entry of an index.
type item[K, V, I comparable] struct {
	index I
	key   K
	row   stamped[V]
}

// A naive table is a table with an index, beside what it must be at each version.
type naive[K cmp.Ordered, V, I comparable] struct {
	t      *testing.T
	r      *rand.Rand
	table  *cow.Table[K, V]
	x      *cow.Index[K, V, I]
	index  func(K, V) I
	fields []func(a, b I) int
	begins func(i, p I) bool
	anyKey func() K
	anyV   func() V
	anyI   func() I

	past   map[uint64]picture[K, V]
	had    map[uint64][]picture[K, V] // past as it was published, and after each erasure
	next   picture[K, V]              // what the running update has made, nil: it has not begun
	gone   map[K]bool                 // what it erases
	erased map[uint64]map[K]bool      // by version: what its update erased
	clears int
}

// A modelled is a naive table without its type parameters in the way. A change of a version is
// kept with keep, or dropped.
type modelled interface {
	edit(tx *cow.Tx, now uint64)
	erase(tx *cow.Tx, now uint64)
	update(now uint64, f func() error) error // by the table's own Update
	changed(now uint64) bool
	changes(tx *cow.Tx, now uint64)
	late(tx *cow.Tx)
	keep(now uint64)
	drop()
	check(s *cow.Snapshot)
	read(s *cow.Snapshot) (check func(published bool))
	commit(c *cow.Commit)
	forget(below uint64)
	cleared() int
	since(version uint64) (differs func(now uint64) bool)
	watch(since uint64) (what cow.Watched, differs func(now uint64) bool, ofIndex bool)
}

// leading compares the first fields of index keys, and compare all of them.
func (n *naive[K, V, I]) leading(fields int, a, b I) int {
	for _, compare := range n.fields[:fields] {
		if c := compare(a, b); c != 0 {
			return c
		}
	}
	return 0
}

func (n *naive[K, V, I]) compare(a, b I) int { return n.leading(len(n.fields), a, b) }

func (n *naive[K, V, I]) items(rows picture[K, V]) []item[K, V, I] {
	all := make([]item[K, V, I], 0, len(rows))
	for k, row := range rows {
		all = append(all, item[K, V, I]{n.index(k, row.v), k, row})
	}
	slices.SortFunc(all, func(a, b item[K, V, I]) int {
		return cmp.Or(n.compare(a.index, b.index), cmp.Compare(a.key, b.key))
	})
	return all
}

// part narrows a range that has all, and is in descending order if down is set. It returns which
// of them are in it.
func (n *naive[K, V, I]) part(of cow.Range[K, V, I], all []item[K, V, I], down bool) (cow.Range[K, V, I], func(item[K, V, I]) bool) {
	i, k := n.anyI(), n.anyKey()
	if len(all) > 0 && n.r.IntN(3) == 0 {
		a := all[n.r.IntN(len(all))] // one that is there
		i, k = a.index, a.key
	}
	at := item[K, V, I]{index: i, key: k}
	order := func(a item[K, V, I]) int {
		return cmp.Or(n.compare(a.index, at.index), cmp.Compare(a.key, at.key))
	}
	switch n.r.IntN(11) {
	case 0:
		return of, func(item[K, V, I]) bool { return true }
	case 1:
		return of.From(i), func(a item[K, V, I]) bool { return n.compare(a.index, i) >= 0 }
	case 2:
		return of.Above(i), func(a item[K, V, I]) bool { return n.compare(a.index, i) > 0 }
	case 3:
		return of.To(i), func(a item[K, V, I]) bool { return n.compare(a.index, i) < 0 }
	case 4:
		return of.Through(i), func(a item[K, V, I]) bool { return n.compare(a.index, i) <= 0 }
	case 5:
		return of.Equal(i), func(a item[K, V, I]) bool { return n.compare(a.index, i) == 0 }
	case 6:
		return of.After(i, k), func(a item[K, V, I]) bool { return order(a) > 0 }
	case 7:
		return of.Before(i, k), func(a item[K, V, I]) bool { return order(a) < 0 }
	case 8:
		fields := 1 + n.r.IntN(len(n.fields))
		return of.Leading(fields, i), func(a item[K, V, I]) bool { return n.leading(fields, a.index, i) == 0 }
	case 9:
		cursor, err := of.Cursor(i, k)
		require.NoError(n.t, err)
		of, err = of.Resume(cursor)
		require.NoError(n.t, err)
		return of, func(a item[K, V, I]) bool { return down && order(a) < 0 || !down && order(a) > 0 }
	default:
		return of.Prefix(i), func(a item[K, V, I]) bool { return n.begins(a.index, i) }
	}
}

// some returns a part of an index, and what it must hold of rows.
func (n *naive[K, V, I]) some(of cow.Range[K, V, I], rows picture[K, V]) (cow.Range[K, V, I], []item[K, V, I]) {
	all := n.items(rows)
	turn := func() bool {
		if n.r.IntN(3) > 0 {
			return false
		}
		slices.Reverse(all)
		of = of.Reverse()
		return true
	}
	down := turn()
	for range 1 + n.r.IntN(2) {
		var in func(item[K, V, I]) bool
		of, in = n.part(of, all, down)
		all = slices.DeleteFunc(all, func(a item[K, V, I]) bool { return !in(a) })
	}
	turn()
	if n.r.IntN(3) == 0 {
		from := n.r.IntN(5)
		all, of = all[min(from, len(all)):], of.Skip(from)
	}
	if n.r.IntN(3) == 0 {
		to := n.r.IntN(5)
		all, of = all[:min(to, len(all))], of.Limit(to)
	}
	return of, all
}

// equal requires that a range holds exactly want.
func (n *naive[K, V, I]) equal(got cow.Range[K, V, I], want []item[K, V, I]) {
	at := 0
	for i, row := range got.All() {
		if at == len(want) || n.compare(i, want[at].index) != 0 || row.Key() != want[at].key || row.Value() != want[at].row.v {
			require.FailNow(n.t, "another entry", "entry %d of %d is %v of row %v", at, len(want), i, row.Key())
		}
		at++
	}
	require.Equal(n.t, len(want), at)
	require.Equal(n.t, len(want), got.Len())
	i := n.anyI()
	if n.r.IntN(2) == 0 {
		i = n.index(n.anyKey(), n.anyV())
	}
	row, ok := got.Get(i)
	at = slices.IndexFunc(want, func(a item[K, V, I]) bool { return n.compare(a.index, i) == 0 })
	if ok != (at >= 0) || ok && (row.Key() != want[at].key || row.Value() != want[at].row.v) {
		require.FailNow(n.t, "Get finds another row", "%v under %v, want entry %d of %d", row.Key(), i, at, len(want))
	}
	// Of the index keys that i begins with the longest is the last, whichever way the range goes.
	at = -1
	for k, a := range want {
		if n.begins(i, a.index) && (at < 0 || cmp.Or(-n.compare(a.index, want[at].index), cmp.Compare(a.key, want[at].key)) < 0) {
			at = k
		}
	}
	longest, row, ok := got.LongestPrefix(i)
	if ok != (at >= 0) || ok && (longest != want[at].index || row.Key() != want[at].key || row.Value() != want[at].row.v) {
		require.FailNow(n.t, "another longest prefix", "%v of %v, row %v, want entry %d of %d", longest, i, row.Key(), at, len(want))
	}
}

func (n *naive[K, V, I]) edit(tx *cow.Tx, now uint64) {
	if tx.Version() != now+1 {
		require.FailNow(n.t, "another version")
	}
	n.step(n.table.Edit(tx), now)
	during := n.table.During(tx)
	require.Equal(n.t, len(n.next), during.Len())
}

func (n *naive[K, V, I]) update(now uint64, f func() error) error {
	return n.table.Update(func(e *cow.Editor[K, V]) error {
		n.step(e, now)
		n.step(e, now)
		return f()
	})
}

func (n *naive[K, V, I]) erase(tx *cow.Tx, now uint64) {
	n.table.Edit(tx)
	if n.next == nil {
		n.next = maps.Clone(n.past[now])
	}
	if n.gone == nil {
		n.gone = make(map[K]bool)
	}
	k := n.anyKey()
	n.table.Erase(tx, k)
	delete(n.next, k)
	n.gone[k] = true
}

// step does one thing to an edit, and requires that it does what it does to a plain map.
func (n *naive[K, V, I]) step(e *cow.Editor[K, V], now uint64) {
	if n.next == nil {
		n.next = maps.Clone(n.past[now])
	}
	k, v := n.anyKey(), n.anyV()
	row, found := n.next[k]
	set := func() { n.next[k] = stamped[V]{v, now + 1} }
	switch op := n.r.IntN(60); {
	case op < 20:
		e.Set(k, v)
		set()
	case op < 28:
		require.Equal(n.t, found, e.Delete(k))
		delete(n.next, k)
	case op < 32:
		got, ok := e.Take(k)
		require.Equal(n.t, found, ok)
		require.Equal(n.t, row.v, got)
		delete(n.next, k)
	case op < 36:
		if err := e.Insert(k, v); found {
			require.ErrorIs(n.t, err, cow.ErrExists)
		} else {
			require.NoError(n.t, err)
			set()
		}
	case op < 40:
		if err := e.Modify(k, func(is *V) error { *is = v; return nil }); found {
			require.NoError(n.t, err)
			set()
		} else {
			require.ErrorIs(n.t, err, cow.ErrNotFound)
		}
	case op < 42:
		require.ErrorIs(n.t, e.Upsert(k, func(is *V, was bool) error {
			require.Equal(n.t, found, was)
			*is = v
			return errTest
		}), errTest)
	case op < 45:
		got, ok := e.Get(k)
		require.Equal(n.t, found, ok)
		require.Equal(n.t, row.v, got)
	case op < 48:
		part, all := n.some(n.x.During(e), n.next)
		i, first, ok := part.TakeFirst()
		require.Equal(n.t, len(all) > 0, ok)
		if ok {
			require.Zero(n.t, n.compare(all[0].index, i))
			require.Equal(n.t, all[0].key, first.Key())
			delete(n.next, first.Key())
		}
	case op < 50:
		part, all := n.some(n.x.During(e), n.next)
		require.Equal(n.t, len(all), part.Delete())
		for _, a := range all {
			delete(n.next, a.key)
		}
	case op == 50:
		e.Clear()
		clear(n.next)
		n.clears++
	default:
		part, all := n.some(n.x.During(e), n.next)
		n.equal(part, all)
	}
}

// difference is what changed from one picture to the next.
func difference[K, V comparable](was, is picture[K, V]) map[K]snapshot.Kind {
	all := make(map[K]snapshot.Kind)
	for k, row := range is {
		if old, found := was[k]; !found {
			all[k] = cow.Added
		} else if old != row {
			all[k] = cow.Changed
		}
	}
	for k := range was {
		if _, found := is[k]; !found {
			all[k] = cow.Removed
		}
	}
	return all
}

func (n *naive[K, V, I]) changed(now uint64) bool {
	return len(n.gone) > 0 || n.next != nil && len(difference(n.past[now], n.next)) > 0
}

func (n *naive[K, V, I]) changes(tx *cow.Tx, now uint64) {
	want := make(map[K]snapshot.Kind)
	if n.next != nil {
		want = difference(n.past[now], n.next)
	}
	for k := range n.gone {
		want[k] = cow.Erased
	}
	got := make(map[K]snapshot.Kind)
	for c := range n.table.Changes(tx) {
		got[c.Key] = c.Kind
	}
	require.Equal(n.t, want, got)
}

func (n *naive[K, V, I]) late(tx *cow.Tx) {
	require.Panics(n.t, func() { n.table.Edit(tx) })
}

func (n *naive[K, V, I]) keep(now uint64) {
	if n.past[now+1] = n.next; n.next == nil {
		n.past[now+1] = n.past[now]
	}
	n.had[now+1] = []picture[K, V]{n.past[now+1]}
	if len(n.gone) > 0 {
		for version, rows := range n.past {
			if version <= now {
				n.past[version] = maps.Clone(rows)
				maps.DeleteFunc(n.past[version], func(k K, _ stamped[V]) bool { return n.gone[k] })
				n.had[version] = append(n.had[version], n.past[version])
			}
		}
		n.erased[now+1] = n.gone
	}
	n.drop()
}

func (n *naive[K, V, I]) drop() { n.next, n.gone = nil, nil }

// check looks at a snapshot of any retained version.
func (n *naive[K, V, I]) check(s *cow.Snapshot) {
	rows := n.past[s.Version()]
	m := n.table.In(s)
	require.Equal(n.t, len(rows), m.Len())
	for row := range m.Rows() {
		if is := (stamped[V]{row.Value(), row.Revision()}); rows[row.Key()] != is {
			require.FailNow(n.t, "another row", "%v is %v, want %v", row.Key(), is, rows[row.Key()])
		}
	}
	n.equal(n.x.In(m), n.items(rows))
	part, all := n.some(n.x.In(m), rows)
	n.equal(part, all)
}

// read reads a snapshot, in any goroutine. What it returns requires, in that of the test, that this
// is what the version had when it was published or, of a snapshot that was got later, at some time.
func (n *naive[K, V, I]) read(s *cow.Snapshot) (check func(published bool)) {
	m := n.table.In(s)
	rows := make(picture[K, V])
	for row := range m.Rows() {
		rows[row.Key()] = stamped[V]{row.Value(), row.Revision()}
	}
	var all []item[K, V, I]
	for i, row := range n.x.In(m).All() {
		all = append(all, item[K, V, I]{i, row.Key(), stamped[V]{row.Value(), row.Revision()}})
	}
	return func(published bool) {
		had := n.had[s.Version()]
		if published {
			had = had[:1]
		}
		if !slices.ContainsFunc(had, func(p picture[K, V]) bool { return maps.Equal(p, rows) }) {
			require.FailNow(n.t, "other rows", "version %d is %v, want one of %v", s.Version(), rows, had)
		}
		require.True(n.t, slices.Equal(all, n.items(rows)), "the index of version %d is of other rows", s.Version())
	}
}

func (n *naive[K, V, I]) commit(c *cow.Commit) {
	got := make(map[K]snapshot.Kind)
	for change := range n.table.Rows(c) {
		got[change.Key] = change.Kind
	}
	want := difference(n.past[c.Version()-1], n.past[c.Version()])
	for k := range n.erased[c.Version()] {
		want[k] = cow.Erased
	}
	require.Equal(n.t, want, got)
}

func (n *naive[K, V, I]) forget(version uint64) {
	delete(n.past, version)
	delete(n.had, version)
	delete(n.erased, version)
}

func (n *naive[K, V, I]) cleared() int { return n.clears }

func (n *naive[K, V, I]) since(version uint64) (differs func(now uint64) bool) {
	rows := n.past[version]
	return func(now uint64) bool { return !maps.Equal(rows, n.had[now][0]) }
}

// watch watches something, and says whether it differs in what a version was published as from what
// it was in another, as that is now: what is erased later was in it all the same.
func (n *naive[K, V, I]) watch(since uint64) (what cow.Watched, differs func(now uint64) bool, ofIndex bool) {
	rows := n.past[since]
	under := func(in func(item[K, V, I]) bool) func(now uint64) bool {
		return func(now uint64) bool {
			was, is := n.items(rows), n.items(n.had[now][0])
			out := func(a item[K, V, I]) bool { return !in(a) }
			was, is = slices.DeleteFunc(was, out), slices.DeleteFunc(is, out)
			return !slices.EqualFunc(was, is, func(a, b item[K, V, I]) bool { return a.key == b.key && a.row == b.row })
		}
	}
	switch n.r.IntN(5) {
	case 0:
		return n.table.OnAll(), n.since(since), false
	case 1:
		k, l := n.anyKey(), n.anyKey()
		return n.table.OnKeys(k, l), func(now uint64) bool {
			is := n.had[now][0]
			return rows[k] != is[k] || rows[l] != is[l]
		}, false
	case 2:
		i := n.anyI()
		return n.x.OnKeys(i), under(func(a item[K, V, I]) bool { return n.compare(a.index, i) == 0 }), true
	default:
		part, in := n.part(n.x.In(nil), n.items(rows), false)
		part, too := n.part(part, n.items(rows), false)
		return n.x.OnRange(part), under(func(a item[K, V, I]) bool { return in(a) && too(a) }), true
	}
}

// A signal is a channel of Notify, and when it must be closed.
type signal struct {
	since   uint64
	closed  <-chan struct{}
	stop    func()
	differs []func(now uint64) bool
	any     bool // nothing is listed: each version may close it
	clears  int  // before it, of tables whose indexes it watches; -1: of none
	stopped bool
}

// differsAt reports whether anything listed differs in a version.
func (s *signal) differsAt(now uint64) bool {
	return slices.ContainsFunc(s.differs, func(differs func(uint64) bool) bool { return differs(now) })
}

// A beside is a goroutine beside the one that commits: it waits in Watch, or it only reads. What it
// saw is asked when it is done.
type beside struct {
	*signal // since: all that it sees is of this version or a later one; differs: nil, if it only reads
	done    atomic.Bool
	err     error
	seen    []sighting
}

// A sighting is a snapshot, and what requires that it was right.
type sighting struct {
	s         *cow.Snapshot
	published bool
	checks    []func(published bool)
}

// A txModel is a DB of two tables, with transactions, ranges and signals, beside plain maps.
type txModel struct {
	t      *testing.T
	r      *rand.Rand
	db     *cow.DB
	tables []modelled
	now    uint64
	oldest uint64
	open   []*signal
	beside []*beside
	woken  int
	calls  int // of what was deferred
	want   int
}

func newTxModel(t *testing.T, seed uint64) *txModel {
	r := rand.New(rand.NewPCG(seed, 7))
	db := new(cow.DB)
	db.Retain(cow.Retention{Versions: 20})
	zone := func() string { return []string{"", "a", "ab", "abc", "b", "ba", "\xff"}[r.IntN(7)] }
	anyServer := func() upstream { return upstream{r.IntN(4), zone()} }
	servers := cow.NewTable[string](db, "servers", cow.Options[upstream]{})
	people := cow.NewTable[int](db, "people", cow.Options[string]{})
	byPlace := mustIndex(cow.NewIndex(servers, "place", func(row cow.Row[string, upstream]) upstream { return row.Value() }, cow.IndexOptions[string]{}))
	byName := mustIndex(cow.NewIndexFunc(people, "name", func(row cow.Row[int, string], add func(string)) error {
		add(row.Value())
		return nil
	}, cow.IndexOptions[int]{}, func(a, b string) int { return strings.Compare(strings.ToLower(a), strings.ToLower(b)) }))
	return &txModel{t: t, r: r, db: db, tables: []modelled{
		&naive[string, upstream, upstream]{t: t, r: r, table: servers, x: byPlace,
			index: func(_ string, u upstream) upstream { return u },
			fields: []func(a, b upstream) int{
				func(a, b upstream) int { return cmp.Compare(a.Weight, b.Weight) },
				func(a, b upstream) int { return strings.Compare(a.Zone, b.Zone) },
			},
			begins: func(i, p upstream) bool { return i.Weight == p.Weight && strings.HasPrefix(i.Zone, p.Zone) },
			anyKey: func() string { return fmt.Sprint("k", r.IntN(24)) },
			anyV:   anyServer, anyI: anyServer,
			past: map[uint64]picture[string, upstream]{0: {}}, erased: map[uint64]map[string]bool{},
			had: map[uint64][]picture[string, upstream]{0: {{}}},
		},
		&naive[int, string, string]{t: t, r: r, table: people, x: byName,
			index:  func(_ int, s string) string { return s },
			fields: []func(a, b string) int{func(a, b string) int { return strings.Compare(strings.ToLower(a), strings.ToLower(b)) }},
			begins: func(i, p string) bool { return strings.HasPrefix(strings.ToLower(i), strings.ToLower(p)) },
			anyKey: func() int { return r.IntN(24) - 12 },
			anyV:   func() string { return []string{"", "aN", "Ann", "ann", "ANNA", "Bo", "b", "Zoë"}[r.IntN(8)] },
			anyI:   func() string { return []string{"", "a", "an", "ANN", "anx", "b", "Zo", "zz"}[r.IntN(8)] },
			past:   map[uint64]picture[int, string]{0: {}}, erased: map[uint64]map[int]bool{},
			had: map[uint64][]picture[int, string]{0: {{}}},
		},
	}}
}

// edits does a few things to a transaction.
func (w *txModel) edits(tx *cow.Tx) {
	for range w.r.IntN(5) {
		w.tables[w.r.IntN(2)].edit(tx, w.now)
	}
	for _, n := range w.tables {
		n.changes(tx, w.now)
	}
	tx.Defer(func() { w.calls++ })
}

// erases erases a few keys, between other things.
func (w *txModel) erases(tx *cow.Tx) {
	for range w.r.IntN(6) {
		n := w.tables[w.r.IntN(2)]
		if w.r.IntN(2) == 0 {
			n.edit(tx, w.now)
		} else {
			n.erase(tx, w.now)
		}
	}
	w.edits(tx)
}

// ended requires that an update has happened, or has not.
func (w *txModel) ended(happened, deferred bool) {
	changed := slices.ContainsFunc(w.tables, func(n modelled) bool { return n.changed(w.now) })
	for _, n := range w.tables {
		if happened && changed {
			n.keep(w.now)
		} else {
			n.drop()
		}
	}
	if happened && changed {
		w.now++
	}
	if happened && deferred {
		w.want++
	}
	require.Equal(w.t, w.now, w.db.Load().Version())
	require.Equal(w.t, w.want, w.calls)
	for ; w.oldest+20 < w.now; w.oldest++ {
		if slices.ContainsFunc(w.beside, func(b *beside) bool { return b.since == w.oldest }) {
			w.settle(w.oldest + 10)
		}
		for _, n := range w.tables {
			n.forget(w.oldest)
		}
		w.open = slices.DeleteFunc(w.open, func(s *signal) bool {
			if s.since == w.oldest {
				s.stop()
			}
			return s.since == w.oldest
		})
	}
}

// write makes one update, which ends well or badly.
func (w *txModel) write() {
	before := w.now
	ctx, cancel := context.WithCancelCause(w.t.Context())
	defer cancel(nil)
	switch how := w.r.IntN(20); {
	case how < 8:
		tx := w.db.Begin()
		defer tx.Abort()
		w.edits(tx)
		require.NoError(w.t, tx.Commit())
		require.ErrorIs(w.t, tx.Commit(), cow.ErrTxEnded)
		w.tables[0].late(tx)
		w.ended(true, true)
	case how < 10:
		tx := w.db.Begin()
		w.edits(tx)
		tx.Abort()
		tx.Abort()
		require.ErrorIs(w.t, tx.Commit(), cow.ErrTxEnded)
		w.tables[1].late(tx)
		w.ended(false, true)
	case how == 10:
		tx, err := w.db.BeginContext(ctx)
		require.NoError(w.t, err)
		w.edits(tx)
		cancel(errTest)
		require.ErrorIs(w.t, tx.Commit(), errTest)
		w.ended(false, true)
	case how < 15:
		require.NoError(w.t, w.db.Update(func(tx *cow.Tx) error { w.edits(tx); return nil }))
		w.ended(true, true)
	case how == 15:
		require.ErrorIs(w.t, w.db.Update(func(tx *cow.Tx) error { w.edits(tx); return errTest }), errTest)
		w.ended(false, true)
	case how == 16:
		require.Equal(w.t, errTest, panicOf(func() {
			_ = w.db.Update(func(tx *cow.Tx) error { w.edits(tx); panic(errTest) })
		}))
		w.ended(false, true)
	case how == 17 && w.r.IntN(2) == 0:
		others, err := w.db.Erase(ctx, func(tx *cow.Tx) error { w.erases(tx); return nil })
		require.NoError(w.t, err)
		require.Empty(w.t, others)
		w.ended(true, true)
	case how == 17 && w.r.IntN(3) == 0:
		_, err := w.db.Erase(ctx, func(tx *cow.Tx) error { w.erases(tx); return errTest })
		require.ErrorIs(w.t, err, errTest)
		w.ended(false, true)
	case how == 17:
		require.ErrorIs(w.t, w.tables[w.r.IntN(2)].update(w.now, func() error { return errTest }), errTest)
		w.ended(false, false)
	default:
		require.NoError(w.t, w.tables[w.r.IntN(2)].update(w.now, func() error { return nil }))
		w.ended(true, false)
	}
	if w.now > before {
		w.commits(before)
	}
}

// commits requires that all commits since a version are what they were, without what was erased.
func (w *txModel) commits(since uint64) {
	for c, err := range w.db.Commits(since) {
		require.NoError(w.t, err)
		since++
		require.Equal(w.t, since, c.Version())
		for _, n := range w.tables {
			n.commit(c)
		}
	}
	require.Equal(w.t, w.now, since)
}

// at returns a retained snapshot.
func (w *txModel) at() *cow.Snapshot {
	s, err := w.db.At(w.oldest + w.r.Uint64N(w.now-w.oldest+1))
	require.NoError(w.t, err)
	return s
}

// some returns a snapshot, or nil, and what to watch since then.
func (w *txModel) some() (since *cow.Snapshot, all []cow.Watched, s *signal) {
	since = w.db.Load()
	switch w.r.IntN(16) {
	case 0:
		since = nil
	case 1, 2:
		since = w.at()
	}
	from := since.Version()
	s = &signal{since: from, clears: -1}
	if since == nil {
		s.since = w.now // what it sees is not older
	}
	for range w.r.IntN(4) {
		what, differs, ofIndex := w.tables[w.r.IntN(2)].watch(from)
		all = append(all, what)
		s.differs = append(s.differs, differs)
		if ofIndex {
			s.clears = w.clears()
		}
	}
	if s.any = len(all) == 0; s.any {
		s.differs = append(s.differs, w.tables[0].since(from), w.tables[1].since(from))
	}
	return since, all, s
}

// listen opens a signal.
func (w *txModel) listen() {
	since, all, s := w.some()
	s.closed, s.stop = w.db.Notify(since, all...)
	w.open = append(w.open, s)
}

// wait starts a goroutine that waits in Watch.
func (w *txModel) wait() {
	since, all, s := w.some()
	ctx, end := context.WithCancelCause(w.t.Context())
	s.stop = func() { end(errTest) }
	w.start(s, func(b *beside) {
		var now *cow.Snapshot
		if now, b.err = w.db.Watch(ctx, since, all...); b.err == nil {
			w.see(b, now, true)
		}
	})
}

// read starts a goroutine that reads the current snapshot, one of the past and the current one.
func (w *txModel) read() {
	version := w.now - w.r.Uint64N(min(w.now, 10)+1)
	w.start(&signal{since: version}, func(b *beside) {
		w.see(b, w.db.Load(), true)
		if s, err := w.db.At(version); err == nil {
			w.see(b, s, false)
		} else if !errors.Is(err, cow.ErrCompacted) {
			b.err = err
		}
		w.see(b, w.db.Load(), true)
	})
}

func (w *txModel) start(s *signal, f func(b *beside)) {
	b := &beside{signal: s}
	go func() {
		defer b.done.Store(true)
		f(b)
	}()
	w.beside = append(w.beside, b)
}

func (w *txModel) see(b *beside, s *cow.Snapshot, published bool) {
	b.seen = append(b.seen, sighting{s, published, []func(bool){w.tables[0].read(s), w.tables[1].read(s)}})
}

// settle waits until the goroutines beside are done or block. It requires that none of these has
// missed what it waits for, and that the others were woken by that alone. It ends those that wait
// since before a version.
func (w *txModel) settle(before uint64) {
	synctest.Wait()
	for _, b := range w.beside {
		if !b.done.Load() && (b.stopped || b.differsAt(w.now)) {
			require.FailNow(w.t, "a Watch goes on", "since %d, at version %d; stopped: %v", b.since, w.now, b.stopped)
		}
		if !b.done.Load() && b.since < before {
			b.stop()
			b.stopped = true
		}
	}
	synctest.Wait()
	w.beside = slices.DeleteFunc(w.beside, func(b *beside) bool {
		if !b.done.Load() {
			require.False(w.t, b.stopped, "a Watch goes on after its context has ended")
			return false
		}
		if b.stopped && b.err != nil {
			require.ErrorIs(w.t, b.err, errTest)
		} else {
			require.NoError(w.t, b.err)
		}
		last := uint64(0)
		for _, seen := range b.seen {
			version := seen.s.Version()
			if seen.published {
				require.GreaterOrEqual(w.t, version, max(last, b.since))
				last = version
			}
			if b.differs != nil && !b.differsAt(version) {
				require.FailNow(w.t, "a Watch ends without a difference", "since %d, at version %d", b.since, version)
			}
			for _, check := range seen.checks {
				check(seen.published)
			}
		}
		if b.differs != nil && b.err == nil {
			w.woken++
		}
		return true
	})
}

func (w *txModel) clears() int { return w.tables[0].cleared() + w.tables[1].cleared() }

// signals requires that those are closed that have to be. Nothing else goes on, so that none
// other is, unless a table was cleared, which asks all who watch an index.
func (w *txModel) signals() {
	w.open = slices.DeleteFunc(w.open, func(s *signal) bool {
		want := s.differsAt(w.now)
		is := isClosed(s.closed)
		if may := s.any && w.now != s.since || s.clears >= 0 && s.clears < w.clears(); !s.stopped && is != want && (want || !may) {
			require.FailNow(w.t, "a signal", "closed: %v; differs: %v", is, want)
		}
		if s.stopped && is && !s.any {
			require.FailNow(w.t, "a signal that was stopped is closed")
		}
		if is || s.stopped && w.r.IntN(4) == 0 {
			s.stop()
			return true
		}
		return false
	})
}

// Random transactions over two tables, with ranges read and deleted in them, keys erased from all
// versions, and signals of keys, index keys, ranges and all of it, beside plain maps. Goroutines
// wait in Watch and read snapshots meanwhile: what they see is held against the model by version.
func TestTransactionsAgainstAModel(t *testing.T) {
	seeds, steps := uint64(5), 60_000
	if testing.Short() {
		seeds, steps = 1, 4000
	}
	for seed := range seeds {
		t.Run(fmt.Sprint(seed+1), func(t *testing.T) {
			noDeadlock(t)
			synctest.Test(t, func(t *testing.T) { newTxModel(t, seed+1).run(steps) })
		})
	}
}

func (w *txModel) run(steps int) {
	for range steps {
		switch w.r.IntN(10) {
		case 0, 1:
			if len(w.open) < 40 {
				w.listen()
				w.signals()
			}
		case 2:
			if len(w.open) > 0 {
				if s := w.open[w.r.IntN(len(w.open))]; !isClosed(s.closed) {
					s.stop()
					s.stopped = true
				}
			}
		case 3:
			s := w.at()
			for _, n := range w.tables {
				n.check(s)
			}
			w.commits(s.Version())
		case 4:
			for range 1 + w.r.IntN(3) {
				if w.r.IntN(3) == 0 {
					w.read()
				} else {
					w.wait()
				}
			}
		case 5:
			// How many there are depends on who was quick, and w.r must not.
			switch pick := int(w.r.Uint32() >> 1); {
			case pick%16 == 0: // the next is the only one that waits, and comes beside a commit
				w.quiet()
				w.wait()
				w.write()
			case pick%2 == 0:
				w.settle(0)
			case len(w.beside) > 0:
				if b := w.beside[pick/2%len(w.beside)]; b.differs != nil {
					b.stop()
					b.stopped = true
				}
			}
		default:
			w.write()
			w.signals()
		}
	}
	w.quiet()
	require.Greater(w.t, w.now, uint64(steps/10))
	require.Greater(w.t, w.woken, steps/50)
}

// quiet ends all that waits and reads.
func (w *txModel) quiet() {
	for _, s := range w.open {
		s.stop()
	}
	w.open = nil
	w.settle(w.now + 1)
	require.Empty(w.t, w.beside)
	require.Zero(w.t, w.db.Stats().Waiting)
}
