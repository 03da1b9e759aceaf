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
	people := cow.NewViews[ProfileView](users) // made once

	tags := []string{"admin"}
	users.Set("ada", Profile{Name: "Ada", Tags: tags})
	tags[0] = "spoiled" // the table has its own copy

	before := db.Load() // one atomic load: all tables at one version, valid forever
	err := db.Update(func(tx *cow.Tx) error {
		ada, _ := users.Edit(tx).Take("ada")      // removes the row and returns its value
		return former.Edit(tx).Insert("ada", ada) // an error would publish nothing
	}) // both tables, in one swap

	_, now := people.Get("ada")                         // now; a view: no clone, and no way to write
	ada, then := people.In(users.In(before)).Get("ada") // as it was
	fmt.Println(err, now, then, ada.Name(), ada.Tags().At(0), users.Len(), former.Len())
	// Output: <nil> false true Ada admin 0 1
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
