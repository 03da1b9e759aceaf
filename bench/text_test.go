package main_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/blevesearch/bleve/v2"
	"github.com/blevesearch/bleve/v2/analysis/lang/de"
	"github.com/blevesearch/bleve/v2/analysis/lang/en"
	"github.com/blevesearch/bleve/v2/analysis/lang/fr"
	"github.com/blevesearch/bleve/v2/index/scorch"
	bleveindex "github.com/blevesearch/bleve_index_api"
	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/bench/memories"
	"github.com/cowstore/cowstore/bench/recall"
	"github.com/cowstore/cowstore/bench/records"
	"github.com/cowstore/cowstore/memory"
	"github.com/cowstore/cowstore/memory/text"
)

// comments returns the comments on the symbols of the Go installation; verses with -small.
func comments() (texts []recall.Text) {
	if *small {
		return recall.Verses("en").Texts[:size("1k")]
	}
	records := symbols()
	for i := range records {
		texts = append(texts, recall.Text{Key: records[i].Key(), Text: records[i].Doc})
	}
	return texts
}

// A search returns the keys of the ten best texts. Of bleve, order is what to sort by; the
// score alone, if there is none.
type search func(query string, order ...string) (keys []string, err error)

// newSearches returns searches of a space that has the texts, with a vector of each if
// embed is not nil.
func newSearches(b *testing.B, o memory.Options, texts []recall.Text, embed func(text string) []float32) (words, vectors, both search) {
	s := newSpace(b, o, len(texts), func(i int) (string, memory.Item) {
		item := memory.Item{Value: texts[i].Text}
		if embed != nil {
			item.Vector = embed(texts[i].Text)
		}
		return texts[i].Key, item
	})
	all := memory.SearchOptions{}
	return func(q string, _ ...string) ([]string, error) { return keysOf(s.SearchText(q, all)) },
		func(q string, _ ...string) ([]string, error) { return keysOf(s.Search(embed(q), all)) },
		func(q string, _ ...string) ([]string, error) { return keysOf(s.SearchBoth(embed(q), q, all)) }
}

// newBleve returns a search of an index of bleve in memory: of the kind of old, which
// ranks by TF-IDF, or of scorch, the newer one, which ranks by BM25.
func newBleve(b *testing.B, kind, analyzer string, texts []recall.Text) search {
	var x bleve.Index
	var err error
	if kind == scorch.Name {
		x, err = bleve.NewUsing("", memories.BleveMapping(bleveindex.BM25Scoring, analyzer), kind, bleve.Config.DefaultKVStore, nil)
	} else {
		x, err = bleve.NewMemOnly(memories.BleveMapping(bleveindex.TFIDFScoring, analyzer))
	}
	require.NoError(b, err)
	b.Cleanup(func() { must(b, x.Close()) })
	for part := range slices.Chunk(texts, 1_000) {
		batch := x.NewBatch()
		for _, t := range part {
			must(b, batch.Index(t.Key, struct{ Text string }{t.Text}))
		}
		must(b, x.Batch(batch))
	}
	return func(q string, order ...string) (keys []string, err error) {
		match := bleve.NewMatchQuery(q)
		match.SetField("Text")
		request := bleve.NewSearchRequestOptions(match, 10, 0, false)
		if order != nil {
			request.SortBy(order)
		}
		result, err := x.Search(request)
		if err != nil {
			return nil, err
		}
		for _, h := range result.Hits {
			keys = append(keys, h.ID)
		}
		return keys, nil
	}
}

// ask times a search for the queries, one after the other.
func ask(b *testing.B, search search, queries []string) {
	i := 0
	per(b, 1, "search", func() {
		keys, err := search(queries[i%len(queries)])
		must(b, err)
		sink += uint64(len(keys))
		i++
	})
}

