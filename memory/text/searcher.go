package text

import (
	"cmp"
	"iter"
	"math"
	"math/bits"
	"slices"
	"strings"
	"sync"

	"github.com/cowstore/cowstore/memory/internal/top"
)

// A searcher is one search. It is MaxScore, of H. Turtle and J. Flood, Query
// Evaluation: Strategies and Optimizations, Information Processing & Management
// 31(6), 1995, over windows of document numbers: as soon as the lists of the most
// common terms cannot lift a document into the top by themselves, only the other
// lists are read from end to end, and the common ones are asked about
// what is found there. Those of stop words are so from the beginning. In each window
// the lists that find are read, and the rest are asked about what is not hopeless by
// then, one after the other (complete).
//
// Parts are added in the order of the lists from the last to the first, always,
// so that equal documents have equal scores.
type searcher struct {
	x          *Index
	part       int // that x is
	docs       int // of all parts
	rank       ranker
	unit       float64 // what is a score of 1; 0: not known yet
	opened     []list
	lists      []*list   // opened: those of stop words, then the others; each by bound, from the least
	stops      int       // lists of stop words: they lift documents, and find none
	most       []float64 // most[i]: what the lists before i can add up to
	query      parsed
	best       top.Best
	least      float64 // what a score must reach now
	accept     func(key string) bool
	texts      func(key string) iter.Seq[string]
	score      [window]float64 // of documents from the base of the window; else 0
	found      [window / 64]uint64
	weight     [window]weight // of documents from the base of the window, while addDense reads a list; else 0
	candidates []candidate    // found, in order
	floor      top.Floor      // see raise
}

// window is how many document numbers are scored at a time.
const window = 2048

var searches = sync.Pool{New: func() any { return new(searcher) }}

// begin begins a search of so many documents, of so many tokens.
func (s *searcher) begin(o Options, docs int, tokens uint64) {
	s.docs = docs
	s.rank = newRanker(docs, tokens)
	s.unit = 0
	s.best.Reset(min(o.K, docs))
	s.least = o.MinScore
}

// end returns the hits, and gives s back, without what it refers to. It is not called
// after a panic of Accept, when s holds half a search.
func (s *searcher) end() []Hit {
	var hits []Hit
	if best := s.best.Sorted(); len(best) > 0 {
		hits = make([]Hit, len(best))
		for i, h := range best {
			hits[i] = Hit(h)
		}
	}
	s.close()
	s.best.Reset(0)
	s.query, s.accept, s.texts = parsed{}, nil, nil
	if cap(s.opened) <= 1024 {
		searches.Put(s)
	}
	return hits
}

// close forgets the lists.
func (s *searcher) close() {
	clear(s.opened)
	s.x, s.opened, s.lists = nil, s.opened[:0], s.lists[:0]
}

// open opens the lists of the terms of the query in x. Of how many documents a term is
// says df.
func (s *searcher) open(x *Index, df func(term string, t *term) int) {
	s.close() // of another part
	s.x = x
	sum := 0.0
	for _, w := range s.query.words.terms {
		var t *term
		id, known := x.dict.Get(w.term)
		if known {
			t = x.terms.at(id)
		}
		n := df(w.term, t)
		factor := float64(w.count) * idf(s.docs, n)
		if w.stop {
			factor *= stopFactor
		}
		if n > 0 || !w.stop {
			sum += factor
		}
		if known {
			s.opened = append(s.opened, list{id: id, name: w.term, stop: w.stop, factor: factor})
		}
	}
	if s.query.prefix != "" {
		sum += s.expand(s.query.prefix, s.query.whole, df)
	}
	if s.unit == 0 {
		s.unit = sum * s.rank.average
	}
	s.stops = 0
	for i := range s.opened {
		l := &s.opened[i]
		l.factor /= s.unit
		l.open(x.terms.at(l.id), s.rank)
		s.lists = append(s.lists, l)
		if l.stop {
			s.stops++
		}
	}
	slices.SortFunc(s.lists, (*list).compare)
	s.most = append(s.most[:0], 0)
	sum = 0
	for _, l := range s.lists {
		sum += l.bound
		s.most = append(s.most, sum)
	}
}

