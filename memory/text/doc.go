// Package text has a persistent full-text index: an immutable [Index] of documents by key.
// [Index.Set] and [Index.Delete] return the next version, which shares nearly all of the last. Any
// number of goroutines may search any version, and derive others from it, at once. There are no
// locks.
//
//	x = x.Set("note/1", text.Tokenize(slices.Values([]string{title, body})))
//	hits, err := x.Search("who likes green tea", text.Options{K: 5})
//
// An [Analyzer] makes tokens of words: in English by default, so that "horse" finds "horses"; see
// [Language], [Plain] and [Func]. Queries are analyzed as the documents are. [Analyzer.Places] says
// where a text matches.
//
// # Ranking
//
// [Index.Search] ranks by BM25, of S. Robertson and H. Zaragoza, The Probabilistic Relevance
// Framework: BM25 and Beyond, Foundations and Trends in Information Retrieval 3(4), 2009. Let an
// index have N documents of avg tokens on average, n of which have a token. Where it occurs tf
// times in a document of |d| tokens, its weight is
//
//	ln(1 + (N − n + 0.5) / (n + 0.5)) · tf / (tf + K),  K = 2.5 · (|d| + 25) / (avg + 150)
//
// That is BM25 with k1 = 2.5·(avg + 25)/(avg + 150) and b = avg/(avg + 25). Where documents are a
// line or two, it counts most how many words of the query one has; where they are long, also how
// often, and how long the document is. The 1 in the logarithm keeps the weight of a token that most
// documents have above zero. Like Lucene since version 8, the formula has no factor k1 + 1. A token
// that the query repeats counts as often. N, n, avg and |d| are exact, for the version that is
// searched.
//
// The score of a document is the sum of the weights of the query's tokens, divided by the sum of a
// document of average length that has each of them once. So 1 is a good match, whatever the query
// is. A score is above 1 where tokens occur more often, or the document is short. A token that no
// document has counts as missing, unless it is a stop word.
//
// The weight of a stop word is multiplied by 0.35, and stop words alone make no document a hit. So
// "who is he" finds nothing, and yet of two documents about trains, "the train to her" prefers the
// one that is about her. Leaving stop words out, as most do, loses more than it saves: 2,958 verses
// of one French translation of the New Testament were looked for by eight words of another; 86 %
// were among the first ten hits, and 80 % without stop words. The parameters were chosen by every
// other query, and checked with the rest: such verses in English, French and German, questions about
// conversations and questions about abstracts of papers.
package text
