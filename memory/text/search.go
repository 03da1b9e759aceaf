package text

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"math"
	"math/bits"
	"slices"
	"sync"

	"github.com/cowstore/cowstore/memory/internal/top"
)

// ErrOptions says that Options have a value that makes no sense.
var ErrOptions = errors.New("text: bad search options")

// Options say what Search returns. The zero value asks for the best ten.
type Options struct {
	// K is the most hits to return; 0 means 10.
	K int

	// MinScore is the least score of a hit; 0 means no limit.
	MinScore float64

	// Accept chooses the documents that may be hits; nil means all. It is called
	// in no particular order, at most once a document, and only for those that
	// would be among the best K of what was accepted until then.
	Accept func(key string) bool

	// Prefix says that the last word of the query may be the beginning of one, as
	// somebody is still typing it: all words of the index that begin with it count,
	// the most common 64, as if they were one. That takes time in proportion to the
	// number of distinct words.
	Prefix bool

	// Texts, if not nil, returns what Tokenize was given for a document. Then hits
	// must have what is in quotes in the query, as it stands there: the same tokens
	// one behind the other, of which stop words count as others do. It is asked for few
	// documents, those that Accept accepts. Without Texts, quotes mean nothing.
	Texts func(key string) iter.Seq[string]
}

// A Hit is a document that has a token of the query which is not a stop word, and its
// score, which is above zero.
type Hit struct {
	Key   string
	Score float64
	Part  int // the number of its Part in SearchAll; 0 otherwise
}

// Search returns the best documents for the tokens of query, which is analyzed as
// the documents are, at most K, by score from the highest, and those of equal score by
// key. A document need not have all tokens, but one that is not a stop word: a query
// without any has no hits.
//
// It returns an error that is ErrOptions if K is negative or MinScore is not a
// number.
//
// The cost depends mainly on how common the rarer tokens of the query are: once
// K documents are found, those that have only common tokens are passed over.
func (x *Index) Search(query string, o Options) ([]Hit, error) {
	if err := o.check(); err != nil || x == nil {
		return nil, err
	}
	s := searches.Get().(*searcher)
	s.begin(o, x.Len(), x.tokens)
	s.open(x, parse(x.how, query, o), x.df)
	s.accept, s.texts = o.Accept, o.Texts
	s.run()
	return s.end(), nil
}

// check checks o, and sets what is not set.
func (o *Options) check() error {
	if o.K < 0 {
		return fmt.Errorf("%w: K is %d", ErrOptions, o.K)
	}
	if math.IsNaN(o.MinScore) {
		return fmt.Errorf("%w: MinScore is not a number", ErrOptions)
	}
	if o.K == 0 {
		o.K = 10
	}
	return nil
}

// A searcher is one search. It is MaxScore, of H. Turtle and J. Flood, Query
// Evaluation: Strategies and Optimizations, Information Processing & Management
// 31(6), 1995, over windows of document numbers: as soon as the lists of the most
// common terms cannot lift a document into the top by themselves, only the other
// lists are read from end to end, and the common ones are asked about
// what is found there. Those of stop words are so from the beginning.
//
// Parts are added in the order of the lists from the last to the first, always,
// so that equal documents have equal scores.
type searcher struct {
	x       *Index
	part    int // that x is
	docs    int // of all parts
	rank    ranker
	lists   []list    // those of stop words, then the others; each by bound, from the least
	stops   int       // lists of stop words: they lift documents, and find none
	most    []float64 // most[i]: what the lists before i can add up to
	best    top.Best
	least   float64   // what a score must reach now
	floor   []float64 // what the best K documents have at least, from the least; see raise
	accept  func(key string) bool
	texts   func(key string) iter.Seq[string]
	phrases [][]string
	score   [window]float64 // of documents from the base of the window; else 0
	found   [window / 64]uint64
}

// window is how many document numbers are scored at a time.
const window = 2048

var searches = sync.Pool{New: func() any { return new(searcher) }}

// begin begins a search of so many documents, of so many tokens.
func (s *searcher) begin(o Options, docs int, tokens uint64) {
	s.docs, s.part = docs, 0
	s.rank = newRanker(docs, tokens)
	s.best = top.New(min(o.K, docs))
	s.least, s.floor = o.MinScore, s.floor[:0]
}

// end returns the hits, and gives s back, without what it refers to. It is not called
// after a panic of Accept, when s holds half a search.
func (s *searcher) end() (hits []Hit) {
	for _, h := range s.best.Sorted() {
		hits = append(hits, Hit(h))
	}
	clear(s.lists)
	s.x, s.best, s.accept, s.texts, s.phrases, s.lists = nil, top.Best{}, nil, nil, nil, s.lists[:0]
	if cap(s.lists) <= 1024 {
		searches.Put(s)
	}
	return hits
}

// open opens the lists of the terms of the query in x. Of how many documents a term is
// says df.
func (s *searcher) open(x *Index, q query, df func(term string) int) {
	clear(s.lists) // of another part
	s.x, s.phrases, s.lists = x, q.phrases, slices.Grow(s.lists[:0], len(q.words.terms))
	for _, w := range q.words.terms {
		if id, ok := x.dict.Get(w.term); ok {
			factor := float64(w.count) * idf(s.docs, df(w.term))
			if w.stop {
				factor *= stopFactor
			}
			s.add(w.term, id, w.stop, factor)
		}
	}
	if q.prefix != "" {
		s.expand(q.prefix, df)
	}
	s.stops = 0
	for i := range s.lists {
		if s.lists[i].stop {
			s.stops++
		}
	}
	slices.SortFunc(s.lists, func(a, b list) int {
		return cmp.Or(compareStop(a.stop, b.stop), cmp.Compare(a.bound, b.bound), cmp.Compare(a.name, b.name))
	})
	s.most = append(s.most[:0], 0)
	sum := 0.0
	for i := range s.lists {
		sum += s.lists[i].bound
		s.most = append(s.most, sum)
	}
}

