package text

import (
	"slices"
	"unsafe"

	"github.com/cowstore/cowstore/memory/internal/size"
	"github.com/cowstore/cowstore/snapshot"
)

// A term is one of the index, with its postings: in one slice as long as there
// are few, else in a tree.
type term struct {
	name  *snapshot.RowRef // its row in the dictionary
	posts []posting
	tree  *tree
}

const (
	maxPosts  = 64 // in one slice
	fewPosts  = 32 // at which slices are joined, and a tree becomes one
	minFanout = 16
)

// df returns how many documents have the term: of nil, none.
func (t *term) df() int {
	switch {
	case t == nil:
		return 0
	case t.tree != nil:
		return t.tree.df
	}
	return len(t.posts)
}

// bytes returns how many bytes the postings of t take.
func (t *term) bytes() int {
	if t.tree == nil {
		return postBytes(t.posts)
	}
	n := size.Object(int(unsafe.Sizeof(tree{}))) + size.Object(len(t.tree.limbs)*int(unsafe.Sizeof(limb{})))
	for i := range t.tree.limbs {
		n += t.tree.limbs[i].bytes
	}
	return n
}

func postBytes(ps []posting) int { return size.Object(len(ps) * int(unsafe.Sizeof(posting{}))) }

// put adds p, or puts it in place of the posting of the same document.
func (t *term) put(p posting) {
	if t.tree != nil {
		t.tree = t.tree.put(p)
		return
	}
	t.posts, _ = insert(t.posts, p)
	if len(t.posts) > maxPosts {
		t.tree = &tree{len(t.posts), []limb{newLimb(cut(t.posts, t.posts[maxPosts].doc == p.doc))}}
		t.posts = nil
	}
}

// remove removes the posting of doc, which must be there.
func (t *term) remove(doc uint32) {
	if t.tree == nil {
		t.posts = without(t.posts, doc)
		return
	}
	t.tree = t.tree.remove(doc)
	if t.tree.df > fewPosts {
		return
	}
	t.posts = make([]posting, 0, t.tree.df)
	for _, l := range t.tree.limbs {
		for _, s := range l.spans {
			t.posts = append(t.posts, s.posts...)
		}
	}
	t.tree = nil
}

// A tree holds the postings of a common term, in order: limbs of spans of
// postings. Nothing in it is modified; a change copies one slice a level, each
// about as long as the square root of what is below. All spans and limbs have
// something in them.
type tree struct {
	df    int
	limbs []limb
}

type limb struct {
	last  uint32 // document
	best  weight // the most that is in it
	spans []span
	bytes int
}

type span struct {
	last  uint32
	best  weight
	posts []posting
}

func newSpan(ps []posting) span {
	best := lightest
	for i := range ps {
		best = best.with(ps[i].weight)
	}
	return span{ps[len(ps)-1].doc, best, ps}
}

func newLimb(ss []span) limb {
	best, bytes := lightest, size.Object(len(ss)*int(unsafe.Sizeof(span{})))
	for i := range ss {
		best = best.with(ss[i].best)
		bytes += postBytes(ss[i].posts)
	}
	return limb{ss[len(ss)-1].last, best, ss, bytes}
}

// cut returns ps, which has become too long, as two spans: halves, or, if it has
// grown at its end, as it does in loading, all but the last posting and that.
func cut(ps []posting, atEnd bool) []span {
	i := len(ps) / 2
	if atEnd {
		i = len(ps) - 1
	}
	return []span{newSpan(slices.Clone(ps[:i])), newSpan(slices.Clone(ps[i:]))}
}

// fanout returns the most spans of a limb: enough for the limbs not to become
// many more.
func (t *tree) fanout() int {
	n := minFanout
	for n*n*maxPosts < t.df {
		n *= 2
	}
	return n
}

// find returns the limb, and the span in it, where doc is or belongs.
func (t *tree) find(doc uint32) (l, s int) {
	l = min(seekLimb(t.limbs, doc), len(t.limbs)-1)
	spans := t.limbs[l].spans
	return l, min(seekSpan(spans, doc), len(spans)-1)
}

// seekLimb returns the first of ls that reaches doc, or len(ls).
func seekLimb(ls []limb, doc uint32) int {
	i, j := 0, len(ls)
	for i < j {
		if m := (i + j) / 2; ls[m].last < doc {
			i = m + 1
		} else {
			j = m
		}
	}
	return i
}

// seekSpan returns the first of ss that reaches doc, or len(ss). The nearer it is, the less
// time it takes.
func seekSpan(ss []span, doc uint32) int {
	i, j := 0, 1
	for j < len(ss) && ss[j-1].last < doc {
		i, j = j, 2*j
	}
	for j = min(j, len(ss)); i < j; {
		if m := (i + j) / 2; ss[m].last < doc {
			i = m + 1
		} else {
			j = m
		}
	}
	return i
}

func (t *tree) put(p posting) *tree {
	l, s := t.find(p.doc)
	spans := t.limbs[l].spans
	posts, added := insert(spans[s].posts, p)
	atEnd := l == len(t.limbs)-1 && p.doc >= t.limbs[l].last
	if len(posts) > maxPosts {
		spans = splice(spans, s, 1, cut(posts, atEnd)...)
	} else {
		spans = splice(spans, s, 1, newSpan(posts))
	}
	n := &tree{df: t.df}
	if added {
		n.df++
	}
	if len(spans) <= n.fanout() {
		n.limbs = splice(t.limbs, l, 1, newLimb(spans))
		return n
	}
	i := len(spans) / 2
	if atEnd {
		i = len(spans) - 1
	}
	n.limbs = splice(t.limbs, l, 1, newLimb(slices.Clone(spans[:i])), newLimb(slices.Clone(spans[i:])))
	return n
}

func (t *tree) remove(doc uint32) *tree {
	l, s := t.find(doc)
	n := &tree{df: t.df - 1}
	spans := t.limbs[l].spans
	posts := without(spans[s].posts, doc)
	switch {
	case len(posts) == 0:
		spans = splice(spans, s, 1)
	case s > 0 && len(spans[s-1].posts)+len(posts) <= fewPosts:
		spans = splice(spans, s-1, 2, newSpan(slices.Concat(spans[s-1].posts, posts)))
	case s+1 < len(spans) && len(spans[s+1].posts)+len(posts) <= fewPosts:
		spans = splice(spans, s, 2, newSpan(slices.Concat(posts, spans[s+1].posts)))
	default:
		spans = splice(spans, s, 1, newSpan(posts))
	}
	ls, few := t.limbs, n.fanout()/2
	switch {
	case len(spans) == 0:
		n.limbs = splice(ls, l, 1)
	case l > 0 && len(ls[l-1].spans)+len(spans) <= few:
		n.limbs = splice(ls, l-1, 2, newLimb(slices.Concat(ls[l-1].spans, spans)))
	case l+1 < len(ls) && len(ls[l+1].spans)+len(spans) <= few:
		n.limbs = splice(ls, l, 2, newLimb(slices.Concat(spans, ls[l+1].spans)))
	default:
		n.limbs = splice(ls, l, 1, newLimb(spans))
	}
	return n
}
