package text

// A Hit is a document that has a token of the query which is not a stop word, and its
// score, which is above zero.
type Hit struct {
	Key   string
	Score float64
	Part  int // the number of its Part in SearchAll; 0 otherwise
}

// Search returns the best documents for the tokens of query, which is analyzed as
// the documents are, at most K, by score from the highest, and those of equal score by
// key. A document need not have all tokens, but one that is not a stop word, or that is in
// quotes: a query without any has no hits.
//
// It returns an error that is ErrOptions if K is negative or MinScore is not a
// number.
//
// The cost depends mainly on how common the rarer tokens of the query are: once
// K documents are found, those that have only common tokens are passed over.
func (x *Index) Search(query string, o Options) ([]Hit, error) {
	return SearchAll([]Part{{x, o.Accept, o.Texts}}, query, o)
}
