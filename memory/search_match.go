package memory

import (
	"iter"
	"slices"

	"github.com/cowstore/cowstore/memory/text"
)

// A Match is where the text of an entry fits a query: the bytes of Text from one place
// up to another.
type Match struct {
	Text     string
	From, To int
	Term     string // what both have in common, a stem, say
}

// A sought is what a search for text was for.
type sought struct {
	query   string
	options text.Options
	texts   *texts
	how     map[string]*text.Analyzer // by space, where it is not that of all
}

// in returns what the texts of a space were analyzed by.
func (s *sought) in(path string) *text.Analyzer {
	if s.how != nil {
		return s.how[path]
	}
	return s.texts.analyzer
}

// Matches returns where the text of the entry fits the query that found it, in order:
// why it is a hit, to be shown to a person. It is empty for a search for a vector, and
// says nothing of places where the Analyzer is a text.Func. It reads the text anew,
// which takes time proportional to it.
func (h Hit) Matches() []Match {
	if h.found == nil {
		return nil
	}
	var texts []string
	for t := range h.found.texts.of(h.space, h.Value) {
		texts = append(texts, t)
	}
	var matches []Match
	for _, p := range h.found.in(h.space).Places(h.found.query, h.found.options, slices.Values(texts)) {
		matches = append(matches, Match{texts[p.Text], p.From, p.To, p.Term})
	}
	return matches
}

// textsOf returns the texts of an entry.
func (v SpaceSnapshot) textsOf(key string) iter.Seq[string] {
	e := v.lookup(key)
	if e == nil {
		return func(func(string) bool) {}
	}
	return v.s.t.texts.of(v.path, e.value)
}
