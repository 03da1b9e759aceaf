package line

import (
	"cmp"
	"fmt"
	"iter"
	"math"
	"slices"
	"time"

	"github.com/cowstore/cowstore/cow/hook"
	"github.com/cowstore/cowstore/cow/internal/sink"
)

// A Replayer makes versions out of what a sink has, and the other way around. It runs no
// update function.
type Replayer interface {
	// Stored returns the tables that are stored, or an error for one that should be and
	// cannot.
	Stored() ([]sink.Table, error)

	// Rows returns an iterator over the rows of these in r, and Lost over those that r has
	// and later has not.
	Rows(r *Root) iter.Seq2[sink.Row, error]
	Lost(r, later *Root) iter.Seq2[sink.Row, error]

	// Replay returns the version that c makes of base, with its Commit.
	Replay(base *Root, c *sink.Commit) (Draft, error)

	// Restore returns a version, made from base, that has these rows. With keep, rows of
	// base that are not given stay, unless they are Removed, which come before others of
	// their key; without, they go.
	Restore(base *Root, version uint64, keep bool, rows iter.Seq2[sink.Row, error]) (*Root, error)

	// Freeze says that there may be no more tables, or, after that, that there may be all the
	// same.
	Freeze(frozen bool)
}

// An Attached is a line as its sink sees it: a sink.DB.
type Attached struct {
	line *Line
	with Replayer
}

// For returns l for a sink.
func (l *Line) For(with Replayer) Attached { return Attached{l, with} }

// Tables is sink.DB.Tables.
func (a Attached) Tables() ([]sink.Table, error) { return a.with.Stored() }

// Contents is sink.DB.Contents.
func (a Attached) Contents() sink.Contents {
	r, at, all, roots := a.contents()
	for i := range all {
		later := r
		if i+1 < len(all) && all[i+1].Version < r.Version() {
			later = roots[i+1]
		}
		all[i].Rows = a.with.Lost(roots[i], later)
	}
	return sink.Contents{Lineage: a.line.Lineage().ID, Version: r.Version(), Time: at, Rows: a.with.Rows(r), Pins: all}
}

// contents returns the published version and the pins, which have nothing that it has erased.
func (a Attached) contents() (r *Root, at time.Time, all []sink.Pin, roots []*Root) {
	l := a.line
	l.pinning.Lock()
	defer l.pinning.Unlock()
	for {
		l.eraseUntil(nil)
		r, at = a.current()
		all, roots = l.pinned()
		l.mu.Lock()
		done := len(l.erasing) == 0
		l.mu.Unlock()
		if done {
			return r, at, all, roots
		}
	}
}

// current returns the published version, and when it was published, or, if that is
// not known, when it was first known to be: for version 0, the zero time.
func (a Attached) current() (*Root, time.Time) {
	l := a.line
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.published.Load()
	switch o := l.outbox.Load(); {
	case r.Version() == 0:
		return r, time.Time{}
	case o != nil && !o.attaching:
		return r, time.Unix(0, o.at)
	case l.history != nil:
		return r, time.Unix(0, l.history.newest())
	}
	return r, time.Now()
}

