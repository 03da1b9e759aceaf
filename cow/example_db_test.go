package cow_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/cow/cowtest"
)

// A past version of all tables, here to take one row back.
func ExampleDB_At() {
	prices := cow.New[string](cow.Options[int]{})
	db := prices.DB()
	db.Retain(cow.Retention{Versions: 100}) // or the past is gone
	prices.Set("tea", 3)
	prices.Set("tea", 300)
	then, err := db.At(1)
	fmt.Println(then, err)
	was, _ := prices.In(then).Get("tea")
	fmt.Println(prices.Set("tea", was))
	_, err = db.At(4)
	fmt.Println("to come:", errors.Is(err, cow.ErrUnpublished))
	// Output:
	// cow@1 (1 table, 1 row) <nil>
	// 3 <nil>
	// to come: true
}

// BeginContext gives up after a time if another transaction does not end.
func ExampleDB_BeginContext() {
	var db cow.DB
	held := make(chan *cow.Tx)
	go func() { held <- db.Begin() }()
	other := <-held
	defer other.Abort()

	busy := errors.New("the DB is busy")
	ctx, cancel := context.WithTimeoutCause(context.Background(),
		time.Millisecond, busy)
	defer cancel()
	_, err := db.BeginContext(ctx)
	fmt.Println(err)
	// Output: the DB is busy
}

// The past before a version is forgotten. That version and later ones stay.
func ExampleDB_Compact() {
	prices := cow.New[string](cow.Options[int]{})
	db := prices.DB()
	db.Retain(cow.Retention{Versions: 100})
	for price := range 3 {
		prices.Set("tea", price)
	}
	fmt.Println(db.Compact(2))
	_, err := db.At(1)
	fmt.Println("1 is gone:", errors.Is(err, cow.ErrCompacted))
	fmt.Println(db.At(2))
	// Output:
	// <nil>
	// 1 is gone: true
	// cow@2 (1 table, 1 row) <nil>
}

// A version as text, such as an entity tag, and back. That of another DB is refused.
func ExampleDB_Cursor() {
	stock := cow.New[string](cow.Options[int]{})
	db := stock.DB()
	stock.Set("tea", 3)
	tag := db.Cursor(db.Load().Version())
	fmt.Println(db.ParseCursor(tag))

	_, err := db.Fork(db.Load()).ParseCursor(tag)
	fmt.Println("of another DB:", errors.Is(err, cow.ErrLineage))
	_, err = db.ParseCursor("yesterday")
	fmt.Println("not a cursor:", errors.Is(err, cow.ErrCursor))
	// Output:
	// 1 <nil>
	// of another DB: true
	// not a cursor: true
}

// A fork has a lineage of its own, and says where it comes from.
func ExampleDB_Lineage() {
	stock := cow.New[string](cow.Options[int]{})
	stock.Set("tea", 3)
	db := stock.DB()
	fork := db.Fork(db.Load())
	fmt.Println("from db:", fork.Lineage().Parent == db.Lineage().ID,
		"at version", fork.Lineage().Forked)
	fmt.Printf("db is from %q\n", db.Lineage().Parent)
	// Output:
	// from db: true at version 1
	// db is from ""
}

// A snapshot of all tables stays what it is, for as long as it is wanted.
func ExampleDB_Load() {
	var db cow.DB
	users := cow.NewTable[string](&db, "users", cow.Options[string]{})
	before := db.Load()
	users.Set("ada", "Ada")
	fmt.Println(before)
	fmt.Println(db.Load())
	// Output:
	// cow@0 (1 table, 0 rows)
	// cow@1 (1 table, 1 row)
}

// The pins come in the order of their names.
func ExampleDB_Pins() {
	config := cow.New[string](cow.Options[string]{})
	db := config.DB()
	for i, name := range []string{"v1", "v3", "v2"} {
		config.Set("release", name)
		if err := db.Pin(name, uint64(i+1)); err != nil {
			fmt.Println(err)
		}
	}
	for name, s := range db.Pins() {
		fmt.Println(name, "is version", s.Version())
	}
	// Output:
	// v1 is version 1
	// v2 is version 3
	// v3 is version 2
}

// What the past holds in memory: old rows, and not whole versions.
func ExampleDB_Stats() {
	stock := cow.New[string](cow.Options[int]{})
	db := stock.DB()
	db.Retain(cow.Retention{Versions: 100})
	stock.Set("tea", 3)
	stock.Set("tea", 2)
	stock.Set("milk", 1)
	s := db.Stats()
	fmt.Println(s.Retained, "old versions hold", s.HeldRows, "old row")
	// Output: 3 old versions hold 1 old row
}

// A row stays until it is swept. Here a value is the time in seconds at which it expires.
func ExampleDB_Sweep() {
	sessions := cow.New[string](cow.Options[int]{
		Expires: func(v int) time.Time { return time.Unix(int64(v), 0) },
	})
	sessions.Set("ada", int(time.Now().Add(time.Hour).Unix()))
	sessions.Set("bob", int(time.Now().Add(-time.Hour).Unix()))
	fmt.Println("bob is there:", sessions.Has("bob"))
	fmt.Println(sessions.DB().Sweep(context.Background()))
	fmt.Println("bob:", sessions.Has("bob"), "ada:", sessions.Has("ada"))
	// Output:
	// bob is there: true
	// 1 <nil>
	// bob: false ada: true
}

