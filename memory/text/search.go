package text

import (
	"iter"
)

// Search returns the best K documents for the query, by descending score, and by key where scores
// are equal. The query is analyzed as the documents are. A document need not have all its tokens:
// one that is not a stop word, or that is in quotes, is enough. A query without such a token has no
// hits.
//
// An error wraps [ErrOptions].
//
// The cost depends mainly on how common the rarer tokens of the query are: once
// K documents are found, those that have only common tokens are passed over.
func (x *Index) Search(query string, o Options) ([]Hit, error) {
	return SearchAll([]Part{{x, o.Accept, o.Texts}}, query, o)
}

// A Part is an [Index] that [SearchAll] searches together with others. A nil Index is empty.
type Part struct {
	Index  *Index
	Accept func(key string) bool             // as in Options
	Texts  func(key string) iter.Seq[string] // as in Options
}

// SearchAll searches several indexes as if they were one, like [Index.Search]. It returns the best
// K documents of all. N, n and avg of the ranking are those of all parts together, so that scores
// can be compared. The same key in two parts is two documents. Hits of equal score are ordered by
// part, then by key. Accept and Texts are those of the parts; those of o are not used.
//
// Each part analyzes the query in its own way; the scale of scores is that of the first. With
// Prefix, each part finds the words that begin with the last word by itself. SearchAll takes the
// time of a search in one Index of all documents, and time proportional to the number of parts.
func SearchAll(parts []Part, query string, o Options) ([]Hit, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	docs, tokens := 0, uint64(0)
	for _, p := range parts {
		if p.Index != nil {
			docs += p.Index.Len()
			tokens += p.Index.tokens
		}
	}
	if docs == 0 {
		return nil, nil
	}
	df := func(_ string, t *term) int { return t.df() }
	if len(parts) > 1 {
		known := map[string]int{}
		df = func(term string, _ *term) int {
			n, ok := known[term]
			if !ok {
				for _, p := range parts {
					n += p.Index.df(term)
				}
				known[term] = n
			}
			return n
		}
	}
	s := searches.Get().(*searcher)
	s.begin(o, docs, tokens)
	for i, p := range parts {
		if p.Index == nil {
			continue
		}
		o.Texts = p.Texts
		s.query.parse(p.Index.how, query, o)
		s.part, s.accept, s.texts = i, p.Accept, p.Texts
		s.open(p.Index, df)
		s.run()
	}
	return s.end(), nil
}

// df returns in how many documents a term is.
func (x *Index) df(term string) int {
	if x == nil {
		return 0
	}
	id, ok := x.dict.Get(term)
	if !ok {
		return 0
	}
	return x.terms.at(id).df()
}
