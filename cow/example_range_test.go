package cow_test

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/cowstore/cowstore/cow"
)

// Above leaves the bound itself out, and From keeps it.
func ExampleRange_Above() {
	scores := cow.New[string](cow.Options[int]{})
	byName := cow.NewOrder(scores, "name")
	for i, name := range []string{"ada", "bob", "cyd"} {
		scores.Set(name, i)
	}
	names := byName.In(scores.Load())
	fmt.Println("Above:", names.Above("bob").Len(), "From:", names.From("bob").Len())
	// Output: Above: 1 From: 2
}

// Rows come in the order of the index. Those under one index key come in the order of their own keys.
func ExampleRange_All() {
	scores := cow.New[string](cow.Options[int]{})
	byScore, err := cow.NewIndex(scores, "score",
		func(r cow.Row[string, int]) int { return r.Shared() },
		cow.IndexOptions[string]{})
	scores.Set("bob", 8)
	scores.Set("ada", 8)
	scores.Set("cyd", 5)
	for score, row := range byScore.In(scores.Load()).All() {
		fmt.Println(score, row.Key())
	}
	fmt.Println(err)
	// Output:
	// 5 cyd
	// 8 ada
	// 8 bob
	// <nil>
}

// The page before a row, the nearest row first.
func ExampleRange_Before() {
	scores := cow.New[string](cow.Options[int]{})
	byName := cow.NewOrder(scores, "name")
	for i, name := range []string{"ada", "bob", "cyd", "dan"} {
		scores.Set(name, i)
	}
	before := byName.In(scores.Load()).Before("dan", "dan")
	for name := range before.Reverse().Limit(2).All() {
		fmt.Println(name)
	}
	// Output:
	// cyd
	// bob
}

// All rows under one index key.
func ExampleRange_Equal() {
	jobs := cow.New[string](cow.Options[string]{})
	byState, err := cow.NewIndex(jobs, "state",
		func(r cow.Row[string, string]) string { return r.Shared() },
		cow.IndexOptions[string]{})
	jobs.Set("mail", "ready")
	jobs.Set("print", "done")
	jobs.Set("backup", "ready")
	for _, row := range byState.In(jobs.Load()).Equal("ready").All() {
		fmt.Println(row.Key())
	}
	fmt.Println(err)
	// Output:
	// backup
	// mail
	// <nil>
}

// The least and the greatest index key.
func ExampleRange_First() {
	scores := cow.New[string](cow.Options[int]{})
	byName := cow.NewOrder(scores, "name")
	scores.Set("bob", 5)
	scores.Set("ada", 8)
	names := byName.In(scores.Load())
	first, row, ok := names.First()
	fmt.Println(first, row.Value(), ok)
	last, _, _ := names.Reverse().First()
	fmt.Println(last)
	_, _, ok = names.Above("bob").First()
	fmt.Println("above bob:", ok)
	// Output:
	// ada 8 true
	// bob
	// above bob: false
}

// Of two bounds at one end the tighter one counts.
func ExampleRange_From() {
	scores := cow.New[string](cow.Options[int]{})
	byName := cow.NewOrder(scores, "name")
	for i, name := range []string{"ada", "bob", "cyd", "dan"} {
		scores.Set(name, i)
	}
	all := byName.In(scores.Load())
	for name := range all.From("bob").To("dan").From("a").All() {
		fmt.Println(name)
	}
	// Output:
	// bob
	// cyd
}

// A row by a unique index: a user by the mail address.
func ExampleRange_Get() {
	users := cow.New[string](cow.Options[string]{})
	byMail, err := cow.NewIndex(users, "mail",
		func(r cow.Row[string, string]) string { return r.Shared() },
		cow.IndexOptions[string]{Unique: true})
	if err != nil {
		fmt.Println(err)
	}
	users.Set("ada", "ada@example.org")
	row, ok := byMail.In(users.Load()).Get("ada@example.org")
	fmt.Println(row.Key(), ok)
	_, ok = byMail.In(users.Load()).Get("bob@example.org")
	fmt.Println("bob:", ok)
	// Output:
	// ada true
	// bob: false
}

// Many rows by index key. An index key without a row is left out.
func ExampleRange_GetMany() {
	users := cow.New[string](cow.Options[string]{})
	byMail, err := cow.NewIndex(users, "mail",
		func(r cow.Row[string, string]) string { return r.Shared() },
		cow.IndexOptions[string]{Unique: true})
	users.Set("ada", "ada@example.org")
	users.Set("cyd", "cyd@example.org")
	mails := []string{"cyd@example.org", "bob@example.org", "ada@example.org"}
	for i, row := range byMail.In(users.Load()).GetMany(mails) {
		fmt.Println(i, row.Key())
	}
	fmt.Println(err)
	// Output:
	// 0 cyd
	// 2 ada
	// <nil>
}

