package cow_test

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/cowstore/cowstore/cow"
)

// Rows in order of something in them, and a part of them by its bounds: From is
// in, To is not.
func ExampleNewIndex() {
	type person struct {
		Name string
		Born int
	}
	people := cow.New[int](cow.Options[person]{})
	byYear, _ := cow.NewIndex(people, "year", func(p person) int { return p.Born }, cow.IndexOptions[int]{})

	people.Set(1, person{"Grace", 1906})
	people.Set(2, person{"Ada", 1815})
	people.Set(3, person{"Alan", 1912})
	people.Set(4, person{"Barbara", 1939})

	years := byYear.In(people.Load()) // of one version, for as long as it is wanted
	for year, row := range years.From(1900).To(1920).All() {
		fmt.Println(year, row.Value().Name)
	}
	_, youngest, _ := years.Reverse().First()
	fmt.Println("the youngest is", youngest.Value().Name)
	// Output:
	// 1906 Grace
	// 1912 Alan
	// the youngest is Barbara
}

// All keys below a path, without a look at any other.
func ExampleRange_Prefix() {
	type file struct {
		Path string
		Size int
	}
	files := cow.New[int](cow.Options[file]{})
	byPath, _ := cow.NewIndex(files, "path", func(f file) string { return f.Path }, cow.IndexOptions[int]{Unique: true})
	for id, path := range []string{"/var/log/b", "/etc/hosts", "/var/log/a", "/var/lib"} {
		files.Set(id, file{Path: path})
	}
	for path, row := range byPath.In(files.Load()).Prefix("/var/log/").All() {
		fmt.Println(path, row.Key())
	}
	// Output:
	// /var/log/a 2
	// /var/log/b 0
}

// The last few, newest first.
func ExampleRange_Reverse() {
	log := cow.New[string](cow.Options[int64]{})
	byTime, _ := cow.NewIndex(log, "time", func(at int64) int64 { return at }, cow.IndexOptions[string]{})
	for i, event := range []string{"boot", "login", "logout", "halt"} {
		log.Set(event, int64(100+i))
	}
	left := 2
	for at, row := range byTime.In(log.Load()).Reverse().All() {
		fmt.Println(at, row.Key())
		if left--; left == 0 {
			break
		}
	}
	// Output:
	// 103 halt
	// 102 logout
}

// Index keys of several fields, and the rows that agree in the first.
func ExampleNewIndexFunc() {
	type member struct {
		Team string
		Age  int
	}
	members := cow.New[string](cow.Options[member]{})
	byTeam, _ := cow.NewIndexFunc(members, "team and age", func(m member) member { return m }, cow.IndexOptions[string]{},
		func(a, b member) int { return strings.Compare(a.Team, b.Team) },
		func(a, b member) int { return cmp.Compare(a.Age, b.Age) })
	members.Set("ada", member{"red", 36})
	members.Set("bob", member{"blue", 27})
	members.Set("eve", member{"red", 21})

	red := byTeam.In(members.Load()).Leading(1, member{Team: "red"})
	for m, row := range red.All() {
		fmt.Println(row.Key(), m.Age)
	}
	fmt.Println(red.From(member{"red", 30}).Len())
	// Output:
	// eve 21
	// ada 36
	// 1
}

// A feed of a part of the rows: what comes into it is added, what leaves it removed.
func ExampleRange_Changes() {
	type job struct{ Priority int }
	jobs := cow.New[string](cow.Options[job]{})
	byPriority, _ := cow.NewIndex(jobs, "priority", func(j job) int { return j.Priority }, cow.IndexOptions[string]{})
	urgent := byPriority.In(jobs.Load()).From(10)
	before := jobs.Load()

	jobs.Set("mail", job{1}) // nobody who watches what is urgent is woken
	jobs.Set("deploy", job{10})
	now, _ := jobs.Watch(context.Background(), before, byPriority.OnRange(urgent))
	for c := range urgent.Changes(now.Diff(before)) {
		fmt.Println(c.Key, c.Kind)
	}
	jobs.Set("deploy", job{2}) // not urgent any more
	for c := range urgent.Changes(jobs.Load().Diff(now)) {
		fmt.Println(c.Key, c.Kind)
	}
	// Output:
	// deploy added
	// deploy removed
}
