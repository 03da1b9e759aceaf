package text

import "iter"

// A Place is where a text matches a query.
type Place struct {
	Text     int    // which of the texts, from 0
	From, To int    // the bytes of it
	Term     string // what both have in common: a stem, say
}

// Places returns where texts, of one document, match the query, in their order: why
// a document is a hit, to be shown to a person. Of phrases it returns each word. It
// takes time in proportion to the texts, and nothing of an Index: call it for the
// hits that are shown. An Analyzer of Func does not say where its tokens stand; then
// From and To are 0.
func (a *Analyzer) Places(query string, texts iter.Seq[string]) []Place {
	a = a.or()
	terms := map[string]bool{}
	c := counters.Get().(*counter)
	c.begin(a)
	c.scan(query, func(t token) { terms[t.term] = true })
	var places []Place
	i := 0
	for text := range texts {
		c.scan(text, func(t token) {
			if terms[t.term] {
				places = append(places, Place{i, t.from, t.to, t.term})
			}
		})
		i++
	}
	c.finish()
	return places
}