// compareStop orders the lists of stop words first.
func compareStop(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}

// add opens the list of a term.
func (s *searcher) add(name string, id uint32, stop bool, factor float64) {
	s.lists = append(s.lists, list{id: id, name: name, stop: stop, factor: factor})
	s.lists[len(s.lists)-1].open(s.x.terms.at(id), s.rank)
}

// run finds the top.
func (s *searcher) run() {
	for first := s.stops; ; {
		for first < len(s.lists) && s.hopeless(s.most[first+1]) {
			first++
		}
		if first == len(s.lists) {
			return
		}
		if first == len(s.lists)-1 {
			s.runLast(first)
			return
		}
		base := uint32(ended)
		for i := first; i < len(s.lists); i++ {
			base = min(base, s.lists[i].doc())
		}
		if base == ended {
			return
		}
		s.fill(first, base)
		s.collect(first, base)
	}
}

// fill adds up what the lists from first on count in the window at base.
func (s *searcher) fill(first int, base uint32) {
	end := base + min(window, ended-base)
	for i := len(s.lists) - 1; i >= first; i-- {
		l := &s.lists[i]
		for l.doc() < end {
			n := 0
			for _, p := range l.posts {
				if p.doc >= end {
					break
				}
				d := p.doc - base
				s.score[d%window] += s.scoreOf(l, p)
				s.found[d/64%(window/64)] |= 1 << (d % 64)
				n++
			}
			l.skip(n)
		}
	}
}

// maxFloor is the most hits to be found for which raise does anything.
const maxFloor = 64

// raise raises what a score must reach, before the documents of the window are offered,
// to what K of them have by now at least: what is hopeless then need not be completed.
// Each document is in one window.
func (s *searcher) raise() {
	if s.accept != nil || len(s.phrases) > 0 || s.best.K > maxFloor {
		return
	}
	for w, found := range s.found {
		for ; found != 0; found &= found - 1 {
			score := s.score[w*64+bits.TrailingZeros64(found)]
			i := 0
			if len(s.floor) == s.best.K {
				if score <= s.floor[0] {
					continue
				}
				for ; i+1 < len(s.floor) && s.floor[i+1] < score; i++ {
					s.floor[i] = s.floor[i+1]
				}
				s.floor[i] = score
				continue
			}
			i, _ = slices.BinarySearch(s.floor, score)
			s.floor = slices.Insert(s.floor, i, score)
		}
	}
	if len(s.floor) == s.best.K {
		s.least = max(s.least, s.floor[0])
	}
}

// collect offers the documents of the window to the top.
func (s *searcher) collect(first int, base uint32) {
	if first > 0 {
		s.raise()
	}
	for w, found := range s.found {
		s.found[w] = 0
		for ; found != 0; found &= found - 1 {
			d := uint32(w*64 + bits.TrailingZeros64(found))
			score := s.score[d]
			s.score[d] = 0
			s.offer(first, base+d, score)
		}
	}
}

// runLast finds the top when it can only be in list i, the last: each document
// of it is complete at once.
func (s *searcher) runLast(i int) {
	l := &s.lists[i]
	rest := s.most[i]
	for l.doc() != ended {
		if s.hopeless(l.best + rest) {
			l.nextSpan()
			continue
		}
		for _, p := range l.posts {
			if score := s.scoreOf(l, p); !s.hopeless(score + rest) {
				s.offer(i, p.doc, score)
			}
		}
		l.nextSpan()
	}
}

// hopeless reports whether bound, on a score, is too low for the top. It allows
// for scores being rounded up, where bound is not: equal scores must all be offered.
func (s *searcher) hopeless(bound float64) bool { return bound*(1+1e-9) < s.least }

// offer completes score, which is of the lists from first on, and offers doc to
// the top.
func (s *searcher) offer(first int, doc uint32, score float64) {
	for i := first - 1; i >= 0; i-- {
		if s.hopeless(score + s.most[i+1]) {
			return
		}
		l := &s.lists[i]
		l.seek(doc)
		if l.doc() == doc {
			score += s.scoreOf(l, l.posts[0])
		}
	}
	if score < s.least {
		return
	}
	h := top.Hit{Key: s.x.docs.at(doc).key.Key(), Score: score, Part: s.part}
	if !s.best.Admits(h) || !s.accepts(h.Key) {
		return
	}
	s.best.Push(h)
	if s.best.Full() {
		s.least = max(s.least, s.best.Worst().Score)
	}
}

// accepts reports whether a document that is good enough may be a hit.
func (s *searcher) accepts(key string) bool {
	return (s.accept == nil || s.accept(key)) && (len(s.phrases) == 0 || hasPhrases(s.x.how, s.phrases, s.texts(key)))
}

// scoreOf returns what p, of l, counts.
func (s *searcher) scoreOf(l *list, p posting) float64 {
	if p.weight.count() == heavyCount {
		return s.heavyPart(l, p)
	}
	return float64(l.factor * s.rank.part(float64(p.weight.count()), float64(p.weight.length())))
}

//go:noinline
func (s *searcher) heavyPart(l *list, p posting) float64 {
	d := s.x.docs.at(p.doc)
	return float64(l.factor * s.rank.part(float64(d.count(l.id)), float64(d.tokens)))
}
