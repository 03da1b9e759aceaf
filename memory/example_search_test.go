package memory_test

import (
	"context"
	"fmt"
	"iter"
	"log"
	"strings"
	"sync/atomic"

	"github.com/cowstore/cowstore/memory"
	"github.com/cowstore/cowstore/memory/text"
)

// What to highlight in a hit: the words that were found, as the text has them.
func ExampleHit_Matches() {
	notes := memory.New(memory.Options{}).Space("notes")
	trip := "Caroline took the night train, with two horses."
	if _, err := notes.Put("trip", trip); err != nil {
		log.Fatal(err)
	}
	q := memory.Query{Text: `which horse was on the "night train"`}
	hits, err := notes.Search(q)
	if err != nil {
		log.Fatal(err)
	}
	for _, m := range hits[0].Matches() {
		fmt.Printf("%s (%s)\n", m.Text[m.From:m.To], m.Term)
	}
	// Output:
	// night (night)
	// train (train)
	// horses (hors)
}

// A search in a space and all spaces below it.
func ExampleQuery_below() {
	m := memory.New(memory.Options{})
	for user, likes := range map[string]string{
		"ann": "green tea",
		"bob": "tea, and only tea",
		"eve": "coffee",
	} {
		notes := m.Space("user", user, "notes")
		if _, err := notes.Put("drink", likes); err != nil {
			log.Fatal(err)
		}
	}
	hits, err := m.Space("user").Search(memory.Query{Text: "tea", Below: true})
	if err != nil {
		log.Fatal(err)
	}
	for _, h := range hits {
		fmt.Println(h.Space(), h.Key)
	}
	// Output:
	// [user bob notes] drink
	// [user ann notes] drink
}

// A search while somebody types: the last word may be incomplete.
func ExampleQuery_prefix() {
	notes := memory.New(memory.Options{}).Space("notes")
	if _, err := notes.Put("trip", "the night train to Lyon"); err != nil {
		log.Fatal(err)
	}
	hits, err := notes.Search(memory.Query{Text: "night tr", Prefix: true})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(hits[0].Key, len(hits[0].Matches()))
	// Output: trip 2
}

// What was stored before the Analyzer changed is found by it after Reindex.
func ExampleSpace_Reindex() {
	french, err := text.Language("fr")
	if err != nil {
		log.Fatal(err)
	}
	var language atomic.Pointer[text.Analyzer] // of all users; nil: English
	m := memory.New(memory.Options{
		AnalyzerOf: func([]string) *text.Analyzer { return language.Load() },
	})
	s := m.Space("user", "ada")
	if _, err := s.Put("k", "Les chevaux"); err != nil {
		log.Fatal(err)
	}
	language.Store(french)
	for _, reindex := range []bool{false, true} {
		if reindex {
			if _, err := s.Reindex(context.Background()); err != nil {
				log.Fatal(err)
			}
		}
		hits, err := s.Search(memory.Query{Text: "cheval"})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(len(hits))
	}
	// Output:
	// 0
	// 1
}

// Which text of a value is searched, in which language, and what counts for more.
func ExampleOptions_textOf() {
	french, err := text.Language("fr")
	if err != nil {
		log.Fatal(err)
	}
	m := memory.New(memory.Options{
		AnalyzerOf: func(space []string) *text.Analyzer {
			if len(space) > 0 && space[0] == "fr" {
				return french
			}
			return nil // Options.Analyzer: English
		},
		TextOf: func(_ []string, v memory.Value) iter.Seq2[string, int] {
			return func(yield func(string, int) bool) {
				_ = yield(v.Step("title").String(), 3) &&
					yield(v.Step("text").String(), 1) // and no role
			}
		},
	})
	s := m.Space("fr", "notes")
	message := map[string]any{
		"role":  "user",
		"title": "Les chevaux",
		"text":  "Ils mangeaient",
	}
	if _, err := s.Put("k", message); err != nil {
		log.Fatal(err)
	}
	for _, query := range []string{"cheval", "manger", "user"} {
		hits, err := s.Search(memory.Query{Text: query})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(query, len(hits))
	}
	// Output:
	// cheval 1
	// manger 1
	// user 0
}

// Entries get their vectors from a model, and a question its own.
func ExampleSpace_Recall() {
	model := func(_ context.Context, texts []string) (all [][]float32, err error) {
		for _, text := range texts { // a service, as a rule
			tea, train := strings.Count(text, "tea"), strings.Count(text, "train")
			all = append(all, []float32{float32(tea), float32(train), 0.1})
		}
		return all, nil
	}
	m := memory.New(memory.Options{Embed: model})
	notes := m.Space("notes")
	_, _ = notes.Put("drinks", "teas of all kinds")
	_, _ = notes.Put("travels", "trains to Lyon")
	ctx := context.Background()
	fmt.Println(m.EmbedMissing(ctx)) // or, in a goroutine, EmbedEvery

	hits, err := notes.Recall(ctx, "which train?", memory.Query{K: 1})
	fmt.Println(hits[0].Key, hits[0].Unembedded, err)
	// Output:
	// 2 <nil>
	// travels <nil> <nil>
}
