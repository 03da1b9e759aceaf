package cowtest_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/cow/cowtest"
)

// In a test, t is the testing.TB of the test, and the last check runs by itself at its end.
func ExampleGuard() {
	t := &printer{}
	s := cow.New[string](cow.Options[map[string]int]{})
	s.Set("apples", map[string]int{"red": 3})

	guard := cowtest.Guard(t, s.Load)

	// The code under test reads without cloning, which is fine, but
	// then it writes to what it got.
	v, _ := s.Load().Shared().Get("apples")
	v["red"]++

	guard.Check()
	// Output:
	// cowtest: the value stored under key "apples" at revision 1 was modified at ["red"]: what Shared, or a map of Immutable values, gives out must not be
}

// A Sink decides what becomes of updates. Here the first is published, and the second refused.
func ExampleAttach() {
	t := &printer{} // in a test, the testing.TB of the test
	users := cow.New[string](cow.Options[int]{Codec: cow.Versioned[int]{}})
	sink := cowtest.Attach(t, users.DB(), cowtest.SinkOptions{})
	ctx := context.Background()

	done := make(chan error)
	set := func(name string) { _, err := users.Set(name, 36); done <- err }
	go set("ada")
	proposed, err := sink.Await(ctx, 1)
	fmt.Println(len(proposed), "proposed,", users.Len(), "published", err)
	sink.Ack(1)
	fmt.Println(<-done, users.Len())

	go set("bob")
	_, err = sink.Await(ctx, 1)
	fmt.Println(err)
	sink.Refuse(1, errors.New("there is no space"))
	fmt.Println(<-done, users.Len())
	// Output:
	// 1 proposed, 0 published <nil>
	// <nil> 1
	// <nil>
	// there is no space 1
}

// The code under test looks at one of its replicas, which has what an update wrote when that
// returns.
func ExampleFollow() {
	t := &printer{}
	defer t.end()
	var leader, follower cow.DB
	o := cow.Options[int]{Codec: cow.Versioned[int]{}}
	users := cow.NewTable[string](&leader, "users", o)
	copied := cow.NewTable[string](&follower, "users", o)
	cowtest.Follow(t, &follower, &leader)

	_, err := users.Set("ada", 36)
	fmt.Println(err, follower.Load())
	fmt.Println(copied.Get("ada"))
	_, err = copied.Set("bob", 27)
	fmt.Println(err)
	// Output:
	// <nil> cow@1 (1 table, 1 row)
	// 36 true
	// cowtest: the DB follows another, which is the one to update
}

// The code under test gives up early, and its transaction ends nonetheless: the test passes.
func ExampleNoTx() {
	t := &printer{}
	seats := cow.New[string](cow.Options[string]{})
	cowtest.NoTx(t, seats.DB())

	book := func(seat, name string) error {
		tx := seats.DB().Begin()
		defer tx.Abort() // without this the test would fail, and say where tx began
		if err := seats.Edit(tx).Insert(seat, name); err != nil {
			return err
		}
		return tx.Commit()
	}
	fmt.Println(book("1A", "Ada"))
	fmt.Println(book("1A", "Bob"))
	t.end()
	fmt.Println("failed:", t.failed)
	// Output:
	// <nil>
	// cow: 1A: key exists
	// failed: false
}

// Two replicas write at the same time. The one that comes second runs its update again, on top of
// what the first one wrote.
func ExampleSink_Rebase() {
	t := &printer{}
	ctx := context.Background()
	o := cow.Options[int]{Codec: cow.Versioned[int]{}}
	here, there := cow.New[string](o), cow.New[string](o)
	first := cowtest.Attach(t, there.DB(), cowtest.SinkOptions{})
	second := cowtest.Attach(t, here.DB(), cowtest.SinkOptions{Of: first})

	done := make(chan error)
	count := func(visits *cow.Table[string, int]) {
		_, err := visits.Upsert("home", func(n *int, _ bool) error {
			*n++
			return nil
		})
		done <- err
	}
	go count(there)
	_, _ = first.Await(ctx, 1)
	go count(here)
	_, _ = second.Await(ctx, 1)

	commits := first.Ack(1)
	fmt.Println(<-done, second.Rebase(commits...))
	_, err := second.Await(ctx, 1) // the second run
	fmt.Println(len(second.Pending()), "pending", err)
	fmt.Println(here.Get("home"))
	second.Ack(1)
	fmt.Println(<-done)
	fmt.Println(here.Get("home"))
	// Output:
	// <nil> <nil>
	// 1 pending <nil>
	// 1 true
	// <nil>
	// 2 true
}

// A replica that was away for too long gets all that there is, in place of the commits.
func ExampleSink_Reset() {
	t := &printer{}
	o := cow.Options[int]{Codec: cow.Versioned[int]{}}
	here, there := cow.New[string](o), cow.New[string](o)
	away := cowtest.Attach(t, here.DB(), cowtest.SinkOptions{})
	there.Set("tea", 3)
	there.Set("tea", 2)
	other := cowtest.Attach(t, there.DB(), cowtest.SinkOptions{})

	fmt.Println(away.Reset(other.Contents()))
	fmt.Println(here.DB().Load())
	fmt.Println(here.Get("tea"))
	// Output:
	// <nil>
	// cow@2 (1 table, 1 row)
	// 2 true
}

// What a program does when its disk is full: updates fail from then on, and reads go on.
func ExampleSink_Fail() {
	t := &printer{}
	stock := cow.New[string](cow.Options[int]{Codec: cow.Versioned[int]{}})
	stock.Set("tea", 3)
	sink := cowtest.Attach(t, stock.DB(), cowtest.SinkOptions{})

	full := errors.New("the disk is full")
	sink.Fail(full)
	_, err := stock.Set("tea", 2)
	fmt.Println(err)
	fmt.Println(stock.Get("tea"))
	// Output:
	// cow: writes have failed: the disk is full
	// 3 true
}

// What the DB still needs of the past: something that stores it may drop what is older.
func ExampleSink_Trimmed() {
	t := &printer{}
	stock := cow.New[string](cow.Options[int]{Codec: cow.Versioned[int]{}})
	stock.DB().Retain(cow.Retention{Versions: 2})
	for n := range 5 {
		stock.Set("tea", n)
	}
	sink := cowtest.Attach(t, stock.DB(), cowtest.SinkOptions{})
	fmt.Println(sink.Trimmed())
	fmt.Println(stock.DB().Compact(4))
	fmt.Println(sink.Trimmed())
	// Output:
	// 3
	// <nil>
	// 4
}

// printer is a testing.TB that prints errors.
type printer struct {
	testing.TB
	failed bool
	ends   []func()
}

func (*printer) Helper()            {}
func (p *printer) Cleanup(f func()) { p.ends = append(p.ends, f) }

func (p *printer) Errorf(format string, args ...any) {
	p.failed = true
	fmt.Printf(format+"\n", args...)
}

// end ends the test, as package testing does.
func (p *printer) end() {
	for _, f := range slices.Backward(p.ends) {
		f()
	}
}
