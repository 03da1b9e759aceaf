package memory_test

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/memory"
	"github.com/cowstore/cowstore/memory/value"
)

// Put returns the revision of what it stored. A value that cannot be frozen is an error.
func ExampleSpace_Put() {
	notes := memory.New(memory.Options{}).Space("user", "42", "notes")
	fmt.Println(notes.Put("style", "short"))
	fmt.Println(notes.Put("style", "long"))
	_, err := notes.Put("style", map[string]any{"done": make(chan int)})
	fmt.Println("ErrUnsupported:", errors.Is(err, value.ErrUnsupported))
	fmt.Println(notes.Get("style"))
	fmt.Println(notes.Get("color"))
	// Output:
	// 1 <nil>
	// 2 <nil>
	// ErrUnsupported: true
	// long true
	// absent false
}

// PutItem replaces all that the entry has. Put leaves its metadata alone.
func ExampleSpace_PutItem() {
	notes := memory.New(memory.Options{}).Space("notes")
	_, err := notes.PutItem("trip", memory.Item{
		Value:    "Lyon",
		Vector:   []float32{1, 0},
		Metadata: map[string]any{"year": 2027},
	})
	_, err2 := notes.Put("trip", "Paris")
	e, _ := notes.Entry("trip")
	// the vector was one of Lyon
	fmt.Println(e.Value, e.Metadata.Key("year"), e.Dim)

	_, err3 := notes.PutItem("trip", memory.Item{Value: "Rome"})
	e, _ = notes.Entry("trip")
	fmt.Println(e.Value, e.Metadata, e.Dim, errors.Join(err, err2, err3))
	// Output:
	// Paris 2027 0
	// Rome absent 0 <nil>
}

// Insert only stores what is new.
func ExampleSpace_Insert() {
	tasks := memory.New(memory.Options{}).Space("tasks")
	fmt.Println(tasks.Insert("build", "mine"))
	rev, err := tasks.Insert("build", "also mine")
	fmt.Println(rev, errors.Is(err, memory.ErrExists))
	fmt.Println(tasks.Get("build"))
	// Output:
	// 1 <nil>
	// 0 true
	// mine true
}

// A revision is good for one SetIf or DeleteIf. Revision 0 is that of an absent key.
func ExampleSpace_SetIf() {
	plan := memory.New(memory.Options{}).Space("plan")
	rev, err := plan.SetIf("monday", 0, "rest")
	fmt.Println(rev, err)
	_, err = plan.SetIf("monday", rev, "work")
	fmt.Println(err)
	_, err = plan.SetIf("monday", rev, "swim") // too late
	fmt.Println("ErrRevision:", errors.Is(err, memory.ErrRevision))
	_, err = plan.DeleteIf("monday", rev)
	fmt.Println(err)
	// Output:
	// 1 <nil>
	// <nil>
	// ErrRevision: true
	// memory: space ["plan"], key "monday": key is not at that revision
}

// Modify needs a value to begin with. An error of the function is returned as it is.
func ExampleSpace_Modify() {
	counts := memory.New(memory.Options{}).Space("counts")
	more := func(v memory.Value) (any, error) { return v.Int() + 1, nil }
	_, err := counts.Modify("visits", more)
	fmt.Println("ErrNotFound:", errors.Is(err, memory.ErrNotFound))
	_, err = counts.Put("visits", 41)
	_, err2 := counts.Modify("visits", more)
	fmt.Println(errors.Join(err, err2))

	enough := func(memory.Value) (any, error) { return nil, errors.New("enough") }
	_, err = counts.Modify("visits", enough)
	fmt.Println(err)
	fmt.Println(counts.Get("visits"))
	// Output:
	// ErrNotFound: true
	// <nil>
	// enough
	// 42 true
}

// The function gets an Absent value where there is none, which shows as 0.
func ExampleSpace_Upsert() {
	counts := memory.New(memory.Options{}).Space("counts")
	more := func(v memory.Value) (any, error) { return v.Int() + 1, nil }
	for range 3 {
		_, err := counts.Upsert("visits", more)
		if err != nil {
			fmt.Println(err)
		}
	}
	fmt.Println(counts.Get("visits"))
	// Output: 3 true
}

