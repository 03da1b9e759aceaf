package text

import "github.com/cowstore/cowstore/memory/internal/top"

// A candidate is a document that has been found, and what the lists that were read
// count in it.
type candidate struct {
	doc   uint32
	score float64
}

// complete adds to the candidates what the lists before first count, one list after the
// other, and drops those that are hopeless.
func (s *searcher) complete(first int) {
	s.raise()
	for i := first - 1; i >= 0; i-- {
		l, rest := *s.lists[i], s.most[i+1]
		kept := s.candidates[:0]
		for _, c := range s.candidates {
			if s.hopeless(c.score + rest) {
				continue
			}
			l.seek(c.doc)
			if l.doc() == c.doc {
				part := l.part(l.posts[0].weight)
				if l.posts[0].weight == heavy {
					part = s.heavyPart(&l, l.posts[0])
				}
				c.score += part
			}
			kept = append(kept, c)
		}
		s.candidates, *s.lists[i] = kept, l
	}
	if first > 0 {
		s.raise()
	}
}

// raise raises what a score must reach to what K of the candidates have by now at least:
// what is hopeless then need not be completed, nor its key be read.
func (s *searcher) raise() {
	if s.accept != nil || len(s.query.phrases) > 0 || len(s.candidates) < s.best.K {
		return
	}
	s.floor.Reset(s.best.K)
	for _, c := range s.candidates {
		if c.score > s.least && s.floor.Add(c.score) {
			s.least = max(s.least, s.floor.Level())
		}
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
