package cow

import (
	"cmp"
	"fmt"
	"iter"
	"math"
	"slices"
	"time"

	"github.com/cowstore/cowstore/cow/internal/door"
)

// This is the line of a DB as its sink sees it: door.Line.

func init() {
	door.Of = func(db any) door.Line { return dbLine{db.(*DB)} }
}

type dbLine struct{ db *DB }

// A stored is what a table does for sinks.
type stored interface {
	// isStored reports whether the table is stored, and returns an error if it
	// should be and cannot.
	isStored() (bool, error)

	// record is door.Table.Schema.
	record(recorded string) (string, error)

	// encode appends what changed as rows, and rows all rows of a snapshot.
	encode(rows []door.Row, table int, n tableNet, version uint64) ([]door.Row, error)
	rows(table int, s *Snapshot) iter.Seq2[door.Row, error]

	// replay does to the table in tx what a row of a commit says.
	replay(tx *Tx, row door.Row) error

	// lost iterates over the rows that a snapshot has and a later one has not.
	lost(table int, s, later *Snapshot) iter.Seq2[door.Row, error]

	// restore makes the table in tx one of exactly the rows it is given, or, if more is
	// to stay, one that has them too, but for those that are Removed.
	restore(tx *Tx, more bool) restorer
}

// A restorer takes the rows of a table, and is told when there are no more. A row
// that the table has at that revision stays as it is. It leaves no goroutine behind once
// wait has returned, after an error too.
type restorer interface {
	row(row door.Row) error
	end() error
	wait()
}

// stored returns the tables that are stored, in the order of door.Row.Table.
func (db *DB) stored() ([]table, error) {
	var all []table
	for _, t := range db.schema().all() {
		is, err := t.isStored()
		if err != nil {
			return nil, err
		}
		if is {
			all = append(all, t)
		}
	}
	return all, nil
}

// encode returns the rows of what a commit changed.
func (db *DB) encode(n *tables, version uint64) (rows []door.Row, err error) {
	stored := 0
	for i, t := range db.schema().all() {
		if is, _ := t.isStored(); !is {
			continue
		}
		if of := n.of(i); of != nil {
			if rows, err = t.encode(rows, stored, of, version); err != nil {
				return nil, err
			}
		}
		stored++
	}
	return rows, nil
}

func (l dbLine) Tables() ([]door.Table, error) {
	all, err := l.db.stored()
	if err != nil {
		return nil, err
	}
	var tables []door.Table
	for _, t := range all {
		tables = append(tables, door.Table{Name: t.title(), Schema: t.record})
	}
	return tables, nil
}

func (l dbLine) Contents() door.Contents {
	all, err := l.db.stored()
	s, at := l.current()
	each := func(rows func(i int, t table) iter.Seq2[door.Row, error]) iter.Seq2[door.Row, error] {
		return func(yield func(door.Row, error) bool) {
			if err != nil {
				yield(door.Row{}, err)
				return
			}
			for i, t := range all {
				for row, err := range rows(i, t) {
					if !yield(row, err) || err != nil {
						return
					}
				}
			}
		}
	}
	pins, snapshots := l.pins()
	for i := range pins {
		later := s
		if i+1 < len(pins) && pins[i+1].Version < s.Version() {
			later = snapshots[i+1]
		}
		pins[i].Rows = each(func(n int, t table) iter.Seq2[door.Row, error] { return t.lost(n, snapshots[i], later) })
	}
	return door.Contents{
		Lineage: l.db.Lineage().ID,
		Version: s.Version(),
		Time:    at,
		Rows:    each(func(i int, t table) iter.Seq2[door.Row, error] { return t.rows(i, s) }),
		Pins:    pins,
	}
}

// pins returns the pins, the oldest first, and what they keep.
func (l dbLine) pins() (pins []door.Pin, snapshots []*Snapshot) {
	for name, s := range l.db.Pins() {
		i, ok := slices.BinarySearchFunc(pins, s.Version(), func(p door.Pin, v uint64) int { return cmp.Compare(p.Version, v) })
		if !ok {
			pins, snapshots = slices.Insert(pins, i, door.Pin{Version: s.Version()}), slices.Insert(snapshots, i, s)
		}
		pins[i].Names = append(pins[i].Names, name)
	}
	return pins, snapshots
}

