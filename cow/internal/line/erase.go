package line

import (
	"maps"
	"slices"
)

// Past returns what there is up to a version that is published, or is to be published next. At goes
// back from newest, a version not above it: the commits above that are not undone.
func (l *Line) Past(newest *Root, version uint64) *Past {
	p := &Past{newest: newest, kept: &history{base: moment{version: newest.Version()}}}
	seen := make(map[*Root]bool)
	l.pins.mu.Lock()
	for _, r := range l.pins.byName {
		seen[r] = true
	}
	l.pins.mu.Unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	if h := l.history; h != nil && h.base.version <= newest.Version() {
		p.Commits = slices.Clone(h.commits[:min(version-h.base.version, uint64(len(h.commits)))])
		p.kept = &history{commits: p.Commits[:newest.Version()-h.base.version], whole: maps.Clone(h.whole), base: h.base}
	}
	for _, w := range p.kept.whole {
		seen[w.root] = true
	}
	for r := range seen {
		if r.Version() > 0 && r.Version() < version {
			p.Roots = append(p.Roots, r)
		}
	}
	return p
}

// Erase returns an Erasing for a Draft. F runs without a lock: later commits, and what is forgotten
// meanwhile, are not its concern. There are no new pins until it has returned. An error leaves
// everything as it is.
func Erase(f func(p *Past) (Remade, error)) *Erasing { return &Erasing{remake: f} }

// erase does e, which was published.
func (l *Line) erase(e *Erasing) error {
	l.pinning.Lock()
	defer l.pinning.Unlock()
	l.eraseUntil(e)
	return e.err
}

// eraseUntil does what was published, the oldest first: the past of a later one is without what an
// earlier one has erased. It ends after e, or does everything for nil. The caller holds pinning.
func (l *Line) eraseUntil(e *Erasing) {
	for e == nil || !e.done {
		l.mu.Lock()
		if len(l.erasing) == 0 {
			l.mu.Unlock()
			return
		}
		first := l.erasing[0]
		l.erasing = slices.Delete(l.erasing, 0, 1)
		l.mu.Unlock()
		first.done, first.err = true, ErrGoexit // unless remake returns
		swap, err := l.remake(l.Past(first.base, first.version), first)
		if first.err = err; err == nil {
			l.mu.Lock()
			swap()
			l.mu.Unlock()
		}
	}
}

// remake returns what puts in place what e makes of p: to be called with mu held, and pinning since
// before p was made.
func (l *Line) remake(p *Past, e *Erasing) (swap func(), err error) {
	made, err := Recovered(func() (Remade, error) { return e.remake(p) })
	if err != nil {
		return nil, err
	}
	weights := make([]weight, len(made.Commits))
	for i, c := range made.Commits {
		weights[i] = c.weigh()
	}
	return func() { l.swap(made, weights) }, nil
}

func (l *Line) swap(made Remade, weights []weight) {
	l.pins.mu.Lock()
	for name, r := range l.pins.byName {
		if is := made.Roots[r]; is != nil {
			l.pins.byName[name] = is
		}
	}
	l.pins.mu.Unlock()
	h := l.history
	if h == nil {
		return
	}
	for at, w := range h.whole {
		if is := made.Roots[w.root]; is != nil {
			h.whole[at] = whole{is, w.bytes}
		}
	}
	for i, c := range made.Commits {
		if c.version <= h.base.version { // forgotten meanwhile
			continue
		}
		n := int(c.version - h.base.version - 1)
		if n < len(h.weights) {
			h.sum.add(weights[i].rows-h.weights[n].rows, weights[i].bytes-h.weights[n].bytes)
			h.weights[n] = weights[i]
		}
		was := h.commits[n]
		c.owner, c.lineage, c.at, c.elapsed = was.owner, was.lineage, was.at, was.elapsed
		h.commits[n] = c
	}
}
