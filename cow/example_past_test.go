package cow_test

import (
	"errors"
	"fmt"
	"time"

	"github.com/cowstore/cowstore/cow"
)

// The last two versions before the current one stay, and no others.
func ExampleDB_Retain() {
	prices := cow.New[string](cow.Options[int]{})
	db := prices.DB()
	db.Retain(cow.Retention{Versions: 2})
	for price := 1; price <= 4; price++ {
		prices.Set("tea", price)
	}
	for version := uint64(1); version <= 5; version++ {
		s, err := db.At(version)
		switch {
		case errors.Is(err, cow.ErrCompacted):
			fmt.Println(version, "is gone")
		case errors.Is(err, cow.ErrUnpublished):
			fmt.Println(version, "is to come")
		default:
			price, _ := prices.In(s).Get("tea")
			fmt.Println(version, "had tea for", price)
		}
	}
	// Output:
	// 1 is gone
	// 2 had tea for 2
	// 3 had tea for 3
	// 4 had tea for 4
	// 5 is to come
}

// To go back to an earlier version is a merge that brings over what that version has: it makes a new
// one, so that it can be undone as well.
func ExampleDB_Merge_back() {
	var db cow.DB
	prices := cow.NewTable[string](&db, "prices", cow.Options[int]{})
	db.Retain(cow.Retention{Versions: 100})
	good, _ := prices.Set("tea", 3)
	prices.Set("tea", 30)
	prices.Set("milk", 1)

	past, err := db.At(good)
	if err != nil {
		fmt.Println(err)
		return
	}
	now := db.Load()
	prices.Set("salt", 2) // by somebody else, in between: it stays
	_, err = db.Merge(now, past)
	for _, key := range []string{"tea", "milk", "salt"} {
		price, found := prices.Get(key)
		fmt.Println(key, price, found)
	}
	fmt.Println("version", db.Load().Version(), err)
	// Output:
	// tea 3 true
	// milk 0 false
	// salt 2 true
	// version 5 <nil>
}

// What somebody saw who looked at a certain time, in all tables.
func ExampleDB_AsOf() {
	var db cow.DB
	db.Retain(cow.Retention{Age: time.Hour}) // from now on
	prices := cow.NewTable[string](&db, "prices", cow.Options[int]{})
	prices.Set("tea", 3)
	ordered := time.Now()
	time.Sleep(20 * time.Millisecond) // clocks may be coarse
	prices.Set("tea", 4)

	then, err := db.AsOf(ordered)
	if err != nil {
		return // cow.ErrCompacted: more than an hour ago
	}
	was, _ := prices.In(then).Get("tea")
	is, _ := prices.Get("tea")
	fmt.Println("ordered for", was, "and is", is)
	// Output: ordered for 3 and is 4
}

// A version that stays until it is let go of, whatever Retain says.
func ExampleDB_Pin() {
	config := cow.New[string](cow.Options[string]{})
	db := config.DB()
	config.Set("level", "info")
	fmt.Println(db.Pin("last good", db.Load().Version()))

	config.Set("level", "debgu")
	for name, s := range db.Pins() {
		level, _ := config.In(s).Get("level")
		fmt.Println(name, "is version", s.Version(), "with", level)
		_ = config.Replace(config.In(s).All()) // back to it
	}
	fmt.Println(config.Get("level"))
	fmt.Println(db.Unpin("last good"))
	// Output:
	// <nil>
	// last good is version 1 with info
	// info true
	// true
}

// A draft that two people work on beside each other, and the conflict that they
// are told of.
func ExampleDB_Fork() {
	pages := cow.New[string](cow.Options[string]{})
	pages.Set("home", "hello")
	pages.Set("about", "us")

	db := pages.DB()
	base := db.Load()
	fork := db.Fork(base)
	draft := pages.Of(fork)
	draft.Set("home", "welcome")
	draft.Delete("about")
	fmt.Println(pages.Len(), draft.Len()) // nobody sees the draft

	pages.Set("home", "hi") // meanwhile
	_, err := db.Merge(base, fork.Load())
	// Nothing was merged.
	fmt.Println(err, errors.Is(err, cow.ErrConflict), pages.Len())
	draftWins := func(c cow.Conflict[string, string]) (string, bool, error) {
		v, present := c.Theirs()
		return v, present, nil
	}
	resolver := pages.Resolve(draftWins)
	_, err = db.Merge(base, fork.Load(), resolver)
	home, _ := pages.Get("home")
	fmt.Println(home, pages.Len(), err)
	// Output:
	// 2 1
	// cow: home: changed on both sides true 2
	// welcome 1 <nil>
}
