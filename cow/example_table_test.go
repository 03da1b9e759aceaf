package cow_test

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/snapshot/clone"
)

// A table of its own DB. Its rows have keys of one type and values of another.
func ExampleNew() {
	stock := cow.New[string](cow.Options[int]{})
	fmt.Println(stock.Set("tea", 3))
	fmt.Println(stock.Get("tea"))
	fmt.Println(stock.DB().Load())
	// Output:
	// 1 <nil>
	// 3 true
	// cow@1 (1 table, 1 row)
}

// The tables of one DB share its versions. A name is what errors and schemas call a table.
func ExampleNewTable() {
	var db cow.DB
	users := cow.NewTable[string](&db, "users", cow.Options[string]{})
	stock := cow.NewTable[string](&db, "stock", cow.Options[int]{})
	fmt.Println(users.Set("ada", "Ada"))
	fmt.Println(stock.Set("tea", 3))
	_, err := users.Insert("ada", "another")
	fmt.Println(err)
	// Output:
	// 1 <nil>
	// 2 <nil>
	// cow: table "users": ada: key exists
}

type soldOutError struct{ day string }

func (e *soldOutError) Error() string { return "sold out on " + e.day }

var errSoldOut = cow.Sentinel(&soldOutError{"Monday"})

// Tables clone an error of a type of your own, unless it is named where it is declared.
func ExampleSentinel() {
	copied := clone.Of[error]() // as a table clones its values
	other := &soldOutError{"Friday"}
	fmt.Println("named, the same:", copied(errSoldOut) == errSoldOut)
	fmt.Println("other, the same:", copied(other) == other)
	fmt.Println("named twice:", cow.Sentinel(errSoldOut) == errSoldOut)
	// Output:
	// named, the same: true
	// other, the same: false
	// named twice: true
}

// An iteration is over one snapshot. What is written meanwhile is not in it.
func ExampleTable_All() {
	scores := cow.New[string](cow.Options[int]{})
	scores.Set("ada", 8)
	scores.Set("bob", 5)
	sum := 0
	for name, score := range scores.All() {
		scores.Set("copy of "+name, score)
		sum += score
	}
	fmt.Println(sum, scores.Len())
	// Output: 13 4
}

// What an update has changed so far. A row that it added and removed again is not there.
func ExampleTable_Changes() {
	var db cow.DB
	users := cow.NewTable[string](&db, "users", cow.Options[string]{})
	err := db.Update(func(tx *cow.Tx) error {
		users.Edit(tx).Set("ada", "Ada")
		users.Edit(tx).Set("bob", "Bob")
		users.Edit(tx).Delete("bob")
		for c := range users.Changes(tx) {
			fmt.Println(c.Kind, c.Key)
		}
		return nil
	})
	fmt.Println(err)
	// Output:
	// added ada
	// <nil>
}

// Clear is one version, and no version where there is nothing to remove.
func ExampleTable_Clear() {
	scores := cow.New[string](cow.Options[int]{})
	scores.Set("ada", 8)
	scores.Set("bob", 5)
	before := scores.Load()
	fmt.Println(scores.Clear())
	fmt.Println(scores.Clear())
	fmt.Println(before.Len(), scores.Len(), scores.Load().Version())
	// Output:
	// 2 <nil>
	// 0 <nil>
	// 2 0 3
}

// Delete returns the version that it published. An absent key is no error, and no version.
func ExampleTable_Delete() {
	scores := cow.New[string](cow.Options[int]{})
	scores.Set("ada", 8)
	fmt.Println(scores.Delete("ada"))
	fmt.Println(scores.Delete("ada"))
	// Output:
	// 2 <nil>
	// 0 <nil>
}

// A row goes only if nobody has written it since it was read.
func ExampleTable_DeleteIf() {
	jobs := cow.New[string](cow.Options[string]{})
	jobs.Set("mail", "done")
	read := jobs.Load().Revision("mail")

	jobs.Set("mail", "again") // meanwhile
	_, err := jobs.DeleteIf("mail", read)
	fmt.Println(err, errors.Is(err, cow.ErrRevision))
	fmt.Println(jobs.DeleteIf("mail", jobs.Load().Revision("mail")))
	// Output:
	// cow: mail: key is not at that revision true
	// 3 <nil>
}

