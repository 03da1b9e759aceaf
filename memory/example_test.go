package memory_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/memory"
	"github.com/cowstore/cowstore/memory/filter"
)

// A frozen value is stored and read without a copy, by anybody.
func Example() {
	facts := cow.New[string](cow.Options[memory.Value]{Immutable: true})
	profile := map[string]any{
		"name":      "Ada",
		"languages": []string{"French", "English"},
		"address":   map[string]any{"city": "London"},
	}
	v, err := memory.Freeze(profile)
	if err != nil {
		return
	}
	facts.Set("profile", v)
	profile["name"] = "spoiled" // the value has its own

	v, _ = facts.Get("profile")
	fmt.Println(v.Key("name").String(), v.Path("address.city").String(),
		v.Path("languages.1").String())
	fmt.Printf("%T\n", v.Key("languages").Any())
	// Output:
	// Ada London English
	// []string
}

// As returns a value as a Go type of the program.
func ExampleAs() {
	v, _ := memory.Freeze(map[string]any{"name": "Ada", "age": 36})
	type person struct {
		Name string
		Age  int
	}
	p, err := memory.As[person](v)
	fmt.Println(p, err)
	// Output: {Ada 36} <nil>
}

// A new answer of a model may say what is there already: then there is no need to write.
func ExampleEqual() {
	m := memory.New(memory.Options{})
	users := m.Space("users")
	_, err := users.Put("ada", map[string]any{"age": 36, "likes": []string{"tea"}})
	learn := func(key, answer string) error {
		v, err := memory.Freeze(json.RawMessage(answer))
		if old, ok := users.Get(key); err != nil || ok && memory.Equal(old, v) {
			return err
		}
		_, err = users.Put(key, v)
		return err
	}
	err2 := learn("ada", `{"likes": ["tea"], "age": 36.0}`)
	fmt.Println(m.Load().Version(), errors.Join(err, err2))
	err = learn("ada", `{"likes": ["tea", "chess"], "age": 36}`)
	fmt.Println(m.Load().Version(), err)
	// Output:
	// 1 <nil>
	// 2 <nil>
}

// Several spaces are written as one version, or not at all.
func ExampleMemory_Batch() {
	m := memory.New(memory.Options{})
	err := m.Batch(func(b *memory.Batch) error {
		if err := b.Space("accounts").Put("ada", 90); err != nil {
			return err
		}
		return b.Space("accounts", "log").Put("1", "ada spent 10")
	})
	fmt.Println(err, m.Load().Version(), m.Load().Len())

	err = m.Batch(func(b *memory.Batch) error {
		b.Space("accounts").ClearAll()
		return errors.New("changed my mind")
	})
	fmt.Println(err, m.Load().Version(), m.Load().Len())
	for path := range m.Load().Spaces(memory.SpacesOptions{}) {
		fmt.Println(path)
	}
	// Output:
	// <nil> 1 2
	// changed my mind 1 2
	// [accounts]
	// [accounts log]
}

// A space has verbs for counters, for new keys and for conflicts.
func ExampleSpace() {
	m := memory.New(memory.Options{})
	notes := m.Space("user", "42", "notes")
	notes.Put("visits", 1)
	more := func(v memory.Value) (any, error) { return v.Int() + 1, nil }
	_, err := notes.Modify("visits", more)
	v, ok := notes.Get("visits")
	fmt.Println(v.Int(), ok, err)

	e, _ := notes.Entry("visits")
	notes.Put("visits", 100)
	_, err = notes.SetIf("visits", e.Revision, 3) // somebody was faster
	fmt.Println("ErrRevision:", errors.Is(err, memory.ErrRevision))
	_, err = notes.Insert("visits", 0)
	fmt.Println(err)

	v, _, _ = notes.Take("visits")
	fmt.Println(v.Int(), notes.Len())
	// Output:
	// 2 true <nil>
	// ErrRevision: true
	// memory: space ["user" "42" "notes"], key "visits": key exists
	// 100 0
}

// The latest two entries of a year, by the prefix of their keys.
func ExampleSpaceSnapshot_List() {
	m := memory.New(memory.Options{})
	log := m.Space("log")
	days := []string{"2027-01-01", "2027-01-02", "2027-01-03", "2026-12-31"}
	for _, day := range days {
		log.Put(day, "did nothing")
	}
	latest := memory.ListOptions{Prefix: "2027", Reverse: true, Limit: 2}
	for e := range log.Load().List(latest) {
		fmt.Println(e.Key, e.Value.String())
	}
	// Output:
	// 2027-01-03 did nothing
	// 2027-01-02 did nothing
}

// The entries nearest to a vector, of those that a filter wants.
func ExampleSpace_Search() {
	m := memory.New(memory.Options{})
	facts := m.Space("facts")
	facts.PutItem("paris", memory.Item{
		Value:    "the capital of France",
		Vector:   []float32{0.9, 0.1},
		Metadata: map[string]any{"lang": "en", "year": 2026},
	})
	facts.PutItem("lyon", memory.Item{
		Value:    "une ville",
		Vector:   []float32{0.8, 0.2},
		Metadata: map[string]any{"lang": "fr", "year": 2027},
	})
	facts.PutItem("tea", memory.Item{
		Value:    "a drink",
		Vector:   []float32{0, 1},
		Metadata: map[string]any{"lang": "en", "year": 2020},
	})

	english := filter.And(
		filter.Meta("lang").Eq("en"),
		filter.Meta("year").Gte(2000),
	)
	hits, err := facts.Search(memory.Query{
		Vector: []float32{1, 0},
		K:      2,
		Filter: english,
	})
	for _, h := range hits {
		fmt.Printf("%s %.2f %s\n", h.Key, h.Score, h.Value.String())
	}
	fmt.Println(err)
	// Output:
	// paris 0.99 the capital of France
	// tea 0.00 a drink
	// <nil>
}

