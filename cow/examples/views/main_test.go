package main

import (
	"fmt"
	"os"

	"github.com/cowstore/cowstore/cow"
)

func Example_readme() {
	var db cow.DB
	users := cow.NewTable[string](&db, "users", cow.Options[Profile]{})
	former := cow.NewTable[string](&db, "former", cow.Options[Profile]{})

	tags := []string{"admin"}
	users.Set("ada", Profile{Name: "Ada", Tags: tags})
	tags[0] = "spoiled" // the table has its own copy

	before := db.Load() // one atomic load: all tables at one version, valid forever
	err := db.Update(func(tx *cow.Tx) error {
		ada, _ := users.Edit(tx).Take("ada")
		return former.Edit(tx).Insert("ada", ada) // an error would publish nothing
	}) // both tables, in one swap

	people := cow.NewViews[ProfileView](users).In(users.In(before))
	ada, ok := people.Get("ada") // a view: no clone, and no way to write
	fmt.Println(err, ok, ada.Name(), ada.Tags().At(0), users.Len(), former.Len())
	// Output: <nil> true Ada admin 0 1
}

func Example() {
	fmt.Println(run(os.Stdout))
	// Output:
	// true Ada 2 true
	// Grace false
	// Grace Hopper what is held does not change
	// changed "ada" 0 1
	// Profile{Name: "Bob", Tags: nil, Boss: nil, Score: nil}
	// <nil>
}
