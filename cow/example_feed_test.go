package cow_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cowstore/cowstore/cow"
)

// Each commit once, in order. Where the consumer ends the context, or breaks out,
// nothing is left behind.
func ExampleDB_Changes() {
	stock := cow.New[string](cow.Options[int]{})
	db := stock.DB()
	db.Retain(cow.Retention{Versions: 1000}) // how far a consumer may be behind
	stock.Set("tea", 3)
	stock.Set("tea", 2)
	stock.Delete("tea")

	stop := errors.New("that is all")
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	for commit, err := range db.Changes(ctx, 0) {
		if err != nil {
			fmt.Println(err)
			break
		}
		for c := range stock.Rows(commit) {
			was, _ := c.Old()
			is, _ := c.New()
			fmt.Println(commit.Version(), c.Kind, c.Key, was, is)
		}
		if commit.Version() == 3 {
			cancel(stop)
		}
	}
	// Output:
	// 1 added tea 0 3
	// 2 changed tea 3 2
	// 3 removed tea 2 0
	// that is all
}

// What has happened so far: the iteration ends where there is no more.
func ExampleDB_Commits() {
	stock := cow.New[string](cow.Options[int]{})
	db := stock.DB()
	db.Retain(cow.Retention{Versions: 1000}) // or there is no past to show
	stock.Set("tea", 3)
	stock.Set("tea", 2)
	stock.Delete("tea")

	for commit, err := range db.Commits(1) {
		if err != nil {
			fmt.Println(err) // cow.ErrCompacted: it is too long ago
			break
		}
		for c := range stock.Rows(commit) {
			fmt.Println(commit.Version(), c.Kind, c.Key)
		}
	}
	fmt.Println("that is all")
	// Output:
	// 2 changed tea
	// 3 removed tea
	// that is all
}

// A consumer keeps the cursor of the last commit that it has dealt with, here in a
// variable, in earnest beside its results, and goes on after it when it is started
// again.
func ExampleDB_Resume() {
	stock := cow.New[string](cow.Options[int]{})
	db := stock.DB()
	db.Retain(cow.Retention{Versions: 1000})
	stored := db.Cursor(0) // before the first commit
	consume := func(commits int) {
		for commit, err := range db.Resume(context.Background(), stored) {
			if err != nil {
				return // see DB.Resume
			}
			for c := range stock.Rows(commit) {
				fmt.Println(commit.Version(), c.Kind, c.Key)
			}
			stored = commit.Cursor()
			if commits--; commits == 0 {
				return
			}
		}
	}
	stock.Set("tea", 3)
	stock.Set("milk", 5)
	consume(2)
	stock.Set("tea", 2) // while nobody listens
	stock.Set("milk", 4)
	consume(2)
	// Output:
	// 1 added tea
	// 2 added milk
	// 3 changed tea
	// 4 changed milk
}

// Its errors say what has become of a cursor.
func ExampleDB_Resume_errors() {
	var db cow.DB
	notes := cow.NewTable[string](&db, "notes", cow.Options[int]{})
	db.Retain(cow.Retention{Versions: 2})
	for n := range 4 {
		notes.Set("n", n)
	}
	ask := func(db *cow.DB, cursor string) {
		for commit, err := range db.Resume(context.Background(), cursor) {
			switch {
			case errors.Is(err, cow.ErrCompacted), errors.Is(err, cow.ErrLineage):
				fmt.Println("begin with db.Load")
			case errors.Is(err, cow.ErrCursor):
				fmt.Println("no cursor")
			default:
				fmt.Println(commit)
			}
			return
		}
	}
	ask(&db, db.Cursor(3))
	ask(&db, db.Cursor(0))                // too long ago
	ask(db.Fork(db.Load()), db.Cursor(3)) // of another DB
	ask(&db, "yesterday")
	// Output:
	// commit 4 (1 change)
	// begin with db.Load
	// begin with db.Load
	// no cursor
}

// A Watch waits for some keys, whether they are there yet or not, and for no others.
func ExampleTable_OnKeys() {
	config := cow.New[string](cow.Options[string]{})
	config.Set("level", "info")
	seen := config.DB().Load()
	go func() {
		config.Set("color", "red") // wakes nobody
		config.Set("limit", "10")
	}()
	now, err := config.DB().Watch(context.Background(), seen,
		config.OnKeys("level", "limit"))
	if err != nil {
		return
	}
	fmt.Println("limit before:", config.In(seen).Has("limit"))
	fmt.Println(config.In(now).Get("limit"))
	// Output:
	// limit before: false
	// 10 true
}

// A program that waits for several things at once: keys of one table, another table, and a
// timer of its own.
func ExampleDB_Notify() {
	var db cow.DB
	limits := cow.NewTable[string](&db, "limits", cow.Options[int]{})
	users := cow.NewTable[int](&db, "users", cow.Options[string]{})
	seen := db.Load()
	changed, stop := db.Notify(seen, limits.OnKeys("disk"), users.OnAll())
	defer stop()

	limits.Set("memory", 100) // closes nothing
	select {
	case <-changed:
		fmt.Println("too early")
	default:
	}
	users.Set(1, "Ada")
	select {
	case <-changed:
		fmt.Println("users:", users.Len())
	case <-time.After(time.Minute):
	}
	// Output:
	// users: 1
}

// Times are in the order of versions, even if the clock of the machine was set back.
func ExampleCommit_Time() {
	stock := cow.New[string](cow.Options[int]{})
	stock.DB().Retain(cow.Retention{Age: time.Hour})
	last := time.Now()
	stock.Set("tea", 3)
	stock.Set("tea", 2)
	for commit, err := range stock.DB().Commits(0) {
		if err != nil {
			fmt.Println(err)
			break
		}
		fmt.Println(commit, "in order:", !commit.Time().Before(last))
		last = commit.Time()
	}
	// Output:
	// commit 1 (1 change) in order: true
	// commit 2 (1 change) in order: true
}
