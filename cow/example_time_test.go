package cow_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cowstore/cowstore/cow"
)

// Pages of an index that has several rows under a key: each begins after the
// last row of the one before.
func ExampleRange_After() {
	tasks := cow.New[string](cow.Options[int]{})
	all := map[string]int{"a": 2, "b": 1, "c": 2, "d": 2, "e": 3}
	for name, priority := range all {
		tasks.Set(name, priority)
	}
	byPriority, err := cow.NewMultiIndex(tasks, "priority",
		func(r cow.Row[string, int], add func(int)) { add(r.Shared()) },
		cow.IndexOptions[string]{})
	if err != nil {
		return
	}
	for page, more := byPriority.In(tasks.Load()), true; more; {
		left := 2
		more = false
		for priority, row := range page.All() {
			fmt.Printf("%d%s;", priority, row.Key())
			if left--; left == 0 {
				page, more = page.After(priority, row.Key()), true
				break
			}
		}
		fmt.Println()
	}
	// Output:
	// 1b;2a;
	// 2c;2d;
	// 3e;
}

// An index shows what the update has written so far.
func ExampleIndex_During() {
	seats := cow.New[string](cow.Options[int]{})
	bySeat, err := cow.NewMultiIndex(seats, "seat",
		func(r cow.Row[string, int], add func(int)) { add(r.Shared()) },
		cow.IndexOptions[string]{Unique: true})
	if err != nil {
		return
	}
	take := func(name string) error {
		return seats.Update(func(e *cow.Editor[string, int]) error {
			last, _, found := bySeat.During(e).Reverse().First()
			if !found {
				last = 0
			}
			e.Set(name, last+1)
			return nil
		})
	}
	fmt.Println(take("ada"), take("bob"), take("eve"))
	fmt.Println(seats.Get("eve"))
	// Output:
	// <nil> <nil> <nil>
	// 3 true
}

// Two branches that both count: the resolver adds up what each has added.
func ExampleDB_Merge() {
	var db cow.DB
	visits := cow.NewTable[string](&db, "visits", cow.Options[int]{})
	add := func(db *cow.DB, page string, n int) {
		_ = db.Update(func(tx *cow.Tx) error {
			return visits.Edit(tx).Upsert(page, func(v *int, _ bool) error {
				*v += n
				return nil
			})
		})
	}
	add(&db, "home", 10)

	base := db.Load()
	branch := db.Fork(base)
	add(branch, "home", 5)
	add(branch, "about", 1)
	add(&db, "home", 2)

	_, err := db.Merge(base, branch.Load())
	fmt.Println(err, errors.Is(err, cow.ErrConflict))

	addUp := func(c cow.Conflict[string, int]) (int, bool, error) {
		was, _ := c.Base()
		ours, _ := c.Ours()
		theirs, _ := c.Theirs()
		return ours + theirs - was, true, nil
	}
	resolver := visits.Resolve(addUp)
	_, err = db.Merge(base, branch.Load(), resolver)
	home, _ := visits.In(db.Load()).Get("home")
	about, _ := visits.In(db.Load()).Get("about")
	fmt.Println(err, home, about)
	// Output:
	// cow: table "visits": home: changed on both sides true
	// <nil> 17 1
}

// A worker that waits for its own work, and for nothing else in the store.
func ExampleDB_Watch() {
	var db cow.DB
	jobs := cow.NewTable[string](&db, "jobs", cow.Options[string]{})
	byWorker, err := cow.NewMultiIndex(jobs, "worker",
		func(r cow.Row[string, string], add func(string)) { add(r.Shared()) },
		cow.IndexOptions[string]{})
	if err != nil {
		return
	}
	seen := db.Load()
	go func() {
		assign := [][2]string{{"build", "bob"}, {"test", "bob"}, {"deploy", "ada"}}
		for _, job := range assign {
			_ = db.Update(func(tx *cow.Tx) error {
				jobs.Edit(tx).Set(job[0], job[1])
				return nil
			})
		}
	}()

	now, err := jobs.DB().Watch(context.Background(), seen, byWorker.OnKeys("ada"))
	for _, row := range byWorker.In(jobs.In(now)).Equal("ada").All() {
		fmt.Println("ada has to", row.Key(), err)
	}
	// Output: ada has to deploy <nil>
}

// A backup in a format of one's own: cursors go on where they were.
func ExampleDB_Restore() {
	var db cow.DB
	ages := cow.NewTable[string](&db, "ages", cow.Options[int]{})
	_ = db.Update(func(tx *cow.Tx) error {
		ages.Edit(tx).Set("Ann", 41)
		return nil
	})
	_ = db.Update(func(tx *cow.Tx) error {
		ages.Edit(tx).Set("Bob", 30)
		return nil
	})
	s := db.Load()
	cursor := db.Cursor(s.Version()) // to be kept with the rows

	var next cow.DB
	copies := cow.NewTable[string](&next, "ages", cow.Options[int]{})
	err := next.Restore(cursor, time.Now(), func(tx *cow.Tx) error {
		for row := range ages.In(s).Rows() {
			err := copies.Restore(tx, row.Key(), row.Value(), row.Revision())
			if err != nil {
				return err
			}
		}
		return nil
	})
	fmt.Println(err, next.Load().Version(), copies.Load().Revision("Ann"),
		"same cursor:", next.Cursor(2) == cursor)
	// Output: <nil> 2 1 same cursor: true
}

// Expires says when a row expires. Sweep deletes those that have.
func ExampleOptions_expires() {
	type session struct {
		User  string
		Until time.Time
	}
	sessions := cow.New[string](
		cow.Options[session]{Expires: func(s session) time.Time { return s.Until }},
	)
	sessions.Set("a", session{"ada", time.Now().Add(time.Hour)})
	sessions.Set("b", session{"bob", time.Now().Add(-time.Second)})

	// Or, in a goroutine, SweepEvery.
	n, err := sessions.DB().Sweep(context.Background())
	fmt.Println(n, sessions.Len(), err)
	for _, row := range sessions.Expiry().In(sessions.Load()).All() {
		fmt.Println(row.Key(), "is next")
	}
	// Output:
	// 1 1 <nil>
	// a is next
}

// A row that has expired is there until it is swept. Whoever must not show it looks at its time.
func ExampleSnapshot_Due() {
	type session struct {
		User  string
		Until time.Time // a field, as Expires gets the value alone
	}
	sessions := cow.New[string](
		cow.Options[session]{Expires: func(s session) time.Time { return s.Until }},
	)
	sessions.Set("a", session{"ada", time.Now().Add(time.Hour)})
	sessions.Set("b", session{"bob", time.Now().Add(-time.Second)})

	user := func(key string) (string, bool) {
		s, ok := sessions.Get(key)
		// The zero time is never.
		if !ok || !s.Until.IsZero() && !s.Until.After(time.Now()) {
			return "nobody", false
		}
		return s.User, true
	}
	fmt.Println(user("a"))
	fmt.Println(user("b"))

	// All that have expired, in order: Due is the cheap test whether there may be any.
	if now := sessions.DB().Load(); now.Due() {
		all := sessions.Expiry().In(sessions.In(now))
		for _, row := range all.Through(time.Now().UnixNano()).All() {
			fmt.Println(row.Key(), "has expired, and is there:",
				sessions.Has(row.Key()))
		}
	}
	fmt.Println(sessions.DB().Sweep(context.Background()))
	fmt.Println(sessions.Has("b"))
	// Output:
	// ada true
	// nobody false
	// b has expired, and is there: true
	// 1 <nil>
	// false
}
