package expvar_test

import (
	"encoding/json"
	stdlib "expvar"
	"fmt"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/cow/metrics/expvar"
)

// The variable has the figures of the moment, as JSON.
func ExamplePublish() {
	users := cow.New[string](cow.Options[int]{})
	expvar.Publish("people", users.DB())
	for i, name := range []string{"ada", "bob", "ada"} {
		if _, err := users.Set(name, i); err != nil {
			fmt.Println(err)
		}
	}
	var is struct{ Version, Rows int }
	err := json.Unmarshal([]byte(stdlib.Get("people").String()), &is)
	fmt.Println(is.Version, is.Rows, err)
	// Output: 3 2 <nil>
}

// Of is for figures that go elsewhere: nothing is published.
func ExampleOf() {
	users := cow.New[string](cow.Options[int]{})
	before := expvar.Of(users.DB())
	users.DB().Retain(cow.Retention{Versions: 10})
	_, err := users.Set("ada", 36)
	_, err2 := users.Set("ada", 37)
	now := expvar.Of(users.DB())
	fmt.Println(before.Version, now.Version, now.Rows, now.Retained,
		now.Lineage == before.Lineage, err, err2)
	// Output: 0 2 1 2 true <nil> <nil>
}