// current returns the published version, and when it was published, or, if that is
// not known, when it was first known to be: for version 0, the zero time.
func (l dbLine) current() (*Snapshot, time.Time) {
	db := l.db
	db.mu.Lock()
	defer db.mu.Unlock()
	s := db.published.Load()
	switch o := db.outbox.Load(); {
	case s.Version() == 0:
		return s, time.Time{}
	case o != nil && !o.attaching:
		return s, time.Unix(0, o.at)
	case db.history != nil:
		return s, time.Unix(0, db.history.newest())
	}
	return s, time.Now()
}

func (l dbLine) Attach(s door.Sink, c door.Contents, past iter.Seq2[*door.Commit, error]) (err error) {
	db := l.db
	if _, err := db.stored(); err != nil {
		return err
	}
	o := &outbox[*Snapshot]{sink: s, attaching: true}
	o.hold() // until there are contents
	db.lock("attaching a sink")
	attached := db.outbox.CompareAndSwap(nil, o)
	db.writer.Unlock()
	if !attached {
		return fmt.Errorf("cow: %w", door.ErrAttached)
	}
	sealed := db.schema().seal(true)
	err = errGoexit // unless reset returns
	defer func() {
		if err != nil {
			db.lock("attaching a sink")
			db.outbox.Store(nil) // so that those who wait to begin do without
			db.writer.Unlock()
			if sealed {
				db.schema().seal(false)
			}
		}
		db.mu.Lock()
		defer db.mu.Unlock()
		o.attaching = false
		o.release()
	}()
	return l.reset(o, c, past)
}

func (l dbLine) Ack(version uint64) { l.db.ack(l.outbox(), version) }

func (l dbLine) Refuse(version uint64, err error) { l.db.refuse(l.outbox(), version, err) }

func (l dbLine) Fail(err error) {
	o := l.outbox()
	l.db.mu.Lock()
	defer l.db.mu.Unlock()
	l.db.fail(o, err)
}

func (l dbLine) outbox() *outbox[*Snapshot] {
	o := l.db.outbox.Load()
	if o == nil {
		panic("cow: a Line is used before its sink is attached")
	}
	return o
}

func (l dbLine) Rebase(foreign ...*door.Commit) error {
	return l.db.replace(l.outbox(), func(base *Snapshot) (drafts []draft[*Snapshot], err error) {
		at := l.db.last // nobody stamps while updates are held
		for _, c := range foreign {
			if id := l.db.identify().id.String(); c.Lineage != id {
				return nil, fmt.Errorf("cow: %w: %s and not %s", door.ErrLineage, id, c.Lineage)
			}
			d, err := l.replayOne(base, at, c)
			if err != nil {
				return nil, err
			}
			base, at = d.next, d.commit.at
			drafts = append(drafts, d)
		}
		return drafts, nil
	}, l.publish)
}

func (l dbLine) Reset(c door.Contents, past iter.Seq2[*door.Commit, error]) error {
	return l.reset(l.outbox(), c, past)
}