// One update edits several tables. An Editor reads its own writes, and nobody else does yet.
func ExampleTable_Edit() {
	var db cow.DB
	users := cow.NewTable[string](&db, "users", cow.Options[string]{})
	counts := cow.NewTable[string](&db, "counts", cow.Options[int]{})
	err := db.Update(func(tx *cow.Tx) error {
		users.Edit(tx).Set("ada", "Ada")
		counts.Edit(tx).Set("users", users.Edit(tx).Len())
		fmt.Println("the Editor:", users.Edit(tx).Has("ada"), "others:", users.Has("ada"))
		return nil
	})
	fmt.Println(err)
	fmt.Println(counts.Get("users"))
	// Output:
	// the Editor: true others: false
	// <nil>
	// 1 true
}

// The past of a key goes, and the row that is set in the same update stays.
func ExampleTable_Erase() {
	users := cow.New[string](cow.Options[string]{})
	db := users.DB()
	db.Retain(cow.Retention{Versions: 100})
	users.Set("ada", "London, 12 St James's Square")
	_, err := db.Erase(context.Background(), func(tx *cow.Tx) error {
		users.Erase(tx, "ada")
		users.Edit(tx).Set("ada", "London")
		return nil
	})
	then, atErr := db.At(1)
	fmt.Println("then:", users.In(then).Has("ada"), "now:", users.Has("ada"), err, atErr)
	// Output: then: false now: true <nil> <nil>
}

// Get of an absent key returns the zero value and false.
func ExampleTable_Get() {
	scores := cow.New[string](cow.Options[int]{})
	scores.Set("ada", 0)
	fmt.Println(scores.Get("ada"))
	fmt.Println(scores.Get("bob"))
	// Output:
	// 0 true
	// 0 false
}

// Has looks at what is published. A Map answers for one version.
func ExampleTable_Has() {
	scores := cow.New[string](cow.Options[int]{})
	before := scores.Load()
	scores.Set("ada", 0)
	fmt.Println("now:", scores.Has("ada"), "before:", before.Has("ada"))
	// Output: now: true before: false
}

// Two tables at one version agree, whatever is written meanwhile.
func ExampleTable_In() {
	var db cow.DB
	users := cow.NewTable[string](&db, "users", cow.Options[string]{})
	before := db.Load()
	stock := cow.NewTable[string](&db, "stock", cow.Options[int]{})
	users.Set("ada", "Ada")
	stock.Set("tea", 3)
	now := db.Load()
	users.Clear()
	fmt.Println(users.In(now).Len(), stock.In(now).Len())
	fmt.Println(stock.In(before).Len()) // from before the table was made
	// Output:
	// 1 1
	// 0
}

// Of several callers that insert one key, one succeeds. The others change nothing.
func ExampleTable_Insert() {
	seats := cow.New[string](cow.Options[string]{})
	fmt.Println(seats.Insert("1A", "Ada"))
	_, err := seats.Insert("1A", "Bob")
	fmt.Println(err, errors.Is(err, cow.ErrExists))
	fmt.Println(seats.Get("1A"))
	// Output:
	// 1 <nil>
	// cow: 1A: key exists true
	// Ada true
}

// Two reads of a table may see two versions. Two reads of its Map see one.
func ExampleTable_Load() {
	stock := cow.New[string](cow.Options[int]{})
	stock.Set("tea", 3)
	m := stock.Load()
	stock.Set("tea", 2)
	fmt.Println(m.Get("tea"))
	fmt.Println(m.Version(), m.Revision("tea"))
	fmt.Println(stock.Get("tea"))
	// Output:
	// 3 true
	// 1 1
	// 2 true
}

