package main

import (
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"text/tabwriter"

	"github.com/blevesearch/bleve/v2/analysis/lang/en"
	"github.com/blevesearch/bleve/v2/index/scorch"

	"github.com/cowstore/cowstore/bench/memories"
	"github.com/cowstore/cowstore/bench/recall"
	"github.com/cowstore/cowstore/memory"
	"github.com/cowstore/cowstore/memory/text"
)

// verses returns the verses in English as a test collection.
func verses() []recall.Set {
	return []recall.Set{{Name: "verses", Spaces: []*recall.Collection{recall.Verses("en")}}}
}

// vectors are ways to make vectors of texts, from none that help to good ones.
var vectors = []struct {
	name  string
	embed func(texts []recall.Text) func(text string) []float32
}{
	{"random", func([]recall.Text) func(string) []float32 { return random }},
	{"grams", recall.Embedder},
	{"LSA", func(texts []recall.Text) func(string) []float32 { return recall.LSA(texts, 150) }},
}

// random returns a vector that says nothing of a text.
func random(text string) []float32 {
	h := fnv.New64a()
	_, _ = io.WriteString(h, text)
	r := rand.New(rand.NewPCG(h.Sum64(), 1))
	v := make([]float32, 64)
	for i := range v {
		v[i] = float32(r.NormFloat64())
	}
	return v
}

// rank searches sets for their held queries, by words, beside bleve with its analyzer of
// English and BM25, and by vectors and by both. Differences are in points, with standard
// errors, paired by query.
func rank(sets []recall.Set, w io.Writer) error {
	words, both := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0), tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(words, "words\tqueries\tnDCG@10\tbleve's\tabove bleve\trecall@10\tbleve's\tabove bleve")
	fmt.Fprintln(both, "both\tvectors\twords\tvector\tboth\tabove words\tabove the better")
	for _, set := range sets {
		ndcg, found := map[string][]float64{}, map[string][]float64{}
		for _, c := range set.Spaces {
			if err := ask(c, func(by string, q recall.Query, keys []string) {
				ndcg[by] = append(ndcg[by], q.NDCG(keys))
				found[by] = append(found[by], q.Recall(keys))
			}); err != nil {
				return err
			}
		}
		fmt.Fprintf(words, "%s\t%d", set.Name, len(ndcg["words"]))
		for _, of := range []map[string][]float64{ndcg, found} {
			d, e := recall.Difference(of["words"], of["bleve"])
			fmt.Fprintf(words, "\t%.4f\t%.4f\t%+.1f ± %.1f", mean(of["words"]), mean(of["bleve"]), 100*d, 100*e)
		}
		fmt.Fprintln(words)
		for _, v := range vectors {
			better := ndcg["words"]
			if mean(ndcg[v.name]) > mean(better) {
				better = ndcg[v.name]
			}
			joined := ndcg["both "+v.name]
			d, e := recall.Difference(joined, ndcg["words"])
			f, g := recall.Difference(joined, better)
			fmt.Fprintf(both, "%s\t%s\t%.4f\t%.4f\t%.4f\t%+.1f ± %.1f\t%+.1f ± %.1f\n", set.Name, v.name,
				mean(ndcg["words"]), mean(ndcg[v.name]), mean(joined), 100*d, 100*e, 100*f, 100*g)
		}
	}
	_ = words.Flush()
	fmt.Fprintln(w)
	return both.Flush()
}

// ask tells what is found of a collection, by each way of searching, for its held queries.
func ask(c *recall.Collection, tell func(by string, q recall.Query, keys []string)) error {
	analyzer, err := text.Language("en")
	if err != nil {
		return err
	}
	m := memories.NewBleve(scorch.Name, en.AnalyzerName)
	defer m.Close()
	theirs := m.Space("texts").(*memories.BleveSpace)
	notes := make([]memories.Note, len(c.Texts))
	for i, t := range c.Texts {
		notes[i] = memories.Note{Key: t.Key, Value: t.Text}
	}
	theirs.Put(notes...)
	for _, q := range c.Held {
		tell("bleve", q, theirs.Matching(q.Text, 10))
	}
	for i, v := range vectors {
		embed, s := v.embed(c.Texts), memory.New(memory.Options{Analyzer: analyzer}).Space("texts")
		for _, t := range c.Texts {
			if _, err := s.PutItem(t.Key, memory.Item{Value: t.Text, Vector: embed(t.Text)}); err != nil {
				return err
			}
		}
		for _, q := range c.Held {
			if i == 0 {
				tell("words", q, memories.Keys(s.Search(memory.Query{Text: q.Text})))
			}
			like := embed(q.Text)
			var alike []string
			if like != nil {
				alike = memories.Keys(s.Search(memory.Query{Vector: like}))
			}
			tell(v.name, q, alike)
			tell("both "+v.name, q, memories.Keys(s.Search(memory.Query{Text: q.Text, Vector: like})))
		}
	}
	return nil
}

func mean(of []float64) (sum float64) {
	for _, x := range of {
		sum += x / float64(len(of))
	}
	return sum
}