func (l dbLine) reset(o *outbox[*Snapshot], c door.Contents, past iter.Seq2[*door.Commit, error]) error {
	db := l.db
	var first draft[*Snapshot]
	var pinned map[uint64]*Snapshot // those before first
	var at int64                    // the time of first
	var lineage string
	pinner, _ := o.sink.(door.Pinner)
	if pinner == nil {
		c.Pins = nil
	}
	return db.replace(o, func(base *Snapshot) (drafts []draft[*Snapshot], err error) {
		id := db.identify().id.String()
		lineage = cmp.Or(c.Lineage, id)
		switch {
		case !door.IsLineage(lineage):
			return nil, fmt.Errorf("cow: %.100q is not a lineage", lineage)
		case base.Version() > 0 && lineage != id:
			return nil, fmt.Errorf("cow: %w: %s and not %s", door.ErrLineage, id, lineage)
		case base.Version() > c.Version:
			return nil, fmt.Errorf("cow: %w: %d and not %d", door.ErrBehind, base.Version(), c.Version)
		}
		from := base
		if base.Version() == 0 {
			if pinned, from, c.Rows, err = l.restorePins(base, c); err != nil {
				return nil, err
			}
		}
		if first, err = l.restore(from, c); err != nil {
			return nil, err
		}
		// Nobody stamps while updates are held.
		switch at = db.last; {
		case c.Version == 0:
		case first.next != base || o.attaching && db.history == nil:
			at = max(at, nanos(c.Time))
		}
		if past == nil {
			return nil, nil
		}
		tip, last := first.next, at
		for commit, err := range past {
			if err != nil {
				return nil, err
			}
			if commit.Lineage != lineage {
				return nil, fmt.Errorf("cow: %w: %s and not %s", door.ErrLineage, lineage, commit.Lineage)
			}
			d, err := l.replayOne(tip, last, commit)
			if err != nil {
				return nil, err
			}
			d.commit.elapsed = math.MinInt64 // before this process, as far as it knows
			tip, last = d.next, d.commit.at
			drafts = append(drafts, d)
		}
		return drafts, nil
	}, func(drafts []draft[*Snapshot]) {
		if first.next != db.published.Load() {
			db.adopt(first, lineage, at)
		}
		db.take(lineage)
		db.last, o.at = at, at
		l.publish(drafts)
		if pinner != nil {
			l.repin(c, pinned, first.next, drafts)
		}
	})
}

// repin makes the pins those of contents. A DB that is past version 0 keeps those from before
// the contents: it is what they were made from. The caller holds mu.
func (l dbLine) repin(c door.Contents, before map[uint64]*Snapshot, first *Snapshot, after []draft[*Snapshot]) {
	byName := make(map[string]*Snapshot)
	for _, p := range c.Pins {
		s, ok := before[p.Version]
		switch {
		case p.Version < c.Version && !ok:
			if s, ok = l.db.pins.at(p.Version); !ok {
				continue
			}
		case p.Version == c.Version:
			s = first
		case p.Version > c.Version && p.Version-c.Version <= uint64(len(after)):
			s = after[p.Version-c.Version-1].next
		}
		for _, name := range p.Names {
			byName[name] = s
		}
	}
	l.db.pins.mu.Lock()
	defer l.db.pins.mu.Unlock()
	l.db.pins.byName = byName
}

// restorePins derives the pinned versions before contents, one from the other, and returns
// them, the one to derive the contents from, and the rows of these, which it has read.
func (l dbLine) restorePins(base *Snapshot, c door.Contents) (pinned map[uint64]*Snapshot, last *Snapshot, rows iter.Seq2[door.Row, error], err error) {
	pins := c.Pins
	if i := slices.IndexFunc(pins, func(p door.Pin) bool { return p.Version >= c.Version }); i >= 0 {
		pins = pins[:i]
	}
	if len(pins) == 0 {
		return nil, base, c.Rows, nil
	}
	var all []door.Row
	came := make([][]door.Row, len(pins)+1) // by pin: what it is the first to have, and in the end the others
	gone := make([][]door.Row, len(pins)+1) // and what the one before was the last to have
	first := func(r door.Row) int {
		i, _ := slices.BinarySearchFunc(pins, r.Revision, func(p door.Pin, v uint64) int { return cmp.Compare(p.Version, v) })
		return i
	}
	if c.Rows != nil {
		for r, err := range c.Rows {
			if err != nil {
				return nil, nil, nil, err
			}
			all = append(all, r)
			came[first(r)] = append(came[first(r)], r)
		}
	}
	for i, p := range pins {
		for r, err := range p.Rows {
			switch n := first(r); {
			case err != nil:
				return nil, nil, nil, err
			case n > i:
				return nil, nil, nil, fmt.Errorf("cow: the pin of version %d has a row of version %d", p.Version, r.Revision)
			default:
				came[n] = append(came[n], r)
			}
			gone[i+1] = append(gone[i+1], door.Row{Table: r.Table, Key: r.Key, Removed: true})
		}
	}
	pinned = make(map[uint64]*Snapshot)
	last = base
	for i, p := range pins {
		if p.Version > 0 {
			d, err := l.edit(last, p.Version, true, func(yield func(door.Row, error) bool) {
				for _, rows := range [][]door.Row{gone[i], came[i]} {
					for _, r := range rows {
						if !yield(r, nil) {
							return
						}
					}
				}
			})
			if err != nil {
				return nil, nil, nil, fmt.Errorf("cow: the pinned version %d: %w", p.Version, err)
			}
			last = d.next
		}
		pinned[p.Version] = last
	}
	return pinned, last, func(yield func(door.Row, error) bool) {
		for _, r := range all {
			if !yield(r, nil) {
				return
			}
		}
	}, nil
}