// A DB starts no goroutine. SweepEvery runs in one of the program's, until its context ends.
func ExampleDB_SweepEvery() {
	sessions := cow.New[string](cow.Options[int]{
		Expires: func(v int) time.Time { return time.Unix(int64(v), 0) },
	})
	rev, err := sessions.Set("bob", 1) // 1970
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- sessions.DB().SweepEvery(ctx, time.Millisecond) }()
	swept, waitErr := sessions.DB().Wait(ctx, rev)
	fmt.Println(swept, err, waitErr)
	cancel()
	fmt.Println(<-ended)
	// Output:
	// cow@2 (1 table, 0 rows) <nil> <nil>
	// context canceled
}

// The rows that expire, the next one first, whether they were swept or not.
func ExampleTable_Expiry() {
	sessions := cow.New[string](cow.Options[int]{
		Expires: func(v int) time.Time { return time.Unix(int64(v), 0) },
	})
	sessions.Set("ada", 2_000)
	sessions.Set("bob", 1_000)
	for at, row := range sessions.Expiry().In(sessions.Load()).All() {
		fmt.Println(row.Key(), time.Unix(0, at).UTC().Format(time.TimeOnly))
	}
	// Output:
	// bob 00:16:40
	// ada 00:33:20
}

// Without its pin a version is gone, unless Retain keeps it.
func ExampleDB_Unpin() {
	config := cow.New[string](cow.Options[string]{})
	db := config.DB()
	config.Set("level", "info")
	fmt.Println(db.Pin("release", 1))
	config.Set("level", "debug")
	fmt.Println(db.At(1))
	fmt.Println(db.Unpin("release"), db.Unpin("release"))
	_, err := db.At(1)
	fmt.Println("1 is gone:", errors.Is(err, cow.ErrCompacted))
	// Output:
	// <nil>
	// cow@1 (1 table, 1 row) <nil>
	// true false
	// 1 is gone: true
}

// Several tables change in one version, or, after an error, none of them.
func ExampleDB_Update() {
	var db cow.DB
	users := cow.NewTable[string](&db, "users", cow.Options[string]{})
	points := cow.NewTable[string](&db, "points", cow.Options[int]{})
	join := func(key, name string) error {
		return db.Update(func(tx *cow.Tx) error {
			points.Edit(tx).Set(key, 10)
			return users.Edit(tx).Insert(key, name)
		})
	}
	fmt.Println(join("ada", "Ada"), db.Load())
	fmt.Println(join("ada", "another"), db.Load())
	// Output:
	// <nil> cow@1 (2 tables, 2 rows)
	// cow: table "users": ada: key exists cow@1 (2 tables, 2 rows)
}

// A context that ends while the function runs: nothing of it is published.
func ExampleDB_UpdateContext() {
	var db cow.DB
	users := cow.NewTable[string](&db, "users", cow.Options[string]{})
	ctx, cancel := context.WithCancel(context.Background())
	err := db.UpdateContext(ctx, func(tx *cow.Tx) error {
		users.Edit(tx).Set("ada", "Ada")
		cancel()
		return nil
	})
	fmt.Println(err, users.Len())
	// Output: context canceled 0
}

// What At can be asked for: the oldest version that is retained comes first, the current one last.
func ExampleDB_Versions() {
	prices := cow.New[string](cow.Options[int]{})
	db := prices.DB()
	db.Retain(cow.Retention{Versions: 1})
	prices.Set("tea", 3)
	prices.Set("tea", 4)
	prices.Set("tea", 5)
	for version, published := range db.Versions() {
		fmt.Println("version", version, "has a time:", !published.IsZero())
	}
	// Output:
	// version 2 has a time: true
	// version 3 has a time: true
}

// An aborted transaction leaves no trace. After Commit, Abort does nothing.
func ExampleTx_Abort() {
	var db cow.DB
	users := cow.NewTable[string](&db, "users", cow.Options[string]{})
	tx := db.Begin()
	users.Edit(tx).Set("ada", "Ada")
	tx.Abort()
	fmt.Println(tx.Commit(), users.Len())
	tx = db.Begin()
	users.Edit(tx).Set("bob", "Bob")
	fmt.Println(tx.Commit(), users.Len())
	tx.Abort()
	fmt.Println(users.Len())
	// Output:
	// cow: the transaction has ended before: begin another 0
	// <nil> 1
	// 1
}

