package text

import (
	"iter"
	"strings"
)

// A Place is where a text matches a query.
type Place struct {
	Text     int    // which of the texts, from 0
	From, To int    // the match is text[From:To]
	Term     string // the token that text and query have in common: a stem, say
}

// Places returns where the texts of one document match the query, in the order of the texts. It is
// for showing a person why a document is a hit. Of o only Prefix is used. Each word of a phrase in
// quotes is a match wherever it stands; outside of quotes stop words are not.
//
// Places takes time proportional to the texts, and uses no Index: call it for the hits that are
// shown. An Analyzer of [Func] does not know where its tokens stand: From and To are 0.
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
