package text

import (
	"cmp"
	"iter"
	"slices"
	"strings"
	"unicode"
)

// A query is what a search looks for.
type query struct {
	words   Words
	prefix  string     // what the last word begins with; it is not among the words
	phrases [][]string // the terms of each
}

// parse analyzes the text of a query.
func parse(a *Analyzer, text string, o Options) (q query) {
	c := counters.Get().(*counter)
	c.begin(a)
	end := len(text)
	if o.Prefix {
		end = lastWord(text)
		q.prefix = c.prefix(text[end:])
	}
	parts := strings.Split(text[:end], `"`)
	for i, part := range parts {
		var terms []string
		quoted := i%2 == 1 && i < len(parts)-1 && o.Texts != nil
		c.scan(part, func(t token) {
			t.stop = t.stop && !quoted
			c.count(t)
			terms = append(terms, t.term)
		})
		if quoted && len(terms) > 0 {
			q.phrases = append(q.phrases, terms)
		}
	}
	q.words = c.finish()
	return q
}

// hasPhrases reports whether each phrase stands in one of texts.
func hasPhrases(a *Analyzer, phrases [][]string, texts iter.Seq[string]) bool {
	missing := slices.Clone(phrases)
	c := counters.Get().(*counter)
	c.begin(a)
	for text := range texts {
		var terms []string
		c.scan(text, func(t token) { terms = append(terms, t.term) })
		missing = slices.DeleteFunc(missing, func(p []string) bool { return contains(terms, p) })
		if len(missing) == 0 {
			break
		}
	}
	c.finish()
	return len(missing) == 0
}

// contains reports whether part stands in terms, in one piece.
func contains(terms, part []string) bool {
	for ; len(terms) >= len(part); terms = terms[1:] {
		if slices.Equal(terms[:len(part)], part) {
			return true
		}
	}
	return false
}

// lastWord returns where the last word of text begins: its length, if something
// else stands behind it.
func lastWord(text string) int {
	return strings.LastIndexFunc(text, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsMark(r)
	}) + 1
}

// prefix returns what terms begin with that a word becomes which begins with word.
func (s *scanner) prefix(word string) string {
	switch low := lower(s.buf[:0:maxToken], word); {
	case s.split != nil:
		return word
	case s.plain:
		return string(low)
	default:
		return string(fold(low))
	}
}

// maxExpansions is how many terms a prefix stands for.
const maxExpansions = 64

// expand opens the lists of the terms that begin with prefix, and of the stem of
// what it would be as a whole word. All count as one term would that is in as many
// documents as they.
func (s *searcher) expand(prefix string, df func(term string) int) {
	type expansion struct {
		name string
		id   uint32
		df   int
	}
	var found []expansion
	total := 0
	whole := s.x.how.stemOf(prefix)
	for name := range s.x.dict.Keys() {
		if name != whole && !strings.HasPrefix(name, prefix) || slices.ContainsFunc(s.lists, func(l list) bool { return l.name == name }) {
			continue
		}
		id, _ := s.x.dict.Get(name)
		n := df(name)
		found = append(found, expansion{strings.Clone(name), id, n})
		total = min(total+n, s.docs)
	}
	slices.SortFunc(found, func(a, b expansion) int { return cmp.Or(cmp.Compare(b.df, a.df), cmp.Compare(a.name, b.name)) })
	for _, e := range found[:min(len(found), maxExpansions)] {
		s.add(e.name, e.id, false, idf(s.docs, total))
	}
}

// stemOf returns the term of a whole word, or "".
func (a *Analyzer) stemOf(word string) string {
	c := counters.Get().(*counter)
	c.words.analyzer = a
	c.begin(a)
	c.scan(word, c.count)
	if w := c.finish(); len(w.terms) == 1 && !w.terms[0].stop {
		return w.terms[0].term
	}
	return ""
}
