package text

import (
	"iter"
	"math/bits"
	"slices"
	"sync"

	"github.com/cowstore/cowstore/memory/internal/top"
)

// A searcher is one search. It is MaxScore, of H. Turtle and J. Flood, Query
// Evaluation: Strategies and Optimizations, Information Processing & Management
// 31(6), 1995, over windows of document numbers: as soon as the lists of the most
// common terms cannot lift a document into the top by themselves, only the other
// lists are read from end to end, and the common ones are asked about
// what is found there. Those of stop words are so from the beginning. In each window
// the lists that find are read, those before them that are short are read for what is
// found (lift), and the rest are sought for what is not hopeless by then (complete).
//
// Parts are added in the order of the lists from the last to the first, always,
// so that equal documents have equal scores.
type searcher struct {
	x          *Index
	part       int // that x is
	docs       int // of all parts
	rank       ranker
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
	candidates []candidate // found, in order
	floor      top.Floor   // see raise
}

// window is how many document numbers are scored at a time.
const window = 2048

var searches = sync.Pool{New: func() any { return new(searcher) }}

// begin begins a search of so many documents, of so many tokens.
func (s *searcher) begin(o Options, docs int, tokens uint64) {
	s.docs = docs
	s.rank = newRanker(docs, tokens)
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
	for _, w := range s.query.words.terms {
		if id, ok := x.dict.Get(w.term); ok {
			t := x.terms.at(id)
			factor := float64(w.count) * idf(s.docs, df(w.term, t))
			if w.stop {
				factor *= stopFactor
			}
			s.add(list{id: id, name: w.term, stop: w.stop, factor: factor}, t)
		}
	}
	if s.query.prefix != "" {
		s.expand(s.query.prefix, s.query.whole, df)
	}
	s.stops = 0
	for i := range s.opened {
		s.lists = append(s.lists, &s.opened[i])
		if s.opened[i].stop {
			s.stops++
		}
	}
	slices.SortFunc(s.lists, (*list).compare)
	s.most = append(s.most[:0], 0)
	sum := 0.0
	for _, l := range s.lists {
		sum += l.bound
		s.most = append(s.most, sum)
	}
}

// add opens the list of a term.
func (s *searcher) add(l list, t *term) {
	l.open(t, s.rank)
	s.opened = append(s.opened, l)
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
			s.read(s.lists[i], base, anew)
		}
		first := s.lift(first, base)
		s.gather(base)
		s.complete(first)
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

// Which documents of a window read adds to.
const (
	found = 0          // those found before
	anew  = ^uint64(0) // all, which are found then
)

// read adds up what l counts in the window at base.
func (s *searcher) read(l *list, base uint32, which uint64) {
	end := base + min(window, ended-base)
	for s.next(l) < end {
		n := 0
		for _, p := range l.posts {
			if p.doc >= end {
				break
			}
			n++
			d := p.doc - base
			w, bit := &s.found[d/64%(window/64)], uint64(1)<<(d%64)
			if (*w|which)&bit == 0 {
				continue
			}
			*w |= bit
			part := l.part(p.weight)
			if p.weight == heavy {
				part = s.heavyPart(l, p)
			}
			s.score[d%window] += part
		}
		l.skip(n)
	}
}

// maxReads is how many postings take no longer to read than one document to seek.
const maxReads = 4

// lift drops what is hopeless in the window at base, and reads lists before first, from
// the last, as long as that is faster than to ask them about each document: stop words
// that are not so common. It returns the first list that is read.
func (s *searcher) lift(first int, base uint32) int {
	if first == 0 {
		return 0
	}
	n := 0
	for w, docs := range s.found {
		for ; docs != 0; docs &= docs - 1 {
			score := &s.score[w*64+bits.TrailingZeros64(docs)]
			if s.hopeless(*score + s.most[first]) {
				s.found[w] &^= docs & -docs
				*score = 0
			} else {
				n++
			}
		}
	}
	windows := max(1, float64(s.x.Len())/window)
	for first > 0 && float64(s.lists[first-1].df) <= float64(maxReads*n)*windows {
		first--
		s.lists[first].seek(base)
		s.read(s.lists[first], base, found)
	}
	return first
}

// gather makes candidates of what is found in the window at base.
func (s *searcher) gather(base uint32) {
	for w, docs := range s.found {
		s.found[w] = 0
		for ; docs != 0; docs &= docs - 1 {
			d := uint32(w*64 + bits.TrailingZeros64(docs))
			s.candidates = append(s.candidates, candidate{base + d, s.score[d%window]})
			s.score[d%window] = 0
		}
	}
}

// hopeless reports whether bound, on a score, is too low for the top. It allows
// for scores being rounded up, where bound is not: equal scores must all be offered.
func (s *searcher) hopeless(bound float64) bool { return bound*(1+1e-9) < s.least }