// AppendTo makes a list where there is none. A value that is not a list is an error.
func ExampleSpace_AppendTo() {
	log := memory.New(memory.Options{}).Space("log")
	_, err := log.AppendTo("today", "woke up")
	_, err2 := log.AppendTo("today", "had tea", "went out")
	v, _ := log.Get("today")
	for i, line := range v.Values() {
		fmt.Println(i, line)
	}
	_, err3 := log.Put("mood", "good")
	fmt.Println(errors.Join(err, err2, err3))
	_, err = log.AppendTo("mood", "better")
	fmt.Println("ErrUnsupported:", errors.Is(err, value.ErrUnsupported))
	// Output:
	// 0 woke up
	// 1 had tea
	// 2 went out
	// <nil>
	// ErrUnsupported: true
}

// Delete returns 0 where there was nothing: no version is published.
func ExampleSpace_Delete() {
	m := memory.New(memory.Options{})
	notes := m.Space("notes")
	_, err := notes.Put("style", "short")
	fmt.Println(notes.Delete("style"))
	fmt.Println(notes.Delete("style"))
	fmt.Println(m.Load().Version(), err)
	// Output:
	// 2 <nil>
	// 0 <nil>
	// 2 <nil>
}

// Take is for work that one of many gets.
func ExampleSpace_Take() {
	tasks := memory.New(memory.Options{}).Space("tasks")
	_, err := tasks.Put("1", "water the plants")
	fmt.Println(tasks.Take("1"))
	fmt.Println(tasks.Take("1"))
	fmt.Println(tasks.Len(), err)
	// Output:
	// water the plants true <nil>
	// absent false <nil>
	// 0 <nil>
}

// Clear leaves the spaces below alone. ClearAll removes what is in these, too.
func ExampleSpace_Clear() {
	m := memory.New(memory.Options{})
	user := m.Space("user", "42")
	_, err := user.Put("name", "Ada")
	_, err2 := user.Space("notes").Put("style", "short")
	fmt.Println(errors.Join(err, err2))
	fmt.Println(user.Clear())
	fmt.Println(user.Load().Len(), user.Load().LenAll())
	fmt.Println(user.ClearAll())
	fmt.Println(m.Load().Len())
	// Output:
	// <nil>
	// 1 <nil>
	// 0 1
	// 1 <nil>
	// 0
}

// An entry has a value, a vector or both. Contains is true for each, Get for one with a value.
func ExampleSpace_Contains() {
	pictures := memory.New(memory.Options{}).Space("pictures")
	_, err := pictures.PutVector("cat", []float32{0.3, 0.7}, nil)
	fmt.Println("cat:", pictures.Contains("cat"))
	fmt.Println("dog:", pictures.Contains("dog"), err)
	fmt.Println(pictures.Get("cat"))
	// Output:
	// cat: true
	// dog: false <nil>
	// absent false
}

// An Entry tells all about one key. It stays as it is when the key is written again.
func ExampleSpace_Entry() {
	notes := memory.New(memory.Options{}).Space("notes")
	year := map[string]any{"year": 2027}
	lyon := memory.Item{Value: "Lyon", Metadata: year, Keep: true}
	_, err := notes.PutItem("trip", lyon)
	e, ok := notes.Entry("trip")
	_, err2 := notes.Put("trip", "Paris")
	fmt.Println(e.Value, e.Metadata.Key("year"), ok)
	fmt.Println("revision:", e.Revision, "kept:", e.Kept)
	_, ok = notes.Entry("diet")
	fmt.Println(ok, errors.Join(err, err2))
	// Output:
	// Lyon 2027 true
	// revision: 1 kept: true
	// false <nil>
}

// The first vector of a space decides the dimension of all.
func ExampleSpace_PutVector() {
	notes := memory.New(memory.Options{}).Space("notes")
	_, err := notes.Put("tea", "a drink")
	by := map[string]any{"model": "small"}
	_, err2 := notes.PutVector("tea", []float32{0, 1}, by)
	fmt.Println(notes.Vector("tea"))
	_, err3 := notes.PutVector("lyon", []float32{0, 1, 0}, nil)
	fmt.Println(errors.Is(err3, memory.ErrDimension), notes.Contains("lyon"))

	_, err4 := notes.Put("tea", "a meal") // the vector is not one of that
	fmt.Println(notes.Vector("tea"))
	fmt.Println(errors.Join(err, err2, err4))
	// Output:
	// [0 1] true
	// true false
	// [] false
	// <nil>
}

