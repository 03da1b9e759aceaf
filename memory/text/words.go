package text

import (
	"iter"
	"math"
	"slices"
	"sync"
)

// Words are the tokens of one document, each with how often it occurs.
// [Analyzer.Tokenize] makes them, ahead of [Index.Set] and outside any lock.
//
// The zero Words has no tokens. Words are immutable: they may be copied, kept,
// used for any number of indexes and by any number of goroutines. They share
// no memory with the texts.
type Words struct {
	terms    []wordCount // distinct, in the order in which they first occur
	tokens   uint64
	analyzer *Analyzer
}

type wordCount struct {
	term  string
	count uint32 // stays at its maximum
	stop  bool   // a stop word, and never in quotes
}

// Analyzer returns the Analyzer that made w, nil for the zero Words.
func (w Words) Analyzer() *Analyzer { return w.analyzer }

// Tokenize returns the tokens of one document in English. It is [Analyzer.Tokenize] of the nil
// *Analyzer.
func Tokenize(texts iter.Seq[string]) Words { return (*Analyzer)(nil).Tokenize(texts) }

// Tokenize returns the tokens of one document, whose text is all strings of texts. No
// token reaches from one string into the next.
func (a *Analyzer) Tokenize(texts iter.Seq[string]) Words {
	c := counters.Get().(*counter)
	c.words.analyzer = a.or()
	c.begin(c.words.analyzer)
	for text := range texts {
		c.scan(text, c.count)
	}
	return c.finish()
}

// TokenizeWeighted is Tokenize with a weight beside each text. A token counts as often as the
// weight of its text says: in a title 3 times, say. A text of weight 0 or less does not count, and
// a weight above 100 is 100.
func (a *Analyzer) TokenizeWeighted(texts iter.Seq2[string, int]) Words {
	c := counters.Get().(*counter)
	c.words.analyzer = a.or()
	c.begin(c.words.analyzer)
	for text, weight := range texts {
		if c.weight = uint32(min(max(weight, 0), maxWeight)); c.weight > 0 {
			c.scan(text, c.count)
		}
	}
	return c.finish()
}

// maxWeight is what more weight counts as.
const maxWeight = 100

// A counter counts the tokens of one document.
type counter struct {
	scanner
	words  Words
	place  map[string]int // of a term in words
	weight uint32         // of tokens
}

var counters = sync.Pool{New: func() any { return &counter{place: map[string]int{}, weight: 1} }}

// count counts one token.
func (c *counter) count(t token) {
	c.words.tokens += uint64(c.weight)
	i, ok := c.place[t.term]
	if !ok {
		c.place[t.term] = len(c.words.terms)
		c.words.terms = append(c.words.terms, wordCount{t.term, c.weight, t.stop})
		return
	}
	w := &c.words.terms[i]
	w.stop = w.stop && t.stop
	w.count += min(c.weight, math.MaxUint32-w.count)
}

// finish returns the words and gives c back.
func (c *counter) finish() Words {
	w := c.words
	w.terms = slices.Concat(w.terms) // as many as there are; the next document writes to c's own
	clear(c.words.terms)
	c.words, c.weight = Words{terms: c.words.terms[:0]}, 1
	// A map never shrinks: one that was made large is not worth keeping, since
	// each clear would take as long.
	if len(c.place) <= 1024 {
		clear(c.place)
		counters.Put(c)
	}
	return w
}
