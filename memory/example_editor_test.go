package memory_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/memory"
)

// An Editor reads what its Batch has written so far, which nobody else sees yet. The revision of
// that is Pending.
func ExampleEditor_reads() {
	m := memory.New(memory.Options{})
	user := m.Space("user")
	_, err := user.Put("name", "Ada")
	err2 := m.Batch(func(b *memory.Batch) error {
		e := b.Space("user")
		if err := e.Put("city", "London"); err != nil {
			return err
		}
		fmt.Println("inside:", e.Contains("city"), "outside:", user.Contains("city"))
		keys := []string{"name", "age", "city"}
		for i, v := range e.GetMany(keys) {
			fmt.Println(keys[i], v)
		}
		name, _ := e.Entry("name")
		city, _ := e.Entry("city")
		fmt.Println(name.Revision, "pending:", city.Revision == memory.Pending)
		return nil
	})
	city, _ := user.Entry("city")
	fmt.Println(city.Revision, errors.Join(err, err2))
	// Output:
	// inside: true outside: false
	// name Ada
	// city London
	// 1 pending: true
	// 2 <nil>
}

// A Batch knows its version before anybody sees it. By that version it can be undone later.
func ExampleBatch_Version() {
	m := memory.New(memory.Options{})
	m.DB().Retain(cow.Retention{Versions: 100})
	facts := m.Space("facts")
	var learned uint64
	err := m.Batch(func(b *memory.Batch) error {
		learned = b.Version()
		return errors.Join(
			b.Space("facts").Put("drink", "tea"),
			b.Space("facts").Put("food", "soup"),
		)
	})
	_, err2 := facts.Put("city", "Lyon")
	err3 := m.Undo(context.Background(), learned)
	for e := range facts.List(memory.ListOptions{}) {
		fmt.Println(e.Key, e.Value)
	}
	fmt.Println(learned, errors.Join(err, err2, err3))
	// Output:
	// city Lyon
	// 1 <nil>
}

// What is taken from one is given to another, and written down, or nothing of it happens.
func ExampleEditor_Modify() {
	m := memory.New(memory.Options{})
	budget := m.Space("budget")
	_, err := budget.Put("planner", 50)
	give := func(to string, n int64) error {
		less := func(v memory.Value) (any, error) {
			if v.Int() < n {
				return nil, errors.New("planner has too little left")
			}
			return v.Int() - n, nil
		}
		more := func(v memory.Value) (any, error) { return v.Int() + n, nil }
		return m.Batch(func(b *memory.Batch) error {
			return errors.Join(
				b.Space("budget").Upsert(to, more), // it may have none yet
				b.Space("log").AppendTo("given", to),
				b.Space("budget").Modify("planner", less),
			)
		})
	}
	fmt.Println(give("coder", 40), give("tester", 40))
	for e := range budget.List(memory.ListOptions{}) {
		fmt.Println(e.Key, e.Value)
	}
	given, _ := m.Space("log").Get("given")
	fmt.Println(given.Len(), given.Index(0), err)
	// Output:
	// <nil> planner has too little left
	// coder 40
	// planner 10
	// 1 coder <nil>
}

// Two entries become one, unless one of them was written since they were read.
func ExampleEditor_SetIf() {
	m := memory.New(memory.Options{})
	plan := m.Space("plan")
	_, err := plan.Put("monday", "read")
	_, err2 := plan.Put("tuesday", "swim")

	monday, _ := plan.Entry("monday")
	tuesday, _ := plan.Entry("tuesday")
	join := func(b *memory.Batch) error {
		e := b.Space("plan")
		both := fmt.Sprint(monday.Value, " and ", tuesday.Value)
		if err := e.SetIf("monday", monday.Revision, both); err != nil {
			return err
		}
		return e.DeleteIf("tuesday", tuesday.Revision)
	}
	_, err3 := plan.Put("tuesday", "run") // by somebody else
	fmt.Println("ErrRevision:", errors.Is(m.Batch(join), memory.ErrRevision))
	fmt.Println(plan.Get("monday"))

	tuesday, _ = plan.Entry("tuesday") // again
	fmt.Println(m.Batch(join))
	fmt.Println(plan.Get("monday"))
	fmt.Println(plan.Contains("tuesday"), errors.Join(err, err2, err3))
	// Output:
	// ErrRevision: true
	// read true
	// <nil>
	// read and run true
	// false <nil>
}

// An entry is renamed, unless there is one of the new name: then nothing is deleted either.
func ExampleEditor_Insert() {
	m := memory.New(memory.Options{})
	notes := m.Space("notes")
	rename := func(from, to string) error {
		return m.Batch(func(b *memory.Batch) error {
			e := b.Space("notes")
			v, ok := e.Get(from)
			if !ok {
				return memory.ErrNotFound
			}
			e.Delete(from)
			return e.Insert(to, v)
		})
	}
	_, err := notes.Put("draft", "Dear Bob,")
	_, err2 := notes.Put("old", "Dear Eve,")
	fmt.Println(rename("draft", "letter"), errors.Join(err, err2))
	fmt.Println("ErrExists:", errors.Is(rename("old", "letter"), memory.ErrExists))
	for e := range notes.List(memory.ListOptions{}) {
		fmt.Println(e.Key, e.Value)
	}
	// Output:
	// <nil> <nil>
	// ErrExists: true
	// letter Dear Bob,
	// old Dear Eve,
}