// The metadata goes with the vector. An entry with nothing else is gone then.
func ExampleSpace_DeleteVector() {
	notes := memory.New(memory.Options{}).Space("notes")
	_, err := notes.PutItem("tea", memory.Item{
		Value:    "a drink",
		Vector:   []float32{0, 1},
		Metadata: map[string]any{"year": 2027},
	})
	_, err2 := notes.PutVector("cat", []float32{1, 0}, nil)
	fmt.Println(notes.DeleteVector("tea"))
	fmt.Println(notes.DeleteVector("cat"))
	fmt.Println(notes.DeleteVector("dog"))
	e, _ := notes.Entry("tea")
	fmt.Println(e.Value, e.Metadata, notes.Contains("cat"), errors.Join(err, err2))
	// Output:
	// 3 <nil>
	// 4 <nil>
	// 0 <nil>
	// a drink absent false <nil>
}

// What means the same, as its vector says, is not stored twice: the Hit is what is there.
func ExampleSpace_PutUnlessSimilar() {
	facts := memory.New(memory.Options{}).Space("facts")
	same := memory.Query{MinScore: 0.95}
	likes := memory.Item{Value: "Ada likes tea", Vector: []float32{1, 0}}
	like, rev, err := facts.PutUnlessSimilar("1", likes, same)
	fmt.Println(like.Value, rev, err)
	loves := memory.Item{Value: "Ada loves tea", Vector: []float32{0.99, 0.05}}
	like, rev, err = facts.PutUnlessSimilar("2", loves, same)
	fmt.Println(like.Value, rev, err)
	fmt.Println(facts.Len())
	// Output:
	// absent 1 <nil>
	// Ada likes tea 0 <nil>
	// 1
}

// What is kept is never evicted.
func ExampleSpace_Keep() {
	notes := memory.New(memory.Options{MaxEntries: 2}).Space("notes")
	_, err := notes.Put("name", "Ada")
	_, err2 := notes.Keep("name", true)
	_, err3 := notes.Put("1", "said hello")
	_, err4 := notes.Put("2", "asked about trains")
	fmt.Println("name:", notes.Contains("name"), "1:", notes.Contains("1"))
	fmt.Println(errors.Join(err, err2, err3, err4))
	_, err = notes.Keep("1", true)
	fmt.Println("ErrNotFound:", errors.Is(err, memory.ErrNotFound))
	// Output:
	// name: true 1: false
	// <nil>
	// ErrNotFound: true
}

// Keys without a value are left out: i says which ones are there.
func ExampleSpace_GetMany() {
	notes := memory.New(memory.Options{}).Space("user", "42")
	notes.Put("name", "Ada")
	notes.Put("city", "London")
	keys := []string{"city", "diet", "name"}
	for i, v := range notes.GetMany(keys) {
		fmt.Println(keys[i], v.String())
	}
	// Output:
	// city London
	// name Ada
}

// A list is read in pages: each begins after the last key of the one before.
func ExampleSpace_List() {
	notes := memory.New(memory.Options{}).Space("notes")
	for _, key := range []string{"c", "a", "b"} {
		if _, err := notes.Put(key, "note "+key); err != nil {
			fmt.Println(err)
		}
	}
	after := ""
	for e := range notes.List(memory.ListOptions{Limit: 2}) {
		fmt.Println(e.Key, e.Value)
		after = e.Key
	}
	for e := range notes.List(memory.ListOptions{After: after, Limit: 2}) {
		fmt.Println("next page:", e.Key)
	}
	// Output:
	// a note a
	// b note b
	// next page: c
}

// Spaces need not be created, and their paths are never joined.
func ExampleSpace_Space() {
	m := memory.New(memory.Options{})
	user := m.Space("user", "42")
	_, err := user.Space("notes").Put("style", "short")
	fmt.Println(m.Space("user", "42", "notes").Get("style"))
	fmt.Println(m.Space("user/42/notes").Get("style"))
	fmt.Println(user.Len(), user.Space("notes").Path(), err)
	// Output:
	// short true
	// absent false
	// 0 [user 42 notes] <nil>
}

// Reads that must agree are of one SpaceSnapshot.
func ExampleSpace_Load() {
	notes := memory.New(memory.Options{}).Space("notes")
	_, err := notes.Put("style", "short")
	now := notes.Load()
	_, err2 := notes.Delete("style")
	fmt.Println(now.Get("style"))
	fmt.Println(now.Len(), notes.Len(), errors.Join(err, err2))
	// Output:
	// short true
	// 1 0 <nil>
}

