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
// [Index.Search] ranks by BM25, of S. Robertson and H. Zaragoza, The Probabilistic
// Relevance Framework: BM25 and Beyond, Foundations and Trends in Information Retrieval
// 3(4), 2009. In a document of |d| tokens, among N of avg tokens on average, a token t
// that occurs tf times in it, and in n documents, has the weight
//
//	ln(1 + (N − n + 0.5) / (n + 0.5)) · tf / (tf + K),  K = 2.5 · (|d| + 25) / (avg + 150)
//
// That is BM25 with k1 = 2.5·(avg + 25)/(avg + 150) and b = avg/(avg + 25): of notes of a
// line or two, that a document has more of the words counts for more than that it has one
// of them more often, or is short; of long texts both count. The 1 in the logarithm keeps
// a term of most documents above zero; like Lucene since version 8, the formula has no
// factor k1 + 1. A token that the query repeats counts as often. N, n, avg and |d| are
// exactly those of the documents of the version that is searched.
//
// The score of a document is the sum of the weights of the query's tokens, divided by what
// it would be in a document of average length that has each of them once. So 1 is a good
// match, whatever the query is; a token that no document has counts as one that this
// document lacks, unless it is a stop word; and a score is above 1 where tokens are there
// more often, or the document is short.
//
// What a stop word counts is multiplied by 0.35, and it makes no document a hit by
// itself. So "who is he" finds nothing, and yet of two documents about trains, "the
// train to her" prefers the one that is about her. To leave stop words out, as most
// do, loses more than it saves: of 2,958 verses of one French translation of the New
// Testament, looked for by eight words of another, 86 % are among the first ten,
// and 80 % without stop words. The parameters were chosen by such verses in English,
// French and German, by questions about conversations and by those about abstracts of
// papers: by every other query, and looked at with the rest.
package text
