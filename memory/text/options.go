package text

import (
	"errors"
	"fmt"
	"iter"
	"math"
)

// ErrOptions says that Options have a value that makes no sense.
var ErrOptions = errors.New("text: bad search options")

// Options say what Search returns. The zero value asks for the best ten.
type Options struct {
	// K is the most hits to return; 0 means 10.
	K int

	// MinScore is the least score of a hit, where 1 is what a document of average length
	// has with all words of the query; 0 means no limit.
	MinScore float64

	// Accept chooses the documents that may be hits; nil means all. It is called
	// in no particular order, at most once a document, and only for those that
	// would be among the best K of what was accepted until then.
	Accept func(key string) bool

	// Prefix says that the last word of the query may be the beginning of one, as
	// somebody is still typing it: all words of the index that begin with it count,
	// the most common 64, each as one would that is in as many documents as they are
	// together. What the index has of words are stems: in English "happi" finds
	// "happiness", as the whole word does, "happine" does not. That takes time in
	// proportion to the number of distinct words.
	Prefix bool

	// Texts, if not nil, returns what Tokenize was given for a document. Then hits
	// must have what is in quotes in the query, as it stands there: the same tokens
	// one behind the other, of which stop words count as others do. It is asked for few
	// documents, those that Accept accepts. Without Texts, quotes mean nothing.
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

// A Hit is a document that has a token of the query which is not a stop word, and its
// score, which is above zero.
type Hit struct {
	Key   string
	Score float64
	Part  int // the number of its Part in SearchAll; 0 otherwise
}
