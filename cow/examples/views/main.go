// Command views reads values with slices in them through generated views: without a
// clone, without an allocation, and without a way to write to what is stored.
package main

import (
	"fmt"
	"io"
	"os"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/snapshot/view"
)

// In a module of your own this is: go tool cowview -type Profile.
//go:generate go run -C ../../cowview . -type Profile -output ../examples/views/cow_view.go

// A Profile is what is known of a user.
type Profile struct {
	Name  string
	Tags  []string
	Boss  *Profile
	Score map[string]int
}

func main() {
	if err := run(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(w io.Writer) error {
	users := cow.New[string](cow.Options[Profile]{})
	people := cow.NewViews[ProfileView](users)

	grace := Profile{Name: "Grace", Tags: []string{"admin"}}
	if _, err := users.Set("ada", Profile{Name: "Ada", Tags: []string{"admin", "owner"}, Boss: &grace}); err != nil {
		return err
	}
	before := users.Load()

	ada, ok := people.Get("ada")
	fmt.Fprintln(w, ok, ada.Name(), ada.Tags().Len(), view.Contains(ada.Tags(), "owner"))
	fmt.Fprintln(w, ada.Boss().Name(), ada.Boss().Boss().Valid())

	// To write: Modify, or, if nobody else writes it meanwhile, a clone that is changed and set. If
	// somebody may: SetIf.
	changed := ada.Clone()
	changed.Boss.Name = "Hopper"
	changed.Score = map[string]int{"go": 10}
	if _, err := users.Set("ada", changed); err != nil {
		return err
	}
	now, _ := people.Get("ada")
	fmt.Fprintln(w, ada.Boss().Name(), now.Boss().Name(), "what is held does not change")

	// What changed, by views of both sides.
	for c := range users.Load().Diff(before) {
		was, is := c.Rows()
		fmt.Fprintln(w, c, people.Row(was).Score().Len(), people.Row(is).Score().Len())
	}

	// An update reads what it has written so far.
	return users.Update(func(e *cow.Editor[string, Profile]) error {
		e.Set("bob", Profile{Name: "Bob"})
		for key, p := range people.In(e.Map()).All() {
			if key == "bob" {
				fmt.Fprintln(w, p)
			}
		}
		return nil
	})
}