// All reads of a SpaceSnapshot agree, whatever happens meanwhile.
func ExampleSpaceSnapshot_reads() {
	notes := memory.New(memory.Options{}).Space("ada", "notes")
	_, err := notes.Put("trip", "the night train to Lyon")
	_, err2 := notes.PutItem("tea", memory.Item{
		Value:  "green tea, in the morning",
		Vector: []float32{0, 1},
	})
	now := notes.Load()
	_, err3 := notes.Clear()
	fmt.Println(now.Path(), now.Len(), notes.Len(), now.Contains("tea"))

	keys := []string{"trip", "diet"}
	for i, v := range now.GetMany(keys) {
		fmt.Println(keys[i], "-", v)
	}
	tea, _ := now.Entry("tea")
	fmt.Println(tea.Value, tea.Revision)
	fmt.Println(now.Vector("tea"))
	hits, err4 := now.Search(memory.Query{Text: "trains"})
	fmt.Println(hits[0].Key, len(hits), errors.Join(err, err2, err3, err4))
	// Output:
	// [ada notes] 2 0 true
	// trip - the night train to Lyon
	// green tea, in the morning 2
	// [0 1] true
	// trip 1 <nil>
}

// A space may have limits. What was used least recently goes first.
func ExampleSpace_Configure() {
	notes := memory.New(memory.Options{}).Space("notes")
	fmt.Println(notes.Configure(memory.SpaceOptions{MaxEntries: 2}))
	// it is so already
	fmt.Println(notes.Configure(memory.SpaceOptions{MaxEntries: 2}))
	_, err := notes.Put("a", 1)
	_, err2 := notes.Put("b", 2)
	_, used := notes.Get("a")
	_, err3 := notes.Put("c", 3)
	fmt.Println(used, errors.Join(err, err2, err3))
	for _, key := range []string{"a", "b", "c"} {
		fmt.Println(key, notes.Contains(key))
	}
	// Output:
	// 1 <nil>
	// 0 <nil>
	// true <nil>
	// a true
	// b false
	// c true
}

// What has happened to one key, the newest first.
func ExampleSpace_History() {
	m := memory.New(memory.Options{})
	m.DB().Retain(cow.Retention{Versions: 100}) // or there is no past to show
	ada := m.Space("ada")
	_, _ = ada.Put("drinks", "coffee")
	_, _ = ada.Put("eats", "soup")
	_, _ = ada.Put("drinks", "tea")
	_, _ = ada.Delete("drinks")

	for c, err := range ada.History("drinks") {
		if err != nil {
			fmt.Println(err) // cow.ErrCompacted: the past is not kept further
			break
		}
		fmt.Println(c.Version, c.Kind, c.Old.Value, c.New.Value)
	}
	// Output:
	// 4 deleted tea absent
	// 3 changed coffee tea
	// 1 added absent coffee
}

// What was erased is not in the past either, and the rest of the past is.
func ExampleSpace_Erase() {
	m := memory.New(memory.Options{})
	m.DB().Retain(cow.Retention{Versions: 100})
	user := m.Space("user", "42")
	_, _ = user.Put("name", "Ada")
	_, _ = user.Put("address", "1 Main Street")
	fork := m.Fork(m.Load())

	others, err := user.Erase(context.Background(), "address")
	fmt.Println("the fork has it:", slices.Contains(others, fork.DB()), err)
	then, err := m.At(2)
	_, ok := then.Space("user", "42").Get("address")
	name, _ := then.Space("user", "42").Get("name")
	fmt.Println(name, ok, err)
	// Output:
	// the fork has it: true <nil>
	// Ada false <nil>
}

// Changes goes on from a version, and waits for the next one, until ctx or the loop ends.
func ExampleSpace_Changes() {
	m := memory.New(memory.Options{})
	m.DB().Retain(cow.Retention{Versions: 100})
	tasks := m.Space("tasks")
	seen, err := tasks.Put("build", "running")
	_, err2 := tasks.Put("build", "done")
	fmt.Println(errors.Join(err, err2))
	for c, err := range tasks.Changes(context.Background(), seen) {
		fmt.Println(c.Kind, c.Key, c.Old.Value, c.New.Value, err)
		break
	}
	// Output:
	// <nil>
	// changed build running done <nil>
}

// The Editor of a space has the verbs of a Space, and sees what the Batch has written.
func ExampleBatch_Space() {
	m := memory.New(memory.Options{})
	err := m.Batch(func(b *memory.Batch) error {
		todo, done := b.Space("todo"), b.Space("done")
		if err := todo.Put("1", "water the plants"); err != nil {
			return err
		}
		task, ok := todo.Take("1")
		fmt.Println(task, ok)
		return done.Put("1", task)
	})
	fmt.Println("todo:", m.Space("todo").Len(), "done:", m.Space("done").Len())
	fmt.Println("version:", m.Load().Version(), err)
	// Output:
	// water the plants true
	// todo: 0 done: 1
	// version: 1 <nil>
}

