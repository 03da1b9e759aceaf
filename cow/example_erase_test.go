package cow_test

import (
	"context"
	"fmt"

	"github.com/cowstore/cowstore/cow"
)

// One row goes from every version; the others keep their past.
func ExampleDB_Erase() {
	var db cow.DB
	users := cow.NewTable[string](&db, "users", cow.Options[string]{})
	db.Retain(cow.Retention{Versions: 100})
	_, _ = users.Set("ada", "London")
	_, _ = users.Set("bob", "Paris")
	_, _ = users.Set("bob", "Rome")

	_, err := db.Erase(context.Background(), func(tx *cow.Tx) error {
		users.Erase(tx, "ada")
		return nil
	})
	then, _ := db.At(2)
	bob, _ := users.In(then).Get("bob")
	fmt.Println(users.In(then).Has("ada"), bob, err)
	for c, err := range db.Commits(0) {
		if err != nil {
			fmt.Println(err)
			break
		}
		for change := range users.Rows(c) {
			fmt.Println(c.Version(), change)
		}
	}
	// Output:
	// false Paris <nil>
	// 2 added "bob"
	// 3 changed "bob"
	// 4 erased "ada"
}
