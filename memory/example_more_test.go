package memory_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/memory"
)

// One write is undone by the revision that it returned. What came later stays.
func ExampleMemory_Undo() {
	m := memory.New(memory.Options{})
	m.DB().Retain(cow.Retention{Versions: 100})
	facts, ctx := m.Space("facts"), context.Background()
	_, err := facts.Put("drink", "tea")
	mistake, err2 := facts.Put("drink", "coffee")
	_, err3 := facts.Put("food", "soup")
	err4 := m.Undo(ctx, mistake)
	drink, _ := facts.Get("drink")
	food, _ := facts.Get("food")
	fmt.Println(drink, food, errors.Join(err, err2, err3, err4))

	fmt.Println("ErrNothingToUndo:", errors.Is(m.Undo(ctx, mistake), memory.ErrNothingToUndo))
	// Output:
	// tea soup <nil>
	// ErrNothingToUndo: true
}

// A fork is for what may come to nothing: it shares what it does not change.
func ExampleMemory_Fork() {
	m := memory.New(memory.Options{})
	_, err := m.Space("plan").Put("monday", "rest")
	draft := m.Fork(m.Load())
	_, err2 := draft.Space("plan").Put("monday", "work")
	is, _ := m.Space("plan").Get("monday")
	would, _ := draft.Space("plan").Get("monday")
	fmt.Println(is, would, errors.Join(err, err2))
	// Output: rest work <nil>
}

// The new fact is found, and the old one stays: in its history, and under its key.
func ExampleSpace_Supersede() {
	facts := memory.New(memory.Options{}).Space("facts")
	_, err := facts.Put("job", "Ada works at a bakery")
	bank := memory.Item{Value: "Ada works at a bank"}
	_, err2 := facts.Supersede("job", "new job", bank)
	hits, err3 := facts.Search(memory.Query{Text: "Where does Ada work?"})
	for _, h := range hits {
		fmt.Println(h.Key, h.Value)
	}
	old, ok := facts.Get("job")
	fmt.Println(old, ok, errors.Join(err, err2, err3))
	// Output:
	// new job Ada works at a bank
	// Ada works at a bakery true <nil>
}

// The values of a space may be of one Go type.
func ExampleOf() {
	type person struct {
		Name string `json:"name"`
		Age  int    `json:"age"`
	}
	people := memory.Of[person](memory.New(memory.Options{}).Space("people"))
	_, err := people.Put("ada", person{"Ada", 36})
	birthday := func(p *person, _ bool) error { p.Age++; return nil }
	_, err2 := people.Update("ada", birthday)
	ada, err3 := people.Get("ada")
	fmt.Println(ada.Name, ada.Age, errors.Join(err, err2, err3))
	// Output: Ada 37 <nil>
}

// Watch returns when the entry has been written again.
func ExampleSpace_Watch() {
	m := memory.New(memory.Options{})
	tasks := m.Space("tasks")
	_, err := tasks.Put("build", "running")
	seen := m.Load()
	go func() { _, _ = tasks.Put("build", "done") }()
	now, err2 := tasks.Watch(context.Background(), seen, "build")
	is, _ := tasks.In(now).Get("build")
	fmt.Println(is, errors.Join(err, err2))
	// Output: done <nil>
}
