// Package text has a persistent full-text index: an immutable [Index] of
// documents by key, of which [Index.Set] and [Index.Delete] return the next
// version, sharing nearly all of the last. Any number of goroutines may search
// any version, and derive others from it, at once; there are no locks.
//
//	x = x.Set("note/1", text.Tokenize(slices.Values([]string{title, body})))
//	hits, err := x.Search("who likes green tea", text.Options{K: 5})
//
// An [Analyzer] makes tokens of words: in English by default, so that "horse" finds
// "horses"; see [Language], [Plain] and [Func]. Queries are analyzed as the documents
// are. [Analyzer.Places] says where a text matches.
//
// # Ranking
//
// [Index.Search] ranks by BM25+, of Y. Lv and C. Zhai, Lower-Bounding Term Frequency
// Normalization, CIKM 2011, with k1 = 0.6, b = 0.5 and δ = 0.3, for having a token at
// all. The score of a document of |d| tokens, among N of avg tokens on average, is
// the sum over the tokens t of the query of
//
//	ln(1 + (N − n + 0.5) / (n + 0.5)) · (δ + tf / (tf + k1·(1 − b + b·|d|/avg)))
//
// where t occurs tf times in the document, at least once, and in n documents. So
// that a document has more of the words counts for more than that it has one of them
// more often, or is short. The 1 in the logarithm keeps a term of most documents
// above zero; like Lucene since version 8, the formula has no factor k1 + 1. A
// token that the query repeats counts as often. N, n, avg and |d| are exactly those
// of the documents of the version that is searched.
//
// What a stop word counts is multiplied by 0.35, and it makes no document a hit by
// itself. So "who is he" finds nothing, and yet of two documents about trains, "the
// train to her" prefers the one that is about her. To leave stop words out, as most
// do, loses more than it saves: of 2,958 verses of one French translation of the New
// Testament, looked for by eight words of another, 82 % are among the first ten,
// and 75 % without stop words. The parameters were chosen by such verses in English,
// French and German, and by the questions of LoCoMo and REALTALK about conversations:
// by every other query, and looked at with the rest.
package text
