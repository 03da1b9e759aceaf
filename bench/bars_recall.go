package main

import (
	"fmt"
	"slices"

	"github.com/blevesearch/bleve/v2"
	"github.com/blevesearch/bleve/v2/analysis/lang/de"
	"github.com/blevesearch/bleve/v2/analysis/lang/en"
	"github.com/blevesearch/bleve/v2/analysis/lang/fr"
	"github.com/blevesearch/bleve/v2/index/scorch"
	bleveindex "github.com/blevesearch/bleve_index_api"

	"github.com/cowstore/cowstore/bench/corpus"
	"github.com/cowstore/cowstore/bench/recall"
	"github.com/cowstore/cowstore/bench/stores"
	"github.com/cowstore/cowstore/memory"
	"github.com/cowstore/cowstore/memory/text"
)

// recalls compares how often what is wanted is missing from the first ten hits, and how
// long a search takes, with bleve's analyzer of the same language, in scorch by BM25, on
// texts that everyone has: verses, and the comments on the symbols of the Go
// installation. Only queries that no parameter was tuned with are asked.
func (b *bars) recalls(most int) {
	var all []*recall.Collection
	for _, language := range recall.Languages() {
		all = append(all, recall.Verses(language))
	}
	root, err := corpus.Root()
	if err == nil {
		var symbols []stores.Record
		if symbols, err = corpus.Load(b.ctx, root, func(int, int) {}); err == nil {
			texts := make([]recall.Text, len(symbols))
			for i := range symbols {
				texts[i] = recall.Text{Key: symbols[i].Key(), Text: symbols[i].Doc}
			}
			all = append(all, recall.Documentation(texts, 2*most))
		}
	}
	if err != nil {
		b.report("recall of documentation: "+err.Error(), 0, 0, "", 0, 0, false)
	}
	for _, c := range all {
		ours, theirs, done := searchesOf(c)
		asked := c.Held[:min(most, len(c.Held))]
		missed := func(search func(string) []string) []float64 { return []float64{100 - 100*recall.Recall(asked, search)} }
		b.add(fmt.Sprintf("queries that miss what they want among 10 of %d %s vs bleve %s", len(c.Texts), c.Name, c.Language), "%",
			missed(ours), missed(theirs), 1)
		if c.Name != recall.DocumentationName {
			vectors, both := vectorSearchesOf(c)
			alone := []float64{min(missed(ours)[0], missed(vectors)[0])}
			b.add(fmt.Sprintf("those that miss it by words and vectors vs the better of these alone, %s", c.Name), "%", missed(both), alone, 1)
		}

		ask := func(search func(string) []string) func() float64 {
			return func() float64 {
				return float64(timed(func() {
					for _, q := range asked {
						sink += uint64(len(search(q.Text)))
					}
				})) / float64(len(asked))
			}
		}
		s := interleave(b.rounds, ask(ours), ask(theirs))
		limit := 0.0
		if c.Language == "en" {
			limit = 0.25
		}
		b.add(fmt.Sprintf("a search of %d %s vs bleve %s", len(c.Texts), c.Name, c.Language), "ns", s[0], s[1], limit)
		done()
	}
}

// vectorSearchesOf returns searches for the ten best of c by vectors, and by words too.
func vectorSearchesOf(c *recall.Collection) (vectors, both func(query string) []string) {
	analyzer, err := text.Language(c.Language)
	must(err)
	embed := c.Embedder()
	space := memory.New(memory.Options{Analyzer: analyzer}).Space("texts")
	for _, t := range c.Texts {
		must(errOf(space.PutItem(t.Key, memory.Item{Value: t.Text, Vector: embed(t.Text)})))
	}
	return func(q string) []string { return keysOf(space.Search(embed(q), memory.SearchOptions{})) },
		func(q string) []string { return keysOf(space.SearchBoth(embed(q), q, memory.SearchOptions{})) }
}

// searchesOf returns searches for the ten best of c: ours, and bleve's, until done.
func searchesOf(c *recall.Collection) (ours, theirs func(query string) []string, done func()) {
	analyzer, err := text.Language(c.Language)
	must(err)
	space := memory.New(memory.Options{Analyzer: analyzer}).Space("texts")
	name := map[string]string{"en": en.AnalyzerName, "fr": fr.AnalyzerName, "de": de.AnalyzerName}[c.Language]
	x, err := bleve.NewUsing("", stores.BleveMapping(bleveindex.BM25Scoring, name), scorch.Name, bleve.Config.DefaultKVStore, nil)
	must(err)
	for part := range slices.Chunk(c.Texts, 1_000) {
		batch := x.NewBatch()
		for _, t := range part {
			must(errOf(space.Put(t.Key, t.Text)))
			must(batch.Index(t.Key, bleveText{t.Text}))
		}
		must(x.Batch(batch))
	}
	return func(q string) []string { return spaceTexts(space, q) },
		func(q string) []string { return bleveTexts(x, q, nil) },
		func() { must(x.Close()) }
}