// What was there when the update began, beside what it has made of it.
func ExampleTx_Base() {
	stock := cow.New[string](cow.Options[int]{})
	stock.Set("tea", 3)
	err := stock.DB().Update(func(tx *cow.Tx) error {
		stock.Edit(tx).Set("tea", 2)
		was, _ := stock.In(tx.Base()).Get("tea")
		is, _ := stock.During(tx).Get("tea")
		fmt.Println(tx.Base().Version(), was, "->", tx.Version(), is)
		return nil
	})
	fmt.Println(err)
	// Output:
	// 1 3 -> 2 2
	// <nil>
}

// Commit publishes once. A transaction that changed nothing publishes no version.
func ExampleTx_Commit() {
	var db cow.DB
	users := cow.NewTable[string](&db, "users", cow.Options[string]{})
	tx := db.Begin()
	users.Edit(tx).Set("ada", "Ada")
	fmt.Println(users.Len(), tx.Commit(), users.Len())
	fmt.Println(tx.Commit())
	fmt.Println(db.Begin().Commit(), db.Load().Version())
	// Output:
	// 0 <nil> 1
	// cow: the transaction has ended before: begin another
	// <nil> 1
}

// A helper keeps what it needs for the time of one transaction: here, how often it was called.
func ExampleTx_Local() {
	type callsKey struct{}
	var db cow.DB
	helper := func(tx *cow.Tx) int {
		calls := tx.Local(callsKey{})
		n, _ := (*calls).(int) // nil at first
		*calls = n + 1
		return n + 1
	}
	for range 2 { // two transactions
		fmt.Println(db.Update(func(tx *cow.Tx) error {
			fmt.Print(helper(tx), helper(tx), " ")
			return nil
		}))
	}
	// Output:
	// 1 2 <nil>
	// 1 2 <nil>
}

// A program that keeps its DB in a file closes it at its end. From then on updates fail, and reads
// go on.
func ExampleDB_Close() {
	stock := cow.New[string](cow.Options[int]{Codec: cow.Versioned[int]{}})
	stock.Set("tea", 3)
	db := stock.DB()
	fmt.Println(db.Close()) // neither a file nor a replica: nothing to close
	fmt.Println(stock.Set("tea", 2))

	t := quiet{} // a Sink stands for a file here, and t for the test
	cowtest.Attach(t, db, cowtest.SinkOptions{})
	fmt.Println(db.Close())
	_, err := stock.Set("tea", 1)
	fmt.Println("closed:", errors.Is(err, cow.ErrClosed))
	fmt.Println(stock.Get("tea"))
	// Output:
	// <nil>
	// 2 <nil>
	// <nil>
	// closed: true
	// 2 true
}

// quiet is a testing.TB for a Sink.
type quiet struct{ testing.TB }

func (quiet) Helper()        {}
func (quiet) Cleanup(func()) {}

// Which old version holds memory back: that of a reader who has kept a snapshot.
func ExampleDB_TrackSnapshots() {
	stock := cow.New[string](cow.Options[int]{})
	stock.DB().TrackSnapshots(true)
	stock.Set("tea", 3)
	stock.Set("milk", 1)
	forgotten := stock.DB().Load()
	stock.Set("tea", 2)
	stock.Set("milk", 2)

	runtime.GC() // the collector finds what is held
	for _, held := range stock.DB().Stats().HeldSnapshots {
		fmt.Println("version", held.Version, "keeps", held.Rows, "old rows")
	}
	runtime.KeepAlive(forgotten)
	// Output: version 2 keeps 2 old rows
}

// A report on all tables of one version.
func ExampleSnapshot() {
	var db cow.DB
	users := cow.NewTable[string](&db, "users", cow.Options[string]{})
	stock := cow.NewTable[string](&db, "stock", cow.Options[int]{})
	users.Set("ada", "Ada")
	stock.Set("tea", 3)
	stock.Set("milk", 1)

	now := db.Load()
	fmt.Println(users.Name(), users.In(now).Len())
	fmt.Println(stock.Name(), stock.In(now).Len())
	fmt.Println("version", now.Version(), "has", now.Len(), "rows")
	// Output:
	// users 1
	// stock 2
	// version 3 has 3 rows
}

// A derived table may refuse what breaks a rule, and must take what was decided before there was
// the rule, such as the rows of a backup.
func ExampleTx_Replays() {
	var db cow.DB
	users := cow.NewTable[string](&db, "users", cow.Options[int]{})
	adults, err := cow.NewDerived(&db, "adults", cow.Options[bool]{},
		func(tx *cow.Tx, e *cow.Editor[string, bool]) error {
			for c := range users.Changes(tx) {
				age, _ := c.New()
				if age < 18 && !tx.Replays() {
					return fmt.Errorf("%s is %d", c.Key, age)
				}
				e.Set(c.Key, age >= 18)
			}
			return nil
		})
	fmt.Println(err)

	var other cow.DB // that of the backup, with its cursor
	fmt.Println(db.Restore(other.Cursor(7), time.Now(), func(tx *cow.Tx) error {
		return users.Restore(tx, "bob", 12, 7)
	}))
	_, err = users.Set("eve", 12)
	fmt.Println(err)
	fmt.Println(adults.Get("bob"))
	// Output:
	// <nil>
	// <nil>
	// eve is 12
	// false true
}
