package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/blevesearch/bleve/v2"
	"github.com/blevesearch/bleve/v2/analysis/lang/en"
	"github.com/blevesearch/bleve/v2/index/scorch"
	bleveindex "github.com/blevesearch/bleve_index_api"

	"github.com/cowstore/cowstore/bench/corpus"
	"github.com/cowstore/cowstore/bench/stores"
	"github.com/cowstore/cowstore/memory"
)

// texts compares the ten documents that fit two or three words best, among the
// comments on the symbols of the Go installation, with bleve: its index in memory
// of old, which ranks by TF-IDF, and the newer one, held in memory too, which
// ranks by BM25 as we do. Both cut words as we do, without stop words and stems. That
// may flatter us, so there is the newer one with bleve's analyzer of English too. What
// they find is compared by recalls.
func (b *bars) texts(most int) {
	root, err := corpus.Root()
	var records []stores.Record
	if err == nil {
		records, err = corpus.Load(b.ctx, root, func(int, int) {})
	}
	if err != nil {
		b.report("searches of text: "+err.Error(), 0, 0, "", 0, 0, false)
		return
	}
	records = corpus.Resize(records, min(most, len(records)), 1)
	queries := textQueries(records, 100)

	ours := memory.New(memory.Options{}).Space("symbols")
	for i := range records {
		must(errOf(ours.Put(records[i].Key(), records[i].Doc)))
	}
	old, err := bleve.NewMemOnly(stores.BleveMapping(bleveindex.TFIDFScoring, stores.WordsAnalyzer))
	must(err)
	inScorch := func(analyzer string) bleve.Index {
		x, err := bleve.NewUsing("", stores.BleveMapping(bleveindex.BM25Scoring, analyzer), scorch.Name, bleve.Config.DefaultKVStore, nil)
		must(err)
		return x
	}
	recent, english := inScorch(stores.WordsAnalyzer), inScorch(en.AnalyzerName)
	for _, x := range []bleve.Index{old, recent, english} {
		defer func() { _ = x.Close() }()
		fillBleve(x, records)
	}

	// Not all: scorch takes the number of different words for that of all words
	// when it works out how long a document is on average.
	agree := 0.0
	for _, q := range queries {
		found := spaceTexts(ours, q)
		for _, key := range bleveTexts(recent, q, []string{"-_score", "_id"}) {
			if slices.Contains(found, key) {
				agree++
			}
		}
	}
	per := func(passes int, search func(q string) []string) func() float64 {
		return func() float64 {
			return float64(timed(func() {
				for range passes {
					for _, q := range queries {
						sink += uint64(len(search(q)))
					}
				}
			})) / float64(passes*len(queries))
		}
	}
	s := interleave(b.rounds,
		per(10, func(q string) []string { return spaceTexts(ours, q) }),
		per(1, func(q string) []string { return bleveTexts(old, q, nil) }),
		per(1, func(q string) []string { return bleveTexts(recent, q, nil) }),
		per(1, func(q string) []string { return bleveTexts(english, q, nil) }),
	)
	at := fmt.Sprintf(" in %d symbols", len(records))
	b.add("the best 10 for 2 or 3 words"+at+" vs bleve.NewMemOnly", "ns", s[0], s[1], 0.2)
	b.add("the best 10 for 2 or 3 words"+at+" vs bleve's scorch in memory", "ns", s[0], s[2], 0)
	b.add("the best 10 for 2 or 3 words"+at+" vs bleve en's scorch in memory", "ns", s[0], s[3], 0)
	b.add("of the best 10"+at+", those that scorch finds by BM25 too", "", []float64{agree / float64(len(queries))}, []float64{10}, 0)
}

// textQueries returns n queries of two and three different words of four letters
// or more, each of the words of one document, so that there is something to find.
func textQueries(records []stores.Record, n int) []string {
	r := rand.New(rand.NewPCG(5, 5))
	var queries []string
	for len(queries) < n {
		words := strings.FieldsFunc(strings.ToLower(records[r.IntN(len(records))].Doc), func(c rune) bool { return c < 'a' || 'z' < c })
		words = slices.DeleteFunc(words, func(w string) bool { return len(w) < 4 })
		slices.Sort(words)
		words = slices.Compact(words)
		count := 2 + len(queries)%2
		if len(words) < count {
			continue
		}
		r.Shuffle(len(words), func(i, j int) { words[i], words[j] = words[j], words[i] })
		queries = append(queries, strings.Join(words[:count], " "))
	}
	return queries
}

func spaceTexts(s memory.Space, q string) []string {
	return keysOf(s.SearchText(q, memory.SearchOptions{}))
}

func keysOf(hits []memory.Hit, err error) []string {
	must(err)
	keys := make([]string, len(hits))
	for i, h := range hits {
		keys[i] = h.Key
	}
	return keys
}

// bleveText is a document of bleve.
type bleveText struct{ Text string }

// fillBleve indexes the records, 1,000 at a time.
func fillBleve(x bleve.Index, records []stores.Record) {
	for part := range slices.Chunk(records, 1_000) {
		batch := x.NewBatch()
		for i := range part {
			must(batch.Index(part[i].Key(), bleveText{part[i].Doc}))
		}
		must(x.Batch(batch))
	}
}

// bleveTexts returns the ten best documents for the words of q, any of them, in
// that order; nil: by score alone.
func bleveTexts(x bleve.Index, q string, order []string) []string {
	match := bleve.NewMatchQuery(q)
	match.SetField("Text")
	request := bleve.NewSearchRequestOptions(match, 10, 0, false)
	if order != nil {
		request.SortBy(order)
	}
	result, err := x.Search(request)
	must(err)
	keys := make([]string, len(result.Hits))
	for i, h := range result.Hits {
		keys[i] = h.ID
	}
	return keys
}
