// Package line is the line of versions of a DB: how a version comes about, who waits for it,
// and which past ones are kept. It knows no maps: a version is a [Root], with a content for
// each table, and what a commit changed is a [Net] for each. A [Line] is what a cow.DB is
// made of; package cow says in what steps a commit passes through it.
//
// From the ground up: lineage.go, what tells lines apart; root.go, a version and a commit;
// history.go, what past is kept; ground.go, a Line, what an update gives it, and the order of its
// locks; erase.go, the past made anew; hooks.go, who is told; expiry.go, whether rows have expired;
// readers.go, who holds old versions; line.go, the commit path, with a sink and without; follow.go,
// those who wait; past.go, reads of the past; attached.go, the line as its sink sees it; held.go,
// the writer's place of a transaction.
package line

import (
	"iter"
	"math"
	"reflect"
	"slices"
	"sync/atomic"
	"time"

	"github.com/cowstore/cowstore/cow/hook"
)

// A Root is all tables of a DB at one version: for each its content, which only the table
// itself knows the type of. It is immutable once it is published. The nil *Root is that of a
// DB before its first version.
type Root struct {
	version uint64
	owner   *Owner
	first   any   // the content of table 0, which a lookup finds at once
	rest    []any // those of tables 1, 2, …; where there are more than fan, pages of them
	paged   bool
	latest  int32 // the table, not 0, that was changed last,
	content any   // and its content, for which rest has nil: a commit to it copies no rest

	soonest atomic.Int64 // no row expires before, ns since 1970; 0: none expires
	due     atomic.Bool  // see Due
}

// An Owner is what a Root knows of the DB that it is of. It does not hold the DB, which a
// Root must not keep alive. A fork has an Owner of its own, of the same Tables.
type Owner struct {
	Tables  Tables
	orphans atomic.Bool // the DB is gone: there is no alarm for its last Root
}

// Tables are the tables of a DB and its forks, and know what is in a Root. Rows, Structure
// and Exclusive take nil for an empty Root.
type Tables interface {
	// Rows returns how many rows there are.
	Rows(r *Root) int

	// Soonest returns when the first row of a table, or of Several, expires, in ns since 1970,
	// 0 if none does, or Unlooked.
	Soonest(r *Root, table int) int64

	// Structure returns about how many bytes r takes apart from its rows.
	Structure(r *Root) int

	// Exclusive returns how many rows r has that other does not share, and about how many
	// bytes they keep alive.
	Exclusive(r, other *Root) (rows, bytes int)

	// Changed returns the tables in which two versions differ, and by how much.
	Changed(newer, older *Root) []hook.Table

	// Weak returns a weak pointer to a content of a table, or nil if the table itself keeps it, and
	// Strong that content, or nil if it is gone.
	Weak(table int, content any) any
	Strong(table int, pointer any) (content any)
}

// Several stands for more than one table.
const Several = -1

// Unlooked is what Tables.Soonest returns of a Root whose rows it would have to go through.
const Unlooked = math.MinInt64

// A page has leaves of fan contents each, so that a commit copies a few small objects,
// however many tables there are, and all tables but the first are found in the same time.
type (
	page [fan]*leaf
	leaf [fan]any
)

const fan = 16

// Version returns the version.
func (r *Root) Version() uint64 {
	if r == nil {
		return 0
	}
	return r.version
}

// Owner returns what r knows of its DB, which is nil for nil.
func (r *Root) Owner() *Owner {
	if r == nil {
		return nil
	}
	return r.owner
}

// First is Table(0) of an r that is not nil.
func (r *Root) First() any { return r.first }

// Table returns the content of a table, or nil if it has none yet.
func (r *Root) Table(i int) any {
	switch {
	case r == nil:
		return nil
	case i == 0:
		return r.first
	case i == int(r.latest):
		return r.content
	case !r.paged && i <= len(r.rest):
		return r.rest[i-1]
	case !r.paged:
		return nil
	}
	if p := (i - 1) / (fan * fan); p < len(r.rest) {
		if l := r.rest[p].(*page)[(i-1)/fan%fan]; l != nil {
			return l[(i-1)%fan]
		}
	}
	return nil
}