// The facts of a conversation are stored together. The second says what the first does, which the
// Batch has just put.
func ExampleEditor_PutUnlessSimilar() {
	m := memory.New(memory.Options{})
	facts := []memory.Item{
		{Value: "Ada likes tea", Vector: []float32{1, 0}},
		{Value: "Ada loves tea", Vector: []float32{0.99, 0.05}},
		{Value: "Ada lives in Lyon", Vector: []float32{0, 1}},
	}
	err := m.Batch(func(b *memory.Batch) error {
		e, same := b.Space("facts"), memory.Query{MinScore: 0.95}
		for i, it := range facts {
			like, err := e.PutUnlessSimilar(fmt.Sprint(i), it, same)
			if err != nil {
				return err
			}
			if like.Key != "" {
				fmt.Printf("%v: as %v\n", it.Value, like.Value)
			}
		}
		return nil
	})
	fmt.Println(m.Space("facts").Len(), err)
	// Output:
	// Ada loves tea: as Ada likes tea
	// 2 <nil>
}

// One event makes two facts outdated. No search finds these any more, but they are still there.
func ExampleEditor_Supersede() {
	m := memory.New(memory.Options{})
	facts := m.Space("facts")
	_, err := facts.Put("job", "Ada works at a bakery")
	_, err2 := facts.Put("home", "Ada lives in Lyon")
	err3 := m.Batch(func(b *memory.Batch) error {
		e := b.Space("facts")
		bank := memory.Item{Value: "Ada works at a bank"}
		paris := memory.Item{Value: "Ada lives in Paris"}
		return errors.Join(
			e.Supersede("job", "job 2", bank),
			e.Supersede("home", "home 2", paris),
		)
	})
	for e := range facts.List(memory.ListOptions{Current: true}) {
		fmt.Println(e.Value)
	}
	e, _ := facts.Entry("home")
	fmt.Println(e.Value, "|", e.SupersededBy, errors.Join(err, err2, err3))
	// Output:
	// Ada lives in Paris
	// Ada works at a bank
	// Ada lives in Lyon | home 2 <nil>
}

// A vector goes when its value does. Put the new one after the new value, or both by PutItem.
func ExampleEditor_PutVector() {
	m := memory.New(memory.Options{})
	notes := m.Space("notes")
	_, err := notes.PutItem("tea", memory.Item{
		Value:  "a drink",
		Vector: []float32{0, 1},
	})
	err2 := m.Batch(func(b *memory.Batch) error {
		e := b.Space("notes")
		err := e.Put("tea", "a green drink")
		tea, _ := e.Entry("tea")
		fmt.Println(tea.Value, tea.Dim) // the vector was one of "a drink"
		err2 := e.PutVector("tea", []float32{0.1, 0.9}, nil)
		err3 := e.PutItem("lyon", memory.Item{
			Value:  "a city",
			Vector: []float32{1, 0},
		})
		fmt.Println("deleted:", e.DeleteVector("lyon"), e.DeleteVector("lyon"))
		return errors.Join(err, err2, err3)
	})
	fmt.Println(notes.Vector("tea"))
	fmt.Println(notes.Vector("lyon"))
	fmt.Println(errors.Join(err, err2))
	// Output:
	// a green drink 0
	// deleted: true false
	// [0.1 0.9] true
	// [] false
	// <nil>
}

// A space gets a limit, and in the same version an entry that the limit does not evict.
func ExampleEditor_Configure() {
	m := memory.New(memory.Options{})
	notes := m.Space("notes")
	var errs []error
	for _, key := range []string{"name", "said 1", "said 2"} {
		_, err := notes.Put(key, "…")
		errs = append(errs, err)
	}
	err := m.Batch(func(b *memory.Batch) error {
		e := b.Space("notes")
		e.Configure(memory.SpaceOptions{MaxEntries: 2})
		return e.Keep("name", true)
	})
	for e := range notes.List(memory.ListOptions{}) {
		fmt.Println(e.Key, e.Kept)
	}
	fmt.Println(notes.Load().Options().MaxEntries, err, errors.Join(errs...))
	// Output:
	// name true
	// said 2 false
	// 2 <nil> <nil>
}

// A list is replaced as a whole. Nobody finds it empty, or half of it.
func ExampleEditor_Clear() {
	m := memory.New(memory.Options{})
	tools := m.Space("tools")
	_, err := tools.Put("search", "searches the web")
	_, err2 := tools.Put("shell", "runs a command")
	err3 := m.Batch(func(b *memory.Batch) error {
		e := b.Space("tools")
		fmt.Println(e.Clear(), "before")
		return errors.Join(
			e.Put("search", "searches the web, by words"),
			e.Put("read", "reads a file"),
		)
	})
	for e := range tools.List(memory.ListOptions{}) {
		fmt.Println(e.Key, "-", e.Value)
	}
	fmt.Println(errors.Join(err, err2, err3))
	// Output:
	// 2 before
	// read - reads a file
	// search - searches the web, by words
	// <nil>
}

// All that is known of a person is erased in one update, from past versions too.
func ExampleEditor_Erase() {
	m := memory.New(memory.Options{})
	m.DB().Retain(cow.Retention{Versions: 100})
	people, mail := m.Space("people"), m.Space("mail")
	_, err := people.Put("bob", "lives in Lyon")
	_, err2 := mail.Put("bob", "bob@example.com")

	ctx := context.Background()
	others, err3 := m.DB().Erase(ctx, func(tx *cow.Tx) error {
		return m.BatchIn(tx, func(b *memory.Batch) error {
			b.Space("people").Erase("bob")
			b.Space("mail").Erase("bob")
			return nil
		})
	})
	past, err4 := m.At(2)
	fmt.Println("people:", people.Contains("bob"), people.In(past).Contains("bob"))
	fmt.Println("mail:", mail.Contains("bob"), mail.In(past).Contains("bob"))
	fmt.Println(len(others), errors.Join(err, err2, err3, err4))
	// Output:
	// people: false false
	// mail: false false
	// 0 <nil>
}
