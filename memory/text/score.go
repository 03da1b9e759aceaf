package text

import "math"

// A ranker has what scoring needs of one version.
type ranker struct{ base, slope float64 }

const (
	k1         = 0.6
	b          = 0.5
	delta      = 0.3
	stopFactor = 0.35 // of a stop word
)

func newRanker(docs int, tokens uint64) ranker {
	return ranker{k1 * (1 - b), k1 * b * float64(docs) / float64(tokens)}
}

// idf returns the weight of a term of so many documents out of docs.
func idf(docs, having int) float64 {
	return math.Log1p((float64(docs) - float64(having) + 0.5) / (float64(having) + 0.5))
}

// part returns what a term counts in a document, before its idf. The conversion
// forbids a fused multiplication, which compilers choose by machine and context:
// equal documents must have equal scores.
func (r ranker) part(count, length float64) float64 {
	return delta + count/(count+(r.base+float64(r.slope*length)))
}

// bound returns the most that a term can count in any document whose weight best
// was made with.
func (r ranker) bound(best weight) float64 {
	if best.count() == heavyCount {
		return delta + 1
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