// run finds the top, window by window.
func (s *searcher) run() {
	for first := s.stops; ; {
		for first < len(s.lists) && s.hopeless(s.most[first+1]) {
			first++
		}
		base := uint32(ended)
		for _, l := range s.lists[first:] {
			base = min(base, s.next(l))
		}
		if base == ended {
			return
		}
		for i := len(s.lists) - 1; i >= first; i-- {
			s.read(s.lists[i], base)
		}
		s.gather(base, s.most[first])
		s.complete(first, base)
		s.offer()
	}
}

// next returns the next document of l, after spans of which each is hopeless, whatever
// else it has.
func (s *searcher) next(l *list) uint32 {
	others := s.most[len(s.lists)] - l.bound
	for l.doc() != ended && s.hopeless(l.best+others) {
		l.nextSpan()
	}
	return l.doc()
}

// read adds up what l counts in the window at base.
func (s *searcher) read(l *list, base uint32) {
	end := base + min(window, ended-base)
	for s.next(l) < end {
		n := 0
		for _, p := range l.posts {
			if p.doc >= end {
				break
			}
			n++
			d := p.doc - base
			s.found[d/64%(window/64)] |= 1 << (d % 64)
			part := l.part(p.weight)
			if p.weight == heavy {
				part = s.heavyPart(l, p)
			}
			s.score[d%window] += part
		}
		l.skip(n)
	}
}

// gather makes candidates of what is found in the window at base, if it is not hopeless
// with the rest that other lists can add.
func (s *searcher) gather(base uint32, rest float64) {
	raises := s.raises()
	for w, docs := range s.found {
		s.found[w] = 0
		for ; docs != 0; docs &= docs - 1 {
			d := uint32(w*64 + bits.TrailingZeros64(docs))
			score := s.score[d%window]
			s.score[d%window] = 0
			if s.hopeless(score + rest) {
				continue
			}
			s.candidates = append(s.candidates, candidate{base + d, score})
			if raises {
				s.raise(score)
			}
		}
	}
}

// hopeless reports whether bound, on a score, is too low for the top. It allows
// for scores being rounded up, where bound is not: equal scores must all be offered.
func (s *searcher) hopeless(bound float64) bool { return bound*(1+1e-9) < s.least }

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
		l.bind()
		l.bound = l.factor * rank.bound(best)
		return
	}
	l.posts = t.posts
	l.bound = l.factor * rank.bound(newSpan(t.posts).best)
	l.best = l.bound
}

// doc returns the number of the current document, or ended.
func (l *list) doc() uint32 {
	if len(l.posts) == 0 {
		return ended
	}
	return l.posts[0].doc
}

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
		return
	}
	l.bind()
}

// enter goes to the first span of limbs[i].
func (l *list) enter(i int) {
	spans := l.limbs[i].spans
	l.limbs = l.limbs[i+1:]
	l.span(spans)
}

func (l *list) span(spans []span) { l.spans, l.posts = spans, spans[0].posts }

// bind sets best.
func (l *list) bind() { l.best = l.factor * l.rank.bound(l.spans[0].best) }

// find returns the posting of the first document from doc on, or one of ended, and goes to
// its span. It must not be called for a document before that.
func (l *list) find(doc uint32) posting {
	if i := l.place(doc); i >= 0 {
		return l.posts[i]
	}
	return posting{doc: ended}
}

// to goes to the first document from doc on. It must not be called for one before this span.
func (l *list) to(doc uint32) {
	if i := l.place(doc); i >= 0 {
		l.posts = l.posts[i:]
	}
}