// A text and a vector in one query: an entry is found by both.
func ExampleSpace_Search_both() {
	m := memory.New(memory.Options{})
	facts := m.Space("facts")
	facts.PutItem("a", memory.Item{
		Value:  "The fox jumps.",
		Vector: []float32{1, 0},
	})
	facts.PutItem("b", memory.Item{
		Value:  "The dog sleeps.",
		Vector: []float32{0.9, 0.1},
	})
	facts.PutItem("c", memory.Item{
		Value:  "A fox, a dog, and another fox.",
		Vector: []float32{0, 1},
	})

	words, _ := facts.Search(memory.Query{Text: "FOX", K: 1})
	fmt.Println(words[0].Key)
	both, _ := facts.Search(memory.Query{
		Text:   "dog",
		Vector: []float32{0.5, 0.5},
		K:      1,
	})
	fmt.Println(both[0].Key)
	// Output:
	// c
	// b
}

// A snapshot stays as it is, and the past can be asked for.
func ExampleMemory_AsOf() {
	m := memory.New(memory.Options{})
	m.DB().Retain(cow.Retention{Versions: 100})
	plans := m.Space("plans")
	plans.Put("today", "work")
	before, then := m.Load(), time.Now()
	time.Sleep(20 * time.Millisecond) // clocks may be coarse
	plans.Put("today", "walk")

	was, _ := before.Space("plans").Get("today")
	is, _ := plans.Get("today")
	fmt.Println(was.String(), is.String())

	past, err := m.AsOf(then)
	v, _ := past.Space("plans").Get("today")
	fmt.Println(v.String(), err)
	first, err := m.At(1)
	v, _ = first.Space("plans").Get("today")
	fmt.Println(v.String(), err)
	// Output:
	// work walk
	// work <nil>
	// work <nil>
}

// What has happened so far in a space: the iteration ends where there is no more.
func ExampleSpace_Since() {
	m := memory.New(memory.Options{})
	m.DB().Retain(cow.Retention{Versions: 100}) // or there is no past to show
	ada := m.Space("ada")
	_, _ = ada.Put("drinks", "coffee")
	_, _ = ada.Put("drinks", "tea")
	_, _ = m.Space("bob").Put("drinks", "milk")

	for c, err := range ada.Since(0) {
		if err != nil {
			fmt.Println(err) // cow.ErrCompacted: it is too long ago
			break
		}
		fmt.Println(c.Version, c.Kind, c.Key, c.New.Value)
	}
	// Output:
	// 1 added drinks coffee
	// 2 changed drinks tea
}

// Something is tried out in a fork, and brought back.
func ExampleMemory_Merge() {
	m := memory.New(memory.Options{})
	plan := m.Space("plan")
	plan.Put("monday", "read")
	plan.Put("tuesday", "write")

	base := m.Load()
	trial := m.Fork(base)
	trial.Space("plan").Put("monday", "swim")
	trial.Space("plan").Delete("tuesday")
	plan.Put("monday", "sleep") // meanwhile

	_, err := m.Merge(context.Background(), base, trial.Load(), nil)
	var conflicts *memory.MergeError
	fmt.Println(errors.As(err, &conflicts), err)

	theirs := func(c memory.Conflict) (memory.Entry, error) { return c.Theirs, nil }
	_, err = m.Merge(context.Background(), base, trial.Load(), theirs)
	fmt.Println(err)
	for e := range plan.List(memory.ListOptions{}) {
		fmt.Println(e.Key, e.Value.String())
	}
	// Output:
	// true memory: changed on both sides, 1 in all: ["plan"] "monday"
	// <nil>
	// monday swim
}

// A TTL of an Item goes before that of its space.
func ExampleItem_tTL() {
	m := memory.New(memory.Options{})
	cache := m.Space("cache")
	cache.Configure(memory.SpaceOptions{TTL: time.Hour, MaxEntries: 1000})
	cache.Put("long", 2)
	cache.PutItem("short", memory.Item{Value: 1, TTL: time.Nanosecond})
	time.Sleep(20 * time.Millisecond)
	_, ok := cache.Get("short")
	n, err := m.Sweep(context.Background())
	fmt.Println("short:", ok, "entries:", cache.Len())
	fmt.Println("swept:", n, err)
	// Output:
	// short: false entries: 1
	// swept: 1 <nil>
}

// An entry is imported and exported as a line of JSON.
func ExampleSnapshot_Export() {
	m := memory.New(memory.Options{})
	line := `{"space":["user","42"],"key":"name","value":"Ada",` +
		`"created":"2027-01-01T10:00:00Z","updated":"2027-01-02T10:00:00Z"}`
	n, err := m.Import(context.Background(), strings.NewReader(line))
	fmt.Println(n, err)
	err = m.Load().Export(os.Stdout)
	fmt.Println(err)
	// Output:
	// 1 <nil>
	// {"space":["user","42"],"key":"name","value":"Ada","created":"2027-01-01T10:00:00Z","updated":"2027-01-02T10:00:00Z"}
	// <nil>
}
