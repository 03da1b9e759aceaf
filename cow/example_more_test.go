package cow_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/cow/hook"
)

// A table of how many notes have each word follows from the notes, in the same version.
func ExampleNewDerived() {
	var db cow.DB
	notes := cow.NewTable[string](&db, "notes", cow.Options[string]{})
	derive := func(tx *cow.Tx, e *cow.Editor[string, int]) error {
		count := func(text string, n int) {
			for word := range strings.FieldsSeq(text) {
				e.Upsert(word, func(v *int, _ bool) error { *v += n; return nil })
				if v, _ := e.Get(word); v == 0 {
					e.Delete(word)
				}
			}
		}
		for c := range notes.Changes(tx) {
			old, _ := c.Old() // "" if there was none
			is, _ := c.New()
			count(old, -1)
			count(is, 1)
		}
		return nil
	}
	words, err := cow.NewDerived(&db, "words", cow.Options[int]{}, derive)

	notes.Set("a", "green tea")
	notes.Set("b", "black tea")
	fmt.Println(words.Get("tea"))

	notes.Set("a", "green apples")
	now := db.Load() // both tables at one version
	fmt.Println(words.In(now).Get("tea"))
	fmt.Println(words.In(now).Get("apples"))
	fmt.Println(now.Version(), err)
	// Output:
	// 2 true
	// 1 true
	// 1 true
	// 3 <nil>
}

// A row may have any number of index keys, here the words of a note.
func ExampleNewMultiIndex() {
	notes := cow.New[string](cow.Options[string]{})
	byWord, err := cow.NewMultiIndex(notes, "word",
		func(r cow.Row[string, string], add func(string)) {
			for word := range strings.FieldsSeq(r.Value()) {
				add(word)
			}
		}, cow.IndexOptions[string]{})
	notes.Set("a", "green tea")
	notes.Set("b", "black tea")

	words := byWord.In(notes.Load())
	for _, row := range words.Equal("tea").All() {
		fmt.Println(row.Key())
	}
	for word, row := range words.Prefix("g").All() {
		fmt.Println(word, row.Key())
	}
	fmt.Println(err)
	// Output:
	// a
	// b
	// green a
	// <nil>
}

// A told prints each update when it ends.
type told struct{}

func (told) OnUpdateEnd(_ context.Context, u hook.Update) {
	fmt.Println("version", u.Version, u.Err)
	if u.Tables != nil {
		for _, t := range u.Tables() {
			fmt.Println(" ", t.Name, t.Rows)
		}
	}
}

// A hook is a value of the program that implements interfaces of package hook.
func ExampleDB_AddHook() {
	var db cow.DB
	users := cow.NewTable[string](&db, "users", cow.Options[string]{})
	counts := cow.NewTable[string](&db, "counts", cow.Options[int]{})
	remove := db.AddHook(told{})
	_ = db.Update(func(tx *cow.Tx) error {
		users.Edit(tx).Set("ada", "Ada")
		users.Edit(tx).Set("bob", "Bob")
		counts.Edit(tx).Set("users", 2)
		return nil
	})
	_, _ = users.Insert("ada", "another")
	remove()
	users.Delete("bob") // nobody is told
	// Output:
	// version 1 <nil>
	//   users 2
	//   counts 1
	// version 0 cow: table "users": ada: key exists
}

// What must only happen if the update is published is deferred: a mail, a line of a log.
func ExampleTx_Defer() {
	var db cow.DB
	seats := cow.NewTable[string](&db, "seats", cow.Options[string]{})
	book := func(seat, name string) error {
		return db.Update(func(tx *cow.Tx) error {
			tx.Defer(func() { fmt.Println("a mail to", name) })
			return seats.Edit(tx).Insert(seat, name)
		})
	}
	fmt.Println(book("1A", "Ada"))
	fmt.Println(book("1A", "Bob"))
	// Output:
	// a mail to Ada
	// <nil>
	// cow: table "seats": 1A: key exists
}

// The values of version 0 were texts. Those of version 1 are structs, and texts are still read.
func ExampleVersioned() {
	type name struct{ First, Last string }
	older := func(_ byte, b []byte) (n name, err error) {
		var text string
		if err := json.Unmarshal(b, &text); err != nil {
			return n, err
		}
		n.First, n.Last, _ = strings.Cut(text, " ")
		return n, nil
	}
	codec := cow.Versioned[name]{Version: 1, Other: older}
	before, _ := cow.Versioned[string]{}.Append(nil, "Ada Lovelace")
	now, _ := codec.Append(nil, name{"Grace", "Hopper"})
	fmt.Println(codec.Decode(before))
	fmt.Println(codec.Decode(now))
	fmt.Println(codec.Schema()) // what a file keeps of it
	// Output:
	// {Ada Lovelace} <nil>
	// {Grace Hopper} <nil>
	// version 1, JSON of {"First":"string","Last":"string"}
}

// A searcher is a hook that is told of searches.
type searcher struct{}

func (searcher) OnSearched(_ context.Context, s hook.Search) {
	fmt.Println("searched", s.Candidates, "texts:", s.Hits, "found")
}

// A package that searches a table tells the hooks of its DB, so that logs and metrics have it.
func ExampleHooked() {
	notes := cow.New[string](cow.Options[string]{})
	notes.Set("a", "green tea")
	notes.Set("b", "black tea")
	notes.Set("c", "milk")

	search := func(ctx context.Context, word string) {
		all, hits := notes.Load(), 0
		for _, text := range all.All() {
			if strings.Contains(text, word) {
				hits++
			}
		}
		tell := cow.Hooked[hook.Searched](notes.DB())
		if tell != nil { // nil: no hook is told of searches
			s := hook.Search{Kind: "text", Hits: hits, Candidates: all.Len()}
			tell(func(h hook.Searched) { h.OnSearched(ctx, s) })
		}
	}
	search(context.Background(), "milk")
	notes.DB().AddHook(searcher{})
	search(context.Background(), "tea")
	// Output: searched 3 texts: 2 found
}
