package cow_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/snapshot"
)

// An update of two rows is one version. Whoever has loaded the one before keeps it.
func Example_snapshots() {
	type Person struct {
		Name  string
		Email string
		Tags  []string
	}
	users := cow.New[int](cow.Options[Person]{})
	tags := []string{"admin"}
	users.Set(1, Person{Name: "Ada", Tags: tags})
	tags[0] = "spoiled" // the store has its own copy

	old := users.Load() // one atomic load; valid forever

	err := users.Update(func(e *cow.Editor[int, Person]) error {
		if err := e.Modify(1, func(p *Person) error {
			p.Tags = append(p.Tags, "owner")
			return nil
		}); err != nil {
			return err // nothing happened
		}
		return e.Insert(2, Person{Name: "Bob"})
	}) // both, in one swap
	fmt.Println(err, users.Load().Len(), old.Len())

	before, _ := old.Get(1)
	after, _ := users.Get(1)
	fmt.Println(before.Tags, after.Tags)

	for c := range users.Load().Diff(old) {
		if c.Kind == snapshot.Added {
			fmt.Println("added", c.Key)
		}
	}
	// Output:
	// <nil> 2 1
	// [admin] [admin owner]
	// added 2
}

// Two tables change in one version, and are read at one version.
func Example_tables() {
	var db cow.DB
	counts := cow.NewTable[string](&db, "counts", cow.Options[int]{})
	rows := cow.NewTable[int](&db, "rows", cow.Options[string]{})

	_ = db.Update(func(tx *cow.Tx) error {
		rows.Edit(tx).Set(1, "first")
		return counts.Edit(tx).Upsert("rows", func(n *int, _ bool) error { *n++; return nil })
	})

	rows.Set(2, "second") // a table has verbs of its own, each one update
	now := db.Load()      // both tables at one version

	n, _ := counts.In(now).Get("rows")
	fmt.Printf("version %d: %d counted, %d there\n", now.Version(), n, rows.In(now).Len())
	// Output: version 2: 1 counted, 2 there
}

// Past versions are found by their number and by a time.
func Example_past() {
	prices := cow.New[string](cow.Options[int]{})
	db := prices.DB() // which has all that speaks of time
	db.Retain(cow.Retention{Versions: 1000, Age: time.Hour})
	prices.Set("tea", 3)
	prices.Set("tea", 4)

	first, err := db.At(1)              // by version
	recent, err2 := db.AsOf(time.Now()) // by time
	was, _ := prices.In(first).Get("tea")
	is, _ := prices.In(recent).Get("tea")
	fmt.Println("tea was", was, "and is", is, err, err2)

	err = db.Pin("before sale", 1) // keep version 1 for as long as it is wanted
	fmt.Println("retained:", db.Stats().Retained, "pinned:", db.Stats().Pins, err)
	// Output:
	// tea was 3 and is 4 <nil> <nil>
	// retained: 2 pinned: 1 <nil>
}

// One update is undone, whatever came later, and a fork is merged.
func Example_undo() {
	notes := cow.New[string](cow.Options[string]{})
	db := notes.DB()
	db.Retain(cow.Retention{Versions: 100})
	notes.Set("a", "first")
	notes.Set("b", "second")
	notes.Delete("a") // a mistake, version 3

	before, _ := db.At(2)
	after, _ := db.At(3)
	notes.Set("c", "third")           // which shall stay
	_, err := db.Merge(after, before) // undo version 3, whatever came later

	// Try something out on a fork, and take it over if it is any good.
	base := db.Load()
	fork := db.Fork(base)
	notes.Of(fork).Set("b", "rewritten")
	_, err2 := db.Merge(base, fork.Load())

	for _, key := range []string{"a", "b", "c"} {
		fmt.Println(notes.Get(key))
	}
	fmt.Println(err, err2)
	// Output:
	// first true
	// rewritten true
	// third true
	// <nil> <nil>
}

// One reader waits for a key. Another sees each commit in turn.
func Example_follow() {
	jobs := cow.New[string](cow.Options[string]{})
	db := jobs.DB()
	db.Retain(cow.Retention{Versions: 100})
	jobs.Set("build", "queued")
	jobs.Set("build", "running")
	since := db.Load()

	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		jobs.Set("test", "queued") // nobody is woken by that
		jobs.Set("build", "done")
	}()
	now, err := jobs.DB().Watch(ctx, since, jobs.OnKeys("build")) // until build is written again
	if err != nil {
		return
	}
	fmt.Println(jobs.In(now).Get("build"))

	for commit, err := range db.Changes(ctx, 0) { // every commit, from the first, then as they come
		if err != nil {
			return
		}
		for change := range jobs.Rows(commit) {
			is, _ := change.New()
			fmt.Println(commit.Version(), change.Kind, change.Key, is)
		}
		if commit.Version() == now.Version() {
			break // and resume another time, from commit.Cursor()
		}
	}
	// Output:
	// done true
	// 1 added build queued
	// 2 changed build running
	// 3 added test queued
	// 4 changed build done
}

// Rows are found by a unique index, and in the order of another.
func Example_indexes() {
	type Person struct {
		Name  string
		Email string
		Tags  []string
	}
	people := cow.New[int](cow.Options[Person]{})
	byEmail, err := cow.NewIndex(people, "email",
		func(r cow.Row[int, Person]) string { return r.Shared().Email },
		cow.IndexOptions[int]{Unique: true})
	byTag, err2 := cow.NewMultiIndex(people, "tag",
		func(r cow.Row[int, Person], add func(string)) {
			for _, tag := range r.Shared().Tags {
				add(tag)
			}
		}, cow.IndexOptions[int]{})

	people.Set(1, Person{"Ada", "ada@example.com", []string{"math", "poetry"}})
	people.Set(2, Person{"Bob", "bob@example.com", []string{"music"}})

	now := people.Load()
	row, _ := byEmail.In(now).Get("ada@example.com")
	fmt.Println(row.Key(), row.Value().Name)
	for tag, row := range byTag.In(now).Prefix("m").All() { // in order; also From, To, Reverse, After
		fmt.Println(tag, row.Value().Name)
	}
	_, err3 := people.Insert(3, Person{Name: "Eve", Email: "ada@example.com"})
	fmt.Println(err, err2, errors.Is(err3, cow.ErrExists), err3)
	// Output:
	// 1 Ada
	// math Ada
	// music Bob
	// <nil> <nil> true cow: index "email": two rows under ada@example.com
}
