// Package text has a persistent full-text index: an immutable [Index] of
// documents by key, of which [Index.Set] and [Index.Delete] return the next
// version, sharing nearly all of the last. Any number of goroutines may search
// any version, and derive others from it, at once; there are no locks.
//
//	x = x.Set("note/1", text.Tokenize(slices.Values([]string{title, body})))
//	hits, err := x.Search("who likes green tea", text.Options{K: 5})
//
// [Index.Search] ranks by BM25 as in S. Robertson and H. Zaragoza, The
// Probabilistic Relevance Framework: BM25 and Beyond, Foundations and Trends in
// Information Retrieval 3(4), 2009, equation 3.15, with k1 = 1.2 and b = 0.75.
// The score of a document of |d| tokens, among N of avg tokens on average, is the
// sum over the tokens t of the query of
//
//	ln(1 + (N − n + 0.5) / (n + 0.5)) · tf / (tf + k1·(1 − b + b·|d|/avg))
//
// where t occurs tf times in the document and in n documents. The 1 in the
// logarithm is Lucene's, and keeps a term of most documents above zero; like
// Lucene since version 8, and like the paper, the formula has no factor k1 + 1.
// A token that the query repeats counts as often. N, n, avg and |d| are exactly
// those of the documents of the version that is searched.
//
// Tokens are words as Unicode cuts them; see [Tokenize].
package text
