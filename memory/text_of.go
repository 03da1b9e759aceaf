package memory

import (
	"iter"

	"github.com/cowstore/cowstore/memory/text"
)

// texts say what the text of entries is, and what its words are. They must be the same on
// all replicas.
type texts struct {
	none       bool
	analyzer   *text.Analyzer // nil: English
	analyzerOf func(space []string) *text.Analyzer
	textOf     func(space []string, v Value) iter.Seq2[string, int]
}

// analyzerFor returns the Analyzer that the index of a space begins with: it keeps it.
func (t *texts) analyzerFor(path string) *text.Analyzer {
	if t.analyzerOf != nil {
		if a := t.analyzerOf(decodePath(path)); a != nil {
			return a
		}
	}
	return t.analyzer
}

// of returns the texts of a value in a space that count.
func (t *texts) of(path string, v Value) iter.Seq[string] {
	if t.textOf == nil {
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

// weighted returns what textOf says.
func (t *texts) weighted(path string, v Value) iter.Seq2[string, int] {
	if all := t.textOf(decodePath(path), v); all != nil {
		return all
	}
	return func(func(string, int) bool) {}
}

// wordsOf returns the words of a value in a space, which the text index is made of.
func (t *texts) wordsOf(how *text.Analyzer, path string, v Value) text.Words {
	switch {
	case t.none, !v.Exists():
		return text.Words{}
	case t.textOf != nil:
		return how.TokenizeWeighted(t.weighted(path, v))
	}
	return how.Tokenize(v.Texts())
}

// wordsAhead is wordsOf for a space that has no index yet, or has it as analyzerFor says.
func (t *texts) wordsAhead(path string, v Value) text.Words {
	if t.none {
		return text.Words{}
	}
	return t.wordsOf(t.analyzerFor(path), path, v)
}
