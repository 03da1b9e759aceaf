package text

import (
	"iter"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A parsed query is what a search looks for.
type parsed struct {
	how     *Analyzer // that made it
	quotes  bool      // whether they have a meaning
	words   Words
	prefix  string     // what the last word begins with; it is not among the words
	whole   string     // the term of the last word, as if nothing were missing; "" for a stop word
	phrases [][]string // the terms of each
}

// parse analyzes the text of a query, unless q is that already.
func (q *parsed) parse(a *Analyzer, text string, o Options) {
	if q.how == a && q.quotes == (o.Texts != nil) {
		return
	}
	*q = parsed{how: a, quotes: o.Texts != nil}
	c := counters.Get().(*counter)
	c.begin(a)
	parts := []string{text}
	if q.quotes {
		parts = splitQuotes(text)
	}
	for i, part := range parts {
		if o.Prefix && i == len(parts)-1 {
			q.prefix, q.whole = c.unfinished(part, c.count)
			break
		}
		var phrase []string
		quoted := q.quotes && i%2 == 1 && i < len(parts)-1
		c.scan(part, func(t token) {
			t.stop = t.stop && !quoted
			c.count(t)
			if quoted {
				phrase = append(phrase, t.term)
			}
		})
		if phrase != nil {
			q.phrases = append(q.phrases, phrase)
		}
	}
	q.words = c.finish()
}

// splitQuotes returns the parts of text between quotes. One between Hebrew letters is none:
// it is how abbreviations are written.
func splitQuotes(text string) (parts []string) {
	from := 0
	for i, r := range text {
		if r != '"' {
			continue
		}
		before, _ := utf8.DecodeLastRuneInString(text[:i])
		behind, _ := utf8.DecodeRuneInString(text[i+1:])
		if !unicode.Is(unicode.Hebrew, before) || !unicode.Is(unicode.Hebrew, behind) {
			parts = append(parts, text[from:i])
			from = i + 1
		}
	}
	return append(parts, text[from:])
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

// unfinished calls f with the tokens of text, but not with the last if that may be the
// beginning of one, because text ends with it. Of that it returns what terms begin with
// that such words become, and its own term, unless it is a stop word.
func (s *scanner) unfinished(text string, f func(token)) (prefix, whole string) {
	var tokens []token
	s.scan(text, func(t token) { tokens = append(tokens, t) })
	if n := len(tokens) - 1; n >= 0 && s.endsWith(text, tokens) {
		last := tokens[n]
		tokens = tokens[:n]
		prefix = s.prefix(text, last)
		if !last.stop {
			whole = last.term
		}
	}
	for _, t := range tokens {
		f(t)
	}
	return prefix, whole
}

// endsWith reports whether text ends with the last of its tokens, and that may be the
// beginning of one. Two characters of those without words are one already.
func (s *scanner) endsWith(text string, tokens []token) bool {
	last := tokens[len(tokens)-1]
	if s.split == nil {
		first, _ := utf8.DecodeRuneInString(text[last.from:])
		return last.to == len(text) && (s.plain || !isCJK(first) || charLen(text[last.from:]) == last.to-last.from)
	}
	end := lastWord(text)
	var before []token
	s.scan(text[:end], func(t token) { before = append(before, t) })
	return end < len(text) && !slices.Equal(before, tokens)
}

// lastWord returns where the last word of text begins: its length, if something
// else stands behind it.
func lastWord(text string) int {
	return strings.LastIndexFunc(text, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsMark(r)
	}) + 1
}

// prefix returns what terms begin with that a word becomes which begins with t, the
// last token of text.
func (s *scanner) prefix(text string, t token) string {
	if s.split != nil {
		return t.term
	}
	low := s.lower(text[t.from:])
	if s.plain {
		return string(low)
	}
	return string(fold(s.bare(low)))
}

// maxExpansions is how many terms a prefix stands for.
const maxExpansions = 64