// Attach is sink.DB.Attach.
func (a Attached) Attach(s sink.Sink, c sink.Contents, past iter.Seq2[*sink.Commit, error]) (err error) {
	l := a.line
	if _, err := a.with.Stored(); err != nil {
		return err
	}
	o := &outbox{sink: s, attaching: true}
	o.hold() // until there are contents
	l.lock("attaching a sink")
	attached := l.outbox.CompareAndSwap(nil, o)
	l.writer.Unlock()
	if !attached {
		return fmt.Errorf("cow: %w", sink.ErrAttached)
	}
	a.with.Freeze(true)
	err = ErrGoexit // unless reset returns
	defer func() {
		if err != nil {
			l.lock("attaching a sink")
			l.outbox.Store(nil) // so that those who wait to begin do without
			l.writer.Unlock()
			a.with.Freeze(false)
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		o.attaching = false
		o.release()
	}()
	return a.reset(o, c, past)
}

// Ack is sink.DB.Ack.
func (a Attached) Ack(version uint64) { a.line.ack(a.outbox(), version) }

// Refuse is sink.DB.Refuse.
func (a Attached) Refuse(version uint64, err error) { a.line.refuse(a.outbox(), version, err) }

// State is sink.DB.State.
func (a Attached) State(s hook.State, err error) {
	o := a.outbox()
	a.line.mu.Lock()
	defer a.line.mu.Unlock()
	a.line.state(o, s, err)
}

// Fail is sink.DB.Fail.
func (a Attached) Fail(err error) {
	o := a.outbox()
	a.line.mu.Lock()
	defer a.line.mu.Unlock()
	a.line.fail(o, err)
}

func (a Attached) outbox() *outbox {
	o := a.line.outbox.Load()
	if o == nil {
		panic("cow: a Line is used before its sink is attached")
	}
	return o
}

// Rebase is sink.DB.Rebase.
func (a Attached) Rebase(theirs ...*sink.Commit) error {
	erases := func(c *sink.Commit) bool {
		return slices.ContainsFunc(c.Rows, func(r sink.Row) bool { return r.Erased })
	}
	for {
		n := slices.IndexFunc(theirs, erases)
		if n < 0 {
			return a.rebase(theirs)
		}
		if err := a.rebase(theirs[:n]); err != nil {
			return err
		}
		if err := a.rebaseErasing(theirs[n]); err != nil {
			return err
		}
		if theirs = theirs[n+1:]; len(theirs) == 0 {
			return nil
		}
	}
}

func (a Attached) rebase(theirs []*sink.Commit) error {
	return a.replace(a.outbox(), func(base *Root) (drafts []Draft, err error) {
		at := a.line.last // nobody stamps while updates are held
		for _, c := range theirs {
			d, err := a.replay(base, at, c, a.line.identify().id.String())
			if err != nil {
				return nil, err
			}
			base, at = d.Next, d.Commit.at
			drafts = append(drafts, d)
		}
		return drafts, nil
	}, a.publish)
}

// rebaseErasing is rebase for a commit that erases something. The past is made anew before it is
// published: who finds the version finds nothing in those before it.
func (a Attached) rebaseErasing(c *sink.Commit) error {
	l := a.line
	l.pinning.Lock()
	defer l.pinning.Unlock()
	var swap func()
	return a.replace(a.outbox(), func(base *Root) ([]Draft, error) {
		d, err := a.replay(base, l.last, c, l.identify().id.String())
		if err != nil {
			return nil, err
		}
		l.eraseUntil(nil) // what this line has erased before
		p := l.Past(base, c.Version)
		p.Commits = append(p.Commits, d.Commit)
		if swap, err = l.remake(p, d.Erase); err != nil {
			return nil, err
		}
		return []Draft{d}, nil
	}, func(drafts []Draft) {
		a.publish(drafts)
		swap()
	})
}

// Reset is sink.DB.Reset.
func (a Attached) Reset(c sink.Contents, past iter.Seq2[*sink.Commit, error]) error {
	return a.reset(a.outbox(), c, past)
}

func (a Attached) reset(o *outbox, c sink.Contents, past iter.Seq2[*sink.Commit, error]) error {
	l := a.line
	var first *Root
	var pinned map[uint64]*Root // those before first
	var at int64                // the time of first
	var lineage string
	pinner, _ := o.sink.(sink.Pinner)
	if pinner == nil {
		c.Pins = nil
	}
	return a.replace(o, func(base *Root) (drafts []Draft, err error) {
		id := l.identify().id.String()
		lineage = cmp.Or(c.Lineage, id)
		switch {
		case !sink.IsLineage(lineage):
			return nil, fmt.Errorf("cow: %.100q is not a lineage", lineage)
		case base.Version() > 0 && lineage != id:
			return nil, fmt.Errorf("cow: %w: %s and not %s", sink.ErrLineage, id, lineage)
		case base.Version() > c.Version:
			return nil, fmt.Errorf("cow: %w: %d and not %d", sink.ErrBehind, base.Version(), c.Version)
		}
		from := base
		if base.Version() == 0 {
			if pinned, from, c.Rows, err = a.restorePins(base, c); err != nil {
				return nil, err
			}
		}
		first = from
		if c.Version != from.Version() {
			if first, err = a.with.Restore(from, c.Version, false, c.Rows); err != nil {
				return nil, err
			}
		}
		l.mu.Lock() // Retain does not wait while updates are held
		at = l.last
		if c.Version > 0 && (first != base || o.attaching && l.history == nil) {
			at = max(at, nanos(c.Time))
		}
		l.mu.Unlock()
		if past == nil {
			return nil, nil
		}
		tip, last := first, at
		for commit, err := range past {
			if err != nil {
				return nil, err
			}
			d, err := a.replay(tip, last, commit, lineage)
			if err != nil {
				return nil, err
			}
			d.Commit.elapsed = math.MinInt64 // before this process, as far as it knows
			tip, last = d.Next, d.Commit.at
			drafts = append(drafts, d)
		}
		return drafts, nil
	}, func(drafts []Draft) {
		if older := l.published.Load(); first != older {
			l.adopt(first, lineage, at)
			if !o.attaching {
				l.applied(older, first)
			}
		}
		l.take(lineage)
		l.last, o.at = at, at
		a.publish(drafts)
		if pinner != nil {
			a.repin(c, pinned, first, drafts)
		}
	})
}

// replay returns the version that c makes of base, which was published at a time.
func (a Attached) replay(base *Root, at int64, c *sink.Commit, lineage string) (d Draft, err error) {
	switch {
	case c.Lineage != lineage:
		return d, fmt.Errorf("cow: %w: %s and not %s", sink.ErrLineage, lineage, c.Lineage)
	case c.Version != base.Version()+1:
		return d, fmt.Errorf("cow: %w: %d after %d", sink.ErrGap, c.Version, base.Version())
	}
	if d, err = a.with.Replay(base, c); err != nil {
		return d, fmt.Errorf("cow: version %d: %w", c.Version, err)
	}
	d.Commit.version = c.Version
	d.Commit.at, d.Commit.elapsed = max(nanos(c.Time), at), elapsed(time.Now())
	return d, nil
}

// publish publishes what was replayed. The caller holds mu.
func (a Attached) publish(drafts []Draft) {
	l, o := a.line, a.outbox()
	for _, d := range drafts {
		d.Commit.lineage = l.identify().id
		d.Erase = nil // what it has of the past is without that
		older := l.published.Load()
		l.publish(d)
		l.last, o.at = d.Commit.at, d.Commit.at
		if !o.attaching {
			l.applied(older, d.Next)
		}
	}
	l.state(o, hook.Connected, nil)
}

// repin makes the pins those of contents. A DB that is past version 0 keeps those from before
// the contents: it is what they were made from. The caller holds mu.
func (a Attached) repin(c sink.Contents, before map[uint64]*Root, first *Root, after []Draft) {
	pins := &a.line.pins
	byName := make(map[string]*Root)
	for _, p := range c.Pins {
		r, ok := before[p.Version]
		switch {
		case p.Version < c.Version && !ok:
			if r, ok = pins.at(p.Version); !ok {
				continue
			}
		case p.Version == c.Version:
			r = first
		case p.Version > c.Version && p.Version-c.Version <= uint64(len(after)):
			r = after[p.Version-c.Version-1].Next
		}
		for _, name := range p.Names {
			byName[name] = r
		}
	}
	pins.mu.Lock()
	defer pins.mu.Unlock()
	pins.byName = byName
}

// restorePins makes the pinned versions before contents, one from the other, and returns
// them, the one to make the contents from, and the rows of these, which it has read.
func (a Attached) restorePins(base *Root, c sink.Contents) (pinned map[uint64]*Root, last *Root, rows iter.Seq2[sink.Row, error], err error) {
	pins := c.Pins
	if i := slices.IndexFunc(pins, func(p sink.Pin) bool { return p.Version >= c.Version }); i >= 0 {
		pins = pins[:i]
	}
	if len(pins) == 0 {
		return nil, base, c.Rows, nil
	}
	var all []sink.Row
	came := make([][]sink.Row, len(pins)+1) // by pin: what it is the first to have, and in the end the others
	gone := make([][]sink.Row, len(pins)+1) // and what the one before was the last to have
	first := func(r sink.Row) int {
		i, _ := slices.BinarySearchFunc(pins, r.Revision, func(p sink.Pin, v uint64) int { return cmp.Compare(p.Version, v) })
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
			gone[i+1] = append(gone[i+1], sink.Row{Table: r.Table, Key: r.Key, Removed: true})
		}
	}
	pinned = make(map[uint64]*Root)
	last = base
	for i, p := range pins {
		if p.Version > 0 {
			last, err = a.with.Restore(last, p.Version, true, each(gone[i], came[i]))
			if err != nil {
				return nil, nil, nil, fmt.Errorf("cow: the pinned version %d: %w", p.Version, err)
			}
		}
		pinned[p.Version] = last
		last.unlooked()
	}
	return pinned, last, each(all), nil
}

