package derive

import (
	"iter"

	"github.com/cowstore/cowstore/memory/internal/tuple"
	"github.com/cowstore/cowstore/memory/text"
	"github.com/cowstore/cowstore/memory/value"
)

// Words say what the text of entries is, and what its words are. They must be the same on
// all replicas.
type Words struct {
	None       bool
	Analyzer   *text.Analyzer // nil: English
	AnalyzerOf func(space []string) *text.Analyzer
	TextOf     func(space []string, v value.Value) iter.Seq2[string, int]
	Embedded   bool // texts are to have vectors
}

// AnalyzerFor returns the Analyzer that the index of a space begins with: it keeps it.
func (t *Words) AnalyzerFor(path string) *text.Analyzer {
	if t.AnalyzerOf != nil {
		if a := t.AnalyzerOf(tuple.Decode(path)); a != nil {
			return a
		}
	}
	return t.Analyzer
}

// Of returns the texts of a value in a space that count.
func (t *Words) Of(path string, v value.Value) iter.Seq[string] {
	if t.TextOf == nil {
		return v.Texts()
	}
	return func(yield func(string) bool) {
		for s, weight := range t.weighted(path, v) {
			if weight > 0 && !yield(s) {
				return
			}
		}
	}
}

// weighted returns what TextOf says.
func (t *Words) weighted(path string, v value.Value) iter.Seq2[string, int] {
	if all := t.TextOf(tuple.Decode(path), v); all != nil {
		return all
	}
	return func(func(string, int) bool) {}
}

// wordsOf returns the words of a value in a space, which the text index is made of.
func (t *Words) wordsOf(how *text.Analyzer, path string, v value.Value) text.Words {
	switch {
	case t.None, !v.Exists():
		return text.Words{}
	case t.TextOf != nil:
		return how.TokenizeWeighted(t.weighted(path, v))
	}
	return how.Tokenize(v.Texts())
}

// WordsAhead is wordsOf for a space that has no index yet, or has it as AnalyzerFor says.
func (t *Words) WordsAhead(path string, v value.Value) text.Words {
	if t.None {
		return text.Words{}
	}
	return t.wordsOf(t.AnalyzerFor(path), path, v)
}
