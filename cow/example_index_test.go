package cow_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/cowstore/cowstore/cow"
)

// Rows in order of something in them, and a part of them by its bounds: From is
// in, To is not.
func ExampleNewIndex() {
	births := cow.New[string](cow.Options[int]{})
	byYear, _ := cow.NewIndex(births, "year", func(r cow.Row[string, int]) int { return r.Value() }, cow.IndexOptions[string]{})

	births.Set("Grace", 1906)
	births.Set("Ada", 1815)
	births.Set("Alan", 1912)
	births.Set("Barbara", 1939)

	years := byYear.In(births.Load()) // of one version, for as long as it is wanted
	for year, row := range years.From(1900).To(1920).All() {
		fmt.Println(year, row.Key())
	}
	_, youngest, _ := years.Reverse().First()
	fmt.Println("the youngest is", youngest.Key())
	// Output:
	// 1906 Grace
	// 1912 Alan
	// the youngest is Barbara
}

// An index by when rows were written: the revision of a row is the version that wrote it.
func ExampleNewIndex_revision() {
	notes := cow.New[string](cow.Options[string]{})
	byTime, _ := cow.NewIndex(notes, "written", func(r cow.Row[string, string]) uint64 { return r.Revision() }, cow.IndexOptions[string]{})
	notes.Set("a", "first")
	notes.Set("b", "second")
	notes.Set("a", "third")
	for version, row := range byTime.In(notes.Load()).Reverse().All() {
		fmt.Println(version, row.Key(), row.Value())
	}
	// Output:
	// 3 a third
	// 2 b second
}

// An index that refuses a row: the update that leaves one fails.
func ExampleNewIndexFunc_refuse() {
	errMail := errors.New("is no address")
	users := cow.New[int](cow.Options[string]{})
	_, _ = cow.NewIndexFunc(users, "mail", func(r cow.Row[int, string], add func(string)) error {
		if !strings.Contains(r.Value(), "@") {
			return errMail
		}
		add(strings.ToLower(r.Value()))
		return nil
	}, cow.IndexOptions[int]{Unique: true}, strings.Compare)

	_, err := users.Set(1, "Ada@example.org")
	fmt.Println(err)
	_, err = users.Set(2, "bob")
	fmt.Println(err, errors.Is(err, errMail))
	_, err = users.Set(3, "ada@EXAMPLE.org")
	fmt.Println(err)
	// Output:
	// <nil>
	// cow: 2: index "mail": is no address true
	// cow: index "mail": two rows under ada@example.org
}

// All keys below a path, without a look at any other.
func ExampleRange_Prefix() {
	files := cow.New[string](cow.Options[string]{})
	byPath, _ := cow.NewIndex(files, "path", func(r cow.Row[string, string]) string { return r.Value() }, cow.IndexOptions[string]{Unique: true})
	for i, path := range []string{"/var/log/b", "/etc/hosts", "/var/log/a", "/var/lib"} {
		files.Set(fmt.Sprint("file ", i), path)
	}
	for path, row := range byPath.In(files.Load()).Prefix("/var/log/").All() {
		fmt.Println(path, row.Key())
	}
	// Output:
	// /var/log/a file 2
	// /var/log/b file 0
}

// The last few, newest first.
func ExampleRange_Reverse() {
	log := cow.New[string](cow.Options[int]{})
	byTime, _ := cow.NewIndex(log, "time", func(r cow.Row[string, int]) int { return r.Value() }, cow.IndexOptions[string]{})
	for i, event := range []string{"boot", "login", "logout", "halt"} {
		log.Set(event, 100+i)
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
	type server struct {
		Zone   string
		Weight int
	}
	servers := cow.New[string](cow.Options[server]{})
	byZone, _ := cow.NewIndexFunc(servers, "zone and weight", func(r cow.Row[string, server], add func(server)) error { add(r.Value()); return nil }, cow.IndexOptions[string]{},
		func(a, b server) int { return strings.Compare(a.Zone, b.Zone) },
		func(a, b server) int { return cmp.Compare(a.Weight, b.Weight) })
	servers.Set("ada", server{"north", 36})
	servers.Set("bob", server{"south", 27})
	servers.Set("eve", server{"north", 21})

	north := byZone.In(servers.Load()).Leading(1, server{Zone: "north"})
	for s, row := range north.All() {
		fmt.Println(row.Key(), s.Weight)
	}
	fmt.Println(north.From(server{"north", 30}).Len())
	// Output:
	// eve 21
	// ada 36
	// 1
}

// A feed of a part of the rows: what comes into it is added, what leaves it removed.
func ExampleRange_Changes() {
	jobs := cow.New[string](cow.Options[int]{})
	byPriority, _ := cow.NewIndex(jobs, "priority", func(r cow.Row[string, int]) int { return r.Value() }, cow.IndexOptions[string]{})
	urgent := byPriority.In(jobs.Load()).From(10)
	before := jobs.DB().Load()

	jobs.Set("mail", 1) // nobody who watches what is urgent is woken
	jobs.Set("deploy", 10)
	now, _ := jobs.DB().Watch(context.Background(), before, byPriority.OnRange(urgent))
	for c := range urgent.Changes(jobs.In(now).Diff(jobs.In(before))) {
		fmt.Println(c.Key, c.Kind)
	}
	jobs.Set("deploy", 2) // not urgent any more
	for c := range urgent.Changes(jobs.Load().Diff(jobs.In(now))) {
		fmt.Println(c.Key, c.Kind)
	}
	// Output:
	// deploy added
	// deploy removed
}