// most returns a number of tables above which r has none.
func (r *Root) most() int {
	n := len(r.rest)
	if r.paged {
		n *= fan * fan
	}
	return max(n, int(r.latest)) + 1
}

// Due reports whether a row may have expired. False is certain: due is set in the published Root
// before the time has come, by the alarm or by who publishes it; in one that is no longer
// published, from then on; and orphans says it of all when their DB is gone. So whoever loads the
// published Root, and then finds nothing due, does not have to know the time.
func (r *Root) Due() bool { return r != nil && r.soonest.Load() != 0 && r.hasExpired() }

func (r *Root) hasExpired() bool {
	return (r.due.Load() || r.owner.orphans.Load()) && r.soonest.Load() <= now().UnixNano()
}

// now is what tells hasExpired the time; a test counts how often.
var now = time.Now

// pass notes that r is no longer published: no alarm is for it any more.
func (r *Root) pass() {
	if r != nil && r.soonest.Load() != 0 {
		r.due.Store(true)
	}
}

// unlooked notes that nobody has looked when the rows of r expire.
func (r *Root) unlooked() {
	if r.owner.Tables.Soonest(r, Several) != 0 {
		r.soonest.Store(Unlooked)
		r.due.Store(true)
	}
}

// A Making is a Root that is being made. It must not be used any more once that is
// published.
type Making struct {
	Root *Root

	own  bool // the slice rest is not shared with another Root
	at   int  // the number of leaf, which is not shared either, and of whose page
	leaf *leaf
}

// Make returns a Making with the contents of base, as another version.
func Make(base *Root, owner *Owner, version uint64) Making {
	r := &Root{version: version, owner: owner}
	if base != nil {
		r.first, r.rest, r.paged, r.latest, r.content = base.first, base.rest, base.paged, base.latest, base.content
		if soonest := base.soonest.Load(); soonest != 0 { // until it is published, nobody looks
			r.soonest.Store(soonest)
			r.due.Store(true)
		}
	}
	return Making{Root: r}
}

// Set puts in the content of a table.
func (m *Making) Set(i int, content any) {
	r := m.Root
	if i == 0 {
		r.first = content
		return
	}
	if latest := int(r.latest); i != latest {
		if latest != 0 {
			m.lay(latest, r.content)
		}
		if r.Table(i) != nil {
			m.lay(i, nil) // or an old content would be kept alive
		}
	}
	r.latest, r.content = int32(i), content
}

// lay puts the content of a table into the rest.
func (m *Making) lay(i int, content any) {
	r := m.Root
	if i > fan && !r.paged {
		m.split()
	}
	n := i
	if r.paged {
		n = (i-1)/(fan*fan) + 1
	}
	if !m.own {
		r.rest, m.own = append(make([]any, 0, max(n, len(r.rest))), r.rest...), true
	}
	for len(r.rest) < n {
		r.rest = append(r.rest, nil)
	}
	if !r.paged {
		r.rest[n-1] = content
		return
	}
	if at := (i - 1) / fan; m.leaf == nil || at != m.at {
		var p page
		if was, ok := r.rest[n-1].(*page); ok {
			p = *was
		}
		l := new(leaf)
		if was := p[at%fan]; was != nil {
			*l = *was
		}
		p[at%fan] = l
		r.rest[n-1], m.leaf, m.at = &p, l, at
	}
	m.leaf[(i-1)%fan] = content
}

// split makes a page of the contents, which are at most fan.
func (m *Making) split() {
	var l leaf
	copy(l[:], m.Root.rest)
	m.Root.rest, m.Root.paged, m.own = []any{&page{0: &l}}, true, true
}

// A Net is the net changes of one table in one commit. It is immutable.
type Net interface {
	// Len returns how many changes there are.
	Len() int

	// Weigh returns how many rows the changes replaced or removed, which the commit keeps
	// alive, and about how many bytes it holds back.
	Weigh() (rows, bytes int)

	// Rewind undoes the changes of since, the latest first, in the content newest, and returns
	// what is left, or nil if there was no content yet. Any Net of the table does as receiver.
	Rewind(newest any, since iter.Seq[Net]) any
}