// place goes to the span of the first document from doc on, and returns which of its
// postings that is; -1 at the end.
func (l *list) place(doc uint32) int {
	if n := len(l.posts); n == 0 || l.posts[n-1].doc < doc {
		if !l.seek(doc) {
			return -1
		}
	}
	// Three places at a time, without branches that depend on what is there, which would be
	// foretold badly, and whatever was found before, so that the processor looks for the
	// next document meanwhile.
	posts := l.posts
	i, n := 0, len(posts)
	for n >= 4 {
		q := n / 4
		i -= q * (less(posts[i+q-1].doc, doc) + less(posts[i+2*q-1].doc, doc) + less(posts[i+3*q-1].doc, doc))
		n -= 3 * q
	}
	at := i
	for ; n > 1; n-- {
		at -= less(posts[i+n-2].doc, doc)
	}
	return at
}

// seek goes to the next span that reaches doc, or to the end, which it tells.
func (l *list) seek(doc uint32) bool {
	if len(l.spans) == 0 || l.spans[len(l.spans)-1].last < doc {
		i := seekLimb(l.limbs, doc)
		if i == len(l.limbs) {
			l.limbs, l.spans, l.posts = nil, nil, nil
			return false
		}
		l.enter(i)
	}
	l.span(l.spans[seekSpan(l.spans, doc):])
	return true
}

// less returns -1 if d < e, and else 0.
func less(d, e uint32) int { return int((int64(d) - int64(e)) >> 63) }

// A ranker has what scoring needs of one version.
type ranker struct {
	base, slope float64
	average     float64 // the part of a term that a document of average length has once
}

// The doc comment of the package has the formula.
const (
	kFactor    = 2.5
	kAverage   = 150
	stopFactor = 0.35 // of a stop word
)

func newRanker(docs int, tokens uint64) ranker {
	length := float64(tokens) / float64(docs)
	slope := kFactor / (length + kAverage)
	r := ranker{base: slope * kLength, slope: slope}
	r.average = r.part(1, length)
	return r
}

// idf returns the weight of a term of so many documents out of docs.
func idf(docs, having int) float64 {
	return math.Log1p((float64(docs) - float64(having) + 0.5) / (float64(having) + 0.5))
}

// part returns what a term counts in a document, before its idf. The conversion
// forbids a fused multiplication, which compilers choose by machine and context:
// equal documents must have equal scores.
func (r ranker) part(count, length float64) float64 {
	return count / (count + (r.base + float64(r.slope*length)))
}

// bound returns the most that a term can count in any document whose weight best
// was made with.
func (r ranker) bound(best weight) float64 {
	if best.count() == heavyCount {
		return 1
	}
	return r.part(float64(best.count()), float64(best.length()))
}

// part returns what a term of weight w, which is not heavy, counts.
func (l *list) part(w weight) float64 {
	return float64(l.factor * l.rank.part(float64(w.count()), float64(w.length())))
}

// heavyPart returns what p, of l, counts that is heavy.
//
//go:noinline
func (s *searcher) heavyPart(l *list, p posting) float64 {
	d := s.x.docs.at(p.doc)
	return float64(l.factor * s.rank.part(float64(d.count(l.id)), float64(d.tokens)))
}

// A list is read to its end in a window of at least minDense candidates if it has no more
// than dense postings for each: then that is faster than to find them.
const (
	minDense = 8
	dense    = 8
)

// A candidate is a document that has been found, and what the lists that were read
// count in it.
type candidate struct {
	doc   uint32
	score float64
}

// complete adds to the candidates of the window at base what the lists before first count, one
// list after the other, and drops those that are hopeless.
func (s *searcher) complete(first int, base uint32) {
	for i := first - 1; i >= 0; i-- {
		s.drop(s.most[i+1])
		l := *s.lists[i]
		if n := len(s.candidates); n >= minDense && l.df <= dense*n*(1+s.x.Len()/window) {
			s.addDense(&l, base)
		} else {
			for j := range s.candidates {
				c := &s.candidates[j]
				p := l.find(c.doc)
				part := l.part(p.weight)
				if p.weight == heavy && p.doc == c.doc {
					part = s.heavyPart(&l, p)
				}
				c.score += either(part, p.doc == c.doc)
			}
		}
		*s.lists[i] = l
		if len(s.candidates) > 2*s.best.K && s.raises() { // else there is little to drop
			for _, c := range s.candidates {
				s.raise(c.score)
			}
		}
	}
}