// An error of the function leaves the row as it was. An absent key is ErrNotFound.
func ExampleTable_Modify() {
	stock := cow.New[string](cow.Options[int]{})
	stock.Set("tea", 1)
	sell := func(n *int) error {
		if *n--; *n < 0 {
			return errors.New("sold out")
		}
		return nil
	}
	fmt.Println(stock.Modify("tea", sell))
	fmt.Println(stock.Modify("tea", sell))
	fmt.Println(stock.Modify("milk", sell))
	// Output:
	// 2 <nil>
	// 0 sold out
	// 0 cow: milk: key not found
}

// A fork has the same tables under another DB.
func ExampleTable_Of() {
	pages := cow.New[string](cow.Options[string]{})
	pages.Set("home", "hello")
	draft := pages.Of(pages.DB().Fork(pages.DB().Load()))
	draft.Set("home", "welcome")
	fmt.Println(pages.Get("home"))
	fmt.Println(draft.Get("home"))
	// Output:
	// hello true
	// welcome true
}

// A Watch waits for any row of one table. Writes to other tables do not end that.
func ExampleTable_OnAll() {
	var db cow.DB
	users := cow.NewTable[string](&db, "users", cow.Options[string]{})
	stock := cow.NewTable[string](&db, "stock", cow.Options[int]{})
	seen := db.Load()
	go func() {
		stock.Set("tea", 3)
		users.Set("ada", "Ada")
	}()
	now, err := db.Watch(context.Background(), seen, users.OnAll())
	fmt.Println(now, err)
	// Output: cow@2 (2 tables, 2 rows) <nil>
}

// Of a conflict the larger value stays. Without a Resolver the merge fails.
func ExampleTable_Resolve() {
	best := cow.New[string](cow.Options[int]{})
	base := best.DB().Load()
	fork := best.DB().Fork(base)
	best.Set("ada", 7)
	best.Of(fork).Set("ada", 9)
	resolver := best.Resolve(func(c cow.Conflict[string, int]) (int, bool, error) {
		ours, _ := c.Ours() // 0 if our side removed the key
		theirs, _ := c.Theirs()
		return max(ours, theirs), true, nil
	})
	_, err := best.DB().Merge(base, fork.Load(), resolver)
	fmt.Println(err)
	fmt.Println(best.Get("ada"))
	// Output:
	// <nil>
	// 9 true
}

// The changes of a commit are those of all tables. Rows returns those of one, typed.
func ExampleTable_Rows() {
	stock := cow.New[string](cow.Options[int]{})
	stock.DB().Retain(cow.Retention{Versions: 100})
	stock.Set("tea", 3)
	stock.Set("tea", 2)
	for commit, err := range stock.DB().Commits(0) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(commit.Version(), slices.Collect(stock.Rows(commit)))
	}
	// Output:
	// 1 [added "tea"]
	// 2 [changed "tea"]
}

// Set returns the version that it published. That is the revision of the row.
func ExampleTable_Set() {
	stock := cow.New[string](cow.Options[int]{})
	fmt.Println(stock.Set("tea", 3))
	fmt.Println(stock.Set("tea", 3)) // an equal value is a change too
	fmt.Println(stock.Load().Revision("tea"))
	// Output:
	// 1 <nil>
	// 2 <nil>
	// 2
}

// An update of one table that is not begun once its context has ended.
func ExampleTable_UpdateContext() {
	stock := cow.New[string](cow.Options[int]{})
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(errors.New("the client has gone"))
	err := stock.UpdateContext(ctx, func(e *cow.Editor[string, int]) error {
		e.Set("tea", 3)
		return nil
	})
	fmt.Println(err, stock.Len())
	// Output: the client has gone 0
}

// The function gets a zero value for an absent key, so that a counter needs no first step.
func ExampleTable_Upsert() {
	visits := cow.New[string](cow.Options[int]{})
	count := func(n *int, found bool) error {
		*n++
		fmt.Println(found, *n)
		return nil
	}
	fmt.Println(visits.Upsert("home", count))
	fmt.Println(visits.Upsert("home", count))
	// Output:
	// false 1
	// 1 <nil>
	// true 2
	// 2 <nil>
}
