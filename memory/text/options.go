package text

import (
	"errors"
	"fmt"
	"iter"
	"math"
)

// ErrOptions reports [Options] with a negative K, or with a MinScore that is not a number.
var ErrOptions = errors.New("text: bad search options")

// Options say what Search returns. The zero value asks for the best ten.
type Options struct {
	// K is the most hits to return; 0 means 10.
	K int

	// MinScore is the least score of a hit, where 1 is what a document of average length
	// has with all words of the query; 0 means no limit.
	MinScore float64

	// Accept chooses the documents that may be hits; nil means all. It is called in
	// no particular order, at most once a document, and only for those that would be
	// among the best K of those accepted so far.
	Accept func(key string) bool

	// Prefix says that the last word of the query may be incomplete, as while somebody
	// types it: the 64 most common words of the index that begin with it count. Each
	// has the weight of one word that is in as many documents as all of them together.
	// The index has the stems of words: in English "happi" and "happiness" find
	// "happiness", and "happine" does not. Prefix adds time proportional to the number
	// of distinct words.
	Prefix bool

	// Texts, if not nil, returns what Tokenize was given for a document. Then hits
	// must have each phrase that is in quotes in the query: the same tokens one after
	// the other, stop words included. It is called for few documents, all of which
	// Accept accepts. Without Texts, quotes mean nothing.
	Texts func(key string) iter.Seq[string]
}

// check checks o, and sets what is not set.
func (o *Options) check() error {
	if o.K < 0 {
		return fmt.Errorf("%w: K is %d", ErrOptions, o.K)
	}
	if math.IsNaN(o.MinScore) {
		return fmt.Errorf("%w: MinScore is not a number", ErrOptions)
	}
	if o.K == 0 {
		o.K = 10
	}
	return nil
}

// A Hit is a document that Search found, and its score, which is above zero.
type Hit struct {
	Key   string
	Score float64
	Part  int // the number of its Part in SearchAll; 0 otherwise
}