// A Batch finds what it has written. Nobody else does before it ends.
func ExampleEditor_Search() {
	m := memory.New(memory.Options{})
	facts := m.Space("facts")
	err := m.Batch(func(b *memory.Batch) error {
		if err := b.Space("facts").Put("drink", "Ada drinks tea"); err != nil {
			return err
		}
		inside, err := b.Space("facts").Search(memory.Query{Text: "tea"})
		outside, err2 := facts.Search(memory.Query{Text: "tea"})
		fmt.Println("inside:", len(inside), "outside:", len(outside))
		return errors.Join(err, err2)
	})
	fmt.Println(facts.Len(), err)
	// Output:
	// inside: 1 outside: 0
	// 1 <nil>
}

// What is not there is an error of a typed Get.
func ExampleTyped_Get() {
	people := memory.Of[profile](memory.New(memory.Options{}).Space("people"))
	_, err := people.Put("ada", profile{Name: "Ada", Likes: []string{"tea"}})
	ada, err2 := people.Get("ada")
	ada.Likes[0] = "coffee" // it is a copy
	again, err3 := people.Get("ada")
	fmt.Println(again.Name, again.Likes, errors.Join(err, err2, err3))
	_, err = people.Get("bob")
	fmt.Println("ErrNotFound:", errors.Is(err, memory.ErrNotFound))
	// Output:
	// Ada [tea] <nil>
	// ErrNotFound: true
}

// What does not fit the type ends the iteration with an error that says which entry it is.
func ExampleTyped_All() {
	people := memory.Of[profile](memory.New(memory.Options{}).Space("people"))
	_, err := people.Put("ada", profile{Name: "Ada", Likes: []string{"tea"}})
	_, err2 := people.Put("bob", profile{Name: "Bob"})
	_, err3 := people.Space.Put("eve", "likes chess") // not as a profile
	for p, err := range people.All() {
		if err != nil {
			var of *memory.KeyError
			fmt.Println(errors.As(err, &of), of.Key)
			break
		}
		fmt.Println(p.Key, p.Revision, p.Of.Name, p.Of.Likes)
	}
	fmt.Println(errors.Join(err, err2, err3))
	// Output:
	// ada 1 Ada [tea]
	// bob 2 Bob []
	// true eve
	// <nil>
}

// Update begins with the zero value where there is none. An error of its function stores nothing.
func ExampleTyped_Update() {
	people := memory.Of[profile](memory.New(memory.Options{}).Space("people"))
	like := func(p *profile, found bool) error {
		p.Name, p.Likes = "Ada", append(p.Likes, "tea")
		fmt.Println(found, p.Likes)
		return nil
	}
	fmt.Println(people.Update("ada", like))
	fmt.Println(people.Update("ada", like))
	enough := func(*profile, bool) error { return errors.New("enough") }
	fmt.Println(people.Update("ada", enough))
	// Output:
	// false [tea]
	// 1 <nil>
	// true [tea tea]
	// 2 <nil>
	// 0 enough
}

// Each hit has its value in Of, besides what any Hit has.
func ExampleTyped_Search() {
	people := memory.Of[profile](memory.New(memory.Options{}).Space("people"))
	_, err := people.Put("ada", profile{Name: "Ada", Likes: []string{"green tea"}})
	_, err2 := people.Put("bob", profile{Name: "Bob", Likes: []string{"coffee"}})
	hits, err3 := people.Search(memory.Query{Text: "who likes teas?"})
	for _, h := range hits {
		fmt.Println(h.Key, h.Of.Name, h.Of.Likes)
	}
	fmt.Println(errors.Join(err, err2, err3))
	// Output:
	// ada Ada [green tea]
	// <nil>
}

// A KeyError says which entry of a Batch was refused.
func ExampleKeyError() {
	m := memory.New(memory.Options{})
	err := m.Batch(func(b *memory.Batch) error {
		return b.Space("user", "42").Put("socket", make(chan int))
	})
	var of *memory.KeyError
	if errors.As(err, &of) {
		fmt.Println(of.Space, of.Key, errors.Is(err, value.ErrUnsupported))
	}
	// Output: [user 42] socket true
}