// addDense adds to the candidates of the window at base what l counts. It reads all that l has
// in the window.
func (s *searcher) addDense(l *list, base uint32) {
	end := base + min(window, ended-base)
	for l.to(base); l.doc() < end; {
		n := 0
		for _, p := range l.posts {
			if p.doc >= end {
				break
			}
			n++
			s.weight[(p.doc-base)%window] = p.weight
		}
		l.skip(n)
	}
	for i := range s.candidates {
		c := &s.candidates[i]
		w := s.weight[(c.doc-base)%window]
		part := l.part(w) // 0 of 0
		if w == heavy {
			part = s.heavyPart(l, posting{c.doc, w})
		}
		c.score += part
	}
	clear(s.weight[:])
}

// drop drops the candidates that are hopeless with the rest that other lists can add.
func (s *searcher) drop(rest float64) {
	kept := 0
	for _, c := range s.candidates {
		s.candidates[kept] = c
		if !s.hopeless(c.score + rest) {
			kept++
		}
	}
	s.candidates = s.candidates[:kept]
}

// either returns x or 0, without a branch.
func either(x float64, ok bool) float64 {
	mask := uint64(0)
	if ok {
		mask--
	}
	return math.Float64frombits(math.Float64bits(x) & mask)
}

// raises reports whether raise may be called, for the documents of one window: whatever K
// of them have is what a score must reach, unless they may be turned away.
func (s *searcher) raises() bool {
	s.floor.Reset(s.best.K)
	return s.accept == nil && len(s.query.phrases) == 0
}

// raise raises what a score must reach to what K of the documents have by now at least:
// what is hopeless then need not be completed, nor its key be read. One has this score.
func (s *searcher) raise(score float64) {
	if score > s.least && s.floor.Add(score) {
		s.least = s.floor.Level()
	}
}

// offer offers the candidates, which are complete, to the top.
func (s *searcher) offer() {
	for _, c := range s.candidates {
		if c.score < s.least {
			continue
		}
		h := top.Hit{Key: builder{}.KeyOf(s.x.docs.at(c.doc).key), Score: c.score, Part: s.part}
		if !s.best.Admits(h) || !s.accepts(h.Key) {
			continue
		}
		s.best.Push(h)
		if s.best.Full() {
			s.least = max(s.least, s.best.Worst().Score)
		}
	}
	s.candidates = s.candidates[:0]
}

// accepts reports whether a document that is good enough may be a hit.
func (s *searcher) accepts(key string) bool {
	return (s.accept == nil || s.accept(key)) && (len(s.query.phrases) == 0 || hasPhrases(s.x.how, s.query.phrases, s.texts(key)))
}

// expand opens the lists of the terms that begin with prefix, and whole, what
// it would be as a whole word. All count as one term would that is in as many
// documents as they, of which it returns the factor.
func (s *searcher) expand(prefix, whole string, df func(term string, t *term) int) float64 {
	type expansion struct {
		name string
		id   uint32
		df   int
	}
	var found []expansion
	total := 0
	for name := range s.x.dict.Keys() {
		if name != whole && !strings.HasPrefix(name, prefix) || slices.ContainsFunc(s.opened, func(l list) bool { return l.name == name }) {
			continue
		}
		id, _ := s.x.dict.Get(name)
		n := df(name, s.x.terms.at(id))
		found = append(found, expansion{strings.Clone(name), id, n})
		total = min(total+n, s.docs)
	}
	slices.SortFunc(found, func(a, b expansion) int { return cmp.Or(cmp.Compare(b.df, a.df), cmp.Compare(a.name, b.name)) })
	factor := idf(s.docs, total)
	for _, e := range found[:min(len(found), maxExpansions)] {
		s.opened = append(s.opened, list{id: e.id, name: e.name, factor: factor})
	}
	return factor
}
