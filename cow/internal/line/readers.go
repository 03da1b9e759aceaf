package line

import (
	"cmp"
	"math/bits"
	"runtime"
	"slices"
	"time"
	"weak"
)

// A probe is there to be collected. It has pointers, or it could share its memory with what lives on.
type probe struct{ _ [2]*probe }

const (
	mostPassed   = 2048 // beyond so many they are thinned out
	recentPassed = 256  // but not these
	mostTaken    = 256  // after so many the stride doubles
	longCurrent  = time.Millisecond
	mostHeld     = 16
)

// A Reader is a version that somebody holds.
type Reader struct {
	Version             uint64
	Published, Replaced time.Time
	Rows, Bytes         int
}

// Track has the line know from now on which versions are held, or no longer.
func (l *Line) Track(on bool) {
	l.Own()
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case !on:
		l.readers = nil
	case l.readers == nil:
		l.readers = &readers{since: clock(), stride: 1}
		l.readers.gone.Store(true)
	}
}

// pass notes that newer has taken the place of older, from which it differs in a table, or in
// Several. Where versions come fast it notes a few of them, but each that was current for long: many
// have seen that.
func (rs *readers) pass(older, newer *Root, table int) {
	if older == nil {
		return
	}
	now := clock()
	published := rs.since
	rs.since = now
	rs.passes++
	if rs.gone.Load() {
		rs.stride, rs.taken = 1, 0
	}
	if rs.passes%rs.stride != 0 && now-published < longCurrent {
		return
	}
	if rs.taken++; rs.taken%mostTaken == 0 {
		rs.stride *= 2
	}
	if len(rs.past) >= mostPassed {
		rs.thin()
	}
	rs.owner = older.owner
	rs.n++
	p := passed{n: rs.n, version: older.version, published: published, replaced: now}
	first, end := table, table+1
	if table == Several {
		first, end = 0, older.most()
	}
	if older.most() > 1 {
		p.root = weak.Make(older)
	}
	noted := false
	for i := first; i < end; i++ {
		if content := older.Table(i); content != nil && content != newer.Table(i) {
			if p.table, p.content = i, rs.owner.Tables.Weak(i, content); p.content != nil || p.root != (weak.Pointer[Root]{}) {
				rs.past = append(rs.past, p)
				p.root, noted = weak.Pointer[Root]{}, true
			}
		}
	}
	if !noted { // it differs in what older had not at all
		p.root = weak.Make(older)
		rs.past = append(rs.past, p)
	}
	rs.probe()
}

// probe has the next collection tell that it began after all who have passed so far.
func (rs *readers) probe() {
	if rs.gone.Load() {
		rs.gone.Store(false)
		runtime.AddCleanup(new(probe), func(n uint64) {
			rs.seen.Store(n)
			rs.gone.Store(true)
		}, rs.n)
	}
}

// thin makes room. It does not look at those that no collection has seen: while one is under way,
// what it looks at would stay, each time.
func (rs *readers) thin() {
	seen := rs.seen.Load()
	rs.past = slices.DeleteFunc(rs.past, func(p passed) bool {
		if p.n > seen {
			return false
		}
		root, content := rs.there(&p)
		return root == nil && content == nil
	})
	known, _ := slices.BinarySearchFunc(rs.past, seen+1, func(p passed, n uint64) int { return cmp.Compare(p.n, n) })
	if known > mostPassed/2 {
		rs.halve(mostHeld, known)
	}
	for recent := uint64(recentPassed); len(rs.past) > mostPassed*3/4 && recent > 0; recent /= 2 {
		rs.past = slices.DeleteFunc(rs.past, func(p passed) bool {
			age := (rs.n - p.n) / recent
			return p.n > seen && p.n&(1<<bits.Len64(age)-1) != 0
		})
	}
}

// halve drops every second of some.
func (rs *readers) halve(from, to int) {
	left := from
	for i := from + 1; i < to; i += 2 {
		rs.past[left] = rs.past[i]
		left++
	}
	rs.past = slices.Delete(rs.past, left, to)
}

// there returns what is there of p, nil for nothing.
func (rs *readers) there(p *passed) (root *Root, content any) {
	root = p.root.Value()
	if p.content != nil {
		content = rs.owner.Tables.Strong(p.table, p.content)
	}
	return root, content
}

// A found is what is there of a version.
type found struct {
	*passed
	root    *Root
	content any
}

// look returns what is there of those who count, and drops others that are gone.
func (rs *readers) look() (all []found) {
	seen := rs.seen.Load()
	left := rs.past[:0]
	for _, p := range rs.past {
		root, content := rs.there(&p)
		if root == nil && p.root != (weak.Pointer[Root]{}) || content == nil && p.content != nil {
			seen = max(seen, p.n)
		}
		if root != nil || content != nil {
			left = append(left, p)
			all = append(all, found{&p, root, content})
		}
	}
	clear(rs.past[len(left):])
	rs.past = left
	rs.probe()
	return slices.DeleteFunc(all, func(f found) bool { return f.n > seen })
}

// Held returns the versions that are held, though they are neither current nor kept by the history
// or by a pin: the oldest first, a few of them. It returns nil where Track is off.
func (l *Line) Held() []Reader {
	l.mu.Lock()
	rs := l.readers
	if rs == nil {
		l.mu.Unlock()
		return nil
	}
	all, current := rs.look(), l.published.Load()
	kept := []*Root{current}
	if h := l.history; h != nil {
		for _, w := range h.whole {
			kept = append(kept, w.root)
		}
	}
	l.mu.Unlock()
	l.pins.mu.Lock()
	for _, r := range l.pins.byName {
		kept = append(kept, r)
	}
	l.pins.mu.Unlock()

	// A content counts by itself if no version that is there has it.
	contents := make(map[any]bool)
	tables := make(map[int]bool)
	roots := kept
	for _, f := range all {
		if f.root != nil {
			roots = append(roots, f.root)
		} else {
			tables[f.table] = true
		}
	}
	for _, r := range roots {
		for i := range tables {
			contents[r.Table(i)] = true
		}
	}
	all = slices.DeleteFunc(all, func(f found) bool {
		if f.root != nil {
			return slices.Contains(kept, f.root)
		}
		return contents[f.content]
	})

	var held []Reader
	for len(all) > 0 && len(held) < mostHeld {
		n := 1
		for n < len(all) && all[n].version == all[0].version {
			n++
		}
		if all[0].version != current.Version() { // or it was replaced by an equal one
			held = append(held, heldBack(all[:n], current))
		}
		all = all[n:]
	}
	return held
}

// heldBack returns what is there of one version, and what that holds back.
func heldBack(all []found, current *Root) Reader {
	last := all[len(all)-1]
	h := Reader{Version: last.version, Published: began.Add(all[0].published), Replaced: began.Add(last.replaced)}
	m := Make(current, current.owner, h.Version)
	r := m.Root
	for _, f := range all {
		if f.root != nil {
			r = f.root
			break
		}
		m.Set(f.table, f.content)
	}
	h.Rows, h.Bytes = current.owner.Tables.Exclusive(r, current)
	return h
}