// Words in the order of their length, then of the alphabet, and those of one length.
func ExampleRange_Leading() {
	words := cow.New[string](cow.Options[int]{})
	byLength := cow.NewOrder(words, "length",
		func(a, b string) int { return cmp.Compare(len(a), len(b)) },
		strings.Compare)
	for i, word := range []string{"tea", "milk", "ant", "water"} {
		words.Set(word, i)
	}
	all := byLength.In(words.Load())
	for word := range all.Leading(1, "abc").All() { // of three letters
		fmt.Println(word)
	}
	// Output:
	// ant
	// tea
}

// Len counts without an iteration. To(i).Len() is the rank of i.
func ExampleRange_Len() {
	scores := cow.New[string](cow.Options[int]{})
	byName := cow.NewOrder(scores, "name")
	for i, name := range []string{"ada", "bob", "cyd"} {
		scores.Set(name, i)
	}
	names := byName.In(scores.Load())
	fmt.Println("all:", names.Len(), "below cyd:", names.To("cyd").Len())
	// Output: all: 3 below cyd: 2
}

// The first few rows. A range that has fewer stays as it is.
func ExampleRange_Limit() {
	scores := cow.New[string](cow.Options[int]{})
	byScore, err := cow.NewIndex(scores, "score",
		func(r cow.Row[string, int]) int { return r.Shared() },
		cow.IndexOptions[string]{})
	for i, name := range []string{"ada", "bob", "cyd"} {
		scores.Set(name, 10*i)
	}
	best := byScore.In(scores.Load()).Reverse()
	for score, row := range best.Limit(2).All() {
		fmt.Println(score, row.Key())
	}
	fmt.Println(best.Limit(100).Len(), err)
	// Output:
	// 20 cyd
	// 10 bob
	// 3 <nil>
}

// Through keeps the bound, and To leaves it out.
func ExampleRange_Through() {
	scores := cow.New[string](cow.Options[int]{})
	byName := cow.NewOrder(scores, "name")
	for i, name := range []string{"ada", "bob", "cyd"} {
		scores.Set(name, i)
	}
	names := byName.In(scores.Load())
	fmt.Println("Through:", names.Through("bob").Len(), "To:", names.To("bob").Len())
	// Output: Through: 2 To: 1
}

// Without the index updates take less time. Snapshots can still be asked for it.
func ExampleIndex_Drop() {
	scores := cow.New[string](cow.Options[int]{})
	byName := cow.NewOrder(scores, "name")
	scores.Set("bob", 5)
	byName.Drop(scores)
	scores.Set("ada", 8)
	first, _, _ := byName.In(scores.Load()).First() // indexes the map there and then
	fmt.Println(first)
	byName = cow.NewOrder(scores, byName.Name()) // the name is free again
	fmt.Println(byName)
	// Output:
	// ada
	// index "name"
}

// An index is part of each snapshot, of past ones too.
func ExampleIndex_In() {
	scores := cow.New[string](cow.Options[int]{})
	byName := cow.NewOrder(scores, "name")
	scores.Set("bob", 5)
	before := scores.Load()
	scores.Set("ada", 8)
	first, _, _ := byName.In(before).First()
	now, _, _ := byName.In(scores.Load()).First()
	fmt.Println(first, now)
	// Output: bob ada
}

// A worker waits until there is a job in one state, and for nothing else.
func ExampleIndex_OnKeys() {
	jobs := cow.New[string](cow.Options[string]{})
	byState, err := cow.NewIndex(jobs, "state",
		func(r cow.Row[string, string]) string { return r.Shared() },
		cow.IndexOptions[string]{})
	if err != nil {
		fmt.Println(err)
	}
	seen := jobs.DB().Load()
	go func() {
		jobs.Set("mail", "done")
		jobs.Set("print", "ready")
	}()
	now, err := jobs.DB().Watch(context.Background(), seen, byState.OnKeys("ready"))
	fmt.Println(now, err)
	// Output: cow@2 (1 table, 2 rows) <nil>
}

// A Watch waits until a row comes into a range. The range of a nil map has the bounds, and no rows.
func ExampleIndex_OnRange() {
	scores := cow.New[string](cow.Options[int]{})
	byScore, err := cow.NewIndex(scores, "score",
		func(r cow.Row[string, int]) int { return r.Shared() },
		cow.IndexOptions[string]{})
	if err != nil {
		fmt.Println(err)
	}
	high := byScore.In(nil).From(100)
	go func() {
		scores.Set("ada", 8)
		scores.Set("bob", 120)
	}()
	now, err := scores.DB().Watch(context.Background(), nil, byScore.OnRange(high))
	fmt.Println(now, err)
	// Output: cow@2 (1 table, 2 rows) <nil>
}
