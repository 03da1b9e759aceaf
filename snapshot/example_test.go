package snapshot_test

import (
	"errors"
	"fmt"
	"log"
	"maps"
	"slices"

	"github.com/cowstore/cowstore/snapshot"
)

// A session is what an agent keeps of a conversation.
type session struct {
	User  string
	Notes []string
}

// What a reader does with a value does not show in the map. An edit makes another map.
func Example() {
	e := snapshot.New[string](snapshot.Options[session]{}).Edit()
	e.Set("s1", session{User: "ann"})
	m := e.Seal()

	// Whoever reads gets a value of their own.
	s, _ := m.Get("s1")
	s.Notes = append(s.Notes, "likes tea")
	fmt.Println(m.Get("s1"))

	// A change is an edit, and makes another map.
	e = m.Edit()
	e.Set("s1", s)
	next := e.Seal()
	fmt.Println(m.Get("s1"))
	fmt.Println(next.Get("s1"))
	// Output:
	// {ann []} true
	// {ann []} true
	// {ann [likes tea]} true
}

// A nil map is empty. Each map made from it knows its version, and those of its rows.
func ExampleMap() {
	var m *snapshot.Map[string, int] // nil is empty, and can be edited
	e := m.Edit()
	e.Set("a", 1)
	e.Set("b", 2)
	m1 := e.Seal()

	e = m1.Edit()
	e.Set("b", 3)
	e.Set("c", 4)
	m2 := e.Seal()

	fmt.Println(m.Len(), m1.Len(), m2.Len())
	fmt.Println(slices.Sorted(m2.Keys()), maps.Collect(m2.All()))
	fmt.Println(m2.Version(), m2.Revision("a"), m2.Revision("b"))
	// Output:
	// 0 2 3
	// [a b c] map[a:1 b:3 c:4]
	// 2 1 2
}

// An edit has the verbs of a map: each is about one key.
func ExampleEditor() {
	e := snapshot.New[string](snapshot.Options[int]{}).Edit()
	e.Set("tea", 3)
	fmt.Println(e.Insert("tea", 5))
	fmt.Println(e.Modify("tea", func(v *int) error {
		*v--
		return nil
	}))
	fmt.Println(e.Upsert("milk", func(v *int, found bool) error {
		*v += 2
		return nil
	}))
	fmt.Println(e.Take("tea"))

	err := e.Modify("milk", func(v *int) error {
		*v = 0
		return errors.New("changed my mind")
	})
	fmt.Println(err)
	fmt.Println(maps.Collect(e.Seal().All()))
	// Output:
	// snapshot: tea: key exists
	// <nil>
	// <nil>
	// 2 true
	// changed my mind
	// map[milk:2]
}

// Revisions make an edit depend on what was read before.
func ExampleEditor_SetIf() {
	m, _ := snapshot.Collect(snapshot.Options[string]{},
		maps.All(map[string]string{"plan": "draft"}))
	read := m.Revision("plan")

	e := m.Edit()
	fmt.Println(e.SetIf("plan", read, "final"))
	err := e.SetIf("plan", read, "other")
	fmt.Println(err, errors.Is(err, snapshot.ErrRevision))
	// Output:
	// <nil>
	// snapshot: plan: key is not at that revision true
}

// What differs between two maps, each key once.
func ExampleMap_Diff() {
	m, _ := snapshot.Collect(snapshot.Options[int]{},
		maps.All(map[string]int{"a": 1, "b": 2, "c": 3}))
	e := m.Edit()
	e.Set("b", 20)
	e.Delete("c")
	e.Set("d", 4)
	next := e.Seal()

	var lines []string
	for c := range next.Diff(m) {
		old, _ := c.Old()
		new, _ := c.New()
		lines = append(lines, fmt.Sprintf("%s %s: %d -> %d", c.Key, c.Kind, old, new))
	}
	slices.Sort(lines) // a Diff has no order
	for _, l := range lines {
		fmt.Println(l)
	}
	// Output:
	// b changed: 2 -> 20
	// c removed: 3 -> 0
	// d added: 0 -> 4
}

// Collect makes a map of pairs. It has its own copies.
func ExampleCollect() {
	ages := map[string]int{"ann": 31, "bob": 27}
	m, _ := snapshot.Collect(snapshot.Options[int]{}, maps.All(ages))
	delete(ages, "ann")
	fmt.Println(m.Get("ann"))
	// Output:
	// 31 true
}

// A Shared reads what the map itself holds: no clone, and nothing to write to.
func ExampleMap_Shared() {
	m, _ := snapshot.Collect(snapshot.Options[[]int]{},
		maps.All(map[string][]int{"primes": {2, 3, 5}}))
	sum := 0
	for _, v := range m.Shared().All() {
		for _, n := range v {
			sum += n
		}
	}
	fmt.Println(sum)
	// Output:
	// 10
}

// A large value can be cloned before whatever lock its writers share is taken.
func ExampleBuilder_Isolate() {
	m := snapshot.New[string](snapshot.Options[session]{})
	s := session{User: "ann", Notes: []string{"likes tea"}}
	var builder snapshot.Builder[string, session]
	isolated, err := builder.Isolate(m, "s1", s) // here the clone is made
	if err != nil {
		log.Fatal(err)
	}
	s.Notes[0] = "is overwritten"

	e := m.Edit()
	builder.Put(e, "s1", isolated)
	builder.Put(e, "s2", isolated)
	fmt.Println(e.Seal().Get("s1"))
	// Output:
	// {ann [likes tea]} true
}

// Connections and the like are shared on purpose.
func ExampleOptions() {
	type conn struct{ addr string }
	c := &conn{"localhost"}
	m, _ := snapshot.Collect(snapshot.Options[*conn]{Immutable: true},
		maps.All(map[string]*conn{"db": c}))
	got, _ := m.Get("db")
	fmt.Println("the same connection:", got == c)
	// Output:
	// the same connection: true
}
