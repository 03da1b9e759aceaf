package main_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	_ "github.com/blevesearch/bleve/v2/analysis/lang/de"
	"github.com/blevesearch/bleve/v2/analysis/lang/en"
	_ "github.com/blevesearch/bleve/v2/analysis/lang/fr"
	"github.com/blevesearch/bleve/v2/index/scorch"
	"github.com/blevesearch/bleve/v2/index/upsidedown"
	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/bench/load"
	"github.com/cowstore/cowstore/bench/memories"
	"github.com/cowstore/cowstore/bench/recall"
	"github.com/cowstore/cowstore/memory"
	"github.com/cowstore/cowstore/memory/text"
)

// comments returns the comments on the symbols of the Go installation; verses with -small.
var comments = sync.OnceValue(func() (texts []recall.Text) {
	if *small {
		return recall.Verses("en").Texts[:size("1k")]
	}
	for _, r := range symbols() {
		texts = append(texts, recall.Text{Key: r.Key(), Text: r.Doc})
	}
	return texts
})

// A search returns the keys of the ten best texts.
type search func(query string) (keys []string)

// newSearches returns searches of a space that has the texts, by words, or by vectors as well:
// by both at once, or one after the other, the better of which counts.
func newSearches(by string, o memory.Options, texts []recall.Text) []search {
	var embed func(text string) []float32
	if by != "words" {
		embed = recall.Embedder(texts)
	}
	s := newSpace(o, len(texts), func(i int) memories.Note {
		n := memories.Note{Key: texts[i].Key, Value: texts[i].Text}
		if embed != nil {
			n.Vector = embed(texts[i].Text)
		}
		return n
	})
	words := func(q string) []string { return memories.Keys(s.Search(memory.Query{Text: q})) }
	switch by {
	case "words":
		return []search{words}
	case "both":
		return []search{func(q string) []string { return memories.Keys(s.Search(memory.Query{Text: q, Vector: embed(q)})) }}
	}
	return []search{words, func(q string) []string { return memories.Keys(s.Search(memory.Query{Vector: embed(q)})) }}
}

// newBleve returns a space of bleve that has the texts.
func newBleve(b *testing.B, kind, analyzer string, texts []recall.Text) *memories.BleveSpace {
	m := memories.NewBleve(kind, analyzer)
	b.Cleanup(func() { load.Release(m) })
	return filled(m.Space("texts").(*memories.BleveSpace), len(texts), func(i int) memories.Note {
		return memories.Note{Key: texts[i].Key, Value: texts[i].Text}
	})
}

// ask times a search for the queries, one after the other.
func ask(b *testing.B, search search, queries []string) {
	i := 0
	per(b, 1, "search", func() {
		sink += uint64(len(search(queries[i%len(queries)])))
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
	b.Run("texts=symbols/store=memory", func(b *testing.B) {
		ask(b, newSearches("words", memory.Options{}, comments())[0], textQueries(comments(), 100))
	})
	for _, peer := range []struct{ store, kind, analyzer string }{
		{"bleve-memonly", upsidedown.Name, memories.WordsAnalyzer}, {"bleve-scorch", scorch.Name, memories.WordsAnalyzer},
		{"bleve-en", scorch.Name, en.AnalyzerName},
	} {
		b.Run("texts=symbols/store="+peer.store, func(b *testing.B) {
			s, queries := newBleve(b, peer.kind, peer.analyzer, comments()), textQueries(comments(), 100)
			ask(b, func(q string) []string { return s.Matching(q, 10) }, queries)
			if peer.store != "bleve-scorch" {
				return
			}
			ours, agree := newSearches("words", memory.Options{}, comments())[0], 0.0
			for _, q := range queries {
				theirs := s.MatchingBy(q, 10, "-_score", "_id")
				agree += float64(len(theirs)) * recall.Query{Relevant: theirs}.Recall(ours(q))
			}
			b.ReportMetric(agree/float64(len(queries)), "agreeing/search")
		})
	}
	for _, language := range []string{"en", "fr", "de"} {
		verses := func() *recall.Collection { return recall.Verses(language) }
		for _, way := range []string{"words/store=memory", "words/store=bleve-" + language, "both/store=memory", "the-better/store=memory"} {
			searchCollection(b, "verses-"+language, way, language, verses)
		}
	}
	documentation := func() *recall.Collection { return recall.Documentation(comments(), size("1k")) }
	searchCollection(b, "documentation", "words/store=memory", "en", documentation)
	searchCollection(b, "documentation", "words/store=bleve-en", "en", documentation)
}

func searchCollection(b *testing.B, name, way, language string, collection func() *recall.Collection) {
	b.Run("texts="+name+"/by="+way, func(b *testing.B) {
		c, missed, queries := collection(), 100.0, []string(nil)
		if *small {
			c.Texts, c.Held = c.Texts[:size("1k")], c.Held[:30]
		}
		c.Held = c.Held[:min(len(c.Held), size("1k"))]
		for _, q := range c.Held {
			queries = append(queries, q.Text)
		}
		var all []search
		if by, ours := strings.CutSuffix(way, "/store=memory"); ours {
			analyzer, err := text.Language(language)
			require.NoError(b, err)
			all = newSearches(by, memory.Options{Analyzer: analyzer}, c.Texts)
		} else {
			s := newBleve(b, scorch.Name, language, c.Texts) // by which its analyzers are called
			all = []search{func(q string) []string { return s.Matching(q, 10) }}
		}
		ask(b, all[0], queries)
		for _, search := range all {
			missed = min(missed, 100-100*recall.Recall(c.Held, search))
		}
		b.ReportMetric(missed, "missed-%")
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