// each returns an iterator over rows.
func each(lists ...[]sink.Row) iter.Seq2[sink.Row, error] {
	return func(yield func(sink.Row, error) bool) {
		for _, rows := range lists {
			for _, r := range rows {
				if !yield(r, nil) {
					return
				}
			}
		}
	}
}

// replace replaces the published version by those that f makes of it, one
// after the other, which come from elsewhere. What is outstanding is superseded.
// F runs foreign code, is called again if the published version was amended
// meanwhile, and its error fails the line.
func (a Attached) replace(o *outbox, f func(base *Root) ([]Draft, error), publish func(d []Draft)) (err error) {
	l := a.line
	o.replacing.Lock()
	defer o.replacing.Unlock()
	l.mu.Lock()
	o.hold()
	l.drop(o, true, nil)
	l.mu.Unlock()
	err = ErrGoexit // unless this returns
	defer func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if err != nil && !o.attaching {
			l.fail(o, err)
		}
		o.release()
	}()
	for {
		base := l.published.Load()
		drafts, err := Recovered(func() ([]Draft, error) { return f(base) })
		if err != nil {
			return err
		}
		l.mu.Lock()
		same := base == l.published.Load()
		if same {
			publish(drafts)
			l.trimmed()
		}
		l.mu.Unlock()
		if same {
			return nil
		}
	}
}