// publish publishes what was replayed. The caller holds mu.
func (l dbLine) publish(drafts []draft[*Snapshot]) {
	for _, d := range drafts {
		d.commit.lineage = l.db.identify().id
		l.db.publish(d)
		l.db.last, l.outbox().at = d.commit.at, d.commit.at
	}
}

// replayOne derives the version that c made of base, which was published at a time.
func (l dbLine) replayOne(base *Snapshot, at int64, c *door.Commit) (d draft[*Snapshot], err error) {
	if c.Version != base.Version()+1 {
		return d, fmt.Errorf("cow: %w: %d after %d", door.ErrGap, c.Version, base.Version())
	}
	all, err := l.db.stored()
	if err != nil {
		return d, err
	}
	tx := &Tx{db: l.db, base: base, version: c.Version}
	defer tx.end()
	for _, row := range c.Rows {
		if row.Table < 0 || row.Table >= len(all) {
			return d, fmt.Errorf("cow: version %d: there is no table %d", c.Version, row.Table)
		}
		if err := all[row.Table].replay(tx, row); err != nil {
			return d, fmt.Errorf("cow: version %d: %w", c.Version, err)
		}
	}
	if d, err = tx.seal(true); err != nil {
		return d, fmt.Errorf("cow: version %d: %w", c.Version, err)
	}
	if d.next == base { // it changed derived tables alone, or nothing that is left
		d = draft[*Snapshot]{next: l.db.same(base, c.Version)}
		empty := new(dbCommit)
		empty.changes = &empty.of
		d.commit = &empty.Commit
	}
	d.commit.version = c.Version
	d.commit.at, d.commit.elapsed = max(nanos(c.Time), at), elapsed(time.Now())
	return d, nil
}

// restore derives the version that has these contents from base.
func (l dbLine) restore(base *Snapshot, c door.Contents) (d draft[*Snapshot], err error) {
	if c.Version == base.Version() {
		return draft[*Snapshot]{next: base}, nil
	}
	return l.edit(base, c.Version, false, c.Rows)
}

// edit derives a version from base that has exactly these rows, or, if more is to stay, these
// too, but for those that are Removed, which come before others of their key.
func (l dbLine) edit(base *Snapshot, version uint64, more bool, rows iter.Seq2[door.Row, error]) (d draft[*Snapshot], err error) {
	all, err := l.db.stored()
	if err != nil {
		return d, err
	}
	tx := &Tx{db: l.db, base: base, version: version}
	defer tx.end()
	var tables []restorer
	for _, t := range all {
		t := t.restore(tx, more)
		defer t.wait()
		tables = append(tables, t)
	}
	if rows != nil {
		for row, err := range rows {
			if err != nil {
				return d, err
			}
			if row.Table < 0 || row.Table >= len(tables) {
				return d, fmt.Errorf("cow: there is no table %d", row.Table)
			}
			if err := tables[row.Table].row(row); err != nil {
				return d, err
			}
		}
	}
	for _, t := range tables {
		if err := t.end(); err != nil {
			return d, err
		}
	}
	if d, err = tx.seal(false); err != nil { // it is not one update, and has no Commit
		return d, err
	}
	if d.next == base {
		d.next = l.db.same(base, version)
	}
	return d, nil
}
