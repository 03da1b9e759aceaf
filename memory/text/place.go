package text

import (
	"iter"
	"strings"
)

// A Place is where a text matches a query.
type Place struct {
	Text     int    // which of the texts, from 0
	From, To int    // the bytes of it
	Term     string // what both have in common: a stem, say
}

// Places returns where texts, of one document, match the query, in their order: why
// a document is a hit, to be shown to a person. Of what o asks for, Prefix counts. Of
// phrases it returns each word, wherever it stands, of other words none that are stop
// words. It takes time in proportion to the texts, and nothing of an Index: call it for
// the hits that are shown. An Analyzer of Func does not say where its tokens stand; then
// From and To are 0.
func (a *Analyzer) Places(query string, o Options, texts iter.Seq[string]) []Place {
	a = a.or()
	o.Texts = func(string) iter.Seq[string] { return texts } // quotes have a meaning
	var q parsed
	q.parse(a, query, o)
	terms := map[string]bool{}
	for _, w := range q.words.terms {
		terms[w.term] = !w.stop
	}
	c := counters.Get().(*counter)
	c.begin(a)
	var places []Place
	i := 0
	for text := range texts {
		c.scan(text, func(t token) {
			if terms[t.term] || q.prefix != "" && (t.term == q.whole || strings.HasPrefix(t.term, q.prefix)) {
				places = append(places, Place{i, t.from, t.to, strings.TrimPrefix(t.term, stopMark)})
			}
		})
		i++
	}
	c.finish()
	return places
}
