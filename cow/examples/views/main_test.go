package main

import (
	"fmt"
	"os"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/snapshot/view"
)

func Example_readme() {
	users := cow.New[string](cow.Options[Profile]{})
	users.Set("ada", Profile{Name: "Ada", Tags: []string{"admin", "owner"}})

	people := cow.NewViews[ProfileView](users)
	ada, ok := people.Get("ada")
	fmt.Println(ok, ada.Name(), ada.Tags().Len(), view.Contains(ada.Tags(), "owner"))
	// Output: true Ada 2 true
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
