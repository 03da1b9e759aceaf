package cow_test

import (
	"errors"
	"fmt"
	"maps"
	"sync"

	"github.com/cowstore/cowstore/cow"
)

// The verbs of one row. Each is one update, and those that store return the
// revision that the row has from then on.
func ExampleTable() {
	var db cow.DB
	stock := cow.NewTable[string](&db, "stock", cow.Options[int]{})

	rev, _ := stock.Set("tea", 3)    // whatever was there
	_, err := stock.Insert("tea", 1) // only if nothing is there
	fmt.Println(rev, err)

	now, _ := stock.SetIf("tea", rev, 4) // only if nobody wrote it since
	_, err = stock.SetIf("tea", rev, 5)
	fmt.Println(now, err)

	add := func(v *int) error { *v += 10; return nil }
	_, _ = stock.Modify("tea", add) // only if it is there
	_, err = stock.Modify("milk", add)
	fmt.Println(err)
	_, _ = stock.Upsert("milk", func(v *int, found bool) error {
		*v++
		return nil
	})
	fmt.Println(stock.Get("milk"))

	fmt.Println(stock.Take("tea")) // to one caller
	gone, _ := stock.Delete("tea") // 0: there was nothing to delete
	fmt.Println(gone, stock.Len())
	// Output:
	// 1 cow: table "stock": tea: key exists
	// 2 cow: table "stock": tea: key is not at that revision
	// cow: table "stock": milk: key not found
	// 1 true
	// 14 true <nil>
	// 0 1
}

// An update looks at one table and edits another.
func ExampleTable_During() {
	var db cow.DB
	users := cow.NewTable[string](&db, "users", cow.Options[int]{})
	orders := cow.NewTable[int](&db, "orders", cow.Options[string]{})
	users.Set("ada", 1)

	order := func(id int, user string) error {
		return db.Update(func(tx *cow.Tx) error {
			if !users.During(tx).Has(user) {
				return fmt.Errorf("no user %q", user)
			}
			orders.Edit(tx).Set(id, user)
			return nil
		})
	}
	fmt.Println(order(1, "ada"), order(2, "bob"), orders.Len())
	// Output: <nil> no user "bob" 1
}

// What an error is about: errors.Is tells the reason, and errors.As the table and
// the key.
func ExampleKeyError() {
	var db cow.DB
	users := cow.NewTable[string](&db, "users", cow.Options[int]{})
	teams := cow.NewTable[string](&db, "teams", cow.Options[int]{})
	teams.Set("red", 1)

	err := db.Update(func(tx *cow.Tx) error {
		users.Edit(tx).Set("ada", 1)
		return teams.Edit(tx).Insert("red", 2)
	})
	var about *cow.KeyError[string]
	switch {
	case errors.Is(err, cow.ErrExists) && errors.As(err, &about):
		fmt.Printf("there is %q already, %s\n", about.Key, about.Name)
	case err != nil:
		fmt.Println(err)
	}
	fmt.Println(users.Has("ada")) // nothing of the update happened
	// Output:
	// there is "red" already, cow: table "teams"
	// false
}

// Everything that meets a condition goes in one version.
func ExampleTable_DeleteFunc() {
	var db cow.DB
	sessions := cow.NewTable[string](&db, "sessions", cow.Options[int]{})
	for name, idle := range map[string]int{"ada": 5, "bob": 90, "eve": 70} {
		sessions.Set(name, idle)
	}
	long := func(_ string, idle int) bool { return idle > 60 }
	n, err := sessions.DeleteFunc(long)
	fmt.Println(n, err, db.Load().Version(), sessions.Has("ada"))

	n, err = sessions.DeleteFunc(long)
	fmt.Println(n, err, db.Load().Version()) // no change is no version
	// Output:
	// 2 <nil> 4 true
	// 0 <nil> 4
}

// Replace is for content that is all new: every row counts as written.
func ExampleTable_Replace() {
	routes := cow.New[string](cow.Options[string]{})
	routes.Set("/", "home")
	routes.Set("/old", "legacy")

	_ = routes.Replace(maps.All(map[string]string{"/": "home", "/new": "shop"}))
	now := routes.Load()
	fmt.Println(now.Len(), now.Has("/old"), "at version", now.Version())
	fmt.Println("home was written at", now.Revision("/"))
	// Output:
	// 2 false at version 3
	// home was written at 3
}

// Sync is for content that was read again: who watches what is the same sleeps
// on, and if all is the same, nothing happened.
func ExampleTable_Sync() {
	routes := cow.New[string](cow.Options[string]{})
	same := func(a, b string) bool { return a == b }
	load := func(file map[string]string) {
		_ = routes.Sync(maps.All(file), same)
		m := routes.Load()
		fmt.Println("version", m.Version(),
			"home at", m.Revision("/"), "shop at", m.Revision("/shop"))
	}
	load(map[string]string{"/": "home", "/shop": "shop"})
	load(map[string]string{"/": "home", "/shop": "shop 2"})
	load(map[string]string{"/": "home", "/shop": "shop 2"})
	load(map[string]string{"/": "home"})
	// Output:
	// version 1 home at 1 shop at 1
	// version 2 home at 1 shop at 2
	// version 2 home at 1 shop at 2
	// version 3 home at 1 shop at 0
}

// Handles, such as connections, are themselves and must not be cloned: Immutable
// stores them as they are. A zero Options would refuse this type, for its lock.
func ExampleOptions() {
	conns := cow.New[string](cow.Options[*socket]{Immutable: true})
	conns.Set("primary", &socket{addr: "10.0.0.1"})

	a, _ := conns.Get("primary")
	b, _ := conns.Get("primary")
	fmt.Println(a == b, a.addr)

	// Another handle takes its place. Who has the old one may go on with it; that
	// it is closed afterwards is up to who replaced it.
	var old *socket
	_, _ = conns.Modify("primary", func(s **socket) error {
		old, *s = *s, &socket{addr: "10.0.0.2"}
		return nil
	})
	now, _ := conns.Get("primary")
	fmt.Println(old == a, now.addr)
	// Output:
	// true 10.0.0.1
	// true 10.0.0.2
}

type socket struct {
	sync.Mutex
	addr string
}

// A transaction as a value: helpers take it, and Abort does nothing once it was committed.
func ExampleDB_Begin() {
	var db cow.DB
	accounts := cow.NewTable[string](&db, "accounts", cow.Options[int]{})
	accounts.Set("ada", 100)

	pay := func(tx *cow.Tx, from, to string, amount int) error {
		if n, _ := accounts.During(tx).Get(from); n < amount {
			return fmt.Errorf("%s has only %d", from, n)
		}
		add := func(name string, n int) error {
			return accounts.Edit(tx).Upsert(name, func(v *int, _ bool) error {
				*v += n
				return nil
			})
		}
		return errors.Join(add(from, -amount), add(to, amount))
	}
	transfer := func(amount int) error {
		tx := db.Begin()
		defer tx.Abort()
		tx.Defer(func() {
			fmt.Println("paid", amount, "at version", db.Load().Version())
		})
		if err := pay(tx, "ada", "bob", amount); err != nil {
			return err
		}
		for c := range accounts.Changes(tx) {
			was, _ := c.Old()
			is, _ := c.New()
			fmt.Println(c.Key, "goes from", was, "to", is)
		}
		return tx.Commit()
	}
	fmt.Println(transfer(30))
	fmt.Println(transfer(80))
	// Unordered output:
	// bob goes from 0 to 30
	// ada goes from 100 to 70
	// paid 30 at version 2
	// <nil>
	// ada has only 70
}
