package memory_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/memory"
	"github.com/cowstore/cowstore/memory/filter"
)

func Example_readme() {
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

	hits, _ := notes.Search(memory.Query{Vector: []float32{0, 1, 0}, K: 3, Filter: filter.Meta("year").Gte(2026)})
	words, _ := notes.Search(memory.Query{Text: "trains to Lyon", K: 3})
	both, _ := notes.Search(memory.Query{Text: "french", Vector: []float32{0, 1, 0}, K: 3})
	fmt.Println(hits[0].Key, words[0].Key, len(both))
	// Output:
	// Prefers short answers, in French tea
	// trip trip 2
}

func Example_readmeSnapshots() {
	ctx := context.Background()
	m := memory.New(memory.Options{})
	m.Retain(cow.Retention{Versions: 1000})
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
