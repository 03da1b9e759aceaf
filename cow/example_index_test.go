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
// in, To is not. (Above and Through are the other way round.)
func ExampleNewIndex() {
	births := cow.New[string](cow.Options[int]{})
	byYear, _ := cow.NewIndex(births, "year",
		func(r cow.Row[string, int]) int { return r.Shared() },
		cow.IndexOptions[string]{})

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
	byTime, _ := cow.NewIndex(notes, "written",
		func(r cow.Row[string, string]) uint64 { return r.Revision() },
		cow.IndexOptions[string]{})
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
	_, _ = cow.NewIndexFunc(users, "mail",
		func(r cow.Row[int, string], add func(string)) error {
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
	byPath, _ := cow.NewIndex(files, "path",
		func(r cow.Row[string, string]) string { return r.Shared() },
		cow.IndexOptions[string]{Unique: true})
	paths := []string{"/var/log/b", "/etc/hosts", "/var/log/a", "/var/lib"}
	for i, path := range paths {
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
	byTime, _ := cow.NewIndex(log, "time",
		func(r cow.Row[string, int]) int { return r.Shared() },
		cow.IndexOptions[string]{})
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
		Weight int
		Zone   string
	}
	servers := cow.New[string](cow.Options[server]{})
	byZone, _ := cow.NewIndexFunc(servers, "zone and weight",
		func(r cow.Row[string, server], add func(server)) error {
			add(r.Shared())
			return nil
		},
		cow.IndexOptions[string]{},
		func(a, b server) int { return strings.Compare(a.Zone, b.Zone) },
		func(a, b server) int { return cmp.Compare(a.Weight, b.Weight) })
	servers.Set("ada", server{36, "north"})
	servers.Set("bob", server{27, "south"})
	servers.Set("eve", server{21, "north"})

	north := byZone.In(servers.Load()).Leading(1, server{Zone: "north"})
	for s, row := range north.All() {
		fmt.Println(row.Key(), s.Weight)
	}
	fmt.Println(north.From(server{30, "north"}).Len())
	// Output:
	// eve 21
	// ada 36
	// 1
}

// A feed of a part of the rows: what comes into it is added, what leaves it removed.
func ExampleRange_Changes() {
	jobs := cow.New[string](cow.Options[int]{})
	byPriority, _ := cow.NewIndex(jobs, "priority",
		func(r cow.Row[string, int]) int { return r.Shared() },
		cow.IndexOptions[string]{})
	urgent := byPriority.In(jobs.Load()).From(10)
	before := jobs.DB().Load()

	jobs.Set("mail", 1) // nobody who watches what is urgent is woken
	jobs.Set("deploy", 10)
	now, _ := jobs.DB().Watch(context.Background(), before,
		byPriority.OnRange(urgent))
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

// A page of rows, and the next one for whoever sends the cursor back, though rows were written
// in between.
func ExampleRange_Resume() {
	notes := cow.New[string](cow.Options[int]{})
	byKey := cow.NewOrder(notes, "key")
	for i, key := range []string{"ape", "bee", "cat", "dog", "eel"} {
		notes.Set(key, i)
	}

	page := func(cursor string) (next string) {
		rest := byKey.In(notes.Load())
		if cursor != "" {
			var err error
			if rest, err = rest.Resume(cursor); err != nil {
				fmt.Println(err)
				return ""
			}
		}
		var keys []string
		for key, row := range rest.Limit(2).All() {
			keys = append(keys, key)
			next, _ = rest.Cursor(key, row.Key())
		}
		fmt.Println(keys)
		return next
	}
	cursor := page("")
	notes.Delete("bee")
	notes.Set("cow", 6)
	page(cursor)
	page("some text")
	// Output:
	// [ape bee]
	// [cat cow]
	// not a cursor: index "key": it is not the text of one
}

// The second best row, and how many rows are above a score.
func ExampleRange_Skip() {
	scores := cow.New[string](cow.Options[int]{})
	byScore, _ := cow.NewIndex(scores, "score",
		func(r cow.Row[string, int]) int { return r.Shared() },
		cow.IndexOptions[string]{})
	scores.Set("Ada", 90)
	scores.Set("Alan", 70)
	scores.Set("Grace", 80)

	best := byScore.In(scores.Load()).Reverse()
	_, second, _ := best.Skip(1).First()
	fmt.Println("the second is", second.Key())
	fmt.Println("above 70 are", best.Above(70).Len())
	// Output:
	// the second is Grace
	// above 70 are 2
}

// The handler of a path is that of the longest prefix.
func ExampleRange_LongestPrefix() {
	handlers := cow.New[string](cow.Options[string]{})
	byPath := cow.NewOrder(handlers, "path")
	handlers.Set("/", "home")
	handlers.Set("/users/", "users")
	handlers.Set("/users/ada", "Ada")

	routes := byPath.In(handlers.Load())
	for _, path := range []string{"/users/adam", "/users/bob", "/about"} {
		_, row, _ := routes.LongestPrefix(path)
		fmt.Println(path, "->", row.Value())
	}
	// Output:
	// /users/adam -> Ada
	// /users/bob -> users
	// /about -> home
}

// A queue: the first job is taken out in the update that looks for it, so that nobody else
// gets it.
func ExampleRange_TakeFirst() {
	jobs := cow.New[string](cow.Options[int]{})
	byPriority, _ := cow.NewIndex(jobs, "priority",
		func(r cow.Row[string, int]) int { return r.Shared() },
		cow.IndexOptions[string]{})
	jobs.Set("mail", 2)
	jobs.Set("backup", 9)
	jobs.Set("print", 5)

	_ = jobs.Update(func(e *cow.Editor[string, int]) error {
		_, job, _ := byPriority.During(e).Reverse().TakeFirst()
		fmt.Println("do", job.Key())
		fmt.Println("give up", byPriority.During(e).To(5).Delete())
		return nil
	})
	fmt.Println("left:", jobs.Len())
	// Output:
	// do backup
	// give up 1
	// left: 1
}

// A table of bounded size: an update that adds rows drops the oldest ones. Reads leave no
// trace, so these are the rows that were written longest ago, and not those used least recently.
func ExampleRange_Delete() {
	const most = 2
	pages := cow.New[string](cow.Options[string]{})
	byWrite, _ := cow.NewIndex(pages, "written",
		cow.Row[string, string].Revision, cow.IndexOptions[string]{})

	keep := func(path, text string) error {
		return pages.Update(func(e *cow.Editor[string, string]) error {
			e.Set(path, text)
			if n := e.Len() - most; n > 0 {
				byWrite.During(e).Limit(n).Delete()
			}
			return nil
		})
	}
	for _, path := range []string{"/a", "/b", "/a", "/c"} {
		fmt.Println(keep(path, "text of "+path), pages.Len())
	}
	for version, row := range byWrite.In(pages.Load()).All() {
		fmt.Println(version, row.Key())
	}
	// Output:
	// <nil> 1
	// <nil> 2
	// <nil> 2
	// <nil> 2
	// 3 /a
	// 4 /c
}

// A table in the order of its keys, of any type that has one, and a part of it.
func ExampleNewOrder() {
	type edge struct{ From, To string }
	edges := cow.New[edge](cow.Options[int]{})
	byEdge := cow.NewOrder(edges, "edge")
	edges.Set(edge{"b", "x"}, 1)
	edges.Set(edge{"a", "zoo"}, 2)
	edges.Set(edge{"a", "zebra"}, 3)
	edges.Set(edge{"a", "ape"}, 4)

	in := byEdge.In(edges.Load())
	for e := range in.Leading(1, edge{From: "a"}).All() {
		fmt.Println("from a:", e)
	}
	for e := range in.Prefix(edge{"a", "z"}).All() {
		fmt.Println("to z…:", e)
	}
	// Output:
	// from a: {a ape}
	// from a: {a zebra}
	// from a: {a zoo}
	// to z…: {a zebra}
	// to z…: {a zoo}
}
