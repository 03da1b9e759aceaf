// Command start is the first code of README.md: two tables, an update of both, and reads of the
// past through a generated view.
package main

import (
	"fmt"

	"github.com/cowstore/cowstore/cow"
)

// In a module of your own this is: go tool cowview -type Profile.
//go:generate go run -C ../../cowview . -type Profile -output ../examples/start/cow_view.go

// A Profile is what is known of a user.
type Profile struct { // beside it: //go:generate go tool cowview -type Profile
	Name string
	Tags []string
}

func main() {
	var db cow.DB
	users := cow.NewTable[string](&db, "users", cow.Options[Profile]{})
	former := cow.NewTable[string](&db, "former", cow.Options[Profile]{})
	people := cow.NewViews[ProfileView](users) // made once

	tags := []string{"admin"}
	users.Set("ada", Profile{Name: "Ada", Tags: tags})
	tags[0] = "spoiled" // the table has its own copy
	users.Modify("ada", func(p *Profile) error { p.Tags = append(p.Tags, "dev"); return nil })

	before := db.Load() // one atomic load: all tables at one version, valid forever
	err := db.Update(func(tx *cow.Tx) error {
		ada, found := users.Edit(tx).Take("ada") // removes the row and returns its value
		if !found {
			return cow.ErrNotFound // an error publishes nothing
		}
		return former.Edit(tx).Insert("ada", ada)
	}) // both tables, in one swap

	past := users.In(before)                // the table in that snapshot: a map
	ada, then := people.In(past).Get("ada") // and a view of its row: no clone, and no way to write
	_, now := people.Get("ada")
	fmt.Println(err, now, then, ada.Name(), ada.Tags(), users.Len(), former.Len())
}