// A Commit is one published update: its version, its time, and the net changes of the tables
// that it changed. It is immutable once it is published.
type Commit struct {
	owner   *Owner // set when it is published
	lineage *name
	version uint64
	at      int64 // wall clock, ns since 1970; never below that of the version before
	elapsed int64 // monotonic clock, ns since the process began; below 0 if it was before

	nets []tableNet // by table
	one  [1]tableNet
}

type tableNet struct {
	table int
	net   Net
}

// Add adds the changes of a table, of which there are none yet.
func (c *Commit) Add(table int, n Net) {
	if c.nets == nil {
		c.nets = c.one[:0]
	}
	at := len(c.nets)
	for at > 0 && c.nets[at-1].table > table {
		at--
	}
	c.nets = slices.Insert(c.nets, at, tableNet{table, n})
}

// As makes c, which is to be in a [Remade], the commit of a version, and returns it.
func (c *Commit) As(version uint64) *Commit {
	c.version = version
	return c
}

// Net returns the changes of a table, or nil.
func (c *Commit) Net(table int) Net {
	i, ok := slices.BinarySearchFunc(c.nets, table, func(n tableNet, table int) int { return n.table - table })
	if !ok {
		return nil
	}
	return c.nets[i].net
}

// Owner returns what the Commit knows of its DB, nil if it is not published.
func (c *Commit) Owner() *Owner { return c.owner }

// Version returns the version that the update published.
func (c *Commit) Version() uint64 { return c.version }

// Time returns the time of the update, never before that of the version before.
func (c *Commit) Time() time.Time { return time.Unix(0, c.at) }

// Cursor returns the cursor of the version.
func (c *Commit) Cursor() string { return cursor(c.lineage, c.version) }

// Len returns how many changes there are.
func (c *Commit) Len() (n int) {
	for _, t := range c.nets {
		n += t.net.Len()
	}
	return n
}

// stamp makes c the commit of a version of a line, after one at the time last.
func (c *Commit) stamp(lineage *name, version uint64, last int64) {
	now := time.Now()
	c.lineage, c.version = lineage, version
	c.at, c.elapsed = max(now.UnixNano(), last), elapsed(now)
}

var commitBytes, netBytes = int(reflect.TypeFor[Commit]().Size()), int(reflect.TypeFor[tableNet]().Size())

func (c *Commit) weigh() (w weight) {
	w.bytes = commitBytes + max(0, cap(c.nets)-1)*netBytes
	for _, n := range c.nets {
		w.add(n.net.Weigh())
	}
	return w
}

// A weight is what something holds back: rows, and about how many bytes.
type weight struct{ rows, bytes int }

func (w *weight) add(rows, bytes int) { w.rows, w.bytes = w.rows+rows, w.bytes+bytes }

// began is when the process began, near enough.
var began = time.Now()

// elapsed returns a time of this process on its monotonic clock.
func elapsed(t time.Time) int64 { return int64(t.Sub(began)) }

// rewind returns the Root that newest was at a version, given the commits since, which it
// reverses.
func rewind(newest *Root, version uint64, since []*Commit) *Root {
	if len(since) == 0 {
		return newest
	}
	slices.Reverse(since)
	var tables []int
	for _, c := range since {
		for _, n := range c.nets {
			tables = append(tables, n.table)
		}
	}
	slices.Sort(tables)
	m := Make(newest, newest.owner, version)
	for _, i := range slices.Compact(tables) {
		var last Net
		nets := func(yield func(Net) bool) {
			for _, c := range since {
				if n := c.Net(i); n != nil && !yield(n) {
					return
				}
			}
		}
		for n := range nets {
			last = n
		}
		m.Set(i, last.Rewind(newest.Table(i), nets))
	}
	m.Root.unlooked()
	return m.Root
}
