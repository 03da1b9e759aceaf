package memory_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/memory"
	"github.com/cowstore/cowstore/memory/filter"
)

// Entries are stored with what they are found by: a vector, a text, metadata.
func Example_search() {
	m := memory.New(memory.Options{})
	notes := m.Space("user", "42", "notes") // a path of any strings, never joined into one

	profile := map[string]any{
		"text":  "Prefers short answers, in French",
		"likes": []string{"tea", "chess"},
	}
	_, err := notes.Put("profile", profile) // frozen: what happens to the map later does not show
	_, err2 := notes.PutItem("trip", memory.Item{
		Value:    "Is going to Lyon by train",
		Vector:   []float32{0.1, 0.9, 0.2}, // yours: there is no model in here
		Metadata: map[string]any{"kind": "plan", "year": 2027},
		TTL:      30 * 24 * time.Hour,
	})
	if err := errors.Join(err, err2); err != nil {
		return
	}

	v, _ := notes.Get("profile") // no lock, no copy, no allocation
	fmt.Println(v.Path("text").String(), v.Path("likes.0").String())

	hits, _ := notes.Search(memory.Query{Vector: []float32{0, 1, 0}, K: 3,
		Filter: filter.Meta("year").Gte(2026)})
	words, _ := notes.Search(memory.Query{Text: "trains to Lyon", K: 3})
	both, _ := notes.Search(memory.Query{Text: "french",
		Vector: []float32{0, 1, 0}, K: 3})
	fmt.Println(hits[0].Key, words[0].Key, len(both))
	// Output:
	// Prefers short answers, in French tea
	// trip trip 2
}

// Two spaces change in one version. A draft is merged, and the merge undone.
func Example_snapshots() {
	ctx := context.Background()
	m := memory.New(memory.Options{})
	m.DB().Retain(cow.Retention{Versions: 1000})
	err := m.Batch(func(b *memory.Batch) error { // several spaces, one version
		if err := b.Space("plans").Put("today", "write the report"); err != nil {
			return err // nothing happened
		}
		return b.Space("log").Put("1", "planned the day")
	})

	now := m.Load() // values, vectors, text and metadata at one version and one instant
	draft := m.Fork(now)
	_, err2 := draft.Space("plans").Put("today", "go for a walk") // a what-if run
	_, err3 := m.Merge(ctx, now, draft.Load(), nil)               // liked it

	is, _ := m.Space("plans").Get("today")
	was, _ := now.Space("plans").Get("today")
	fmt.Println(is.String(), "/", was.String())
	_, err4 := m.Merge(ctx, m.Load(), now, nil) // undo
	is, _ = m.Space("plans").Get("today")
	fmt.Println(is.String(), err, err2, err3, err4)
	// Output:
	// go for a walk / write the report
	// write the report <nil> <nil> <nil> <nil>
}

// Facts are embedded by a model, superseded, listed by a tag and put back.
func Example_facts() {
	ctx := context.Background()
	embed := func(_ context.Context, texts []string) (all [][]float32, err error) {
		for _, text := range texts {
			work, drink := strings.Count(text, "work"), strings.Count(text, "drink")
			all = append(all, []float32{float32(work), float32(drink), 0.1})
		}
		return all, nil
	}
	m := memory.New(memory.Options{Embed: embed}) // a model of yours
	m.DB().Retain(cow.Retention{Versions: 1000})  // for History and Undo
	facts := m.Space("facts")
	_, err := facts.Put("job", "Ada works at a bakery")
	_, err2 := facts.PutItem("drink", memory.Item{Value: "Ada drinks tea",
		Metadata: map[string]any{"tags": []string{"taste"}}})
	_, err3 := facts.Supersede("job", "new job",
		memory.Item{Value: "Ada works at a bank", Keep: true}) // never evicted
	_, err4 := m.EmbedMissing(ctx) // or, in a goroutine, EmbedEvery

	hits, err5 := facts.Recall(ctx, "Where does Ada work?", memory.Query{K: 1})
	fmt.Println(hits[0].Key, hits[0].Value)
	for e := range facts.List(memory.ListOptions{Filter: filter.Meta("tags").Contains("taste")}) {
		fmt.Println(e.Key, e.Value)
	}
	rev, err6 := facts.Put("drink", "Ada drinks coffee")
	err7 := m.Undo(ctx, rev)
	for c, err := range facts.History("drink") { // the newest first
		fmt.Println(c.Version, c.Kind, c.New.Value, err)
	}
	fmt.Println(errors.Join(err, err2, err3, err4, err5, err6, err7))
	// Output:
	// new job Ada works at a bank
	// drink Ada drinks tea
	// 6 changed Ada drinks tea <nil>
	// 5 changed Ada drinks coffee <nil>
	// 4 changed Ada drinks tea <nil>
	// 2 added Ada drinks tea <nil>
	// <nil>
}
