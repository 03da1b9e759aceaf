package recall

import (
	"hash/fnv"
	"math"
	"math/rand/v2"
	"strings"
	"unicode"
)

// embedDim is how many dimensions the vectors of an Embedder have.
const embedDim = 1024

// Embedder returns a function that makes a vector of a text: of which runs of three and
// four letters its words have, each by how rare it is among texts, added up where
// its hash says (K. Weinberger et al., Feature Hashing for Large Scale Multitask Learning,
// ICML 2009). It stands in for a model: it knows which words are written alike, and nothing
// of what they mean. It always makes the same vector of the same text.
func Embedder(texts []Text) func(text string) []float32 {
	in := map[string]int{}
	for _, t := range texts {
		seen := map[string]bool{}
		eachGram(t.Text, func(gram string) {
			if !seen[gram] {
				seen[gram] = true
				in[gram]++
			}
		})
	}
	return func(text string) []float32 {
		v := make([]float32, embedDim)
		eachGram(text, func(gram string) {
			rare := float32(math.Log(float64(len(texts)+1) / float64(in[gram]+1)))
			hash := fnv.New64a()
			_, _ = hash.Write([]byte(gram))
			places := rand.NewPCG(hash.Sum64(), 1)
			for range 4 { // for it shares each with others
				at := places.Uint64()
				if at>>63 == 0 {
					v[at%embedDim] += rare
				} else {
					v[at%embedDim] -= rare
				}
			}
		})
		return v
	}
}

// eachGram calls f with each run of three and four letters of a word, whose ends count
// as letters.
func eachGram(text string, f func(gram string)) {
	for _, word := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) }) {
		letters := []rune("^" + word + "$")
		for n := 3; n <= 4; n++ {
			for i := 0; i+n <= len(letters); i++ {
				f(string(letters[i : i+n]))
			}
		}
	}
}
