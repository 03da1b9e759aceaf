package text

import (
	"cmp"
	"math"
	"strings"
)

// A list reads the postings of one term of a query, in order.
type list struct {
	id     uint32
	name   string
	stop   bool // of a stop word
	rank   ranker
	df     int       // in how many documents
	factor float64   // by which parts are multiplied
	bound  float64   // the most it counts in any document
	best   float64   // the most it counts in any document of this span
	limbs  []limb    // after this one
	spans  []span    // of this limb, from this span on
	posts  []posting // of this span, from the current one on; empty at the end
}

// compare orders the lists of stop words first, and each by bound.
func (l *list) compare(m *list) int {
	switch c := cmp.Compare(l.bound, m.bound); {
	case l.stop != m.stop && l.stop:
		return -1
	case l.stop != m.stop:
		return 1
	case c != 0:
		return c
	}
	return strings.Compare(l.name, m.name)
}

// ended is above the number of any document: it is what comes after the last.
const ended = math.MaxUint32

// open begins at the first posting of t.
func (l *list) open(t *term, rank ranker) {
	l.rank, l.df = rank, t.df()
	best := lightest
	if t.tree != nil {
		l.limbs = t.tree.limbs
		for i := range l.limbs {
			best = best.with(l.limbs[i].best)
		}
		l.enter(0)
	} else {
		best = newSpan(t.posts).best
		l.posts = t.posts
		l.best = l.factor * rank.bound(best)
	}
	l.bound = l.factor * rank.bound(best)
}

// doc returns the number of the current document, or ended.
func (l *list) doc() uint32 {
	if len(l.posts) == 0 {
		return ended
	}
	return l.posts[0].doc
}

// last returns the last document of this span. The list must not be at its end.
func (l *list) last() uint32 { return l.posts[len(l.posts)-1].doc }

// skip passes over n postings of this span.
func (l *list) skip(n int) {
	if n < len(l.posts) {
		l.posts = l.posts[n:]
		return
	}
	l.nextSpan()
}

// nextSpan goes to the begin of the next span.
func (l *list) nextSpan() {
	switch {
	case len(l.spans) > 1:
		l.span(l.spans[1:])
	case len(l.limbs) > 0:
		l.enter(0)
	default:
		l.posts, l.spans = nil, nil
	}
}

// enter goes to the first span of limbs[i].
func (l *list) enter(i int) {
	spans := l.limbs[i].spans
	l.limbs = l.limbs[i+1:]
	l.span(spans)
}

func (l *list) span(spans []span) {
	l.spans = spans
	l.posts = spans[0].posts
	l.best = l.factor * l.rank.bound(spans[0].best)
}

// seek goes to the first document from doc on.
func (l *list) seek(doc uint32) {
	if l.doc() >= doc {
		return
	}
	if l.last() < doc {
		if len(l.spans) == 0 || l.spans[len(l.spans)-1].last < doc {
			i := seekLimb(l.limbs, doc)
			if i == len(l.limbs) {
				l.limbs, l.spans, l.posts = nil, nil, nil
				return
			}
			l.enter(i)
		}
		if i := seekSpan(l.spans, doc); i > 0 {
			l.span(l.spans[i:])
		}
	}
	// By leaps that double, since the next document asked for is often near.
	i, n := 0, 1
	for n < len(l.posts) && l.posts[n].doc < doc {
		i = n
		n *= 2
	}
	n = min(n, len(l.posts))
	for i < n {
		if m := (i + n) / 2; l.posts[m].doc < doc {
			i = m + 1
		} else {
			n = m
		}
	}
	l.posts = l.posts[i:]
}
