package recall

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/blevesearch/bleve/v2/analysis/lang/en"
	"github.com/blevesearch/bleve/v2/registry"
)

// LSA returns a function that makes a vector of the tokens that bleve finds in a text in
// English, of so many dimensions at most, and nil if the texts have none of them: latent
// semantic analysis of the texts (S. Deerwester et al., Indexing by Latent Semantic
// Analysis, JASIS 41(6), 1990). The singular vectors span a space that is found by
// iteration from a random one (N. Halko, P.-G. Martinsson and J. Tropp, Finding Structure
// with Randomness, SIAM Review 53(2), 2011); vectors are in some basis of it, which changes
// no cosine. It always makes the same vector of the same text.
func LSA(texts []Text, dim int) func(text string) []float32 {
	english, err := registry.NewCache().AnalyzerNamed(en.AnalyzerName)
	must(err)
	terms, in := map[string]int{}, []float64(nil) // of each term: its number, in how many texts
	docs := make([]map[int]float64, len(texts))
	for i, t := range texts {
		docs[i] = map[int]float64{}
		for _, token := range english.Analyze([]byte(t.Text)) {
			n, ok := terms[string(token.Term)]
			if !ok {
				n = len(terms)
				terms[string(token.Term)], in = n, append(in, 0)
			}
			if docs[i][n]++; docs[i][n] == 1 {
				in[n]++
			}
		}
	}
	weigh := func(doc map[int]float64) {
		for n, count := range doc {
			doc[n] = (1 + math.Log(count)) * math.Log(float64(len(texts)+1)/in[n])
		}
	}
	for _, d := range docs {
		weigh(d)
		square := 0.0
		for _, n := range sorted(d) {
			square += d[n] * d[n]
		}
		for n := range d {
			d[n] /= math.Sqrt(square)
		}
	}
	dim = min(dim, len(terms), len(texts))
	r := rand.New(rand.NewPCG(13, 13))
	basis := make([][]float64, dim) // each as long as there are terms
	for i := range basis {
		basis[i] = make([]float64, len(terms))
		for n := range basis[i] {
			basis[i][n] = r.NormFloat64()
		}
	}
	orders := make([][]int, len(docs))
	for i, d := range docs {
		orders[i] = sorted(d)
	}
	for range 3 {
		orthonormal(basis)
		for i, b := range basis {
			next := make([]float64, len(b))
			for j, d := range docs {
				dot := 0.0
				for _, n := range orders[j] {
					dot += d[n] * b[n]
				}
				for _, n := range orders[j] {
					next[n] += dot * d[n]
				}
			}
			basis[i] = next
		}
	}
	orthonormal(basis)
	return func(text string) []float32 {
		doc := map[int]float64{}
		for _, token := range english.Analyze([]byte(text)) {
			if n, ok := terms[string(token.Term)]; ok {
				doc[n]++
			}
		}
		if len(doc) == 0 {
			return nil
		}
		weigh(doc)
		v, order := make([]float32, dim), sorted(doc)
		for i, b := range basis {
			dot := 0.0
			for _, n := range order {
				dot += doc[n] * b[n]
			}
			v[i] = float32(dot)
		}
		return v
	}
}

// orthonormal makes vectors of the same space that are, by Gram and Schmidt, twice, which is
// enough (L. Giraud et al., 2005). One that has nothing of its own is of zeros.
func orthonormal(vectors [][]float64) {
	for i, v := range vectors {
		for range 2 {
			for _, u := range vectors[:i] {
				dot := 0.0
				for n := range v {
					dot += u[n] * v[n]
				}
				for n := range v {
					v[n] -= dot * u[n]
				}
			}
		}
		square := 0.0
		for _, x := range v {
			square += x * x
		}
		for n := range v {
			if square > 1e-20 {
				v[n] /= math.Sqrt(square)
			} else {
				v[n] = 0
			}
		}
	}
}

// sorted returns the terms of a text in their order, so that sums are always the same.
func sorted(doc map[int]float64) []int { return slices.Sorted(maps.Keys(doc)) }