// BenchmarkSearchText finds the ten texts that fit some words best. Of the comments on
// symbols it reports how many scorch finds too: not all, since scorch takes the number of
// different words for that of all words when it works out how long a text is on average.
// bleve cuts words as we do, without stop words and stems, which may flatter us; and there
// is its analyzer of English. Of other texts, which queries are known to want, it reports
// how many are not found. No parameter was tuned with these queries.
func BenchmarkSearchText(b *testing.B) {
	symbols := sync.OnceValue(comments)
	words := func(b *testing.B, texts []recall.Text) search {
		words, _, _ := newSearches(b, memory.Options{}, texts, nil)
		return words
	}
	ofSymbols := func(store string, made func(b *testing.B, texts []recall.Text) search) {
		b.Run("texts=symbols/store="+store, func(b *testing.B) {
			search, queries := made(b, symbols()), textQueries(symbols(), 100)
			ask(b, search, queries)
			if store != "bleve-scorch" {
				return
			}
			ours, agree := words(b, symbols()), 0.0
			for _, q := range queries {
				found, err := ours(q)
				must(b, err)
				theirs, err := search(q, "-_score", "_id")
				must(b, err)
				agree += float64(len(theirs)) * records.Recall(found, theirs)
			}
			b.ReportMetric(agree/float64(len(queries)), "agreeing/search")
		})
	}
	ofSymbols("memory", words)
	ofSymbols("bleve-memonly", func(b *testing.B, texts []recall.Text) search { return newBleve(b, "", memories.WordsAnalyzer, texts) })
	ofSymbols("bleve-scorch", func(b *testing.B, texts []recall.Text) search {
		return newBleve(b, scorch.Name, memories.WordsAnalyzer, texts)
	})
	ofSymbols("bleve-en", func(b *testing.B, texts []recall.Text) search {
		return newBleve(b, scorch.Name, en.AnalyzerName, texts)
	})
	for _, language := range recall.Languages() {
		searchCollection(b, "verses-"+language, func(*testing.B) *recall.Collection { return recall.Verses(language) }, language)
	}
	searchCollection(b, "documentation", func(b *testing.B) *recall.Collection { return recall.Documentation(symbols(), 2*size("1k")) }, "en")
}

func searchCollection(b *testing.B, name string, collection func(b *testing.B) *recall.Collection, language string) {
	run := func(by, store string, searches func(b *testing.B, c *recall.Collection, o memory.Options) []search) {
		b.Run("texts="+name+"/by="+by+"/store="+store, func(b *testing.B) {
			c, missed, queries := collection(b), 100.0, []string(nil)
			if *small {
				c.Texts = c.Texts[:size("1k")]
			}
			c.Held = c.Held[:min(len(c.Held), size("1k"))]
			for _, q := range c.Held {
				queries = append(queries, q.Text)
			}
			analyzer, err := text.Language(language)
			require.NoError(b, err)
			all := searches(b, c, memory.Options{Analyzer: analyzer})
			ask(b, all[0], queries)
			for _, search := range all {
				missed = min(missed, 100-100*recall.Recall(c.Held, func(q string) []string {
					keys, err := search(q)
					must(b, err)
					return keys
				}))
			}
			b.ReportMetric(missed, "missed-%")
		})
	}
	run("words", "memory", func(b *testing.B, c *recall.Collection, o memory.Options) []search {
		words, _, _ := newSearches(b, o, c.Texts, nil)
		return []search{words}
	})
	run("words", "bleve-"+language, func(b *testing.B, c *recall.Collection, _ memory.Options) []search {
		analyzers := map[string]string{"en": en.AnalyzerName, "fr": fr.AnalyzerName, "de": de.AnalyzerName}
		return []search{newBleve(b, scorch.Name, analyzers[language], c.Texts)}
	})
	if name == "documentation" {
		return
	}
	run("both", "memory", func(b *testing.B, c *recall.Collection, o memory.Options) []search {
		_, _, both := newSearches(b, o, c.Texts, c.Embedder())
		return []search{both}
	})
	run("the-better", "memory", func(b *testing.B, c *recall.Collection, o memory.Options) []search {
		words, vectors, _ := newSearches(b, o, c.Texts, c.Embedder())
		return []search{words, vectors}
	})
}

// textQueries returns n queries of two and three different words of four letters or more,
// each of the words of one text, so that there is something to find.
func textQueries(texts []recall.Text, n int) (queries []string) {
	r := rand.New(rand.NewPCG(5, 5))
	for len(queries) < n {
		words := strings.FieldsFunc(strings.ToLower(texts[r.IntN(len(texts))].Text), func(c rune) bool { return c < 'a' || 'z' < c })
		words = slices.DeleteFunc(words, func(w string) bool { return len(w) < 4 })
		slices.Sort(words)
		words = slices.Compact(words)
		if count := 2 + len(queries)%2; len(words) >= count {
			r.Shuffle(len(words), func(i, j int) { words[i], words[j] = words[j], words[i] })
			queries = append(queries, strings.Join(words[:count], " "))
		}
	}
	return queries
}
